//! At which port of a pod a server is asked for what it offers.

use hopbench_mesh::{App, Offer};
use hopbench_model::MeshMode;

use crate::pod::PodId;

/// An offer of a pod.
pub(crate) trait InPod {
    /// The port of whoever answers in this pod.
    fn own_port(self, pod: &PodId) -> u16;

    /// The port at which a server's pod is entered: the one that its sidecar takes, or whoever answers has.
    fn entry(self, pod: &PodId, mode: MeshMode) -> u16;
}

impl InPod for Offer {
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
