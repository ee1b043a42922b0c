//! The listeners of our proxies: the ports that they take, and the addresses that they send on to.
//!
//! Nothing is redirected: a client that wants to pass a proxy connects to it.
//!
//! ```text
//!   client ─► 127.0.0.1:18000+ client's sidecar ─► the server's pod, at its sidecar's or own port
//!   client ─► gateway:18000+   a gateway        ─► the same
//!             pod:17000+       server's sidecar ─► 127.0.0.1, at the port of whoever answers
//! ```

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hopbench_mesh::{Listener, ProxyRoute, TELEMETRY_PORT, Upstream};
use hopbench_model::{MeshMode, Via};
use hopbench_testbed::placement::{Ask, Endpoints, PodId};

use crate::plan::services::{port_name, taken_port};
use crate::provision::built::Built;
use crate::provision::target::{self, Whereabouts};

/// The address of a pod; `None`: not known yet.
pub(crate) type Address<'a> = &'a dyn Fn(&PodId) -> Option<IpAddr>;

/// The listeners of a pod's sidecar or gateway; only what the plan needs.
pub(crate) fn listeners(built: &Built, pod: &PodId, address: Address<'_>) -> Vec<Listener> {
    let placement = &built.placement;
    let (mut inbound, mut outbound, mut gateway) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for ends in placement.paths.values() {
        let mode = ends.path.mesh;
        for ask in &ends.asks {
            if mode.has_server() && ends.servers_of(ask.program.as_deref()).contains(pod) {
                let route = ends.inward(ask.offer, built.own_port(pod), telemetry(ends, address));
                inbound.insert(route.port, route);
            }
            let Some(port) = taken_port(placement, ends, ask) else { continue };
            if mode.has_client() && ends.clients.contains(pod) {
                outbound.insert(port, onward(built, ends, ask, port, address));
            }
            if ends.gateways.contains(pod) {
                gateway.insert(port, onward(built, ends, ask, port, address));
            }
        }
    }
    let listener = |name: &str, address: Ipv4Addr, routes: BTreeMap<u16, ProxyRoute>| {
        let port = *routes.keys().next()?;
        let (name, edge, routes) =
            (name.to_owned(), name == "gateway", routes.into_values().collect());
        Some(Listener {
            name,
            addresses: vec![address.into()],
            port,
            redirected: false,
            edge,
            routes,
        })
    };
    let all = [
        listener("inbound", Ipv4Addr::UNSPECIFIED, inbound),
        // Only this pod gets there.
        listener("outbound", Ipv4Addr::LOCALHOST, outbound),
        listener("gateway", Ipv4Addr::UNSPECIFIED, gateway),
    ];
    all.into_iter().flatten().collect()
}

/// The telemetry service of a path.
fn telemetry(ends: &Endpoints, address: Address<'_>) -> Option<SocketAddr> {
    Some(SocketAddr::new(address(ends.telemetry()?)?, TELEMETRY_PORT))
}

/// From a client's sidecar or a gateway to the servers.
fn onward(
    built: &Built,
    ends: &Endpoints,
    ask: &Ask,
    port: u16,
    address: Address<'_>,
) -> ProxyRoute {
    ProxyRoute {
        name: format!("out-{port}-{}", ask.offer.word()),
        address: None,
        port,
        protocol: ask.offer.protocol,
        from_proxy: false,
        to_proxy: ends.entered() == MeshMode::Both,
        checked: !ends.gateways.is_empty(),
        telemetry: telemetry(ends, address),
        upstream: Upstream::Endpoints(endpoints(built, ends, ask, address)),
    }
}

/// The upstream addresses of a proxy for a request on a path.
fn endpoints(built: &Built, ends: &Endpoints, ask: &Ask, address: Address<'_>) -> Vec<SocketAddr> {
    let servers = ends.servers_of(ask.program.as_deref());
    let at = |pod: &PodId| Some(SocketAddr::new(address(pod)?, entry(built, ends, ask, pod)));
    match &ends.path.via {
        // It chooses the server itself, as meshes do it: the node has nothing to translate.
        Via::ClusterIp | Via::Gateway(_) => servers.iter().filter_map(at).collect(),
        Via::Direct => servers.first().and_then(at).into_iter().collect(),
        Via::NodePort(_) | Via::LoadBalancer | Via::Address(_) => {
            outside(built, ends, ask).into_iter().collect()
        }
    }
}

/// The port at which a server's pod is entered: its sidecar's, or the server's own.
pub(crate) fn entry(built: &Built, ends: &Endpoints, ask: &Ask, pod: &PodId) -> u16 {
    if ends.names_mode() { ask.offer.exposed(ends.entered()) } else { built.own_port(pod) }
}

/// The address that stands for a path's servers, where there is one: of its Service, or outside of
/// the cluster.
pub(crate) fn outside(built: &Built, ends: &Endpoints, ask: &Ask) -> Option<SocketAddr> {
    let service = built.service(&ends.path.name, ask.program.as_ref());
    let mut entry = service.and_then(|service| built.entries.get(&service.name)).cloned();
    if let Some(entry) = &mut entry
        && (ends.entered().has_server() || ends.intercepted)
        && !ends.captured
    {
        *entry = entry.at(port_name(ask.offer))?;
    }
    let own = entry.as_ref().and_then(|entry| entry.address);
    let node = match &ends.path.via {
        Via::NodePort(node) => {
            built.nodes.get(node).and_then(|node| target::of_family(&node.addresses, own))
        }
        _ => None,
    };
    let known =
        Whereabouts { server: None, entry: entry.as_ref(), node, datagrams: false, family: None };
    target::target(&ends.path.name, &ends.path.via, &known).ok()
}
