//! The ports of a pod for a mesh: those that its sidecar takes, and those that it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::Protocol;
use hopbench_testbed::placement::{Ask, Placement, PodId};

/// The ports of a pod in a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ports {
    /// Beside the agent's own, with what comes there.
    pub(super) all: BTreeMap<u16, Protocol>,
    /// Those whose traffic the pod's sidecar takes on its way in, and on its way out.
    pub(super) inbound: BTreeSet<u16>,
    pub(super) outbound: BTreeSet<u16>,
    /// Those on the way out that it leaves alone, and those that carry nothing but bytes.
    pub(super) passed: BTreeSet<u16>,
    pub(super) bytes: BTreeSet<u16>,
}

impl Ports {
    /// Those of a pod.
    pub(super) fn of(placement: &Placement, pod: &PodId) -> Self {
        let mut ports = Self::default();
        for ends in placement.paths.values().filter(|ends| !ends.path.mesh.is_none()) {
            let mode = ends.path.mesh;
            let serves = |ask: &Ask| ends.servers_of(ask.program.as_deref()).contains(pod);
            for ask in &ends.asks {
                let port = ask.offer.exposed(mode);
                let asks = ends.clients.contains(pod);
                if serves(ask) {
                    ports.all.insert(port, ask.offer.protocol);
                    if mode.has_server() {
                        ports.inbound.insert(port);
                    }
                }
                if asks && mode.has_client() {
                    ports.outbound.insert(port);
                } else if asks {
                    ports.passed.insert(port);
                }
                if (asks || serves(ask)) && ask.offer.protocol == Protocol::Tcp {
                    ports.bytes.insert(port);
                }
            }
        }
        ports
    }
}

/// Ports with commas between them, as annotations want them.
pub(super) fn list(ports: &BTreeSet<u16>) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}
