//! The facts that a proof compares with counters and with the reports of agents.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hopbench_model::CpuSet;
use hopbench_testbed::Proxy;
use hopbench_testbed::placement::{Endpoints, PodId};

use crate::services::service::Service;
use crate::topology::packet_path::PacketPath;

/// What was built of a path: its counters are compared with it, whoever sends.
#[derive(Debug)]
pub(crate) struct WayFacts<'a> {
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) packet_path: PacketPath,
    pub(crate) service: Option<&'a Service>,
    /// Tunnel devices that the lab has; others were not needed, and cannot carry anything.
    pub(crate) tunnels: &'a BTreeSet<&'static str>,
    /// The proxies in the path's pods.
    pub(crate) proxies: &'a [Proxy],
}

/// What was built around the agents of a path: what they say is compared with it.
#[derive(Debug, Default)]
pub(crate) struct AgentFacts<'a> {
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
}
