//! The ports of a pod: its agent's, its server program's, and those of what it offers.

use hopbench_mesh::{App, Offer};
use hopbench_model::MeshMode;
use hopbench_testbed::placement::{AGENT_PORT, PodId};

/// The port on which server programs listen, and on which a Service offers them.
pub(crate) const PROGRAM_PORT: u16 = 80;

/// The port of the agent in a pod. Agents that share a namespace have ports of their own.
pub(crate) fn agent_port(pod: &PodId) -> u16 {
    if pod.is_host() { AGENT_PORT + pod.index as u16 } else { AGENT_PORT }
}

/// The port of a server program in a pod.
pub(crate) fn program_port(pod: &PodId) -> u16 {
    match pod.index {
        more @ 1.. if pod.is_host() => 8080 + more as u16,
        _ => PROGRAM_PORT,
    }
}

/// The port of the agent or server program in a pod that answers this.
pub(crate) fn own_port(offer: Offer, pod: &PodId) -> u16 {
    match offer.app {
        App::Agent => agent_port(pod),
        App::Program => program_port(pod),
    }
}

/// The port at which a server's pod is entered: that of its sidecar, or the server's own.
pub(crate) fn entry(offer: Offer, pod: &PodId, mode: MeshMode) -> u16 {
    if mode.has_server() { offer.exposed(mode) } else { own_port(offer, pod) }
}
