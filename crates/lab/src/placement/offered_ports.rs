//! The ports of a pod for what its server offers.

use hopbench_mesh::{App, Offer};
use hopbench_model::MeshMode;

use super::pod::PodId;

/// The ports of an offer in a pod.
pub(crate) trait PodPorts {
    /// The port of the agent or server program in this pod.
    fn own_port(self, pod: &PodId) -> u16;

    /// The port at which a server's pod is entered: that of its sidecar, or the server's own.
    fn entry(self, pod: &PodId, mode: MeshMode) -> u16;
}

impl PodPorts for Offer {
    fn own_port(self, pod: &PodId) -> u16 {
        match self.app {
            App::Agent => pod.agent_port(),
            App::Program => pod.program_port(),
        }
    }

    fn entry(self, pod: &PodId, mode: MeshMode) -> u16 {
        if mode.has_server() { self.exposed(mode) } else { self.own_port(pod) }
    }
}
