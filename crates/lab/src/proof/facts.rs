//! The facts that a proof compares with counters and reports: what was built, and what agents may
//! use.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hopbench_model::CpuSet;
use hopbench_testbed::Proxy;
use hopbench_testbed::placement::{Endpoints, PodId};

use crate::services::service::Service;
use crate::topology::packet_path::PacketPath;

/// The part of a lab that a proof needs.
#[derive(Debug)]
pub(crate) struct ProofFacts<'a> {
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) packet_path: &'a PacketPath,
    pub(crate) service: Option<&'a Service>,
    /// Tunnel devices that the lab has; others were not needed, and cannot carry anything.
    pub(crate) tunnels: &'a BTreeSet<&'static str>,
    /// CPUs that agents were held to, with those that their processes may use now.
    pub(crate) held: BTreeMap<&'a PodId, (Vec<usize>, Vec<CpuSet>)>,
    /// Inodes of the pods' network namespaces.
    pub(crate) namespaces: BTreeMap<&'a PodId, u64>,
    /// Network namespaces of the processes of each sandbox, for the pods that are in one.
    pub(crate) sandboxes: BTreeMap<&'a PodId, BTreeSet<u64>>,
    /// The kernel's release, as it is outside of sandboxes.
    pub(crate) kernel: String,
    /// Addresses that a server may see.
    pub(crate) peers: BTreeSet<IpAddr>,
    /// The proxies in the path's pods.
    pub(crate) proxies: &'a [Proxy],
}
