//! Target addresses of a plan's clients.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use hopbench_model::{Fault, Point, Transport, Via};
use hopbench_peer::{PORT, brings_server};
use hopbench_testbed::placement::{Ask, Endpoints, program};

use crate::mesh::listeners;
use crate::objects::containers::PEER;
use crate::plan::placement::rules;
use crate::plan::services::taken_port;
use crate::plan::traffic::Traffic;
use crate::provision::built::Built;
use crate::provision::target::{self, Whereabouts, target};

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
        return target::resolve(address, None).map(Some).map_err(|why| nowhere(&why));
    }
    if !path.is_proxied() || point.job.bypasses_proxies() {
        return Ok(None);
    }
    let offer = rules(&built.spec).offer(path, &point.job, &point.server);
    let ask = Ask { program: program(&point.server), offer };
    let port =
        || taken_port(&built.placement, ends, &ask).ok_or_else(|| nowhere("no proxy takes this"));
    if let Some(gateway) = ends.gateways.first() {
        // Several have an address of their own.
        let service = built.service(&path.name, None).filter(|_| path.gateways.is_some());
        let entry = service.and_then(|service| built.entries.get(&service.name)?.address);
        let alone = || built.address(gateway).filter(|_| path.gateways.is_none());
        let address = entry.or_else(alone).ok_or_else(|| nowhere("its gateway has no address"))?;
        return Ok(Some(SocketAddr::new(address, port()?)));
    }
    if path.mesh.has_client() && !ends.intercepted {
        return Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port()?))));
    }
    if let Some(outside) = listeners::outside(built, ends, &ask) {
        return Ok(Some(outside));
    }
    let server = ends
        .servers_of(program(&point.server).as_deref())
        .first()
        .ok_or_else(|| nowhere("it has no server"))?;
    let address = built.address(server).ok_or_else(|| nowhere("its server has no address"))?;
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
