//! Readings of meters outside of the agents.

use std::time::Duration;

/// A reading of a meter that is not an agent's.
#[derive(Debug, Clone, PartialEq)]
pub struct Metered {
    /// Its subject: the name of a proxy of the route, of an agent, or of a node.
    pub who: String,
    /// The kind of its subject.
    pub what: MeteredKind,
    /// The source: `kubelet`, `cadvisor`, `prometheus`.
    pub source: &'static str,
    /// The time of the reading since 1970 UTC. It is by this machine's clock, as far as the
    /// difference to the meter's is known.
    pub at: Duration,
    /// CPU time until then, ns.
    pub cpu_ns: u64,
    /// Memory in use then, bytes.
    pub memory_bytes: Option<u64>,
    /// Time for which its CPU limit held it back until then, ns.
    pub throttled_ns: Option<u64>,
}

/// The kind of subject of a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeteredKind {
    /// A proxy's container.
    Proxy,
    /// An agent's container.
    Agent,
    /// The container of a server program; `who` is the agent beside it.
    Program,
    /// A node.
    Node,
}
