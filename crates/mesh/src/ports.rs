//! The ports of a pod: one for each mode and protocol.
//!
//! One pod serves every mode: what an application offers at its own port, it also offers at a port
//! for each mode and protocol. The rules in the pods intercept some of them and leave the others
//! alone:
//!
//! ```text
//!                    the client's sidecar   the server's sidecar
//!   own port         passed by              passed by
//!   `server` port    passed by              takes it
//!   `client` port    takes it, and sends to the application's own port
//!   `both` port      takes it               takes it
//! ```

use hopbench_model::MeshMode;

use crate::Protocol;

/// Where a sidecar listens for what its pod sends.
pub const OUTBOUND: u16 = 15_001;
/// Where a sidecar listens for what its pod gets.
pub const INBOUND: u16 = 15_006;
/// Where a sidecar's admin endpoint is, on the loopback of its pod, if it is a TCP port.
pub const ADMIN: u16 = 15_000;
/// Where the policy service is, in its pod.
pub const POLICY_PORT: u16 = 15_010;
/// Where the telemetry service is, in its pod.
pub const TELEMETRY_PORT: u16 = 15_011;
/// Where a sidecar takes connections when it is ready.
pub const READY: u16 = 15_021;
/// The first of the ports at which a sidecar takes what its pod sends, where nothing is redirected.
/// Only the port tells destinations apart there, so each has one.
pub const TAKEN: u16 = 18_000;
/// The mark of a proxy's own packets, which are not intercepted again.
pub const MARK: u32 = 1337;

/// Who answers in a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum App {
    /// The agent.
    Agent,
    /// A server program.
    Program,
}

/// A port that stands for an application, a protocol and a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exposed {
    /// Who answers.
    pub app: App,
    /// What the proxies take it for.
    pub protocol: Protocol,
    /// Which sidecars take part; never `none`, which is the application's own port.
    pub mode: MeshMode,
}

/// What a pod exposes for the modes that pass a sidecar. Server programs speak HTTP/1.1.
const EXPOSED: [(App, Protocol); 4] = [
    (App::Agent, Protocol::Tcp),
    (App::Agent, Protocol::Http),
    (App::Program, Protocol::Http),
    (App::Agent, Protocol::Http2),
];
const MODES: [MeshMode; 3] = [MeshMode::Server, MeshMode::Client, MeshMode::Both];
/// The first of these ports: below those that the kernel chooses from, and used by nobody here.
const FIRST: u16 = 17_000;

impl Exposed {
    /// Its number.
    pub fn port(self) -> u16 {
        let service = EXPOSED
            .iter()
            .position(|(app, protocol)| (*app, *protocol) == (self.app, self.protocol));
        let mode = MODES.iter().position(|mode| *mode == self.mode);
        FIRST + 10 * service.unwrap_or(EXPOSED.len()) as u16 + mode.unwrap_or(MODES.len()) as u16
    }
}

/// Every exposed port.
pub fn exposed() -> impl Iterator<Item = Exposed> {
    EXPOSED
        .into_iter()
        .flat_map(|(app, protocol)| MODES.map(|mode| Exposed { app, protocol, mode }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_exposed_port_is_another_one() {
        let ports: BTreeSet<u16> = exposed().map(Exposed::port).collect();
        assert_eq!(ports.len(), exposed().count());
        assert!(
            ports.iter().all(|port| *port < 32_768
                && *port != OUTBOUND
                && *port != INBOUND
                && *port < TAKEN)
        );
    }
}
