//! Proofs from what agents say: their places, CPUs and kernels, and the peers that servers saw.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hopbench_model::{CpuSet, Proof, Via};
use hopbench_testbed::Seen;
use hopbench_testbed::placement::{Endpoints, PodId};

use super::facts::AgentFacts;
use crate::network::families::{family_of, of_family};
use crate::services::service::Service;

/// Whether the agents are where they were put.
pub(super) fn placed(known: &AgentFacts<'_>, end: &str, pods: &[PodId], seen: &Seen<'_>) -> Proof {
    let mut wrong = Vec::new();
    let mut namespaces = BTreeSet::new();
    for pod in pods {
        let built = known.namespaces.get(pod).map(u64::to_string);
        let outside = known.sandboxes.get(pod).map(|inodes| {
            // A sandbox shows numbers of its own: its processes are looked at from outside. Helpers
            // have other namespaces.
            let own = inodes.iter().map(u64::to_string).find(|inode| Some(inode) == built.as_ref());
            own.or_else(|| inodes.first().map(u64::to_string))
        });
        let said = match &outside {
            Some(looked) => looked.as_ref(),
            None => seen.machines.get(&pod.agent()).and_then(|machine| machine.get("netns")),
        };
        match (said, built) {
            (Some(said), Some(built)) if *said == built => {
                namespaces.insert(built);
            }
            (Some(said), Some(built)) => {
                wrong.push(format!("{pod} is in namespace {said}, its pod is {built}"));
            }
            (None, _) => wrong.push(format!("{pod} did not say in which namespace it is")),
            (_, None) => wrong.push(format!("{pod} was never built")),
        }
    }
    let list = namespaces.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let place = pods.first().map(|pod| &pod.place);
    let node = place.map_or("?", |place| place.node.as_str());
    let names = PodId::summary(pods);
    let evidence = if wrong.is_empty() {
        format!("{names} on node {node}, namespace {list}")
    } else {
        wrong.join("; ")
    };
    Proof { hop: end.to_owned(), evidence, ok: wrong.is_empty() && !pods.is_empty() }
}

/// Whether the agents may use only the CPUs that they were held to. If none was held, there is
/// nothing to prove.
pub(super) fn held(known: &AgentFacts<'_>) -> Option<Proof> {
    let agents = known.held.iter().map(|(pod, (asked, found))| {
        let within = |set: &CpuSet| set.0.iter().all(|cpu| asked.contains(cpu));
        let list = |cpus: &[usize]| CpuSet(cpus.to_vec()).to_string();
        match found.iter().find(|set| !within(set)).or_else(|| found.first()) {
            None => (format!("{pod} is gone"), false),
            Some(set) if within(set) => (format!("{pod} on {set}"), true),
            Some(set) => (format!("{pod} was held to {} and may use {set}", list(asked)), false),
        }
    });
    let agents: Vec<(String, bool)> = agents.collect();
    if agents.is_empty() {
        return None;
    }
    let evidence = agents.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("; ");
    Some(Proof { hop: "CPUs".to_owned(), evidence, ok: agents.iter().all(|(_, ok)| *ok) })
}

/// Whether an agent that belongs into a runtime has a kernel that is not ours.
pub(super) fn contained(known: &AgentFacts<'_>, pod: &PodId, seen: &Seen<'_>) -> Proof {
    let hop = pod.place.runtime.clone().unwrap_or_default();
    let inside = seen.machines.get(&pod.agent()).and_then(|machine| machine.get("kernel"));
    let (evidence, ok) = match inside {
        Some(inside) => {
            (format!("kernel {inside} in {pod}, {} outside", known.kernel), *inside != known.kernel)
        }
        None => (format!("{pod} did not say which kernel it has"), false),
    };
    Proof { hop, evidence, ok }
}

/// Whether the servers saw the addresses that this way leaves in a packet. Only agents can tell.
pub(super) fn peer(known: &AgentFacts<'_>, seen: &Seen<'_>) -> Option<Proof> {
    let peers: BTreeSet<&str> = seen
        .servers
        .iter()
        .flat_map(|(_, end)| &end.flows)
        .map(|flow| flow.peer.as_str())
        .collect();
    if peers.is_empty() {
        return None;
    }
    let address = |text: &str| text.parse::<SocketAddr>().ok().map(|peer| peer.ip().to_canonical());
    let expected =
        |text: &&str| address(text).is_some_and(|peer| known.peers.iter().any(|own| peer == *own));
    let strangers: Vec<&str> = peers.iter().copied().filter(|peer| !expected(peer)).collect();
    let wanted: Vec<String> = known
        .peers
        .iter()
        .filter(|own| !own.is_loopback() || known.peers.len() == 1)
        .map(ToString::to_string)
        .collect();
    let (evidence, ok) = if strangers.is_empty() {
        let addresses: BTreeSet<String> =
            peers.iter().filter_map(|p| address(p)).map(|p| p.to_string()).collect();
        (format!("the server saw {}", addresses.into_iter().collect::<Vec<_>>().join(", ")), true)
    } else {
        (format!("the server saw {}, not {}", strangers.join(", "), wanted.join(" or ")), false)
    };
    Some(Proof { hop: "peer".to_owned(), evidence, ok })
}

/// Addresses that the servers of a path may see: the clients', or those of the node that sends or
/// translates.
pub(crate) fn peers(
    endpoints: &Endpoints,
    service: Option<&Service>,
    bypassed: bool,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
    of_node: impl Fn(&str) -> Vec<Ipv4Addr>,
) -> BTreeSet<IpAddr> {
    let from_node = endpoints.path.from.network == "host";
    let masquerades = service.is_some_and(|service| service.masquerades);
    let by_sidecar = endpoints.is_routed_by_sidecar() && !bypassed;
    // A sidecar speaks to whoever answers in its own pod.
    if endpoints.path.mesh.has_server() && !bypassed {
        return [Ipv4Addr::LOCALHOST.into()].into();
    }
    let mut peers = BTreeSet::new();
    match &endpoints.path.via {
        Via::Gateway(_) => peers.extend(endpoints.gateways.iter().filter_map(address)),
        // What comes in at a node and stays there does not pass the chain that masquerades.
        Via::NodePort(node)
            if !(endpoints.path.to.network == "host"
                && endpoints.path.to.nodes().any(|to| to == node)) =>
        {
            peers.extend(of_node(node));
        }
        _ if from_node || (masquerades && endpoints.path.via == Via::ClusterIp && !by_sidecar) => {
            peers.extend(endpoints.path.from.nodes().flat_map(of_node));
        }
        _ => peers.extend(endpoints.clients.iter().filter_map(address)),
    }
    peers.into_iter().map(|peer| of_family(peer, family_of(&endpoints.path))).collect()
}
