//! Target addresses of a plan's clients.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use hopbench_model::{Fault, Point, Transport, Via};
use hopbench_peer::{PORT, brings_server};
use hopbench_testbed::placement::{Ask, Endpoints, PodId, program};

use crate::mesh::listeners;
use crate::objects::containers::PEER;
use crate::plan::services::taken_port;
use crate::plan::traffic::Traffic;
use crate::provision::built::Built;
use crate::provision::target::{self, Whereabouts, no_address, target};

/// The target address of a cell, as far as the pods and Services are known.
pub(super) fn target_of(
    built: &Built,
    ends: &Endpoints,
    point: &Point,
) -> Result<SocketAddr, Fault> {
    if let Some(target) = by_mesh(built, ends, point)? {
        return Ok(target);
    }
    let path = &ends.path;
    let service = built.service(&path.name, program(&point.server).as_ref());
    let entry = service.and_then(|service| built.entries.get(&service.name));
    // The server of a tool is in the agent's pod, at a port of its own.
    let is_of_tool = brings_server(path, point);
    let of_tool = entry.filter(|_| is_of_tool).and_then(|entry| entry.at(PEER));
    let entry = if is_of_tool { of_tool.as_ref() } else { entry };
    let server = ends
        .servers_of(program(&point.server).as_deref())
        .first()
        .and_then(|pod| built.listener(pod, path.family));
    let entered = match &path.via {
        Via::NodePort(node) => built
            .nodes
            .get(node)
            .and_then(|node| target::of_family(&node.addresses, entry?.address)),
        _ => None,
    };
    let known = Whereabouts {
        server: server.map(|at| if is_of_tool { SocketAddr::new(at.ip(), PORT) } else { at }),
        entry,
        node: entered,
        datagrams: point.job.transport() == Transport::Udp,
        family: path.family,
    };
    target(&path.name, &path.via, &known)
}

/// The target address of a path because of its mesh or its gateway; `None`: they change nothing.
fn by_mesh(built: &Built, ends: &Endpoints, point: &Point) -> Result<Option<SocketAddr>, Fault> {
    let path = &ends.path;
    let nowhere = |what: &str| Fault::environment(format!("path {}: {what}", path.name));
    let none = |what: &str| nowhere(&no_address(what, path.family));
    if let (true, Some(gateway)) = (ends.enters_existing_gateway(), built.spec.gateway_of(path)) {
        let address = match &gateway.address {
            Some(address) => address,
            None => {
                let service = built.service(&path.name, program(&point.server).as_ref());
                let route = service.zip(Traffic::of(&point.job));
                let route = route.map(|(service, traffic)| traffic.route(&service.name));
                let entrance = route.and_then(|route| built.gateways.get(&route));
                let entrance = entrance
                    .ok_or_else(|| nowhere("nothing of the run leads to it from a gateway"))?;
                entrance.as_ref().map_err(|why| nowhere(why))?
            }
        };
        return target::resolve(address, path.family).map(Some).map_err(|why| nowhere(&why));
    }
    if !path.is_proxied() || point.job.bypasses_proxies() {
        return Ok(None);
    }
    let offer = ends.rules.offer(path, &point.job, &point.server);
    let ask = Ask { program: program(&point.server), offer };
    let servers = ends.servers_of(ask.program.as_deref());
    let has_none = |server: &PodId| built.address(server, path.family).is_none();
    // Proxies lead to no server then, and close every connection.
    if path.family.is_some() && servers.iter().any(has_none) {
        return Err(none("its server"));
    }
    let port =
        || taken_port(&built.placement, ends, &ask).ok_or_else(|| nowhere("no proxy takes this"));
    if let Some(gateway) = ends.gateways.first() {
        // Several have an address of their own.
        let service = built.service(&path.name, None).filter(|_| path.gateways.is_some());
        let entry = service.and_then(|service| built.entries.get(&service.name)?.address);
        let alone = || built.address(gateway, path.family).filter(|_| path.gateways.is_none());
        let address = entry.or_else(alone).ok_or_else(|| none("its gateway"))?;
        return Ok(Some(SocketAddr::new(address, port()?)));
    }
    if path.mesh.has_client() && ends.rules.connects {
        let loopback = path.family.unwrap_or_default().loopback();
        return Ok(Some(SocketAddr::new(loopback, port()?)));
    }
    if path.via != Via::Direct {
        return listeners::outside(built, ends, &ask).map(Some);
    }
    let server = servers.first().ok_or_else(|| nowhere("it has no server"))?;
    let address = built.address(server, path.family).ok_or_else(|| none("its server"))?;
    Ok(Some(SocketAddr::new(address, listeners::entry(built, ends, &ask, server))))
}

/// The target addresses of all cells that agents measure, as far as they are known now.
pub(super) fn all(built: &Built) -> BTreeSet<SocketAddr> {
    let of_cell = |(path, point): &(String, Point)| {
        let ends = built.placement.paths.get(path).filter(|ends| !is_said_by_others(ends))?;
        if point.peer.is_some() {
            return None;
        }
        target_of(built, ends, point).ok()
    };
    built.cells.iter().filter_map(of_cell).chain(built.entered.values().copied()).collect()
}

/// Whether the address that the clients of a path connect to comes from elsewhere, perhaps as a
/// name that has to be looked up. Then it is known when the path is asked for.
pub(super) fn is_said_by_others(ends: &Endpoints) -> bool {
    matches!(ends.path.via, Via::LoadBalancer | Via::Address(_)) || ends.enters_existing_gateway()
}

