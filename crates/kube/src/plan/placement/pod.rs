//! The identity of a pod: its place, its purpose, its server program and its number.

use std::fmt;

use hopbench_model::Place;
use hopbench_testbed::AgentId;

/// The port on which agents listen, and on which a Service offers them; on nodes' own networks each
/// run has others.
pub(crate) const AGENT_PORT: u16 = 7474;

/// The identity of a pod: its place, its purpose, its server program, and its number, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PodId {
    pub(crate) place: Place,
    pub(crate) group: Group,
    /// The server program beside the agent, by its name in the scenario; absent: the agent answers
    /// itself.
    pub(crate) program: Option<String>,
    pub(crate) index: u32,
}

/// The purpose of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    /// All paths that do not disturb each other.
    Shared,
    /// The path of this name alone.
    Path(String),
    /// Paths with this setup of proxies, if that is not the first of all variants.
    Variant(String),
    /// Clients that connect to their own sidecar, with the same.
    Client(Option<String>),
    /// The gateway of the path of this name.
    Gateway(String),
    /// The services that proxies ask, with the same.
    Policy(Option<String>),
}

/// `bridge@a`, and the next ones `bridge@a#2` ...; `bridge@b/PATH` or `bridge@b/VARIANT`, with a
/// server program `bridge@b:nginx`; of a mesh `bridge@a/client`, `bridge@c/gateway-PATH`,
/// `bridge@b/policy-VARIANT`.
impl fmt::Display for PodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        let later = |variant: &Option<String>| variant.as_ref().map(|name| format!("-{name}")).unwrap_or_default();
        match &self.group {
            Group::Shared => {}
            Group::Path(name) | Group::Variant(name) => write!(f, "/{name}")?,
            Group::Client(variant) => write!(f, "/client{}", later(variant))?,
            Group::Gateway(path) => write!(f, "/gateway-{path}")?,
            Group::Policy(variant) => write!(f, "/policy{}", later(variant))?,
        }
        if let Some(program) = &self.program {
            write!(f, ":{program}")?;
        }
        match self.index {
            0 => Ok(()),
            more => write!(f, "#{}", more + 1),
        }
    }
}

impl PodId {
    /// Whether it is in its node's own network, which it shares with others.
    pub(crate) fn is_host(&self) -> bool {
        self.place.network == "host"
    }

    /// Whether there is an agent in it, and not only what serves a mesh.
    pub(crate) fn has_agent(&self) -> bool {
        !matches!(self.group, Group::Gateway(_) | Group::Policy(_))
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
        let name = |group: Group, program: Option<&str>, index: u32| {
            let place = Place { network: "bridge".into(), node: "a".into(), runtime: None };
            PodId { place, group, program: program.map(str::to_owned), index }.to_string()
        };
        assert_eq!(name(Group::Shared, None, 0), "bridge@a");
        assert_eq!(name(Group::Shared, None, 1), "bridge@a#2");
        assert_eq!(name(Group::Shared, Some("nginx"), 0), "bridge@a:nginx");
        assert_eq!(name(Group::Path("svc".into()), None, 2), "bridge@a/svc#3");
        assert_eq!(name(Group::Path("svc".into()), Some("nginx"), 1), "bridge@a/svc:nginx#2");
    }
}
