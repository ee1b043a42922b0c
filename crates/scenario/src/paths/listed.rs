//! `paths:`, each by its name.

use hopbench_model::{Affinity, MeshMode, Path, Via};

use super::place::{MODES, VIA, Words};
use super::sidecars;
use crate::document::fields::{Fields, joined, named};
use crate::document::node::{At, Kind, Node};
use crate::document::problem::Problems;

/// The keys of a path.
pub(crate) const PATH_KEYS: &[&str] =
    &["from", "to", "via", "clients", "backends", "affinity", "mesh"];
/// The most clients, and the most backends, of one path.
pub(crate) const MOST_ENDS: u32 = 1000;

const FORM: &str = "a path like `host@a -> bridge@b`, or a mapping with from and to";

/// Reads `paths:`.
pub(crate) fn read(node: &Node, words: &Words<'_>, problems: &mut Problems) -> Vec<(At, Path)> {
    let entries =
        named(node, "paths", "a mapping from names to paths", problems).unwrap_or_default();
    let mut out = Vec::new();
    for (key, value) in entries {
        let key_path = joined("paths", &key.text);
        let path = match &value.kind {
            Kind::Scalar(text) => short(text, value.at, &key_path, words, problems),
            _ => long(value, &key_path, words, problems),
        };
        if let Some(path) = path.map(|path| Path { name: key.text.clone(), ..path }) {
            check(&path, value.at, &key_path, words, problems);
            // Of a mapping, the key that asks for the sidecars is to blame.
            let mode = match &value.kind {
                Kind::Map(map) => {
                    map.iter().find(|(key, _)| key.text == "mesh").map(|(_, mode)| mode.at)
                }
                _ => None,
            };
            let mode_path = if mode.is_some() { joined(&key_path, "mesh") } else { key_path };
            sidecars::check(&path, mode.unwrap_or(value.at), &mode_path, words, problems);
            out.push((key.at, path));
        }
    }
    out
}

/// `FROM -> TO`, then ` via VIA`, then ` mesh MODE`.
fn short(
    text: &str,
    at: At,
    path: &str,
    words: &Words<'_>,
    problems: &mut Problems,
) -> Option<Path> {
    let Some((from, rest)) = text.split_once("->") else {
        problems.add(at, path, crate::document::node::quoted(text), FORM);
        return None;
    };
    let (rest, mesh) =
        rest.split_once(" mesh ").map_or((rest, None), |(rest, mesh)| (rest, Some(mesh)));
    let (to, via) = rest.split_once(" via ").map_or((rest, None), |(to, via)| (to, Some(via)));
    let from = words.place(from.trim(), at, path, problems);
    let to = words.place(to.trim(), at, path, problems);
    let via = via.map_or(Some(Via::Direct), |via| words.via(via, at, path, problems));
    let mesh = mesh.map_or(Some(MeshMode::None), |mesh| words.mode(mesh, at, path, problems));
    Some(Path {
        name: String::new(),
        from: from?,
        to: to?,
        via: via?,
        clients: 1,
        backends: 1,
        affinity: Affinity::None,
        mesh: mesh?,
        variant: None,
    })
}

fn long(node: &Node, path: &str, words: &Words<'_>, problems: &mut Problems) -> Option<Path> {
    let fields = Fields::read(node, path, PATH_KEYS, FORM, problems)?;
    let mut place = |name: &str| {
        let Some(node) = fields.get(name) else {
            problems.add(
                fields.at,
                path,
                format!("no `{name}`"),
                "both ends: from and to, like bridge@a",
            );
            return None;
        };
        let key = fields.path_of(name);
        match node.text() {
            Some(text) => words.place(text, node.at, &key, problems),
            None => {
                problems.add(node.at, &key, node.shown(), "a place like bridge@a");
                None
            }
        }
    };
    let (from, to) = (place("from"), place("to"));
    let at = |name| fields.get(name).map_or(fields.at, |node| node.at);
    let via = match fields.parsed::<String>("via", VIA, problems) {
        Some(text) => words.via(&text, at("via"), &fields.path_of("via"), problems),
        None => Some(Via::Direct),
    };
    let mesh = match fields.parsed::<String>("mesh", MODES, problems) {
        Some(text) => words.mode(&text, at("mesh"), &fields.path_of("mesh"), problems),
        None => Some(MeshMode::None),
    };
    let mut ends = |name| {
        let possible = |n: &u32| (1..=MOST_ENDS).contains(n);
        fields.checked(name, "a whole number from 1 to 1000", possible, problems).unwrap_or(1)
    };
    let (clients, backends) = (ends("clients"), ends("backends"));
    let is_affinity = |text: &String| text == Affinity::CLIENT_IP;
    let affinity = match fields.checked("affinity", Affinity::CLIENT_IP, is_affinity, problems) {
        Some(_) => Affinity::ClientIp,
        None => Affinity::None,
    };
    Some(Path {
        name: String::new(),
        from: from?,
        to: to?,
        via: via?,
        clients,
        backends,
        affinity,
        mesh: mesh?,
        variant: None,
    })
}

/// What no single key of a path is to blame for.
pub(crate) fn check(path: &Path, at: At, key: &str, words: &Words<'_>, problems: &mut Problems) {
    if path.backends > 1 && path.via == Via::Direct {
        let expected = "one backend without a Service or gateway; for more, via: cluster-ip, node-port@NODE, load-balancer or gateway@NODE";
        problems.add(at, key, format!("{} backends", path.backends), expected);
    }
    if path.affinity == Affinity::ClientIp && !path.balances_by_address() {
        let expected = "via: cluster-ip, node-port@NODE or load-balancer, and with cluster-ip no sidecar of the client: only a Service knows clients by their addresses";
        problems.add(at, &joined(key, "affinity"), "`client-ip`", expected);
    }
    let twice = words.vocabulary.network(&path.from.network).is_some_and(|kind| kind.both_ends);
    if path.from == path.to && !twice {
        let expected = format!(
            "two places; one node cannot hold both ends of a path of kind {}",
            path.from.network
        );
        problems.add(at, key, format!("`{}` at both ends", path.from), expected);
    }
}

/// The nodes of a path.
pub(crate) fn nodes(path: &Path) -> Vec<&str> {
    let mut out = vec![path.from.node.as_str(), path.to.node.as_str()];
    if let Via::NodePort(node) | Via::Gateway(node) = &path.via
        && !node.is_empty()
    {
        out.push(node);
    }
    out
}
