//! The state of a run's mesh: its authority, what its proxies were told, and the connections to
//! them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopbench_control::authority::Authority;
use hopbench_model::{Fault, IpFamily};
use hopbench_testbed::placement::PodId;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;

/// The end of a connection that requests go into.
pub(crate) type RequestSender = SendRequest<Empty<Bytes>>;

/// The namespace and the name of a pod, and a port of it.
pub(crate) type PodPort = (String, String, u16);

/// A pod that a proxy leads to, and the family of the address; absent: the pod's first one.
pub(crate) type Peer = (PodId, Option<IpFamily>);

/// The state of a run's mesh.
#[derive(Debug)]
pub(crate) struct MeshState {
    authority: Authority,
    /// Connections to ports of pods, which stay open: they are asked around every trial.
    connections: Mutex<BTreeMap<PodPort, RequestSender>>,
    /// The addresses of its peers that each pod's proxy was told.
    told: Mutex<BTreeMap<PodId, BTreeMap<Peer, IpAddr>>>,
    /// Connections to upstreams that each proxy had open already at the trial's start.
    warm: Mutex<BTreeMap<PodId, f64>>,
}

impl MeshState {
    /// Nothing yet.
    pub(crate) fn new() -> Result<Self, Fault> {
        Ok(Self {
            authority: Authority::new()?,
            connections: Mutex::default(),
            told: Mutex::default(),
            warm: Mutex::default(),
        })
    }

    /// The authority that signs the certificates of its proxies.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Takes the open connection to a port of a pod, if there is one.
    pub(crate) fn take_connection(&self, port: &PodPort) -> Option<RequestSender> {
        lock(&self.connections).remove(port)
    }

    /// Keeps a connection to a port of a pod for the next request.
    pub(crate) fn keep_connection(&self, port: PodPort, sender: RequestSender) {
        lock(&self.connections).insert(port, sender);
    }

    /// Notes which addresses of its peers a pod's proxy was told.
    pub(crate) fn set_peers(&self, pod: &PodId, peers: BTreeMap<Peer, IpAddr>) {
        lock(&self.told).insert(pod.clone(), peers);
    }

    /// The addresses of its peers that a pod's proxy was told.
    pub(crate) fn peers(&self, pod: &PodId) -> BTreeMap<Peer, IpAddr> {
        lock(&self.told).get(pod).cloned().unwrap_or_default()
    }

    /// Notes how many connections to upstreams each proxy has open before a trial.
    pub(crate) fn set_warm(&self, open: BTreeMap<PodId, f64>) {
        *lock(&self.warm) = open;
    }

    /// The connections to upstreams that a proxy had open before the trial.
    pub(crate) fn warm(&self, pod: &PodId) -> Option<f64> {
        lock(&self.warm).get(pod).copied()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
