//! The Services of a plan, one for each path and server program.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::{Offer, TAKEN};
use hopbench_model::{Affinity, ClusterSpec, IpFamily, Via};
use hopbench_testbed::placement::{Ask, Endpoints, Placement, PodId};

use crate::plan::{gateways, names};

/// A Service that a plan needs: of one path, for the agents or for one server program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathService {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) program: Option<String>,
    pub(crate) via: Via,
    pub(crate) affinity: Affinity,
    /// The family of its addresses; absent: the cluster's first.
    pub(crate) family: Option<IpFamily>,
    pub(crate) datagrams: bool,
    /// Whether it leads to the path's gateways, and not to its servers.
    pub(crate) is_of_gateways: bool,
    pub(crate) backends: Vec<PodId>,
    /// Whether it leads to the servers of tools, too, by a port of their own.
    pub(crate) has_tools: bool,
    /// The ports beside the server's own, by name. Each leads to the port of the same number, where
    /// the servers' sidecars take it.
    pub(crate) sidecars: BTreeMap<String, u16>,
}

/// The Services of a plan.
pub(crate) fn services(spec: &ClusterSpec, placement: &Placement) -> Vec<PathService> {
    let mut all = Vec::new();
    // Their names have numbers by the order of the paths' names, not by that of the plan.
    let has_one =
        |ends: &&Endpoints| ends.service.is_some() || gateways::of_path(spec, &ends.path).is_some();
    for (number, ends) in placement.paths.values().filter(has_one).enumerate() {
        let path = &ends.path.name;
        if ends.path.gateways.is_some() {
            all.push(PathService {
                name: names::service(number, path, None),
                path: path.clone(),
                program: None,
                via: ends.path.via.clone(),
                affinity: ends.path.affinity,
                family: ends.path.family,
                datagrams: false,
                is_of_gateways: true,
                has_tools: false,
                backends: ends.gateways.clone(),
                sidecars: taken(placement, ends),
            });
            continue;
        }
        all.extend(ends.by_program().enumerate().map(|(of, (program, backends))| PathService {
            name: names::service(number, path, program.map(|program| (of, program))),
            path: path.clone(),
            program: program.map(str::to_owned),
            via: ends.path.via.clone(),
            affinity: ends.path.affinity,
            family: ends.path.family,
            datagrams: ends.datagrams,
            is_of_gateways: false,
            has_tools: spec.peers.is_some() && ends.peers && program.is_none(),
            backends: backends.to_vec(),
            sidecars: sidecars(ends, program),
        }));
    }
    all
}

/// The port at which a client's sidecar or a gateway takes what is asked on a path. Each has its
/// own, since there is nothing but the port to tell them apart.
pub(crate) fn taken_port(placement: &Placement, ends: &Endpoints, ask: &Ask) -> Option<u16> {
    let taking = placement
        .paths
        .values()
        .filter(|ends| ends.path.mesh.has_client() || !ends.gateways.is_empty());
    let mut all = taking.flat_map(|ends| ends.asks.iter().map(move |ask| (&ends.path.name, ask)));
    let number = all.position(|(path, asked)| *path == ends.path.name && asked == ask)?;
    u16::try_from(number).ok()?.checked_add(TAKEN)
}

/// The ports of a path's gateways, by name. Two programs that are asked alike have a port each.
fn taken(placement: &Placement, ends: &Endpoints) -> BTreeMap<String, u16> {
    let mut all = BTreeMap::new();
    for (number, ask) in ends.asks.iter().enumerate() {
        let Some(port) = taken_port(placement, ends, ask) else { continue };
        let name = port_name(ask.offer);
        let name = if all.contains_key(name) { format!("{name}{number}") } else { name.to_owned() };
        all.insert(name, port);
    }
    all
}

fn sidecars(ends: &Endpoints, program: Option<&str>) -> BTreeMap<String, u16> {
    let is_asked = |ask: &&Ask| ends.names_mode() && ask.program.as_deref() == program;
    let port = |ask: &Ask| (port_name(ask.offer).to_owned(), ask.offer.exposed(ends.entered()));
    ends.asks.iter().filter(is_asked).map(port).collect()
}

/// The name of a Service's port for an offer, as Istio wants it: `tcp-agent`.
pub(crate) fn port_name(offer: Offer) -> &'static str {
    ["tcp-agent", "http-agent", "http-program"][offer.position()]
}

/// The Services that each pod is behind, by name.
pub(crate) fn behind(services: &[PathService]) -> BTreeMap<&PodId, BTreeSet<String>> {
    let mut all: BTreeMap<&PodId, BTreeSet<String>> = BTreeMap::new();
    for service in services {
        for pod in &service.backends {
            all.entry(pod).or_default().insert(service.name.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use hopbench_model::{GatewaySpec, ParentGateway};

    use super::*;
    use crate::plan::fixture::{path, plan, point, spec};
    use crate::plan::placement::placement;

    #[test]
    fn each_path_with_a_service_has_one_for_each_who_answers() {
        let mut node_port = path("node port", "pod@a", "pod@b", Via::NodePort("c".into()));
        node_port.backends = 2;
        let plan = plan(
            vec![path("direct", "pod@a", "pod@b", Via::Direct), node_port],
            vec![point("udp", "hopbench"), point("http", "nginx")],
        );
        let placement = placement(&plan);
        let services = services(&spec(), &placement);
        let names: Vec<_> = services.iter().map(|service| service.name.as_str()).collect();
        assert_eq!(names, ["path0-node-port", "path0-node-port-nginx"]);
        assert!(services.iter().all(|service| service.backends.len() == 2 && service.datagrams));
        let behind = behind(&services);
        assert_eq!(behind.len(), 4);
        assert!(behind.values().all(|services| services.len() == 1));
    }

    #[test]
    fn a_route_at_a_gateway_has_a_service_to_lead_to() {
        let enters = path("in", "pod@a", "pod@b", Via::Gateway(String::new()));
        let placement = placement(&plan(vec![enters], vec![point("http", "hopbench")]));
        let mut spec = spec();
        let gateway = |address: Option<String>, parent| GatewaySpec {
            address,
            parent,
            ..GatewaySpec::default()
        };
        spec.gateway = Some(gateway(Some("203.0.113.7:80".into()), None));
        assert!(services(&spec, &placement).is_empty());
        let parent = ParentGateway { namespace: "infra".into(), name: "public".into() };
        spec.gateway = Some(gateway(None, Some(parent)));
        let of_parent = services(&spec, &placement);
        spec.gateway = Some(GatewaySpec { class: Some("c".into()), ..gateway(None, None) });
        let services = services(&spec, &placement);
        assert_eq!(services, of_parent);
        assert_eq!(services.len(), 1);
        assert_eq!((services[0].name.as_str(), services[0].backends.len()), ("path0-in", 1));
    }
}
