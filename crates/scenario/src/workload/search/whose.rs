//! The owner of the CPU that a search holds down: `node b`, `proxy server-sidecar`, `client` ...

use std::collections::BTreeSet;

use hopbench_model::{CpuOf, Path, Via, proxy_role};

use crate::document::fields::Fields;
use crate::document::node::{At, quoted};
use crate::document::problem::{Problems, shortened};

/// What `of` takes.
pub(crate) const WHOSE: &str =
    "client, server, node NAME, nodes [NAME, NAME] or proxy NAME, like proxy server-sidecar";

/// Paths whose nodes are told; more of them are counted.
const SHOWN: usize = 5;

/// Reads `of`, which must be there.
pub(crate) fn read(fields: &Fields<'_>, problems: &mut Problems) -> Option<CpuOf> {
    let Some(node) = fields.get("of") else {
        problems.add(fields.at, &fields.path, "no `of`", WHOSE);
        return None;
    };
    let text = node.text().unwrap_or_default().trim();
    if let Some(names) = text.strip_prefix("nodes").and_then(listed) {
        return Some(CpuOf::Nodes(names));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["client"] => Some(CpuOf::Client),
        ["server"] => Some(CpuOf::Server),
        ["node", name] => Some(CpuOf::Node((*name).to_owned())),
        ["proxy", name] => Some(CpuOf::Proxy((*name).to_owned())),
        _ => {
            problems.add(node.at, &fields.path_of("of"), node.shown(), WHOSE);
            None
        }
    }
}

/// The names of `[c, d]`; `None` for anything else.
fn listed(text: &str) -> Option<Vec<String>> {
    let names = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    names.iter().all(|name| !name.is_empty()).then_some(names)
}

/// In words: `node b`.
pub(crate) fn named(of: &CpuOf) -> String {
    match of {
        CpuOf::Node(name) => format!("node {name}"),
        CpuOf::Nodes(names) => format!("nodes [{}]", names.join(", ")),
        CpuOf::Proxy(name) => format!("proxy {name}"),
        CpuOf::Client => "client".to_owned(),
        CpuOf::Server => "server".to_owned(),
    }
}

/// Whether the traffic of a path meets it.
pub(crate) fn has(path: &Path, of: &CpuOf) -> bool {
    match of {
        CpuOf::Node(name) => path.nodes().any(|node| node == name),
        CpuOf::Nodes(names) => names.iter().all(|name| path.nodes().any(|node| node == name)),
        CpuOf::Proxy(name) => {
            let number: u32 =
                match name.strip_prefix(proxy_role(name)).and_then(|rest| rest.strip_prefix('#')) {
                    None => 1,
                    Some(number) => number.parse().unwrap_or(0),
                };
            // The first has no number.
            let is_name = number >= 2 || number == 1 && !name.contains('#');
            let role = proxies(path).into_iter().find(|(role, _)| *role == proxy_role(name));
            is_name && role.is_some_and(|(_, count)| number <= count)
        }
        CpuOf::Client | CpuOf::Server => true,
    }
}

/// Says that none of these paths has it, and what they have.
pub(crate) fn unknown<'p>(
    of: &CpuOf,
    paths: impl Iterator<Item = &'p Path>,
    at: At,
    key: &str,
    problems: &mut Problems,
) {
    let paths: Vec<&Path> = paths.collect();
    match of {
        CpuOf::Node(name) => unknown_nodes(std::slice::from_ref(name), &paths, at, key, problems),
        CpuOf::Nodes(names) => unknown_nodes(names, &paths, at, key, problems),
        CpuOf::Proxy(name) => {
            let known: BTreeSet<&str> =
                paths.iter().flat_map(|path| proxies(path)).map(|(role, _)| role).collect();
            if known.is_empty() {
                let expected = "a path with a proxy: none of the workload's has any";
                problems.add(at, key, format!("`proxy {name}`"), expected);
            } else {
                problems.unknown(at, key, name, &known.into_iter().collect::<Vec<_>>());
            }
        }
        CpuOf::Client | CpuOf::Server => {}
    }
}

/// Says to which of these nodes none of the paths goes; if there is a path to each of them, that
/// none goes to all.
fn unknown_nodes(names: &[String], paths: &[&Path], at: At, key: &str, problems: &mut Problems) {
    let known: BTreeSet<&str> = paths.iter().flat_map(|path| path.nodes()).collect();
    if let Some(strange) = names.iter().find(|name| !known.contains(name.as_str())) {
        let known: Vec<&str> = known.into_iter().collect();
        problems.add(
            at,
            key,
            format!("node {}, to which no path of the workload goes", quoted(strange)),
            format!("one of {}, or a path that goes there", shortened(&known)),
        );
        return;
    }
    let of_path = |path: &&Path| {
        let nodes: BTreeSet<&str> = path.nodes().collect();
        format!("{}: {}", path.name, shortened(&Vec::from_iter(nodes)))
    };
    let mut all: Vec<String> = paths.iter().take(SHOWN).map(of_path).collect();
    let more = paths.len().saturating_sub(SHOWN);
    all.extend((more > 0).then(|| format!("{more} more")));
    problems.add(
        at,
        key,
        format!("nodes {}, but no path to all of them", shortened(names)),
        format!("the nodes of one path ({}), or a path that goes to all of these", all.join("; ")),
    );
}

/// The proxies of a path and what they ask, as its records call them, and how many there are of
/// each.
fn proxies(path: &Path) -> Vec<(&'static str, u32)> {
    let gateway = matches!(path.via, Via::Gateway(_));
    let asks = gateway || path.mesh.has_server();
    let variant = path.variant.as_ref();
    let all = [
        ("client-sidecar", path.mesh.has_client(), path.clients),
        ("gateway", gateway, path.gateways.as_ref().map_or(1, |several| several.count)),
        ("server-sidecar", path.mesh.has_server(), path.backends),
        ("policy", asks && variant.is_some_and(|variant| variant.policy_check), 1),
        ("telemetry", variant.is_some_and(|variant| variant.policy_report), 1),
    ];
    all.into_iter().filter(|(_, is, _)| *is).map(|(name, _, count)| (name, count)).collect()
}
