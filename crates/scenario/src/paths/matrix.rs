//! `places:`, the shorthand for many paths at once.
//!
//! ```yaml
//! places: [host, ptp, eni]         # nine paths, from the first node to the second
//!
//! places:
//!   from: [host]                   # or `kinds:` for both ends
//!   to: [host, bridge, bridge+runsc]
//!   nodes: {same-node: a -> a, cross-node: a -> b}
//!   via: [direct, cluster-ip]
//!   mesh: [none, server]
//! ```
//!
//! A path is called FROM-TO. The name of the pair of nodes follows where there are several, the way
//! where it is not direct, and the mode of the mesh. A `.` stands between them, as in
//! `host-bridge.cross-node.cluster-ip.server`. `node-port@c` becomes `node-port-c`.

use hopbench_model::{Gateways, MeshMode, Path, Via};

use super::listed::check;
use super::place::{Attachment, MODES, VIA, Words};
use super::sidecars;
use crate::document::fields::{Fields, named};
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;

/// The keys of the longer form.
pub(crate) const PLACES_KEYS: &[&str] = &["kinds", "from", "to", "nodes", "via", "mesh"];

const FORM: &str = "a list of network kinds like [host, bridge], or a mapping with kinds (or from \
                    and to), nodes, via and mesh";
const PAIR: &str = "a pair of nodes like a -> b, or named pairs like {near: a -> b, far: a -> c}";

/// More paths than that are a mistake.
pub(crate) const MOST_PATHS: usize = 10_000;

/// Two nodes; the name is empty where there is only one pair.
struct Pair {
    name: String,
    from: String,
    to: String,
}

/// The parts whose product the paths are.
struct Matrix {
    from: Vec<Attachment>,
    to: Vec<Attachment>,
    pairs: Vec<Pair>,
    via: Vec<(Via, Option<Gateways>)>,
    mesh: Vec<MeshMode>,
    /// Where the modes stand.
    mesh_at: At,
}

/// Reads `places:`.
pub(crate) fn read(node: &Node, words: &Words<'_>, problems: &mut Problems) -> Vec<(At, Path)> {
    let matrix = match &node.kind {
        Kind::List(_) => {
            let kinds = attachments(node, "places", words, problems);
            let pairs = first_two(node.at, words, problems);
            kinds.zip(pairs).map(|(kinds, pair)| Matrix {
                from: kinds.clone(),
                to: kinds,
                pairs: vec![pair],
                via: vec![(Via::Direct, None)],
                mesh: vec![MeshMode::None],
                mesh_at: node.at,
            })
        }
        _ => long(node, words, problems),
    };
    let Some(matrix) = matrix else {
        return Vec::new();
    };
    let Matrix { from, to, pairs, via, mesh, mesh_at } = &matrix;
    let sizes = [from.len(), to.len(), pairs.len(), via.len(), mesh.len()];
    let count = sizes.iter().fold(1, |n: usize, len| n.saturating_mul(*len));
    if count > MOST_PATHS {
        problems.add(node.at, "places", format!("{count} paths"), format!("at most {MOST_PATHS}"));
        return Vec::new();
    }
    let mut out = Vec::new();
    let ways = pairs.iter().flat_map(|pair| {
        via.iter().flat_map(move |via| mesh.iter().map(move |mesh| (pair, via, *mesh)))
    });
    for (pair, (via, gateways), mesh) in ways {
        for from in from {
            for to in to {
                let name = name(from, to, pair, via, mesh);
                let (via, gateways) = (via.clone(), gateways.clone());
                let straight = Path::straight(&name, from.on(&pair.from), to.on(&pair.to));
                let path = Path { via, gateways, mesh, ..straight };
                check(&path, node.at, "places", words, problems);
                sidecars::check(&path, *mesh_at, "places.mesh", words, problems);
                out.push((node.at, path));
            }
        }
    }
    out
}

fn name(from: &Attachment, to: &Attachment, pair: &Pair, via: &Via, mesh: MeshMode) -> String {
    let mut out = format!("{}-{}", from.name(), to.name());
    if !pair.name.is_empty() {
        out = format!("{out}.{}", pair.name);
    }
    if *via != Via::Direct {
        out = format!("{out}.{}", via.to_string().replace('@', "-"));
    }
    if !mesh.is_none() {
        out = format!("{out}.{mesh}");
    }
    out
}

