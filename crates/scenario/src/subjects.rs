//! `subjects:`, the set-ups that a run compares on every path.
//!
//! ```yaml
//! subjects:
//!   old:                                 # changes nothing
//!   new: {envoy: ./envoy-new, bounds: {p99_response: 5%}}
//! ```

mod node;

use std::collections::BTreeMap;

use hopbench_model::{MeshProvider, Subject, SubjectCommand, Variant};

use crate::document::fields::{Fields, joined};
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::document::share::Share;
use crate::document::yaml;
use crate::paths::mesh::Mesh;
use crate::paths::place::Words;
use crate::testbed::{IMAGE_FORM, Testbed, is_image, is_node_name};

/// The keys of a subject.
#[rustfmt::skip]
pub(crate) const SUBJECT_KEYS: &[&str] = &[
    "mtu", "offloads", "sysctl", "envoy", "agent", "proxy", "env", "variant", "network", "runtime",
    "command", "bounds",
];
/// Those that only a lab can keep.
const LAB_ONLY: &[&str] = &["mtu", "offloads", "sysctl", "envoy"];
/// Those that only a cluster can keep.
const CLUSTER_ONLY: &[&str] = &["agent", "proxy"];
/// The keys of a command.
pub(crate) const COMMAND_KEYS: &[&str] = &["before", "after"];
/// The most subjects of a scenario.
pub(crate) const MOST_SUBJECTS: usize = 8;

const KEY: &str = "subjects";
const FLAG: &str = "--subject";
/// The subject that stands before a single one.
const UNCHANGED: &str = "old";
const FORM: &str = "a mapping like {old: {}, new: {mtu: 1400}}";
const SETTINGS: &str = "a mapping of what it changes, like {mtu: 1400}";
const SUBJECT_NAME: &str =
    "a name of at most 15 lower-case letters, digits and - that starts with a letter";

/// Reads the subjects of the flags, or else those of the scenario. Before a single one stands
/// `old`, which changes nothing.
pub(crate) fn read(
    node: Option<&Node>,
    flags: &[String],
    (words, testbed): (&Words<'_>, &Testbed),
    mesh: Option<&Mesh>,
    problems: &mut Problems,
) -> Vec<Subject> {
    let reader = Reader { words, testbed, mesh };
    let (at, key) = match (flags, node) {
        ([], None) => return Vec::new(),
        ([], Some(node)) => (node.at, KEY),
        _ => (At::default(), FLAG),
    };
    if testbed.is_hosts() {
        problems.add(
            at,
            key,
            "subjects",
            "a lab or a cluster: machines with agents are as they are",
        );
        return Vec::new();
    }
    let mut out = match (flags, node) {
        ([], Some(node)) => reader.block(node, problems),
        _ => flags.iter().filter_map(|flag| reader.flag(flag, problems)).collect(),
    };
    if let [one] = out.as_slice()
        && one.name != UNCHANGED
    {
        out.insert(0, Subject { name: UNCHANGED.to_owned(), ..Subject::default() });
    }
    for (number, subject) in out.iter().enumerate() {
        if out[..number].iter().any(|other| other.name == subject.name) {
            let found = format!("{} a second time", quoted(&subject.name));
            problems.add(at, key, found, "each subject once");
        }
    }
    if let Some(first) = out.first().filter(|first| !first.bounds.is_empty()) {
        let found = format!("bounds of {}, the first subject", quoted(&first.name));
        problems.add(at, key, found, "bounds of another one: they are compared with the first");
    }
    let found = match out.len() {
        2..=MOST_SUBJECTS => return out,
        0 | 1 => "no subject to compare with",
        _ => "more than 8 subjects",
    };
    problems.add(
        at,
        key,
        found,
        "2 to 8 subjects, the first of which the others are compared with",
    );
    out
}

struct Reader<'a> {
    words: &'a Words<'a>,
    testbed: &'a Testbed,
    mesh: Option<&'a Mesh>,
}

