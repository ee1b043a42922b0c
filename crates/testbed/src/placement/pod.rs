//! The identity of a pod: its place, its purpose, its server program and its number.

use std::fmt;

use hopbench_model::Place;

use crate::control::AgentId;

/// The port on which agents listen, and on which a Service offers them. Agents on a node's own
/// network have others.
pub const AGENT_PORT: u16 = 7474;

/// The identity of a pod, or of a seat in a node's own network.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodId {
    /// Its place.
    pub place: Place,
    /// The subject whose pods are its own; absent: it may be of several.
    pub subject: Option<String>,
    /// Its purpose.
    pub group: Group,
    /// The server program that has pods of its own, by its name in the scenario. Absent: the agent
    /// answers itself, or the program is beside it.
    pub program: Option<String>,
    /// Its number among those that have all of this in common, from 0.
    pub index: u32,
}

/// The purpose of a pod. The *first* variant is that of the first path that has one. It shares its
/// pods with paths without proxies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// All paths that do not disturb each other.
    Shared,
    /// The paths of another variant than the first.
    Variant(String),
    /// The path of this name alone.
    Path(String),
    /// Ends of a mesh that takes whole pods or whole server programs, of this variant; absent: of
    /// the first.
    Meshed(Option<String>),
    /// Clients that connect to their own sidecar, of this variant; absent: of the first.
    Client(Option<String>),
    /// The gateway of the path of this name.
    Gateway(String),
    /// The services that the proxies of this variant ask; absent: of the first.
    Policy(Option<String>),
    /// An agent alone, which only looks at its node. Only clusters have them.
    AgentAlone,
}

/// `bridge@a`, and the next ones `bridge@a#2` ...; `bridge@b/PATH` or `bridge@b/VARIANT`, with a
/// server program `bridge@b:nginx`; of a mesh `bridge@a/mesh`, `bridge@a/client`,
/// `bridge@c/gateway-PATH`, `bridge@b/policy-VARIANT`; of a subject `bridge@a~SUBJECT`; of an
/// agent alone `pod@c/onlooker`.
impl fmt::Display for PodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(subject) = &self.subject {
            // No name of a node has this sign.
            write!(f, "~{subject}")?;
        }
        let later = |variant: &Option<String>| {
            variant.as_ref().map(|name| format!("-{name}")).unwrap_or_default()
        };
        match &self.group {
            Group::Shared => {}
            Group::Path(name) | Group::Variant(name) => write!(f, "/{name}")?,
            Group::Meshed(variant) => write!(f, "/mesh{}", later(variant))?,
            Group::Client(variant) => write!(f, "/client{}", later(variant))?,
            Group::Gateway(path) => write!(f, "/gateway-{path}")?,
            Group::Policy(variant) => write!(f, "/policy{}", later(variant))?,
            Group::AgentAlone => f.write_str("/onlooker")?,
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
    /// The first pod of a place and group, without a server program of its own.
    pub fn first(place: Place, group: Group) -> Self {
        Self { place, subject: None, group, program: None, index: 0 }
    }

    /// Whether it is in its node's own network, which it shares with others.
    pub fn is_host(&self) -> bool {
        self.place.network == "host"
    }

    /// Whether it is an end of paths, and neither only serves a mesh nor only looks on.
    pub fn is_end(&self) -> bool {
        !matches!(self.group, Group::Gateway(_) | Group::Policy(_) | Group::AgentAlone)
    }

    /// Whether it is an agent alone that only looks at its node. No path needs it.
    pub fn is_agent_alone(&self) -> bool {
        self.group == Group::AgentAlone
    }

    /// Some pods in short: `bridge@a`, `20 x bridge@a`.
    pub fn summary(pods: &[Self]) -> String {
        match pods {
            [] => "nobody".to_owned(),
            [pod] => pod.to_string(),
            [pod, ..] => format!("{} x {}", pods.len(), pod.place),
        }
    }

    /// The agent in it.
    pub fn agent(&self) -> AgentId {
        AgentId(self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture;

    use super::*;

    #[test]
    fn pods_of_a_place_have_names_of_their_own() {
        let name = |group: Group, program: Option<&str>, index: u32| {
            let program = program.map(str::to_owned);
            let place = fixture::place("bridge", "a");
            PodId { place, subject: None, group, program, index }.to_string()
        };
        assert_eq!(name(Group::Shared, None, 0), "bridge@a");
        assert_eq!(name(Group::Shared, None, 1), "bridge@a#2");
        assert_eq!(name(Group::Shared, Some("nginx"), 0), "bridge@a:nginx");
        assert_eq!(name(Group::Variant("stats".into()), None, 0), "bridge@a/stats");
        assert_eq!(name(Group::Path("svc".into()), None, 2), "bridge@a/svc#3");
        assert_eq!(name(Group::Path("svc".into()), Some("nginx"), 1), "bridge@a/svc:nginx#2");
        assert_eq!(name(Group::Meshed(None), None, 1), "bridge@a/mesh#2");
        assert_eq!(name(Group::Client(Some("heavy".into())), None, 0), "bridge@a/client-heavy");
        assert_eq!(name(Group::Gateway("entry".into()), None, 0), "bridge@a/gateway-entry");
        assert_eq!(name(Group::Policy(None), None, 0), "bridge@a/policy");
        assert_eq!(name(Group::Policy(Some("heavy".into())), None, 0), "bridge@a/policy-heavy");
        assert_eq!(name(Group::AgentAlone, None, 0), "bridge@a/onlooker");
        let client = PodId::first(fixture::place("bridge", "a"), Group::Client(None));
        let client = PodId { subject: Some("new".to_owned()), index: 1, ..client };
        assert_eq!(client.to_string(), "bridge@a~new/client#2");
        let pod = PodId::first(fixture::place("bridge", "a"), Group::Policy(None));
        assert_eq!(PodId::summary(&vec![pod.clone(); 20]), "20 x bridge@a");
        assert_eq!(PodId::summary(&[pod]), "bridge@a/policy");
        assert_eq!(PodId::summary(&[]), "nobody");
    }
}
