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
    pub const ALL: [Self; 4] = [
        Self { app: App::Agent, protocol: Protocol::Tcp },
        Self { app: App::Agent, protocol: Protocol::Http },
        Self { app: App::Program, protocol: Protocol::Http },
        Self { app: App::Agent, protocol: Protocol::Http2 },
    ];

    /// The offer that a job asks of this server, through proxies that go on with the version of
    /// HTTP in which a request came.
    pub fn of(job: &Job, server: &ServerSpec) -> Self {
        let app = if server.is_agent() { App::Agent } else { App::Program };
        // A server program speaks nothing else.
        let http = job.shows_requests() || app == App::Program;
        Self { app, protocol: if http { Protocol::Http } else { Protocol::Tcp } }
    }

    /// The same through proxies that take the version from the port: HTTP/2 has one of its own.
    pub fn of_version(job: &Job, server: &ServerSpec) -> Self {
        let offer = Self::of(job, server);
        // Server programs are set up for HTTP/1.1.
        let is_http2 = offer == Self::ALL[1] && job.is_over_http2();
        if is_http2 { Self::ALL[3] } else { offer }
    }

    /// Its position in [`Offer::ALL`].
    pub fn position(self) -> usize {
        Self::ALL.iter().position(|offer| *offer == self).unwrap_or_default()
    }

    /// Its word in the names of routes and ports: `agent-tcp`.
    pub fn word(self) -> &'static str {
        ["agent-tcp", "agent-http", "program-http", "agent-http2"][self.position()]
    }

    /// The port that stands for it in a mode that passes a sidecar.
    pub fn exposed(self, mode: MeshMode) -> u16 {
        Exposed { app: self.app, protocol: self.protocol, mode }.port()
    }

    /// The port of a gateway for it.
    pub fn gateway(self) -> u16 {
        [7474, 7475, 80, 7476][self.position()]
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture;
    use serde_json::json;

    use super::*;

    #[test]
    fn http2_has_a_port_of_its_own_where_the_port_says_the_version() {
        let told = |workload: &str, params: serde_json::Value, program: &str| {
            let job = fixture::job(workload, params);
            let server = ServerSpec { program: program.into(), ..fixture::server() };
            [Offer::of(&job, &server).word(), Offer::of_version(&job, &server).word()]
        };
        let agent = ServerSpec::AGENT;
        assert_eq!(told("http", json!({"http2": true}), agent), ["agent-http", "agent-http2"]);
        assert_eq!(told("http", json!({}), agent), ["agent-http"; 2]);
        assert_eq!(told("http", json!({}), "nginx"), ["program-http"; 2]);
        // Proxies see bytes.
        assert_eq!(told("http", json!({"http2": true, "tls": true}), agent), ["agent-tcp"; 2]);
        assert_eq!(told("rr", json!({}), agent), ["agent-tcp"; 2]);
        let ports: std::collections::BTreeSet<u16> =
            Offer::ALL.iter().map(|offer| offer.exposed(MeshMode::Both)).collect();
        assert_eq!(ports.len(), Offer::ALL.len());
    }
}
