//! A trial that a tool of others makes.

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::Proof;

/// What a tool said of a trial that it made.
#[derive(Debug, Clone)]
pub struct PeerSaid {
    /// The version of the tool.
    pub version: String,
    /// The command line of the client.
    pub client: String,
    /// The command line of the server; absent: a server program of the testbed answers, or the
    /// kernel does.
    pub server: Option<String>,
    /// What the client printed.
    pub output: String,
    /// Why its figures may differ from those of hopbench.
    pub differs: &'static str,
    /// When it started, since 1970 UTC.
    pub started: Duration,
    /// Facts about the client's machine, as agents say them; absent: it is this one.
    pub machine: Option<BTreeMap<String, String>>,
    /// Where its processes were, as the kernel showed it.
    pub placed: Vec<Proof>,
}
