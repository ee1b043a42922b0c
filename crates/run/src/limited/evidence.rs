//! The evidence beside the record of what limited a trial, and the limit that follows from it.

use std::collections::BTreeSet;

use super::link_rate::LinkRate;

/// The ends' names.
pub(crate) const CLIENT: &str = "client";
pub(crate) const SERVER: &str = "server";

/// What one end, or a proxy between them, put on its CPUs.
#[derive(Debug, Clone)]
pub(crate) struct Burden {
    /// Which side it is of, or the proxy's name: `client`, `server`, `client-sidecar`.
    pub(crate) who: String,
    /// The node that it is on.
    pub(crate) node: String,
    /// Cores that all its processes used.
    pub(crate) cores: f64,
    /// Its processes, each with the threads that do the work: one that did not wait is a limit by
    /// itself.
    pub(crate) processes: Vec<WorkingProcess>,
    /// CPUs that it is held to; absent: any of its node.
    pub(crate) cpus: Option<BTreeSet<usize>>,
    /// What CPU quotas did to it; absent: nothing of any is known.
    pub(crate) stopped: Option<Stopped>,
    /// The CPU limit of its container, cores, where what that did to it cannot be read; absent:
    /// none is known.
    pub(crate) limit: Option<f64>,
}

/// What CPU quotas did to the processes of a burden.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    /// The share of the window for which they stopped them.
    pub(crate) share: f64,
    /// How often they did.
    pub(crate) times: f64,
    /// The smallest quota, with its control group; empty where nobody says it.
    pub(crate) quota: String,
}

/// A process that does the work of an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkingProcess {
    /// Cores that it used.
    pub(crate) cores: f64,
    /// Threads that can be busy at a time.
    pub(crate) threads: u32,
    /// How often they gave up the CPU to wait, a second; `None` where nobody says it.
    pub(crate) waits_per_s: Option<f64>,
}

impl Burden {
    pub(super) fn is_end(&self) -> bool {
        [CLIENT, SERVER].contains(&self.who.as_str())
    }

    pub(super) fn may_use(&self, cpu: usize) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }
}

/// What the record does not say, of what can limit a trial.
pub(crate) struct Evidence {
    /// What each end put on its CPUs, the clients first, and the proxies between them last.
    pub(crate) burdens: Vec<Burden>,
    /// The nodes that a server of which nobody here knows the CPU is on; `None`: it may be on any.
    pub(crate) server_nodes: Option<BTreeSet<String>>,
    /// Whether all nodes are one machine.
    pub(crate) one_machine: bool,
    /// The slowest link on the way.
    pub(crate) link: Option<LinkRate>,
    /// Whether proxies stand between the ends: each end's connections are then with the nearest of
    /// them.
    pub(crate) proxied: bool,
}

/// The name of a limit and the numbers behind it.
pub(super) type Limit = (String, String);

pub(super) fn limit(name: &str, why: String) -> Limit {
    (name.to_owned(), why)
}
