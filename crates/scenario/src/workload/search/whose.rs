//! The owner of the CPU that a search holds down: `node b`, `proxy server-sidecar`, `client` ...

use std::collections::BTreeSet;

use hopbench_model::{CpuOf, Path, Via, proxy_role};

use crate::document::fields::Fields;
use crate::document::node::At;
use crate::document::problem::Problems;

/// What `of` takes.
pub(crate) const WHOSE: &str =
    "client, server, node NAME, nodes [NAME, NAME] or proxy NAME, like proxy server-sidecar";

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
    let mut known = BTreeSet::new();
    for path in paths {
        match of {
            CpuOf::Node(_) | CpuOf::Nodes(_) => known.extend(path.nodes().map(str::to_owned)),
            _ => known.extend(proxies(path).into_iter().map(|(role, _)| role.to_owned())),
        }
    }
    let (what, name) = match of {
        CpuOf::Node(name) => ("node", name.as_str()),
        CpuOf::Nodes(names) => {
            let strange = names.iter().find(|name| !known.contains(*name));
            ("node", strange.or_else(|| names.first()).map_or("", String::as_str))
        }
        CpuOf::Proxy(name) => ("proxy", name.as_str()),
        CpuOf::Client | CpuOf::Server => return,
    };
    if known.is_empty() {
        problems.add(
            at,
            key,
            format!("`{what} {name}`"),
            format!("a path with a {what}: none of the workload's has any"),
        );
    } else {
        problems.unknown(at, key, name, &known.into_iter().collect::<Vec<_>>());
    }
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
