//! The words that belong to a testbed, given by whoever knows the testbeds.

use hopbench_model::ServerSpec;

/// What the testbed of scenarios can build. There is one testbed yet, `lab`; its words are these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// Network kinds: `host`, `bridge` ...
    pub networks: Vec<Network>,
    /// Sandboxed runtimes around pods, with a line about each.
    pub runtimes: Vec<(&'static str, &'static str)>,
    /// Server programs besides the agent.
    pub servers: Vec<Server>,
}

/// A way to attach an endpoint to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Its name in places: `bridge`.
    pub name: &'static str,
    /// A line about it.
    pub summary: &'static str,
    /// Whether an endpoint of it is a pod, which a runtime can be put around.
    pub pod: bool,
    /// Whether both ends of a path can be in the same place: two pods can, on one node.
    pub both_ends: bool,
}

/// A program that answers HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// Its name: `nginx`.
    pub name: &'static str,
    /// A line about it.
    pub summary: &'static str,
    /// What to request for an answer of a size: this, followed by the number of bytes.
    pub sized: &'static str,
}

impl Vocabulary {
    /// The kind of this name.
    pub fn network(&self, name: &str) -> Option<&Network> {
        self.networks.iter().find(|n| n.name == name)
    }

    /// Every server, the agent first.
    pub(crate) fn servers(&self) -> impl Iterator<Item = Server> {
        const AGENT: Server = Server { name: ServerSpec::AGENT, summary: "the agent itself", sized: "/?size=" };
        std::iter::once(AGENT).chain(self.servers.iter().copied())
    }

    pub(crate) fn network_names(&self) -> Vec<&'static str> {
        self.networks.iter().map(|n| n.name).collect()
    }

    pub(crate) fn runtime_names(&self) -> Vec<&'static str> {
        self.runtimes.iter().map(|(name, _)| *name).collect()
    }

    pub(crate) fn server_names(&self) -> Vec<&'static str> {
        self.servers().map(|s| s.name).collect()
    }
}
