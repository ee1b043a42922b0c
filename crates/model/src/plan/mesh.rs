//! The proxies of a path: mesh modes, and variants of their setup.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::number::counted;

/// The field of an answer's head in which a proxy says by Envoy's flags why it gave the answer
/// itself: `UF`.
pub const FLAGS_HEADER: &str = "x-hopbench-flags";

/// What the evidence of a hop begins with where the traffic of a trial is none that proxies carry.
pub const BYPASSES_PROXY: &str = "bypasses proxy";

/// The name of a proxy on a node, which serves both ends of a path and all other pods there.
pub const NODE_PROXY: &str = "node-proxy";

/// The role of a proxy on its path, from its name there: the second server's sidecar,
/// `server-sidecar#2`, is a `server-sidecar`.
pub fn proxy_role(name: &str) -> &str {
    name.split_once('#').map_or(name, |(role, _)| role)
}

/// The ends of a path with a sidecar that the traffic passes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MeshMode {
    /// Neither: the ports are excluded from interception.
    #[default]
    None,
    /// The server's.
    Server,
    /// The client's.
    Client,
    /// Both.
    Both,
}

impl MeshMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::None, Self::Server, Self::Client, Self::Both];

    /// Its word in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Server => "server",
            Self::Client => "client",
            Self::Both => "both",
        }
    }

    /// A line about it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::None => "no sidecar: the ports are excluded from interception",
            Self::Server => "the traffic passes the server's sidecar",
            Self::Client => "the traffic passes the client's sidecar",
            Self::Both => "the traffic passes both",
        }
    }

    /// Whether there is none, for serde.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Whether the client's sidecar takes part.
    pub fn has_client(self) -> bool {
        matches!(self, Self::Client | Self::Both)
    }

    /// Whether the server's sidecar takes part.
    pub fn has_server(self) -> bool {
        matches!(self, Self::Server | Self::Both)
    }
}

impl fmt::Display for MeshMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What proxies speak with each other.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2.
    Http2,
}

