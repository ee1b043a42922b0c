//! The nodes that paths may name.

use super::lab::{NODE_NAME, is_node_name};
use super::names::{DOMAIN, is_domain};

/// The nodes of a testbed.
#[derive(Debug)]
pub(crate) struct Nodes<'a> {
    /// Those that the scenario lists.
    pub(crate) listed: Option<Vec<&'a str>>,
    /// Whether there may be others.
    pub(crate) others: bool,
    /// Whether they can be called as machines are: `worker-1.example`.
    pub(crate) domains: bool,
}

impl Nodes<'_> {
    /// Whether a node can be called so.
    pub(crate) fn is_name(&self, text: &str) -> bool {
        if self.domains { is_domain(text) } else { is_node_name(text) }
    }

    /// The form that [`Self::is_name`] accepts.
    pub(crate) fn name(&self) -> &'static str {
        if self.domains { DOMAIN } else { NODE_NAME }
    }

    /// The first two, between which paths lead that say no nodes: `a` and `b` where nobody says
    /// which there are.
    pub(crate) fn first(&self) -> &[&str] {
        match self.listed.as_deref() {
            Some(listed) if listed.len() > 1 || !self.others => listed,
            _ => &["a", "b"],
        }
    }
}