fn long(node: &Node, words: &Words<'_>, problems: &mut Problems) -> Option<Matrix> {
    let fields = Fields::read(node, "places", PLACES_KEYS, FORM, problems)?;
    let mut list = |name: &str| {
        let node = fields.get(name)?;
        Some((node.at, attachments(node, &fields.path_of(name), words, problems)))
    };
    let (from, to) = match (list("kinds"), list("from"), list("to")) {
        (Some((_, kinds)), None, None) => (kinds.clone(), kinds),
        (None, Some((_, from)), Some((_, to))) => (from, to),
        (Some(_), Some((at, _)), _) | (Some(_), None, Some((at, _))) => {
            problems.add(
                at,
                "places",
                "`kinds` beside `from` or `to`",
                "either kinds, or from and to",
            );
            (None, None)
        }
        (None, ..) => {
            problems.add(fields.at, "places", "not both ends", "kinds, or from and to");
            (None, None)
        }
    };
    let pairs = match fields.get("nodes") {
        Some(nodes) => pairs(nodes, words, problems),
        None => first_two(fields.at, words, problems).map(|pair| vec![pair]),
    };
    let via = match fields.get("via") {
        Some(node) => {
            let texts = scalars(node, "places.via", VIA, problems);
            all(texts.unwrap_or_default(), |(at, text)| words.via(text, at, "places.via", problems))
        }
        None => Some(vec![(Via::Direct, None)]),
    };
    let mesh_at = fields.get("mesh").map_or(fields.at, |node| node.at);
    let mesh = match fields.get("mesh") {
        Some(node) => {
            let texts = scalars(node, "places.mesh", MODES, problems);
            all(texts.unwrap_or_default(), |(at, text)| {
                words.mode(text, at, "places.mesh", problems)
            })
        }
        None => Some(vec![MeshMode::None]),
    };
    Some(Matrix { from: from?, to: to?, pairs: pairs?, via: via?, mesh: mesh?, mesh_at })
}

/// `kinds`, `from` or `to`: one or several.
fn attachments(
    node: &Node,
    path: &str,
    words: &Words<'_>,
    problems: &mut Problems,
) -> Option<Vec<Attachment>> {
    let texts = scalars(node, path, "network kinds like [host, bridge]", problems)?;
    all(texts, |(at, text)| words.attachment(text, at, path, problems))
}

/// All of them or `None`; every one is looked at, so that every problem is found.
fn all<A, B>(list: Vec<A>, each: impl FnMut(A) -> Option<B>) -> Option<Vec<B>> {
    let found: Vec<Option<B>> = list.into_iter().map(each).collect();
    found.into_iter().collect()
}

/// A scalar, or a list of them that is not empty.
fn scalars<'n>(
    node: &'n Node,
    path: &str,
    expected: &str,
    problems: &mut Problems,
) -> Option<Vec<(At, &'n str)>> {
    let nodes = match &node.kind {
        Kind::List(list) if !list.is_empty() => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut out = Some(Vec::new());
    for node in nodes {
        match (node.text(), &mut out) {
            (Some(text), Some(out)) => out.push((node.at, text)),
            (Some(_), None) => {}
            (None, _) => {
                problems.add(node.at, path, node.shown(), expected);
                out = None;
            }
        }
    }
    out
}

fn pairs(node: &Node, words: &Words<'_>, problems: &mut Problems) -> Option<Vec<Pair>> {
    match &node.kind {
        Kind::Map(_) => {
            let named = named(node, "places.nodes", PAIR, problems)?;
            all(named, |(key, value)| pair(value, &key.text, words, problems))
        }
        _ => Some(vec![pair(node, "", words, problems)?]),
    }
}

fn pair(node: &Node, name: &str, words: &Words<'_>, problems: &mut Problems) -> Option<Pair> {
    const PATH: &str = "places.nodes";
    let Some((from, to)) = node.text().and_then(|text| text.split_once("->")) else {
        problems.add(node.at, PATH, node.shown(), PAIR);
        return None;
    };
    let from = words.node(from, node.at, PATH, problems).map(str::to_owned);
    let to = words.node(to, node.at, PATH, problems).map(str::to_owned);
    Some(Pair { name: name.to_owned(), from: from?, to: to? })
}

/// From the first node to the second; `a` and `b` where the scenario lists no nodes.
fn first_two(at: At, words: &Words<'_>, problems: &mut Problems) -> Option<Pair> {
    let nodes = words.nodes.first();
    match nodes {
        [from, to, ..] => {
            Some(Pair { name: String::new(), from: (*from).to_owned(), to: (*to).to_owned() })
        }
        _ => {
            let found = nodes.first().map_or_else(
                || "no node".to_owned(),
                |node| format!("only the node {}", quoted(node)),
            );
            problems.add(at, "places", found, "two nodes, or nodes: a -> a");
            None
        }
    }
}
