//! A subject: one of several set-ups that a run measures every path with, to compare them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Plan;
use super::mesh::Variant;
use crate::number::as_written;

/// A set-up that every path is measured with. The first of a plan is what the others are compared
/// with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name in the scenario.
    pub name: String,
    /// What it changes on the nodes of its paths, and in the pods there.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub node: NodeSettings,
    /// The variant of its proxies; absent: that of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The network kinds that take the place of others, by the name of those.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network: BTreeMap<String, String>,
    /// The runtime around its pods; absent: that of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The commands around its trials.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub command: SubjectCommand,
    /// By how much its figures may be worse than those of the first subject, as shares: 0.05 is 5 %.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bounds: BTreeMap<String, f64>,
}

/// What a subject changes on a node of a lab, and in the pods there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// MTU of the links, bytes; absent: that of the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Offloads of the links, by the words of [`OFFLOADS`]: whether they are on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub offloads: BTreeMap<String, bool>,
    /// Parameters of the kernel, by their names: `net.ipv4.tcp_congestion_control`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
    /// The Envoy that proxies run, an absolute path; absent: the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envoy: Option<String>,
    /// Variables of the environment of server programs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Shell commands around the trials of a subject. A block changes the subject, so each runs often.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectCommand {
    /// Runs before a trial of the subject, unless the trial before was of it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Runs before the next trial of another subject, and at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The offloads of links that a subject can switch.
pub const OFFLOADS: &[&str] = &["gro", "gso", "rx-checksum", "tso", "tx-checksum"];

impl Subject {
    /// What it changes, in words: `mtu 1400, sysctl net.ipv4.tcp_rmem 4096 8192 16384`; `nothing`.
    pub fn changes(&self) -> String {
        let mut out = self.node.changes();
        out.extend(self.variant.iter().map(|variant| format!("variant {}", variant.name)));
        out.extend(self.network.iter().map(|(from, to)| format!("network {to} for {from}")));
        out.extend(self.runtime.iter().map(|name| format!("runtime {name}")));
        out.extend(self.command.before.iter().map(|line| format!("before: {line}")));
        out.extend(self.command.after.iter().map(|line| format!("after: {line}")));
        if out.is_empty() { "nothing".to_owned() } else { out.join(", ") }
    }

    /// Whether it makes programs run that somebody chose by it.
    pub fn runs_programs(&self) -> bool {
        self.node.envoy.is_some() || self.command != SubjectCommand::default()
    }

    /// Its bounds as they are written: `p99_response>5%`.
    pub fn bounds_text(&self) -> impl Iterator<Item = String> {
        let text =
            |(metric, share): (&String, &f64)| format!("{metric}>{}%", as_written(share * 100.0));
        self.bounds.iter().map(text)
    }

    /// The name of a node for a subject: the first one has the nodes themselves.
    pub fn node_name(node: &str, subject: &str) -> String {
        format!("{node}.{subject}")
    }
}

impl NodeSettings {
    /// What they change, in words.
    pub fn changes(&self) -> Vec<String> {
        let on = |on: bool| if on { "on" } else { "off" };
        let mut out: Vec<String> = self.mtu.iter().map(|mtu| format!("mtu {mtu}")).collect();
        out.extend(self.offloads.iter().map(|(name, is)| format!("{name} {}", on(*is))));
        out.extend(self.sysctl.iter().map(|(key, value)| format!("sysctl {key} {value}")));
        out.extend(self.envoy.iter().map(|path| format!("envoy {path}")));
        out.extend(self.env.iter().map(|(name, value)| format!("env {name}={value}")));
        out
    }
}

/// What a path is compared with instead of the plan's baseline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The name of that path.
    pub path: String,
    /// Whether it is that path once more: what the two differ by is noise.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub again: bool,
}

/// What each path of a plan is compared with, by indices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    baseline: Option<usize>,
    of: Vec<Option<usize>>,
    twins: BTreeMap<usize, usize>,
}

impl References {
    /// The path that this one is compared with; `None`: with no other.
    pub fn of(&self, path: usize) -> Option<usize> {
        self.of.get(path).copied().flatten()
    }

