//! The offer of a path's servers: the program that answers, and the protocol that proxies see.

use hopbench_model::{Job, MeshMode, ServerSpec};

use crate::{App, Exposed, Protocol};

/// Who answers, and what proxies take the connections for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offer {
    /// Who answers.
    pub app: App,
    /// What proxies take the connections for.
    pub protocol: Protocol,
}

impl Offer {
    /// Everything that a server can be asked for, in the order of the ports that Services and
    /// gateways have for it.
    pub const ALL: [Self; 3] = [
        Self { app: App::Agent, protocol: Protocol::Tcp },
        Self { app: App::Agent, protocol: Protocol::Http },
        Self { app: App::Program, protocol: Protocol::Http },
    ];

    /// What a job asks of this server.
    pub fn of(job: &Job, server: &ServerSpec) -> Self {
        let app = if server.is_agent() { App::Agent } else { App::Program };
        // A server program speaks nothing else.
        let http = job.shows_requests() || app == App::Program;
        Self { app, protocol: if http { Protocol::Http } else { Protocol::Tcp } }
    }

    /// Its position in [`Offer::ALL`].
    pub fn position(self) -> usize {
        Self::ALL.iter().position(|offer| *offer == self).unwrap_or_default()
    }

    /// Its word in the names of routes and ports: `agent-tcp`.
    pub fn word(self) -> &'static str {
        ["agent-tcp", "agent-http", "program-http"][self.position()]
    }

    /// The port that stands for it in a mode that passes a sidecar.
    pub fn exposed(self, mode: MeshMode) -> u16 {
        Exposed { app: self.app, protocol: self.protocol, mode }.port()
    }

    /// The port of a gateway for it.
    pub fn gateway(self) -> u16 {
        [7474, 7475, 80][self.position()]
    }
}
