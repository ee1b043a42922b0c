//! The listeners of our proxies: the ports that they take, and the addresses that they send on to.
//!
//! Nothing is redirected: a client that wants to pass a proxy connects to it.
//!
//! ```text
//!   client ─► loopback:18000+  client's sidecar ─► the server's pod, at its sidecar's or own port
//!   client ─► gateway:18000+   a gateway        ─► the same
//!             pod:17000+       server's sidecar ─► 127.0.0.1, at the port of whoever answers
//! ```
//!
//! Each path goes by its family from the client's sidecar or the gateway to the servers' pods. Only
//! inside a server's pod it is IPv4, as in a lab.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use hopbench_mesh::{Listener, ProxyRoute, TELEMETRY_PORT, Upstream};
use hopbench_model::{Fault, IpFamily, MeshMode, Via};
use hopbench_testbed::placement::{Ask, Endpoints, PodId};

use crate::plan::services::{port_name, taken_port};
use crate::provision::built::Built;
use crate::provision::target::{self, Whereabouts};

/// The address of a pod, the first of this family; `None`: not known yet, or the pod has none.
pub(crate) type Address<'a> = &'a dyn Fn(&PodId, Option<IpFamily>) -> Option<IpAddr>;

/// The tasks of a listener, by port, and the families of the paths that they are for.
#[derive(Debug, Default)]
struct Taken {
    routes: BTreeMap<u16, ProxyRoute>,
    families: BTreeSet<IpFamily>,
}

impl Taken {
    fn add(&mut self, family: IpFamily, route: ProxyRoute) {
        self.families.insert(family);
        self.routes.insert(route.port, route);
    }

    /// The listener of this name, at the address of each family that `at` gives. Where nothing
    /// comes by IPv6 it does not listen there: a pod may have no IPv6.
    fn listener(self, name: &str, at: fn(IpFamily) -> IpAddr) -> Option<Listener> {
        let port = *self.routes.keys().next()?;
        let needed = |one: &IpFamily| *one == IpFamily::Ipv4 || self.families.contains(one);
        let addresses: Vec<IpAddr> = IpFamily::ALL.into_iter().filter(needed).map(at).collect();
        Some(Listener {
            name: name.to_owned(),
            addresses,
            port,
            redirected: false,
            edge: name == "gateway",
            routes: self.routes.into_values().collect(),
        })
    }
}

/// The listeners of a pod's sidecar or gateway; only what the plan needs.
pub(crate) fn listeners(built: &Built, pod: &PodId, address: Address<'_>) -> Vec<Listener> {
    let placement = &built.placement;
    let (mut inbound, mut outbound, mut gateway) =
        (Taken::default(), Taken::default(), Taken::default());
    for ends in placement.paths.values() {
        let (mode, family) = (ends.path.mesh, built.family_of(&ends.path));
        for ask in &ends.asks {
            if mode.has_server() && ends.servers_of(ask.program.as_deref()).contains(pod) {
                let telemetry = telemetry(ends, address);
                inbound.add(family, ends.inward(ask.offer, built.own_port(pod), telemetry));
            }
            let Some(port) = taken_port(placement, ends, ask) else { continue };
            if mode.has_client() && ends.clients.contains(pod) {
                outbound.add(family, onward(built, ends, ask, port, address));
            }
            if ends.gateways.contains(pod) {
                gateway.add(family, onward(built, ends, ask, port, address));
            }
        }
    }
    let all = [
        inbound.listener("inbound", IpFamily::wildcard),
        // Only this pod gets there.
        outbound.listener("outbound", IpFamily::loopback),
        gateway.listener("gateway", IpFamily::wildcard),
    ];
    all.into_iter().flatten().collect()
}

/// The telemetry service of a path, which all its proxies tell by one family.
fn telemetry(ends: &Endpoints, address: Address<'_>) -> Option<SocketAddr> {
    Some(SocketAddr::new(address(ends.telemetry()?, None)?, TELEMETRY_PORT))
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
    let at = |pod: &PodId| {
        let address = address(pod, ends.path.family)?;
        Some(SocketAddr::new(address, entry(built, ends, ask, pod)))
    };
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
    let names_mode = ends.names_mode(ask.program.as_deref());
    if names_mode { ask.offer.exposed(ends.entered()) } else { built.own_port(pod) }
}

