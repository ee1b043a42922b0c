//! Proof of the peers: the servers saw the clients, or the translators on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hopbench_model::{IpFamily, Proof, Via};
use hopbench_testbed::Seen;

use super::facts::ProofFacts;
use crate::plan::gateways;
use crate::provision::pod_status;

/// The address from which Istio's sidecars speak to their own pods by IPv6. That of IPv4 is one of
/// the loopback.
const ISTIO: IpAddr = IpAddr::V6(Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 6));

/// A peer that a server may have seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// A client itself.
    Client,
    /// A node of the path, by its name in the scenario.
    Node(String),
    /// The sidecar in the server's own pod.
    Sidecar,
    /// The path's gateway.
    Gateway,
    /// A pod of the run that is no client of the path.
    Other(String),
    /// An address that is not known.
    Unknown,
}

/// Whether the servers saw the peer that this way leaves in a packet. `None`: servers without
/// agents report no peers.
pub(super) fn peer(known: &ProofFacts<'_>, seen: &Seen<'_>) -> Option<Proof> {
    let flows = seen.servers.iter().flat_map(|(_, end)| &end.flows);
    let peers: BTreeSet<IpAddr> = flows
        .filter_map(|flow| Some(flow.peer.parse::<SocketAddr>().ok()?.ip().to_canonical()))
        .collect();
    if peers.is_empty() {
        return None;
    }
    let path = &known.ends.path;
    let proxied = path.is_proxied() && !seen.job.bypasses_proxies();
    let mut by_who: BTreeMap<Who, Vec<String>> = BTreeMap::new();
    for peer in &peers {
        by_who.entry(who(known, *peer, proxied)).or_default().push(peer.to_string());
    }
    let parts = by_who.iter().map(|(who, addresses)| {
        let addresses = addresses.join(", ");
        match who {
            Who::Client if known.ends.path.from.network == "host" => {
                format!("{addresses}, the client's node")
            }
            Who::Client => format!("{addresses}, the client's own address: nobody changed it"),
            Who::Node(node) => {
                format!("{addresses}, which is node {node}: it put its address in (SNAT)")
            }
            Who::Sidecar => format!("{addresses}, its own sidecar"),
            Who::Gateway => format!("{addresses}, the gateway"),
            Who::Other(pod) => format!("{addresses}, which is {pod}"),
            Who::Unknown => format!("{addresses}, which is no client and no node of the path"),
        }
    });
    let evidence = format!("the server saw {}", parts.collect::<Vec<_>>().join("; "));
    // A sidecar speaks to its own pod by IPv4, and a proxy of others as it likes.
    let others = known.ends.rules.captures_pods || known.ends.enters_existing_gateway();
    let is_free = proxied && (path.mesh.has_server() || others);
    let of_family = |peer: &IpAddr| is_free || path.family.is_none_or(|family| family.has(*peer));
    let ok =
        by_who.keys().all(|who| is_allowed(known, who, proxied)) && peers.iter().all(of_family);
    Some(Proof { hop: "peer".to_owned(), evidence, ok })
}

fn who(known: &ProofFacts<'_>, peer: IpAddr, proxied: bool) -> Who {
    let built = known.built;
    let path = &known.ends.path;
    let own = |id| {
        let pod = built.pods.get(id)?;
        let mut all = IpFamily::ALL.into_iter().filter_map(|one| built.address(id, Some(one)));
        Some(all.any(|address| address == peer) || pod_status::addresses(pod).contains(&peer))
    };
    let own_pods = || known.servers.iter().any(|id| own(id) == Some(true));
    let is_own = || peer.is_loopback() || peer == ISTIO || own_pods();
    if proxied && path.mesh.has_server() && is_own() {
        return Who::Sidecar;
    }
    let made = built.gateway_pods.get(&path.name);
    let of_made = made.is_some_and(|all| all.iter().any(|pod| pod.addresses.contains(&peer)));
    if of_made || known.ends.gateways.iter().any(|id| own(id) == Some(true)) {
        return Who::Gateway;
    }
    // From one's own pod to itself one is on the loopback.
    if known.ends.clients.iter().any(|id| own(id) == Some(true))
        || peer.is_loopback() && path.from == path.to
    {
        return Who::Client;
    }
    if let Some((id, _)) =
        built.pods.iter().filter(|(id, _)| !id.is_host()).find(|(id, _)| own(id) == Some(true))
    {
        return Who::Other(id.to_string());
    }
    let entered = match &path.via {
        Via::NodePort(node) => Some(node),
        _ => None,
    };
    let ends = path.from.nodes().chain(path.to.nodes());
    for name in ends.chain(entered.map(String::as_str)) {
        let Some(node) = built.nodes.get(name) else { continue };
        // A node has an address in the range of its pods, too: its end of their bridge or tunnel.
        if node.addresses.contains(&peer)
            || node.pod_ranges.iter().any(|range| is_within(peer, range))
        {
            return Who::Node(name.to_owned());
        }
    }
    Who::Unknown
}