#[cfg(test)]
mod tests {
    use hopbench_model::{IpFamily, MeshMode, MeshProvider, Path, Plan, Variant};

    use super::*;
    use crate::plan::fixture::{path, plan, plan_on, point};
    use crate::provision::built::fixture::{built, built_with, named, with_nginx};

    fn planned(family: Option<IpFamily>, via: Via, mesh: MeshMode) -> Plan {
        let variant = Some(Variant::plain());
        let path = Path { family, mesh, variant, ..path("p", "pod@a", "pod@b", via) };
        plan(vec![path], vec![point("rr", "hopbench")])
    }

    fn run(family: Option<IpFamily>, via: Via, mesh: MeshMode) -> Built {
        built(&planned(family, via, mesh))
    }

    fn told(built: &Built) -> Result<String, String> {
        let target = target_of(built, &built.placement.paths["p"], &point("rr", "hopbench"));
        target.map(|target| target.to_string()).map_err(|fault| fault.text)
    }

    #[tokio::test]
    async fn clients_enter_proxies_by_the_family_of_their_path() {
        let at = |family, via: Via, mesh| told(&run(family, via, mesh)).unwrap();
        let ipv6 = Some(IpFamily::Ipv6);
        assert_eq!(at(None, Via::Direct, MeshMode::Both), "127.0.0.1:18000");
        for via in [Via::Direct, Via::ClusterIp, Via::NodePort("c".into())] {
            assert_eq!(at(ipv6, via, MeshMode::Both), "[::1]:18000");
        }
        assert_eq!(at(ipv6, Via::ClusterIp, MeshMode::Server), "[fd00:96::1]:17000");
        assert_eq!(at(ipv6, Via::NodePort("c".into()), MeshMode::Server), "[fd00::3]:31000");
        for (via, pod, port) in
            [(Via::Direct, "pod@b", 17_000), (Via::Gateway("c".into()), "pod@c/gateway-p", 18_000)]
        {
            let built = run(ipv6, via, MeshMode::Server);
            let address = built.address(&named(&built, pod), ipv6).unwrap();
            assert_eq!(told(&built), Ok(format!("[{address}]:{port}")));
        }
    }

    #[tokio::test]
    async fn where_ipv6_is_first_or_alone_paths_without_a_family_go_by_it() {
        for families in [&[IpFamily::Ipv6, IpFamily::Ipv4][..], &[IpFamily::Ipv6]] {
            let run = |via: Via, mesh| built_with(&planned(None, via, mesh), families);
            let at = |via: Via, mesh| told(&run(via, mesh)).unwrap();
            assert_eq!(at(Via::ClusterIp, MeshMode::None), "[fd00:96::1]:7474");
            assert_eq!(at(Via::NodePort("c".into()), MeshMode::None), "[fd00::3]:30000");
            assert_eq!(at(Via::ClusterIp, MeshMode::Server), "[fd00:96::1]:17000");
            // Sidecars have the loopback of both families.
            assert_eq!(at(Via::Direct, MeshMode::Both), "127.0.0.1:18000");
            for (via, mesh, pod, port) in [
                (Via::Direct, MeshMode::None, "pod@b", 7474),
                (Via::Direct, MeshMode::Server, "pod@b", 17_000),
                (Via::Gateway("c".into()), MeshMode::Server, "pod@c/gateway-p", 18_000),
            ] {
                let built = run(via, mesh);
                let address = built.address(&named(&built, pod), Some(IpFamily::Ipv6)).unwrap();
                assert_eq!(told(&built), Ok(format!("[{address}]:{port}")));
            }
        }
    }

    #[tokio::test]
    async fn an_injected_sidecar_takes_a_program_at_its_own_port_and_an_agent_at_that_of_a_mode() {
        let points = [point("http", "nginx"), point("rr", "hopbench")];
        let at = |via: Via, mesh: MeshMode| {
            let variant = Some(Variant::plain());
            let path = Path { mesh, variant, ..path("p", "pod@a", "pod@b", via) };
            let spec = with_nginx(MeshProvider::Istio);
            let built = built(&plan_on(&spec, vec![path], points.to_vec()));
            let ends = &built.placement.paths["p"];
            [0, 1].map(|point: usize| target_of(&built, ends, &points[point]).unwrap().port())
        };
        for via in [Via::Direct, Via::ClusterIp] {
            for (mesh, port) in
                [(MeshMode::Server, 17_000), (MeshMode::Client, 17_001), (MeshMode::Both, 17_002)]
            {
                assert_eq!(at(via.clone(), mesh), [8080, port], "{via} {mesh}");
            }
        }
        assert_eq!(at(Via::NodePort("c".into()), MeshMode::Server), [30_000, 31_000]);
    }

    #[tokio::test]
    async fn without_an_address_no_other_way_is_taken() {
        let mut built = run(Some(IpFamily::Ipv6), Via::Direct, MeshMode::Both);
        let statuses = built.pods.values_mut().filter_map(|pod| pod.status.as_mut());
        statuses.for_each(|status| status.pod_ips = None);
        assert_eq!(told(&built).unwrap_err(), "path p: its server has no IPv6 address");
        // Its servers have addresses, but they are not what the path is about.
        let why = told(&run(None, Via::LoadBalancer, MeshMode::Server)).unwrap_err();
        assert!(why.contains("nobody gave its Service"), "{why}");
    }
}
