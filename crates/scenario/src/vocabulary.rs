//! The words that belong to a testbed, given by whoever knows the testbeds.

use std::fmt;

use hopbench_model::{Job, ServerSpec};

/// The words of every testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabularies {
    /// Of labs.
    pub lab: Vocabulary,
    /// Of clusters, besides what a scenario's `networks:`, `runtimes:` and `servers:` add.
    pub kubernetes: Vocabulary,
    /// Of machines on which somebody started agents.
    pub hosts: Vocabulary,
}

/// What a testbed can build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// Network kinds: `host`, `bridge` ...
    pub networks: Vec<Network>,
    /// Sandboxed runtimes around pods, with a line about each.
    pub runtimes: Vec<(String, String)>,
    /// Whether any other name is a runtime, too: that of a RuntimeClass.
    pub any_runtime: bool,
    /// Whether a pod in a runtime can have a sidecar.
    pub sidecars_in_runtimes: bool,
    /// Server programs besides the agent.
    pub servers: Vec<Server>,
    /// Tools of others that it can start beside a workload.
    pub peers: Vec<PeerWord>,
}

/// A way to attach an endpoint to the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its name in places: `bridge`.
    pub name: String,
    /// A line about it.
    pub summary: String,
    /// Whether an endpoint of it is a pod, which a runtime can be put around.
    pub pod: bool,
    /// Whether both ends of a path can be in the same place: two pods can, on one node.
    pub both_ends: bool,
}

/// A program that answers HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name: `nginx`.
    pub name: String,
    /// A line about it.
    pub summary: String,
    /// What to request, with [`Server::BYTES`] for the size of the answer; without it the size is
    /// not ours to choose.
    pub request: String,
}

/// A tool of others that measures beside a workload.
#[derive(Clone, Copy)]
pub struct PeerWord {
    /// Its name: `iperf3`.
    pub name: &'static str,
    /// What it measures, in a few words.
    pub summary: &'static str,
    /// The kind of what it measures for a job, or the reason why it cannot measure that; the second
    /// argument says whether the agent is the server.
    pub kind_of: fn(&'static str, &Job, bool) -> Result<&'static str, String>,
}

impl PartialEq for PeerWord {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PeerWord {}

impl fmt::Debug for PeerWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PeerWord {
    /// The kind of what it measures for a job of this server, or why it cannot.
    pub(crate) fn kind(&self, job: &Job, server: &ServerSpec) -> Result<&'static str, String> {
        (self.kind_of)(self.name, job, server.is_agent())
    }
}

impl Server {
    /// What stands for the size of the answer, in bytes.
    pub const BYTES: &str = "{bytes}";

    /// Whether requests say how large the answer is to be.
    pub(crate) fn is_sized(&self) -> bool {
        self.request.contains(Self::BYTES)
    }
}

impl Vocabulary {
    /// The kind of this name.
    pub fn network(&self, name: &str) -> Option<&Network> {
        self.networks.iter().find(|n| n.name == name)
    }

    /// The tool of this name.
    pub(crate) fn peer(&self, name: &str) -> Option<PeerWord> {
        self.peers.iter().copied().find(|tool| tool.name == name)
    }

    /// Every server, the agent first.
    pub(crate) fn servers(&self) -> impl Iterator<Item = Server> {
        let agent = Server {
            name: ServerSpec::AGENT.to_owned(),
            summary: "the agent itself".to_owned(),
            request: format!("/?size={}", Server::BYTES),
        };
        std::iter::once(agent).chain(self.servers.iter().cloned())
    }

    pub(crate) fn network_names(&self) -> Vec<&str> {
        self.networks.iter().map(|n| n.name.as_str()).collect()
    }

    pub(crate) fn runtime_names(&self) -> Vec<&str> {
        self.runtimes.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub(crate) fn server_names(&self) -> Vec<String> {
        self.servers().map(|s| s.name).collect()
    }
}
