//! A change, and the objects that it concerns.

use std::collections::BTreeSet;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) about: About,
    /// A sentence without a full stop.
    pub(super) text: String,
}

impl Change {
    pub(super) fn new(about: About, text: impl Into<String>) -> Self {
        Self { about, text: text.into() }
    }
}

/// The subject of a change; objects of namespaces have their namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    Pod(String, String),
    Service(String, String),
    Node(String),
    /// Something that may touch any pod of the namespace.
    Namespace(String),
}

/// The objects that concern a route. Objects of namespaces are pairs of namespace and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Concern {
    /// Its pods.
    pub pods: BTreeSet<(String, String)>,
    /// The Services that it passes.
    pub services: BTreeSet<(String, String)>,
    /// The cluster's nodes that its pods are on, and those that it passes.
    pub nodes: BTreeSet<String>,
    /// Namespaces in which any Deployment or autoscaler concerns it: the run's, the gateway's.
    pub namespaces: BTreeSet<String>,
}

impl Concern {
    pub(super) fn has(&self, about: &About) -> bool {
        let pair = |namespace: &String, name: &String| (namespace.clone(), name.clone());
        match about {
            About::Pod(namespace, name) => self.pods.contains(&pair(namespace, name)),
            About::Service(namespace, name) => self.services.contains(&pair(namespace, name)),
            About::Node(name) => self.nodes.contains(name),
            About::Namespace(name) => self.namespaces.contains(name),
        }
    }
}
