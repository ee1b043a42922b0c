//! A member of a role: one of several that share the work of a trial.

use serde::{Deserialize, Serialize};

/// What one of several clients, servers, workers or proxies of one kind carried and spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// What its group does: `client`, `server`, `worker`, or the role of a proxy (`gateway`).
    pub role: String,
    /// Of workers, the end that they belong to: `server 2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Its name: `server 2`, `worker 1`, `gateway#2`.
    pub name: String,
    /// The node that it is on.
    pub node: String,
    /// Connections, or flows of datagrams, that it had open in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Exchanges that it completed in the window, of workloads that are made of exchanges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Payload bytes that it sent and received in the window, of all other workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// CPU time that it spent in the window, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Whether the counts include the warm-up: proxies count so.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub warmup_included: bool,
}

impl Member {
    /// The group that shares the work with it.
    pub fn group(&self) -> (&str, &str) {
        (&self.role, &self.of)
    }
}
