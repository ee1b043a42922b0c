//! Who is behind a Service, and who of them got traffic.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hopbench_model::Proof;
use hopbench_testbed::Seen;

use super::Known;

/// Whether the servers are behind their Service, and nobody else is.
pub(super) fn behind(known: &Known<'_>) -> Option<Proof> {
    let front = known.front?;
    let hop = "service".to_owned();
    let wanted: BTreeSet<IpAddr> = known.servers.iter().filter_map(|pod| own_address(known, pod)).collect();
    let Some(found) = known.built.endpoints.get(&front.name) else {
        return Some(Proof { hop, evidence: format!("Service {} has no endpoints", front.name), ok: false });
    };
    let list = |all: &BTreeSet<IpAddr>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let entry = known.built.entries.get(&front.name);
    let at = entry.and_then(|entry| entry.address).map(|address| format!(" ({address})")).unwrap_or_default();
    let name = &front.name;
    let ok = *found == wanted && !found.is_empty();
    let evidence = if ok {
        format!("{} behind Service {name}{at}", list(found))
    } else {
        format!("{} behind Service {name}{at}, not {}", list(found), list(&wanted))
    };
    Some(Proof { hop, evidence, ok })
}

/// Services know pods by the address that the cluster's own network gives them.
fn own_address(known: &Known<'_>, pod: &crate::pod::PodId) -> Option<IpAddr> {
    crate::live::address(known.built.pods.get(pod)?, None)
}

/// Which of several servers got traffic. Who chooses chooses at random: one that got none is told, and no wrong.
pub(super) fn served(known: &Known<'_>, seen: &Seen<'_>) -> Option<Proof> {
    if known.servers.len() < 2 {
        return None;
    }
    let flows: Vec<usize> = seen.servers.iter().map(|(_, end)| end.flows.len()).collect();
    let total: usize = flows.iter().sum();
    // Server programs tell nobody.
    if total == 0 {
        return None;
    }
    let busy = flows.iter().filter(|flows| **flows > 0).count();
    let each: Vec<String> = flows.iter().map(ToString::to_string).collect();
    let evidence = format!("{busy} of {} servers had connections: {}", flows.len(), each.join(" + "));
    Some(Proof { hop: "backends".to_owned(), evidence, ok: busy > 0 })
}