impl Reader<'_> {
    fn block(&self, node: &Node, problems: &mut Problems) -> Vec<Subject> {
        let Kind::Map(map) = &node.kind else {
            problems.add(node.at, KEY, node.shown(), FORM);
            return Vec::new();
        };
        let mut out = Vec::new();
        for (key, value) in map {
            let path = joined(KEY, &key.text);
            out.extend(self.subject(&key.text, value, key.at, &path, problems));
        }
        out
    }

    /// `NAME`, or `NAME=` and what it changes: `new=mtu: 1400`, `new={mtu: 1400}`.
    fn flag(&self, flag: &str, problems: &mut Problems) -> Option<Subject> {
        let (name, text) = flag.split_once('=').unwrap_or((flag, ""));
        let text = match text.trim() {
            text if text.starts_with('{') => text.to_owned(),
            text => format!("{{{text}}}"),
        };
        let mut of_flag = Problems::new(FLAG);
        let node = yaml::load(&text, &mut of_flag);
        let subject = node
            .and_then(|node| self.subject(name.trim(), &node, At::default(), FLAG, &mut of_flag));
        problems.adopt(of_flag);
        subject
    }

    fn subject(
        &self,
        name: &str,
        node: &Node,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Subject> {
        if !is_node_name(name) {
            problems.add(at, path, quoted(name), SUBJECT_NAME);
            return None;
        }
        let mut out = Subject { name: name.to_owned(), ..Subject::default() };
        if matches!(node.kind, Kind::Null) {
            return Some(out);
        }
        let fields = Fields::read(node, path, SUBJECT_KEYS, SETTINGS, problems)?;
        for (key, _, node) in fields.entries() {
            if let Some(expected) = self.lacks(key) {
                problems.add(node.at, &fields.path_of(key), format!("`{key}`"), expected);
            }
        }
        out.node = node::read(&fields, problems);
        if !self.testbed.is_lab() {
            out.pod.env = std::mem::take(&mut out.node.env);
        }
        let is_name = |image: &String| is_image(image);
        out.pod.agent = fields.checked("agent", IMAGE_FORM, is_name, problems);
        out.pod.proxy = fields.checked("proxy", IMAGE_FORM, is_name, problems);
        out.variant = self.variant(&fields, problems);
        out.network = self.network(&fields, problems);
        out.runtime = self.runtime(&fields, problems);
        out.command = command(&fields, problems);
        out.bounds = bounds(&fields, problems);
        Some(out)
    }

    /// What the testbed must have for a key, and does not.
    fn lacks(&self, key: &str) -> Option<&'static str> {
        let testbed = self.testbed;
        let has_sidecars =
            matches!(testbed.provider(), Some(MeshProvider::Envoy | MeshProvider::Istio));
        match key {
            _ if testbed.is_lab() => CLUSTER_ONLY.contains(&key).then_some(
                "a cluster with it; in a lab agents are this program, and `envoy` is that of \
                 proxies",
            ),
            _ if LAB_ONLY.contains(&key) => Some(
                "a lab with it; on a cluster a subject changes agent, proxy, env, variant, \
                 network, runtime or command",
            ),
            "proxy" if !has_sidecars => Some(
                "the mesh provider envoy or istio; hopbench cannot give proxies of others an image",
            ),
            "command" if !testbed.allows_commands() => Some(
                "`allow-commands: true` under `testbed: kubernetes:`: commands run on this machine",
            ),
            _ => None,
        }
    }

    /// A variant of the scenario, or a known one.
    fn variant(&self, fields: &Fields<'_>, problems: &mut Problems) -> Option<Variant> {
        let name: String = fields.parsed("variant", "the name of a variant", problems)?;
        let own = self.mesh.map_or(&[][..], |mesh| &mesh.variants);
        if own.len() > 1 {
            let expected = "one variant in `mesh`: a subject takes its place";
            problems.add(fields.at, &fields.path_of("variant"), quoted(&name), expected);
            return None;
        }
        let all: Vec<Variant> = own.iter().cloned().chain(Variant::known()).collect();
        let found = all.iter().find(|variant| variant.name == name);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|variant| variant.name.as_str()).collect();
            let at = fields.get("variant").map_or(fields.at, |node| node.at);
            problems.unknown(at, &fields.path_of("variant"), &name, &names);
        }
        found.cloned()
    }

    /// Network kinds that take the place of others.
    fn network(&self, fields: &Fields<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
        let (mut out, path) = (BTreeMap::new(), fields.path_of("network"));
        for (at, from, to) in fields.texts("network", "a mapping like {bridge: overlay}", problems)
        {
            for kind in [&from, &to] {
                if self.words.vocabulary.network(kind).is_none() {
                    self.words.unknown_kind(kind, at, &path, problems);
                }
            }
            out.insert(from, to);
        }
        out
    }

    fn runtime(&self, fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
        let name: String = fields.parsed("runtime", "the name of a runtime", problems)?;
        let known = self.words.vocabulary.runtime_names();
        if !self.words.vocabulary.any_runtime && !known.contains(&name.as_str()) {
            let at = fields.get("runtime").map_or(fields.at, |node| node.at);
            problems.unknown(at, &fields.path_of("runtime"), &name, &known);
            return None;
        }
        Some(name)
    }
}

fn command(fields: &Fields<'_>, problems: &mut Problems) -> SubjectCommand {
    let mut out = SubjectCommand::default();
    let Some(node) = fields.get("command") else { return out };
    let form = "a mapping like {before: COMMAND, after: COMMAND}";
    if let Some(of) = Fields::read(node, &fields.path_of("command"), COMMAND_KEYS, form, problems) {
        out.before = of.parsed("before", "a command of the shell", problems);
        out.after = of.parsed("after", "a command of the shell", problems);
    }
    out
}

/// How much worse figures may be, as shares.
fn bounds(fields: &Fields<'_>, problems: &mut Problems) -> BTreeMap<String, f64> {
    let (mut out, path) = (BTreeMap::new(), fields.path_of("bounds"));
    for (at, metric, text) in fields.texts("bounds", "a mapping like {p99: 5%}", problems) {
        let is_metric = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        match text.parse::<Share>() {
            Ok(Share(share)) if share <= 100.0 && metric.chars().all(is_metric) => {
                out.insert(metric, share);
            }
            _ => {
                let found = quoted(&format!("{metric}: {text}"));
                problems.add(at, &path, found, "a metric and a share of it, like p99: 5%");
            }
        }
    }
    out
}