    /// The path that is this one once more.
    pub fn twin_of(&self, path: usize) -> Option<usize> {
        self.twins.get(&path).copied()
    }

    /// Whether a path is another one once more.
    pub fn is_twin(&self, path: usize) -> bool {
        self.twins.values().any(|twin| *twin == path)
    }

    /// Whether it is the baseline, or other paths are compared with this one.
    pub fn is_reference(&self, path: usize) -> bool {
        self.baseline == Some(path) || self.of.contains(&Some(path))
    }

    /// The path that others are compared with, of that path and of its twin; `None` of others.
    pub fn base_of(&self, path: usize) -> Option<usize> {
        if self.is_twin(path) {
            self.of(path)
        } else {
            Some(path).filter(|_| self.is_reference(path))
        }
    }

    /// The path that all others are compared with; `None` where that is not one.
    pub fn only(&self) -> Option<usize> {
        let mut of = self.of.iter().flatten();
        let first = of.next()?;
        of.all(|other| other == first).then_some(*first)
    }

    /// The paths with their twins.
    pub fn twins(&self) -> impl Iterator<Item = (usize, usize)> {
        self.twins.iter().map(|(path, twin)| (*path, *twin))
    }
}

impl Plan {
    /// What each path is compared with: its own reference, or else the baseline. The baseline, and
    /// a path that others have as their reference, are compared with nothing.
    pub fn references(&self) -> References {
        let place = |name: &String| self.paths.iter().position(|path| path.name == *name);
        let baseline = self.baseline.as_ref().and_then(place);
        let mut out = References { baseline, ..References::default() };
        for (at, path) in self.paths.iter().enumerate() {
            let own = path.reference.as_ref().and_then(|reference| place(&reference.path));
            let of = own.or(baseline).filter(|of| *of != at);
            let again = path.reference.as_ref().is_some_and(|reference| reference.again)
                || self.twin.as_ref() == Some(&path.name);
            out.of.push(of);
            out.twins.extend(of.filter(|_| again).map(|of| (of, at)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_path_is_compared_with_its_reference_or_with_the_baseline() {
        let path = |name: &str, of: Option<(&str, bool)>| crate::Path {
            reference: of.map(|(path, again)| Reference { path: path.to_owned(), again }),
            ..fixture::path(name)
        };
        let plain = Plan {
            baseline: Some("host".to_owned()),
            twin: Some("host again".to_owned()),
            ..fixture::plan(
                vec![path("host", None), path("bridge", None), path("host again", None)],
                vec![],
            )
        };
        let found = plain.references();
        assert_eq!([0, 1, 2].map(|at| found.of(at)), [None, Some(0), Some(0)]);
        assert_eq!(found.twins().collect::<Vec<_>>(), [(0, 2)]);
        assert!(found.is_twin(2) && found.is_reference(0) && !found.is_reference(1));
        assert_eq!(found.only(), Some(0));
        let subjects = fixture::plan(
            vec![
                path("x.old", None),
                path("x.new", Some(("x.old", false))),
                path("y.old", None),
                path("y.new", Some(("y.old", false))),
                path("y.old again", Some(("y.old", true))),
            ],
            vec![],
        );
        let found = subjects.references();
        let of: Vec<_> = (0..5).map(|at| found.of(at)).collect();
        assert_eq!(of, [None, Some(0), None, Some(2), Some(2)]);
        assert_eq!((found.twin_of(0), found.twin_of(2), found.only()), (None, Some(4), None));
    }

    #[test]
    fn changes_are_told_in_words() {
        let node = NodeSettings {
            mtu: Some(1400),
            offloads: BTreeMap::from([("tso".to_owned(), false)]),
            ..NodeSettings::default()
        };
        let bounds = BTreeMap::from([("p99".to_owned(), 0.05)]);
        let subject = Subject { node, bounds, ..Subject::default() };
        assert_eq!(subject.changes(), "mtu 1400, tso off");
        assert_eq!(subject.bounds_text().collect::<Vec<_>>(), ["p99>5%"]);
        assert_eq!(Subject::default().changes(), "nothing");
        assert_eq!(Subject::node_name("a", "new"), "a.new");
    }
}
