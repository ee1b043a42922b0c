//! The identity of a pod: its place, whom it is for, and its number there.
//!
//! One pod serves all modes of one variant. So two modes differ in their proxies and in nothing
//! else. Parts that would disturb others have pods of their own.

use std::fmt;

use hopbench_model::Place;
use hopbench_testbed::AgentId;

/// The port on which agents listen, and on which a Service offers them.
pub(crate) const AGENT_PORT: u16 = 7474;
/// The port on which server programs listen, and on which a Service offers them.
pub(crate) const PROGRAM_PORT: u16 = 80;

/// A pod, or on `host` a seat in the node's own namespace. `index` counts from 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PodId {
    pub(crate) place: Place,
    pub(crate) group: Group,
    pub(crate) index: u32,
}

/// Whom a pod is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    /// All paths without proxies, and those of the plan's first variant.
    Shared,
    /// The paths of another variant.
    Variant(String),
    /// The path of this name alone.
    Path(String),
    /// The gateway of the path of this name.
    Gateway(String),
    /// The services that the proxies of a variant ask; absent: of the plan's first variant.
    Policy(Option<String>),
}

/// `bridge@a`, and the next ones `bridge@a#2` ...; `bridge@a/stats`, `bridge@b/PATH`,
/// `bridge@c/gateway-PATH`, `bridge@b/policy`.
impl fmt::Display for PodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        match &self.group {
            Group::Shared => {}
            Group::Variant(name) | Group::Path(name) => write!(f, "/{name}")?,
            Group::Gateway(path) => write!(f, "/gateway-{path}")?,
            Group::Policy(None) => f.write_str("/policy")?,
            Group::Policy(Some(variant)) => write!(f, "/policy-{variant}")?,
        }
        match self.index {
            0 => Ok(()),
            more => write!(f, "#{}", more + 1),
        }
    }
}

impl PodId {
    /// The first pod of a place and group.
    pub(crate) fn first(place: Place, group: Group) -> Self {
        Self { place, group, index: 0 }
    }

    /// Whether it is a seat in the node's own namespace, which it shares with others.
    pub(crate) fn is_host(&self) -> bool {
        self.place.network == "host"
    }

    /// The port of its agent. Agents that share a namespace have ports of their own.
    pub(crate) fn agent_port(&self) -> u16 {
        if self.is_host() { AGENT_PORT + self.index as u16 } else { AGENT_PORT }
    }

    /// The port of a server program in it.
    pub(crate) fn program_port(&self) -> u16 {
        match self.index {
            more @ 1.. if self.is_host() => 8080 + more as u16,
            _ => PROGRAM_PORT,
        }
    }

    /// The agent in it.
    pub(crate) fn agent(&self) -> AgentId {
        AgentId(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_of_a_place_have_names_of_their_own() {
        let name = |group: Group, index: u32| {
            let place = Place { network: "bridge".into(), node: "a".into(), runtime: None };
            PodId { place, group, index }.to_string()
        };
        assert_eq!(name(Group::Shared, 0), "bridge@a");
        assert_eq!(name(Group::Shared, 1), "bridge@a#2");
        assert_eq!(name(Group::Variant("stats".into()), 0), "bridge@a/stats");
        assert_eq!(name(Group::Path("svc".into()), 2), "bridge@a/svc#3");
        assert_eq!(name(Group::Gateway("entry".into()), 0), "bridge@a/gateway-entry");
        assert_eq!(name(Group::Policy(None), 0), "bridge@a/policy");
        assert_eq!(name(Group::Policy(Some("heavy".into())), 0), "bridge@a/policy-heavy");
    }
}
