//! Proof of the backends: the pods behind a Service, and those of them that got traffic.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hopbench_model::Proof;
use hopbench_testbed::Seen;
use hopbench_testbed::placement::PodId;

use super::facts::ProofFacts;
use crate::provision::pod_status;

/// Whether the servers, or the path's gateways, are behind their Service, and no other address is.
pub(super) fn behind(known: &ProofFacts<'_>) -> Option<Proof> {
    let service = known.service?;
    let hop = "service".to_owned();
    let pods = if service.is_of_gateways { &service.backends } else { known.servers };
    let wanted: BTreeSet<IpAddr> = pods.iter().filter_map(|pod| own_address(known, pod)).collect();
    let Some(found) = known.built.endpoints.get(&service.name) else {
        return Some(Proof {
            hop,
            evidence: format!("Service {} has no endpoints", service.name),
            ok: false,
        });
    };
    let list =
        |all: &BTreeSet<IpAddr>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let entry = known.built.entries.get(&service.name);
    let at = entry
        .and_then(|entry| entry.address)
        .map(|address| format!(" ({address})"))
        .unwrap_or_default();
    let name = &service.name;
    let ok = *found == wanted && !found.is_empty();
    let evidence = if ok {
        format!("{} behind Service {name}{at}", list(found))
    } else {
        format!("{} behind Service {name}{at}, not {}", list(found), list(&wanted))
    };
    Some(Proof { hop, evidence, ok })
}

/// Whether an address is that of a server.
pub(super) fn at(known: &ProofFacts<'_>, address: IpAddr) -> Proof {
    let ProofFacts { built, ends, servers, .. } = *known;
    let is_there = |id: &&PodId| {
        let pod = built.pods.get(id);
        pod.and_then(|pod| built.address_of(id, pod, ends.path.family)) == Some(address)
    };
    let hop = "address".to_owned();
    let Some(id) = servers.iter().find(is_there) else {
        let evidence = format!("{address} is that of no server");
        return Proof { hop, evidence, ok: false };
    };
    let node = built.pods.get(id).map(pod_status::node).unwrap_or_default();
    let name = built.names.get(id).map(String::as_str).unwrap_or_default();
    Proof { hop, evidence: format!("{address} is pod {name} on {node}"), ok: true }
}

/// Services know pods by the address that the cluster's own network gives them.
fn own_address(known: &ProofFacts<'_>, pod: &PodId) -> Option<IpAddr> {
    pod_status::address(known.built.pods.get(pod)?, None, known.ends.path.family)
}

/// The servers that got traffic. A balancer chooses at random: a server without traffic is
/// reported, and is no error.
pub(super) fn served(known: &ProofFacts<'_>, seen: &Seen<'_>) -> Option<Proof> {
    if known.servers.len() < 2 {
        return None;
    }
    let flows: Vec<usize> = seen.servers.iter().map(|(_, end)| end.flows.len()).collect();
    let total: usize = flows.iter().sum();
    // Server programs report no connections.
    if total == 0 {
        return None;
    }
    let busy = flows.iter().filter(|flows| **flows > 0).count();
    let each: Vec<String> = flows.iter().map(ToString::to_string).collect();
    let evidence =
        format!("{busy} of {} servers had connections: {}", flows.len(), each.join(" + "));
    Some(Proof { hop: "backends".to_owned(), evidence, ok: busy > 0 })
}
