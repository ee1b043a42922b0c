//! `hosts:`, machines on which somebody started agents.

use hopbench_model::{Host, HostsSpec};

use super::lab::MOST_NODES;
use super::names::{DOMAIN, endpoint, is_domain, is_host};
use crate::document::fields::{Fields, joined, twice};
use crate::document::node::{Key, Kind, Node, quoted};
use crate::document::problem::Problems;

/// The keys of the block.
pub(crate) const HOSTS_KEYS: &[&str] = &["nodes", "token-file"];
/// The keys of a machine.
pub(crate) const HOST_KEYS: &[&str] = &["control", "address", "token-file"];

const FORM: &str = "a mapping with nodes, like {nodes: {a: 10.0.0.1, b: 10.0.0.2:7474}}";
const NODES: &str = "machines by name, like {a: 10.0.0.1, b: worker-2:7474}";
const HOST: &str =
    "an address like 10.0.0.1, 10.0.0.1:7474 or {control: 192.0.2.1, address: 10.0.0.1}";
const AGENT: &str =
    "name or address of a machine, with a port or without, like 10.0.0.1 or worker-1:7474";
const TOKEN_FILE: &str = "the file with a token";

/// The machines; none where they could not be read.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    nodes: Vec<Host>,
    token_file: Option<String>,
}

impl Hosts {
    /// Reads the block; `None` if it could not be read.
    pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let fields = Fields::read(node, path, HOSTS_KEYS, FORM, problems)?;
        let token_file =
            fields.checked("token-file", TOKEN_FILE, |file: &String| !file.is_empty(), problems);
        let Some(node) = fields.get("nodes") else {
            problems.add(fields.at, path, "no `nodes`", NODES);
            return None;
        };
        let nodes = nodes(node, &fields.path_of("nodes"), problems)?;
        Some(Self { nodes, token_file })
    }

    /// Names of the machines, if they are known.
    pub(super) fn listed(&self) -> Option<Vec<&str>> {
        (!self.nodes.is_empty()).then(|| self.nodes.iter().map(|host| host.name.as_str()).collect())
    }

    /// As it is in a plan.
    pub(super) fn spec(self) -> HostsSpec {
        let Self { nodes, token_file } = self;
        HostsSpec { nodes, token_file }
    }
}

/// `None` if some of them could not be read: every path to one that is missing would be reported,
/// too.
fn nodes(node: &Node, path: &str, problems: &mut Problems) -> Option<Vec<Host>> {
    let map = match &node.kind {
        Kind::Map(map) if !map.is_empty() => map,
        Kind::Map(_) => {
            problems.add(node.at, path, "an empty mapping", NODES);
            return None;
        }
        _ => {
            problems.add(node.at, path, node.shown(), NODES);
            return None;
        }
    };
    let before = problems.count();
    let mut out: Vec<Host> = Vec::new();
    for (key, value) in map {
        let host = host(key, value, path, problems);
        if out.iter().any(|known| known.name == key.text) {
            twice(key, path, problems);
        }
        out.extend(host);
    }
    if out.len() > MOST_NODES {
        problems.add(
            node.at,
            path,
            format!("{} machines", out.len()),
            format!("at most {MOST_NODES}"),
        );
    }
    (problems.count() == before).then_some(out)
}

fn host(key: &Key, node: &Node, path: &str, problems: &mut Problems) -> Option<Host> {
    if !is_domain(&key.text) {
        problems.add(key.at, path, quoted(&key.text), DOMAIN);
    }
    let name = key.text.clone();
    let path = joined(path, &key.text);
    match &node.kind {
        Kind::Scalar(text) if is_agent(text) => {
            Some(Host { name, control: text.clone(), address: None, token_file: None })
        }
        Kind::Scalar(text) => {
            problems.add(node.at, &path, quoted(text), AGENT);
            None
        }
        _ => {
            let fields = Fields::read(node, &path, HOST_KEYS, HOST, problems)?;
            if fields.get("control").is_none() {
                problems.add(
                    fields.at,
                    &path,
                    "no `control`",
                    "where its agent listens, like {control: 10.0.0.1:7474}",
                );
            }
            let mut agent =
                |name| fields.checked(name, AGENT, |text: &String| is_agent(text), problems);
            let (control, address) = (agent("control"), agent("address"));
            let token_file = fields.checked(
                "token-file",
                TOKEN_FILE,
                |file: &String| !file.is_empty(),
                problems,
            );
            Some(Host { name, control: control?, address, token_file })
        }
    }
}

/// Name or address, with a port or without.
fn is_agent(text: &str) -> bool {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    is_host(bracketed.unwrap_or(text)) || endpoint(text).is_some()
}
