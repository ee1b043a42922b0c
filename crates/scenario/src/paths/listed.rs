//! `paths:`, each by its name.

use hopbench_model::{Affinity, Gateways, IpFamily, MeshMode, Path, Place, Via};

use super::place::{MODES, VIA, Words};
use super::sidecars;
use crate::document::fields::{Fields, joined, named};
use crate::document::node::{At, Kind, Node};
use crate::document::problem::Problems;

/// The keys of a path.
pub(crate) const PATH_KEYS: &[&str] =
    &["from", "to", "via", "clients", "backends", "gateways", "affinity", "family", "mesh"];
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
    let via = via.map_or(Some((Via::Direct, None)), |via| words.via(via, at, path, problems));
    let mesh = mesh.map_or(Some(MeshMode::None), |mesh| words.mode(mesh, at, path, problems));
    let (from, to, (via, gateways)) = (from?, to?, via?);
    let (clients, backends) = (pods(&from), pods(&to));
    let straight = Path::straight("", from, to);
    Some(Path { clients, backends, via, gateways, mesh: mesh?, ..straight })
}

/// The pods of a place of which nothing else is said: one on each node.
fn pods(place: &Place) -> u32 {
    place.nodes().count() as u32
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
        None => Some((Via::Direct, None)),
    };
    let mesh = match fields.parsed::<String>("mesh", MODES, problems) {
        Some(text) => words.mode(&text, at("mesh"), &fields.path_of("mesh"), problems),
        None => Some(MeshMode::None),
    };
    let mut ends = |name, place: &Option<Place>| {
        let least = place.as_ref().map_or(1, pods);
        let possible = |n: &u32| (least..=MOST_ENDS).contains(n);
        let expected = match place.as_ref().filter(|place| place.is_set()) {
            None => "a whole number from 1 to 1000".to_owned(),
            Some(set) => format!("a whole number from {least}, one on each node of {set}, to 1000"),
        };
        fields.checked(name, &expected, possible, problems).unwrap_or(least)
    };
    let (clients, backends) = (ends("clients", &from), ends("backends", &to));
    let gateways = gateways(&fields, via.as_ref(), words, problems);
    let is_affinity = |text: &String| text == Affinity::CLIENT_IP;
    let affinity = match fields.checked("affinity", Affinity::CLIENT_IP, is_affinity, problems) {
        Some(_) => Affinity::ClientIp,
        None => Affinity::None,
    };
    let is_family = |text: &String| IpFamily::named(text).is_some();
    let family = fields.checked("family", "ipv4 or ipv6", is_family, problems);
    let family = family.and_then(|text| IpFamily::named(&text));
    let straight = Path::straight("", from?, to?);
    let (via, mesh) = (via?.0, mesh?);
    Some(Path { via, clients, backends, gateways, affinity, family, mesh, ..straight })
}

/// The gateways of a path: as many as `gateways` says, and one on each node at least.
fn gateways(
    fields: &Fields<'_>,
    via: Option<&(Via, Option<Gateways>)>,
    words: &Words<'_>,
    problems: &mut Problems,
) -> Option<Gateways> {
    let (via, several) = via?;
    let least = several.as_ref().map_or(1, |several| several.count);
    let is_own = matches!(via, Via::Gateway(at) if !at.is_empty() && !words.is_gateway(at));
    let expected = if is_own {
        format!("a whole number from {least} to {MOST_ENDS}")
    } else {
        "via: gateway@NODE with it: other paths have no gateways of their own".to_owned()
    };
    let possible = |n: &u32| is_own && (least..=MOST_ENDS).contains(n);
    let count = fields.checked("gateways", &expected, possible, problems).unwrap_or(least);
    let more_nodes = several.as_ref().map_or(Vec::new(), |several| several.more_nodes.clone());
    (count > 1).then_some(Gateways { count, more_nodes })
}

/// What no single key of a path is to blame for.
pub(crate) fn check(path: &Path, at: At, key: &str, words: &Words<'_>, problems: &mut Problems) {
    if path.backends > 1 && path.via == Via::Direct {
        let expected = "one backend without a Service or gateway; for more, via: cluster-ip, \
                        node-port@NODE, load-balancer or gateway@NODE";
        problems.add(at, key, format!("{} backends", path.backends), expected);
    }
    if path.affinity == Affinity::ClientIp && !path.balances_by_address() {
        let expected = "via: cluster-ip, node-port@NODE or load-balancer, and with cluster-ip no \
                        sidecar of the client: only a Service knows clients by their addresses";
        problems.add(at, &joined(key, "affinity"), "`client-ip`", expected);
    }
    if let (Some(family), Via::Address(address)) = (path.family, &path.via) {
        let expected = format!("no family with via: address@{address}: the address has one");
        problems.add(at, &joined(key, "family"), format!("`{}`", family.word()), &expected);
    }
    let twice = words.vocabulary.network(&path.from.network).is_some_and(|kind| kind.both_ends);
    let shared = path.from.each().find(|from| path.to.each().any(|to| to == *from));
    if let Some(shared) = shared.filter(|_| !twice) {
        let expected = format!(
            "two places; one node cannot hold both ends of a path of kind {}",
            path.from.network
        );
        problems.add(at, key, format!("`{shared}` at both ends"), expected);
    }
}
