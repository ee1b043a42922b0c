//! A subject: one of several set-ups that a run measures every path with, to compare them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::mesh::Variant;

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
    /// What it changes in the pods of a cluster.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub pod: PodSettings,
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
    /// By how much its figures may be worse than those of the first subject, as shares: 0.05 is 5
    /// %.
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

/// What a subject changes in the pods of a cluster. Pods with any of it are no other subject's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodSettings {
    /// The image of the agents; absent: that of the testbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The image of sidecars, and of gateways that hopbench makes itself; absent: the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
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
    /// The evidence in proofs of a path on which nothing could be read back that a subject changes.
    pub const NOT_READ_BACK: &'static str = "nothing to read back";

    /// The changes that it makes.
    pub fn changes(&self) -> SubjectChanges {
        let mut out = self.node.changes();
        out.extend(self.pod.changes());
        out.extend(self.variant.iter().map(|variant| format!("variant {}", variant.name)));
        out.extend(self.network.iter().map(|(from, to)| format!("network {to} for {from}")));
        out.extend(self.runtime.iter().map(|name| format!("runtime {name}")));
        out.extend(self.command.before.iter().map(|line| format!("before: {line}")));
        out.extend(self.command.after.iter().map(|line| format!("after: {line}")));
        SubjectChanges(out)
    }

    /// The hop of proofs whose evidence is what was read back of a subject.
    pub fn hop(name: &str) -> String {
        format!("subject {name}")
    }

    /// The name of a node for a subject: the first one has the nodes themselves.
    pub fn node_name(node: &str, subject: &str) -> String {
        format!("{node}.{subject}")
    }
}

/// The changes that a subject makes, in words: `mtu 1400, sysctl net.ipv4.tcp_rmem 4096 8192
/// 16384`, or `nothing`. As JSON they are this text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubjectChanges(Vec<String>);

impl SubjectChanges {
    /// The set-up that they come to, for readers: they themselves, or `as the testbed has it`.
    pub fn set_up(&self) -> String {
        if self.0.is_empty() { "as the testbed has it".to_owned() } else { self.to_string() }
    }
}

impl fmt::Display for SubjectChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("nothing") } else { f.write_str(&self.0.join(", ")) }
    }
}

impl Serialize for SubjectChanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl NodeSettings {
    /// Whether this names a parameter of the network: only those belong to a namespace. Others
    /// would change the whole machine.
    pub fn is_sysctl(key: &str) -> bool {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        (key.starts_with("net.") || key.starts_with("net/"))
            && key.chars().all(known)
            && !key.contains("..")
    }

    /// The changes that they make, in words.
    pub fn changes(&self) -> Vec<String> {
        let on = |on: bool| if on { "on" } else { "off" };
        let mut out: Vec<String> = self.mtu.iter().map(|mtu| format!("mtu {mtu}")).collect();
        out.extend(self.offloads.iter().map(|(name, is)| format!("{name} {}", on(*is))));
        out.extend(self.sysctl.iter().map(|(key, value)| format!("sysctl {key} {value}")));
        out.extend(self.envoy.iter().map(|path| format!("envoy {path}")));
        out.extend(env_changes(&self.env));
        out
    }
}

impl PodSettings {
    /// The changes that they make, in words.
    fn changes(&self) -> Vec<String> {
        let mut out: Vec<String> =
            self.agent.iter().map(|image| format!("agent {image}")).collect();
        out.extend(self.proxy.iter().map(|image| format!("proxy {image}")));
        out.extend(env_changes(&self.env));
        out
    }
}

fn env_changes(env: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    env.iter().map(|(name, value)| format!("env {name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parameters_of_the_network_can_be_set() {
        let is = NodeSettings::is_sysctl;
        assert!(is("net.ipv4.tcp_rmem") && is("net/ipv4/conf/eth0.1/mtu"));
        for wrong in ["", "vm.swappiness", "net", "net/../kernel/panic", "net.ipv4.x y", "net.."] {
            assert!(!is(wrong), "{wrong}");
        }
    }

    #[test]
    fn changes_are_told_in_words() {
        let node = NodeSettings {
            mtu: Some(1400),
            offloads: BTreeMap::from([("tso".to_owned(), false)]),
            ..NodeSettings::default()
        };
        let subject = Subject { node, ..Subject::default() };
        let changes = subject.changes();
        assert_eq!([changes.to_string(), changes.set_up()], ["mtu 1400, tso off"; 2]);
        let none = Subject::default().changes();
        assert_eq!([none.to_string(), none.set_up()], ["nothing", "as the testbed has it"]);
        let pod = PodSettings {
            agent: Some("hopbench:b".to_owned()),
            proxy: Some("envoy:2".to_owned()),
            env: BTreeMap::from([("GOMAXPROCS".to_owned(), "2".to_owned())]),
        };
        let subject = Subject { pod, ..Subject::default() };
        let changes = subject.changes().to_string();
        assert_eq!(changes, "agent hopbench:b, proxy envoy:2, env GOMAXPROCS=2");
        assert_eq!(Subject::node_name("a", "new"), "a.new");
    }
}
