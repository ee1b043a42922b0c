//! The listeners of sidecars and gateways: the ports that they take, and their upstreams.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use hopbench_mesh::{INBOUND, Listener, OUTBOUND, Offer, ProxyRoute, TELEMETRY_PORT, Upstream};
use hopbench_model::{IpFamily, MeshMode, Via};
use hopbench_testbed::placement::{Ask, Endpoints, Placement, PodId};

use crate::network::families::{family_of, of_family};
use crate::services::pod_ports::{entry, own_port};
use crate::services::service;
use crate::topology::addresses;

/// The listeners of a pod's sidecar, only those that the plan needs. `address` is that of a pod;
/// `families` are those of the lab.
pub(crate) fn listeners(
    pod: &PodId,
    placement: &Placement,
    families: &[IpFamily],
    address: impl Fn(&PodId) -> Option<Ipv4Addr> + Copy,
) -> Vec<Listener> {
    let (mut inbound, mut outbound) = (BTreeMap::new(), BTreeMap::new());
    for endpoints in placement.paths.values() {
        let mode = endpoints.path.mesh;
        for Ask { offer, .. } in &endpoints.asks {
            if mode.has_server() && endpoints.servers.contains(pod) {
                let telemetry = telemetry(endpoints, address);
                let route = endpoints.inward(*offer, own_port(*offer, pod), telemetry);
                inbound.insert(route.port, route);
            }
            if mode.has_client() && endpoints.clients.contains(pod) {
                let route = outward(endpoints, *offer, address);
                outbound.insert((route.address, route.port), route);
            }
        }
    }
    let listener = |name: &str, port: u16, routes: Vec<ProxyRoute>| {
        if routes.is_empty() {
            return None;
        }
        let name = name.to_owned();
        let addresses = families.iter().map(|family| family.wildcard()).collect();
        Some(Listener { name, addresses, port, redirected: true, edge: false, routes })
    };
    let both = [
        listener("inbound", INBOUND, inbound.into_values().collect()),
        listener("outbound", OUTBOUND, outbound.into_values().collect()),
    ];
    both.into_iter().flatten().collect()
}

/// The telemetry service that is told of the traffic of a path.
fn telemetry(
    endpoints: &Endpoints,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
) -> Option<SocketAddr> {
    Some(SocketAddr::from((address(endpoints.telemetry()?)?, TELEMETRY_PORT)))
}

/// The route from the client on.
fn outward(
    endpoints: &Endpoints,
    offer: Offer,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
) -> ProxyRoute {
    let mode = endpoints.path.mesh;
    let family = family_of(&endpoints.path);
    let endpoint = |pod: &PodId| {
        Some(SocketAddr::new(of_family(address(pod)?, family), entry(offer, pod, mode)))
    };
    let route = ProxyRoute {
        name: format!("out-{}-{mode}", offer.word()),
        address: None,
        port: offer.exposed(mode),
        protocol: offer.protocol,
        from_proxy: false,
        to_proxy: mode == MeshMode::Both,
        checked: false,
        telemetry: telemetry(endpoints, &address),
        upstream: Upstream::Original(None),
    };
    match (&endpoints.path.via, endpoints.service) {
        // The sidecar chooses the endpoint itself, as meshes do it: the node has nothing to
        // translate.
        (Via::ClusterIp, Some(number)) => ProxyRoute {
            name: format!("out-{}-svc{number}", offer.word()),
            address: Some(of_family(addresses::service(number), family)),
            upstream: Upstream::Endpoints(endpoints.servers.iter().filter_map(endpoint).collect()),
            ..route
        },
        // Where it was meant to go, which the node translates.
        (Via::NodePort(_), Some(number)) => ProxyRoute {
            name: format!("out-{}-svc{number}", offer.word()),
            port: service::port(endpoints, number, offer),
            ..route
        },
        // Nobody listens at the port that stands for the mode.
        _ if mode == MeshMode::Client => {
            let own = endpoints.servers.first().map(|pod| own_port(offer, pod));
            ProxyRoute { upstream: Upstream::Original(own), ..route }
        }
        _ => route,
    }
}

/// The listener of a path's gateway.
pub(crate) fn gateway(
    endpoints: &Endpoints,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
) -> Vec<Listener> {
    let (mode, family) = (endpoints.entered(), family_of(&endpoints.path));
    let route = |offer: Offer| {
        let endpoint = |pod: &PodId| {
            Some(SocketAddr::new(of_family(address(pod)?, family), entry(offer, pod, mode)))
        };
        ProxyRoute {
            name: offer.word().to_owned(),
            address: None,
            port: offer.gateway(),
            protocol: offer.protocol,
            from_proxy: false,
            to_proxy: mode == MeshMode::Both,
            checked: true,
            telemetry: telemetry(endpoints, &address),
            upstream: Upstream::Endpoints(endpoints.servers.iter().filter_map(endpoint).collect()),
        }
    };
    let routes: Vec<ProxyRoute> = endpoints.asks.iter().map(|ask| route(ask.offer)).collect();
    let first = routes.first().map(|route| route.port);
    let listener = first.map(|port| Listener {
        name: "gateway".to_owned(),
        addresses: vec![family.wildcard()],
        port,
        redirected: false,
        edge: true,
        routes,
    });
    listener.into_iter().collect()
}