/// How the proxies of a path are set up: a short named thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name in the scenario.
    pub name: String,
    /// Whether proxies authenticate each other and encrypt between them.
    pub mtls: bool,
    /// Statistics for each route and each peer.
    pub stats: bool,
    /// A line in a file for each request or connection.
    pub access_log: bool,
    /// A policy service is asked before each request (HTTP) or connection (TCP).
    pub policy_check: bool,
    /// Each request or connection is reported to a telemetry service.
    pub policy_report: bool,
    /// Worker threads of each proxy, at least 1.
    pub concurrency: u32,
    /// The most connections that a proxy opens to one upstream cluster; absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u32>,
    /// What proxies speak with each other: `http1` stands for what the client speaks. Where it is
    /// `http2`, they speak with applications what the client speaks with them.
    pub upstream: HttpVersion,
    /// A script of Lua that the HTTP filters of its proxies run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lua: Option<String>,
    /// Annotations of the pods with its sidecars, for the mesh of a cluster.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Variant {
    /// Worker threads where the scenario does not say: what Istio gives its sidecars.
    pub const CONCURRENCY: u32 = 2;

    /// The name of the variant that paths have where the scenario describes none.
    pub const PLAIN: &'static str = "plain";

    /// Mutual TLS and nothing else.
    pub fn plain() -> Self {
        Self {
            name: Self::PLAIN.to_owned(),
            mtls: true,
            stats: false,
            access_log: false,
            policy_check: false,
            policy_report: false,
            concurrency: Self::CONCURRENCY,
            max_connections: None,
            upstream: HttpVersion::Http1,
            lua: None,
            annotations: BTreeMap::new(),
        }
    }

    /// The work of its proxies, in a line:
    /// `mTLS, any HTTP, 2 workers, statistics for each route and peer`.
    pub fn summary(&self) -> String {
        let http = match self.upstream {
            HttpVersion::Http1 => "any HTTP",
            HttpVersion::Http2 => "HTTP/2",
        };
        let workers = counted(u64::from(self.concurrency), "worker", "workers");
        let mut out = format!("{}, {http}, {workers}", if self.mtls { "mTLS" } else { "no TLS" });
        for (does, what) in [
            (self.stats, "statistics for each route and peer"),
            (self.access_log, "a log line for each request"),
            (self.policy_check, "a policy check for each request"),
            (self.policy_report, "a telemetry report for each request"),
        ] {
            if does {
                out.push_str(&format!(", {what}"));
            }
        }
        if let Some(most) = self.max_connections {
            out.push_str(&format!(", at most {most} upstream connections"));
        }
        if self.lua.is_some() {
            out.push_str(", a script of Lua");
        }
        for (key, value) in &self.annotations {
            out.push_str(&format!(", annotation {key}: {value}"));
        }
        out
    }

    /// The most characters of a name that [`Variant::name_of`] makes; a longer one nobody reads.
    const LONGEST_NAME: usize = 40;

    /// A name for what it does: how it differs from [`Variant::plain`], like `no-mtls`,
    /// `policy-check+policy-report` or `concurrency=4`; `custom` where that would be longer than 40
    /// characters.
    pub fn name_of(&self) -> String {
        let plain = Self::plain();
        let switches = [
            (!self.mtls, "no-mtls"),
            (self.stats, "stats"),
            (self.access_log, "access-log"),
            (self.policy_check, "policy-check"),
            (self.policy_report, "policy-report"),
            (self.upstream == HttpVersion::Http2, "http2"),
            (self.lua.is_some(), "lua"),
        ];
        let mut ways: Vec<String> =
            switches.iter().filter(|(is, _)| *is).map(|(_, way)| (*way).to_owned()).collect();
        ways.extend(
            (self.concurrency != plain.concurrency)
                .then(|| format!("concurrency={}", self.concurrency)),
        );
        ways.extend(self.max_connections.map(|most| format!("max-connections={most}")));
        ways.extend((!self.annotations.is_empty()).then(|| "annotated".to_owned()));
        match ways.join("+") {
            name if name.is_empty() => plain.name,
            name if name.len() > Self::LONGEST_NAME => "custom".to_owned(),
            name => name,
        }
    }

    /// The variants that a scenario can name without describing them.
    pub fn known() -> Vec<Self> {
        let plain = Self::plain();
        let named = |name: &str| Self { name: name.to_owned(), ..plain.clone() };
        vec![
            Self { stats: true, ..named("stats") },
            Self { access_log: true, ..named("access-log") },
            Self { policy_check: true, ..named("policy-check") },
            Self { policy_report: true, ..named("policy-report") },
            Self { mtls: false, ..named("no-mtls") },
            Self { upstream: HttpVersion::Http2, ..named("http2") },
            plain,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_of_one_role_differ_in_a_number() {
        for (name, role) in [
            ("gateway", "gateway"),
            ("server-sidecar", "server-sidecar"),
            ("server-sidecar#2", "server-sidecar"),
            ("server-sidecar#12", "server-sidecar"),
        ] {
            assert_eq!(proxy_role(name), role);
        }
    }

    #[test]
    fn a_summary_tells_everything_that_is_set() {
        assert_eq!(Variant::plain().summary(), "mTLS, any HTTP, 2 workers");
        let other = Variant {
            mtls: false,
            policy_report: true,
            concurrency: 1,
            max_connections: Some(8),
            upstream: HttpVersion::Http2,
            ..Variant::plain()
        };
        let told = "no TLS, HTTP/2, 1 worker, a telemetry report for each request, at most 8 \
                    upstream connections";
        assert_eq!(other.summary(), told);
        let lines: std::collections::BTreeSet<String> =
            Variant::known().iter().map(Variant::summary).collect();
        assert_eq!(lines.len(), Variant::known().len());
    }

    #[test]
    fn a_name_is_made_of_what_differs() {
        let mut known = Variant::known();
        known.iter().for_each(|one| assert_eq!(one.name_of(), one.name));
        let two = Variant { policy_check: true, policy_report: true, ..known.remove(0) };
        let plain = Variant::plain;
        for (variant, name) in [
            (Variant { stats: false, ..two.clone() }, "policy-check+policy-report"),
            (Variant { concurrency: 4, ..plain() }, "concurrency=4"),
            (
                Variant { mtls: false, max_connections: Some(8), ..plain() },
                "no-mtls+max-connections=8",
            ),
            (Variant { access_log: true, ..two }, "custom"),
        ] {
            assert_eq!(variant.name_of(), name);
        }
    }

    #[test]
    fn known_variants_differ_and_have_names_of_their_own() {
        let known = Variant::known();
        for (at, one) in known.iter().enumerate() {
            for other in &known[at + 1..] {
                assert_ne!(one.name, other.name);
                assert_ne!(&Variant { name: other.name.clone(), ..one.clone() }, other);
            }
        }
    }
}