/// The address that stands for a path's servers: of its Service, or outside of the cluster.
pub(crate) fn outside(built: &Built, ends: &Endpoints, ask: &Ask) -> Result<SocketAddr, Fault> {
    let path = &ends.path;
    let service = built.service(&path.name, ask.program.as_ref());
    let mut entry = service.and_then(|service| built.entries.get(&service.name)).cloned();
    if ends.names_mode(ask.program.as_deref()) {
        entry = entry.and_then(|entry| entry.at(port_name(ask.offer)));
    }
    let own = entry.as_ref().and_then(|entry| entry.address);
    let node = match &path.via {
        Via::NodePort(node) => {
            built.nodes.get(node).and_then(|node| target::of_family(&node.addresses, own))
        }
        _ => None,
    };
    let known = Whereabouts {
        server: None,
        entry: entry.as_ref(),
        node,
        datagrams: false,
        family: path.family,
    };
    target::target(&path.name, &path.via, &known)
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Path, Variant};

    use super::*;
    use crate::plan::fixture::{path, plan, point};
    use crate::provision::built::fixture::{built, named};

    fn meshed(name: &str, family: Option<IpFamily>, via: Via, mesh: MeshMode) -> Path {
        let variant = Some(Variant::plain());
        Path { family, mesh, variant, ..path(name, "pod@a", "pod@b", via) }
    }

    fn run(paths: Vec<Path>) -> Built {
        built(&plan(paths, vec![point("rr", "hopbench")]))
    }

    /// The listeners of a pod, with the upstreams of each port.
    fn told(built: &Built, pod: &str) -> Vec<String> {
        let address = |id: &PodId, family: Option<IpFamily>| built.address(id, family);
        let upstream = |route: &ProxyRoute| {
            let Upstream::Endpoints(all) = &route.upstream else { panic!("{route:?}") };
            format!("{} to {all:?}", route.port)
        };
        let one = |listener: Listener| {
            let routes: Vec<String> = listener.routes.iter().map(upstream).collect();
            format!("{} at {:?}: {}", listener.name, listener.addresses, routes.join(", "))
        };
        listeners(built, &named(built, pod), &address).into_iter().map(one).collect()
    }

    fn at(built: &Built, pod: &str, family: IpFamily) -> IpAddr {
        built.address(&named(built, pod), Some(family)).unwrap()
    }

    #[tokio::test]
    async fn sidecars_listen_and_lead_on_by_the_families_of_their_paths() {
        let path = |name: &str, family| meshed(name, family, Via::Direct, MeshMode::Both);
        let (four, six) = (path("four", None), path("six", Some(IpFamily::Ipv6)));
        let alone = run(vec![four.clone()]);
        let ipv4 = at(&alone, "pod@b", IpFamily::Ipv4);
        assert_eq!(
            told(&alone, "pod@a/client"),
            [format!("outbound at [127.0.0.1]: 18000 to [{ipv4}:17002]")]
        );
        assert_eq!(told(&alone, "pod@b"), ["inbound at [0.0.0.0]: 17002 to [127.0.0.1:7474]"]);
        let both = run(vec![four, six]);
        let ipv6 = at(&both, "pod@b", IpFamily::Ipv6);
        assert_eq!(
            told(&both, "pod@a/client"),
            [format!(
                "outbound at [127.0.0.1, ::1]: 18000 to [{ipv4}:17002], 18001 to [[{ipv6}]:17002]"
            )]
        );
        assert_eq!(told(&both, "pod@b"), ["inbound at [0.0.0.0, ::]: 17002 to [127.0.0.1:7474]"]);
    }

    #[tokio::test]
    async fn a_gateway_leads_on_by_the_family_of_its_path() {
        let gateway = Via::Gateway("c".to_owned());
        let built = run(vec![meshed("in", Some(IpFamily::Ipv6), gateway, MeshMode::Server)]);
        let ipv6 = at(&built, "pod@b", IpFamily::Ipv6);
        assert_eq!(
            told(&built, "pod@c/gateway-in"),
            [format!("gateway at [0.0.0.0, ::]: 18000 to [[{ipv6}]:17002]")]
        );
    }

    #[tokio::test]
    async fn where_the_cluster_has_ipv6_first_sidecars_listen_there() {
        let mut built = run(vec![meshed("p", None, Via::Direct, MeshMode::Both)]);
        built.nodes.values_mut().for_each(|node| node.addresses.reverse());
        assert_eq!(told(&built, "pod@b"), ["inbound at [0.0.0.0, ::]: 17002 to [127.0.0.1:7474]"]);
    }
}
