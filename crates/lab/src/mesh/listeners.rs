//! What the sidecar of a pod is to do: the ports that it takes, and where it sends on to.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use hopbench_mesh::{INBOUND, Listener, OUTBOUND, Offer, Route, Upstream};
use hopbench_model::{MeshMode, Via};

use crate::addresses;
use crate::cast::Cast;
use crate::demand::Demand;
use crate::offer::InPod;
use crate::pod::PodId;
use crate::service;

/// The port of the telemetry service in its pod.
pub(crate) const TELEMETRY_PORT: u16 = 15_011;

/// The listeners of a pod's sidecar; only what the plan needs. `address` knows where pods are.
pub(crate) fn listeners(
    pod: &PodId,
    demand: &Demand,
    address: impl Fn(&PodId) -> Option<Ipv4Addr> + Copy,
) -> Vec<Listener> {
    let (mut inbound, mut outbound) = (BTreeMap::new(), BTreeMap::new());
    for cast in demand.paths.values() {
        let mode = cast.path.mesh;
        for offer in &cast.offers {
            if mode.has_server() && cast.servers.contains(pod) {
                let route = inward(pod, cast, *offer, address);
                inbound.insert(route.port, route);
            }
            if mode.has_client() && cast.clients.contains(pod) {
                let route = outward(cast, *offer, address);
                outbound.insert((route.address, route.port), route);
            }
        }
    }
    let listener = |name: &str, port: u16, routes: Vec<Route>| {
        (!routes.is_empty()).then(|| Listener {
            name: name.to_owned(),
            address: Ipv4Addr::UNSPECIFIED,
            port,
            redirected: true,
            edge: false,
            routes,
        })
    };
    let both = [
        listener("inbound", INBOUND, inbound.into_values().collect()),
        listener("outbound", OUTBOUND, outbound.into_values().collect()),
    ];
    both.into_iter().flatten().collect()
}

/// The mode for which a path's servers are entered: a gateway's connections come from a proxy.
pub(crate) fn entered(cast: &Cast) -> MeshMode {
    match cast.path.via {
        Via::Gateway(_) if cast.path.mesh.has_server() => MeshMode::Both,
        _ => cast.path.mesh,
    }
}

/// Who is told of the traffic of a path.
fn telemetry(cast: &Cast, address: impl Fn(&PodId) -> Option<Ipv4Addr>) -> Option<SocketAddr> {
    cast.path.variant.as_ref().filter(|variant| variant.policy_report)?;
    Some(SocketAddr::from((address(cast.policy.as_ref()?)?, TELEMETRY_PORT)))
}

/// From the pod's exposed port to whoever answers in it.
fn inward(pod: &PodId, cast: &Cast, offer: Offer, address: impl Fn(&PodId) -> Option<Ipv4Addr>) -> Route {
    let mode = entered(cast);
    Route {
        name: format!("in-{}-{mode}", offer.word()),
        address: None,
        port: offer.exposed(mode),
        protocol: offer.protocol,
        from_proxy: mode == MeshMode::Both,
        to_proxy: false,
        checked: true,
        telemetry: telemetry(cast, address),
        upstream: Upstream::Endpoints(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, offer.own_port(pod)))]),
    }
}

/// From the client on.
fn outward(cast: &Cast, offer: Offer, address: impl Fn(&PodId) -> Option<Ipv4Addr>) -> Route {
    let mode = cast.path.mesh;
    let endpoint = |pod: &PodId| Some(SocketAddr::from((address(pod)?, offer.entry(pod, mode))));
    let route = Route {
        name: format!("out-{}-{mode}", offer.word()),
        address: None,
        port: offer.exposed(mode),
        protocol: offer.protocol,
        from_proxy: false,
        to_proxy: mode == MeshMode::Both,
        checked: false,
        telemetry: telemetry(cast, &address),
        upstream: Upstream::Original(None),
    };
    match (&cast.path.via, cast.service) {
        // The sidecar chooses the endpoint itself, as meshes do it: the node has nothing to translate.
        (Via::ClusterIp, Some(number)) => Route {
            name: format!("out-{}-svc{number}", offer.word()),
            address: Some(addresses::service(number)),
            upstream: Upstream::Endpoints(cast.servers.iter().filter_map(endpoint).collect()),
            ..route
        },
        // Where it was meant to go, which the node translates.
        (Via::NodePort(_), Some(number)) => Route {
            name: format!("out-{}-svc{number}", offer.word()),
            port: service::port(cast, number, offer),
            ..route
        },
        // Nobody listens at the port that stands for the mode.
        _ if mode == MeshMode::Client => {
            let own = cast.servers.first().map(|pod| offer.own_port(pod));
            Route { upstream: Upstream::Original(own), ..route }
        }
        _ => route,
    }
}

/// The listener of a path's gateway.
pub(crate) fn gateway(cast: &Cast, address: impl Fn(&PodId) -> Option<Ipv4Addr>) -> Vec<Listener> {
    let mode = entered(cast);
    let route = |offer: &Offer| {
        let endpoint = |pod: &PodId| Some(SocketAddr::from((address(pod)?, offer.entry(pod, mode))));
        Route {
            name: offer.word().to_owned(),
            address: None,
            port: offer.gateway(),
            protocol: offer.protocol,
            from_proxy: false,
            to_proxy: mode == MeshMode::Both,
            checked: true,
            telemetry: telemetry(cast, &address),
            upstream: Upstream::Endpoints(cast.servers.iter().filter_map(endpoint).collect()),
        }
    };
    let routes: Vec<Route> = cast.offers.iter().map(route).collect();
    let first = routes.first().map(|route| route.port);
    let listener = first.map(|port| Listener {
        name: "gateway".to_owned(),
        address: Ipv4Addr::UNSPECIFIED,
        port,
        redirected: false,
        edge: true,
        routes,
    });
    listener.into_iter().collect()
}