/// Whether a server of this path may see this peer.
fn is_allowed(known: &ProofFacts<'_>, who: &Who, proxied: bool) -> bool {
    let path = &known.ends.path;
    // Behind the server's sidecar or our gateway no other peer is seen.
    if proxied && path.mesh.has_server() && !known.ends.rules.captures_pods {
        return *who == Who::Sidecar;
    }
    // A proxy of the node keeps the client's address, or takes one of its own. Cilium's may be of a
    // range that no node names.
    let is_meshed = proxied && known.ends.rules.captures_pods && !path.mesh.is_none();
    if is_meshed && matches!(who, Who::Sidecar | Who::Node(_) | Who::Unknown) {
        return true;
    }
    if proxied && !known.ends.gateways.is_empty() {
        return *who == Who::Gateway;
    }
    match (&path.via, who) {
        // A Gateway that routes by requests connects by itself. On the client's node it may have
        // that node's address.
        (_, Who::Client) if gateways::of_path(&known.built.spec, path).is_some() => {
            path.from.network == "host"
        }
        (_, Who::Client) => true,
        // Its own one is known above: this is one that the run made of a class.
        (Via::Gateway(_), Who::Gateway) => true,
        (_, Who::Other(_) | Who::Sidecar | Who::Gateway) => false,
        // If the pods of the Gateway are known, nobody else connects.
        (Via::Gateway(_), who)
            if known.built.gateway_pods.get(&path.name).is_some_and(|all| !all.is_empty()) =>
        {
            matches!(who, Who::Node(_))
        }
        // Peers from outside of the testbed are not known here.
        (Via::LoadBalancer | Via::Address(_) | Via::Gateway(_), _) => true,
        // Between pods nothing has a reason to put another address in; at a node's own network many
        // have one.
        (Via::Direct, Who::Node(_)) => path.from.network == "host" || path.to.network == "host",
        (Via::ClusterIp, Who::Node(node)) => path.from.nodes().any(|from| from == node),
        (Via::NodePort(entered), Who::Node(node)) => {
            node == entered || path.from.nodes().any(|from| from == node)
        }
        // A tunnel's or bridge's own address of a node that has no range of its own.
        (_, Who::Unknown) => path.from.network == "host",
    }
}

/// Whether an address is in a range like `10.244.1.0/24`.
fn is_within(address: IpAddr, range: &str) -> bool {
    let Some((start, bits)) = range.split_once('/') else { return false };
    let (Ok(start), Ok(bits)) = (start.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    match (address, start) {
        (IpAddr::V4(address), IpAddr::V4(start)) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
            u32::from(address) & mask == u32::from(start) & mask
        }
        (IpAddr::V6(address), IpAddr::V6(start)) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits)).unwrap_or(0);
            u128::from(address) & mask == u128::from(start) & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hopbench_model::{EndReport, FlowReport, MeshMode, Path, Variant};
    use hopbench_testbed::AgentId;

    use super::*;
    use crate::plan::fixture::{path, plan, point};
    use crate::provision::built::Built;
    use crate::provision::built::fixture::{built, named};

    /// Whether the server of a path by IPv6 may see this peer.
    fn may_see(mesh: MeshMode, from: impl Fn(&Built) -> IpAddr) -> bool {
        let (family, variant) = (Some(IpFamily::Ipv6), Some(Variant::plain()));
        let path = Path { family, mesh, variant, ..path("p", "pod@a", "pod@b", Via::Direct) };
        let point = point("rr", "hopbench");
        let built = built(&plan(vec![path], vec![point.clone()]));
        let ends = &built.placement.paths["p"];
        let servers = &ends.servers;
        let facts = ProofFacts { built: &built, ends, servers, service: None, proxies: &[] };
        let address = SocketAddr::new(from(&built), 40_000).to_string();
        let flow = FlowReport { peer: address, ..FlowReport::default() };
        let end = EndReport { flows: vec![flow], ..EndReport::default() };
        let seen = Seen {
            job: &point.job,
            clients: &[],
            servers: &[(AgentId("pod@b".to_owned()), end)],
            machines: &BTreeMap::new(),
            stood: false,
        };
        peer(&facts, &seen).unwrap().ok
    }

    /// The address of the client, in this family.
    fn client(family: IpFamily) -> impl Fn(&Built) -> IpAddr {
        move |built| built.address(&named(built, "pod@a/client"), Some(family)).unwrap()
    }

    #[tokio::test]
    async fn who_connects_to_the_server_has_the_family_of_the_path() {
        assert!(may_see(MeshMode::Client, client(IpFamily::Ipv6)));
        assert!(!may_see(MeshMode::Client, client(IpFamily::Ipv4)));
        // Only the server's sidecar connects here, in any family.
        assert!(!may_see(MeshMode::Both, client(IpFamily::Ipv6)));
        assert!(may_see(MeshMode::Both, |_| Ipv4Addr::LOCALHOST.into()));
        assert!(may_see(MeshMode::Both, |_| ISTIO));
    }

    #[test]
    fn ranges_hold_what_is_in_them() {
        let within = |address: &str, range: &str| is_within(address.parse().unwrap(), range);
        assert!(within("10.244.1.7", "10.244.1.0/24") && !within("10.244.2.7", "10.244.1.0/24"));
        assert!(within("10.9.9.9", "0.0.0.0/0") && within("10.0.0.1", "10.0.0.1/32"));
        assert!(within("fd00:1::5", "fd00:1::/64") && !within("fd00:2::5", "fd00:1::/64"));
        assert!(!within("fd00::1", "10.0.0.0/8") && !within("10.0.0.1", "nonsense"));
    }
}
