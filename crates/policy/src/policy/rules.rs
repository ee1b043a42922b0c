//! The table of the policy service: who may not pass. What no rule is about is allowed, so that
//! each request that a scenario sends goes through the whole table.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

/// What is asked about.
#[derive(Debug, Default)]
pub(crate) struct Question<'a> {
    /// Where it comes from.
    pub(crate) source: Option<IpAddr>,
    /// Who the source proved to be; empty where it proved nothing.
    pub(crate) principal: &'a str,
    /// The port that it came to.
    pub(crate) port: Option<u16>,
    /// The request; absent: a connection.
    pub(crate) http: Option<Http<'a>>,
}

/// What is asked about a request.
#[derive(Debug)]
pub(crate) struct Http<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// Names in lower case.
    pub(crate) headers: &'a HashMap<String, String>,
}

/// Whoever meets all conditions is denied.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its name, which whoever is denied gets to know.
    pub(crate) name: &'static str,
    when: &'static [Condition],
}

/// What a rule looks at. About a connection that is not HTTP, conditions on a request never hold.
#[derive(Debug)]
enum Condition {
    /// The source is in this network, of so many bits.
    Source(Ipv4Addr, u32),
    /// The source's principal begins so.
    Principal(&'static str),
    /// The port it came to.
    Port(u16),
    /// The request's method.
    Method(&'static str),
    /// The request's path begins so.
    Path(&'static str),
    /// The request has this header with this value.
    Header(&'static str, &'static str),
}

/// The rules, in the order in which they are looked at. No workload meets one unless somebody wants
/// it to.
const RULES: &[Rule] = &[
    Rule { name: "asked-for", when: &[Condition::Header("x-hopbench-deny", "1")] },
    // A network of the loopback interface: the way to be denied without HTTP.
    Rule { name: "source", when: &[Condition::Source(Ipv4Addr::new(127, 66, 0, 0), 16)] },
    Rule { name: "principal", when: &[Condition::Principal("spiffe://hopbench/denied/")] },
    Rule {
        name: "discard-port",
        when: &[Condition::Port(9), Condition::Source(Ipv4Addr::UNSPECIFIED, 0)],
    },
    Rule { name: "trace", when: &[Condition::Method("TRACE")] },
    Rule { name: "private-path", when: &[Condition::Path("/.private/"), Condition::Method("GET")] },
];

/// The first rule that denies it; `None`: it is allowed.
pub(crate) fn denied(question: &Question<'_>) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.when.iter().all(|condition| condition.holds(question)))
}

impl Condition {
    fn holds(&self, question: &Question<'_>) -> bool {
        let http = question.http.as_ref();
        match *self {
            Self::Source(network, bits) => {
                match question.source.map(|source| source.to_canonical()) {
                    Some(IpAddr::V4(source)) => is_within(source, network, bits),
                    _ => false,
                }
            }
            Self::Principal(begin) => question.principal.starts_with(begin),
            Self::Port(port) => question.port == Some(port),
            Self::Method(method) => http.is_some_and(|http| http.method == method),
            Self::Path(begin) => http.is_some_and(|http| http.path.starts_with(begin)),
            Self::Header(name, value) => {
                http.and_then(|http| http.headers.get(name)).is_some_and(|found| found == value)
            }
        }
    }
}

fn is_within(address: Ipv4Addr, network: Ipv4Addr, bits: u32) -> bool {
    let other = address.to_bits() ^ network.to_bits();
    // A shift by 32 leaves nothing of it.
    other.checked_shr(32 - bits).unwrap_or_default() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(question: &Question<'_>) -> Option<&'static str> {
        denied(question).map(|rule| rule.name)
    }

    fn from(source: &str) -> Question<'static> {
        Question { source: source.parse().ok(), port: Some(80), ..Question::default() }
    }

    #[test]
    fn what_no_rule_is_about_is_allowed() {
        assert_eq!(name(&Question::default()), None);
        assert_eq!(name(&from("10.10.0.1")), None);
        let headers = HashMap::from([("x-hopbench-deny".to_owned(), "0".to_owned())]);
        let http = Http { method: "GET", path: "/1024", headers: &headers };
        assert_eq!(
            name(&Question {
                principal: "spiffe://hopbench/a",
                http: Some(http),
                ..from("10.10.0.1")
            }),
            None
        );
    }

    #[test]
    fn each_rule_denies_what_it_is_about() {
        let none = HashMap::new();
        let asked = HashMap::from([("x-hopbench-deny".to_owned(), "1".to_owned())]);
        let request = |method, path, headers| Question {
            http: Some(Http { method, path, headers }),
            ..from("10.0.0.1")
        };
        assert_eq!(name(&request("GET", "/", &asked)), Some("asked-for"));
        assert_eq!(name(&request("TRACE", "/", &none)), Some("trace"));
        assert_eq!(name(&request("GET", "/.private/x", &none)), Some("private-path"));
        assert_eq!(name(&request("POST", "/.private/x", &none)), None, "one of two conditions");
        assert_eq!(
            name(&Question { principal: "spiffe://hopbench/denied/x", ..from("10.0.0.1") }),
            Some("principal")
        );
        assert_eq!(name(&Question { port: Some(9), ..from("10.0.0.1") }), Some("discard-port"));
        assert_eq!(name(&from("127.66.0.1")), Some("source"));
        assert_eq!(name(&from("::ffff:127.66.255.255")), Some("source"));
    }

    #[test]
    fn networks_have_edges() {
        for outside in ["127.65.255.255", "127.67.0.0", "::1", "2001:db8::7f42:1"] {
            assert_eq!(name(&from(outside)), None, "{outside}");
        }
        let (low, high) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST);
        assert!(is_within(high, low, 0) && !is_within(high, low, 1) && is_within(low, low, 32));
    }
}
