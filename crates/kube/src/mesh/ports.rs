//! The ports of a pod for a mesh: those that its sidecar takes, and those that it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::Protocol;
use hopbench_model::ClusterSpec;
use hopbench_testbed::placement::{Ask, Placement, PodId};

/// The ports of a pod in a plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ports {
    /// Those of the agent beside its own, with what comes there.
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
    pub(super) fn of(spec: &ClusterSpec, placement: &Placement, pod: &PodId) -> Self {
        let mut ports = Self::default();
        for ends in placement.paths.values() {
            let mode = ends.path.mesh;
            let asks = ends.clients.contains(pod);
            for ask in &ends.asks {
                let program = ask.program.as_deref();
                let serves = ends.servers_of(program).contains(pod);
                let names_mode = ends.names_mode(program);
                let port = if names_mode {
                    Some(ask.offer.exposed(mode))
                } else {
                    // The agent's own port is always left alone.
                    of_program(spec, ask)
                };
                let Some(port) = port else { continue };
                if serves && names_mode {
                    ports.all.insert(port, ask.offer.protocol);
                }
                if serves && mode.has_server() {
                    ports.inbound.insert(port);
                }
                if asks && mode.has_client() {
                    ports.outbound.insert(port);
                } else if asks {
                    ports.passed.insert(port);
                }
                if (asks || serves) && ask.offer.protocol == Protocol::Tcp {
                    ports.bytes.insert(port);
                }
            }
        }
        ports
    }
}

/// The port of the server program that is asked. `None`: it is the agent, or the testbed does not
/// have it.
pub(super) fn of_program(spec: &ClusterSpec, ask: &Ask) -> Option<u16> {
    Some(spec.servers.get(ask.program.as_ref()?)?.port)
}

/// Ports with commas between them, as annotations want them.
pub(super) fn list(ports: &BTreeSet<u16>) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}
