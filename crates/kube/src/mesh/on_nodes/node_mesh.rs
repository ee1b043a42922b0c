//! A mesh with its proxies on the nodes: their labels and counters.

use std::collections::{BTreeMap, BTreeSet};

/// Counters by name, or why they cannot be read.
pub(super) type Counted = Result<BTreeMap<String, u64>, String>;

/// A mesh with its proxies on the nodes.
pub(super) struct NodeMesh {
    /// Its proxy in a word.
    pub(super) proxy: &'static str,
    /// Labels of the pods that carry traffic. Of several sets the first that a node has counts.
    pub(super) carry: &'static [&'static str],
    /// Labels of the pods that tell what was carried.
    pub(super) count: &'static str,
    /// The port and the path of their metrics.
    pub(super) metrics: (u16, &'static str),
    /// The counters in their metrics that are about the pods of a path.
    pub(super) read: fn(&str, &PathPods<'_>) -> Counted,
    /// What to do if its metrics are not there.
    pub(super) remedy: &'static str,
}

/// The names of a path's pods, as metrics say them.
pub(super) struct PathPods<'a> {
    pub(super) namespace: &'a str,
    pub(super) clients: BTreeSet<&'a str>,
    pub(super) servers: BTreeSet<&'a str>,
}
