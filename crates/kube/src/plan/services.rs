//! The Services of a plan, one for each path and server program.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::{Offer, Protocol, TAKEN};
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
    /// Whether a gateway of the cluster asks its agents over HTTP/2, at a port that says so.
    pub(crate) http2: bool,
    /// Whether the port of its server program says that it takes HTTP, since a mesh takes all that
    /// comes there.
    pub(crate) says_http: bool,
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
                http2: false,
                says_http: false,
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
            http2: program.is_none() && is_asked_over_http2(spec, ends),
            says_http: program.is_some() && takes_programs(ends),
            is_of_gateways: false,
            has_tools: spec.peers.is_some() && ends.peers && program.is_none(),
            backends: backends.to_vec(),
            sidecars: sidecars(ends, program),
        }));
    }
    all
}

/// Whether the mesh of a path takes all connections to a server program.
fn takes_programs(ends: &Endpoints) -> bool {
    ends.rules.captures_programs && !ends.path.mesh.is_none()
}

/// Whether a gateway of the cluster leads to the agents of a path over HTTP/2. Where it leads to
/// their sidecars, these have a port for it.
fn is_asked_over_http2(spec: &ClusterSpec, ends: &Endpoints) -> bool {
    let is_routed = gateways::of_path(spec, &ends.path).is_some() && !ends.names_mode(None);
    is_routed && ends.asks.iter().any(|ask| ask.offer.protocol == Protocol::Http2)
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
    let is_asked = |ask: &&Ask| ends.names_mode(program) && ask.program.as_deref() == program;
    let port = |ask: &Ask| (port_name(ask.offer).to_owned(), ask.offer.exposed(ends.entered()));
    ends.asks.iter().filter(is_asked).map(port).collect()
}

/// The name of a Service's port for requests to agents over HTTP/2.
pub(crate) const HTTP2_AGENT: &str = "http2-agent";

/// The name of a Service's port for an offer, as Istio wants it: `tcp-agent`.
pub(crate) fn port_name(offer: Offer) -> &'static str {
    ["tcp-agent", "http-agent", "http-program", HTTP2_AGENT][offer.position()]
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
    use hopbench_model::{GatewaySpec, MeshMode, MeshProvider, ParentGateway, Path, Variant};

    use super::*;
    use crate::plan::fixture::{path, plan, plan_on, point, spec};
    use crate::plan::placement::placement;
    use crate::provision::built::fixture::with_nginx;

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
        assert!(!services[0].http2, "nothing is asked over HTTP/2");
        assert_eq!(services.len(), 1);
        assert_eq!((services[0].name.as_str(), services[0].backends.len()), ("path0-in", 1));
    }

    #[test]
    fn a_program_has_no_port_beside_its_own_where_a_mesh_takes_all_of_it() {
        let of = |provider: MeshProvider, mesh: MeshMode| {
            let spec = with_nginx(provider);
            let variant = (!mesh.is_none()).then(Variant::plain);
            let path = Path { mesh, variant, ..path("p", "pod@a", "pod@b", Via::ClusterIp) };
            let plan = plan_on(&spec, vec![path], vec![point("http", "nginx")]);
            let service = services(&spec, &placement(&plan)).remove(0);
            (service.says_http, service.sidecars.into_values().collect::<Vec<_>>())
        };
        for provider in [MeshProvider::Istio, MeshProvider::Linkerd] {
            assert_eq!(of(provider, MeshMode::None), (false, vec![]));
            assert_eq!(of(provider, MeshMode::Both), (true, vec![]));
        }
        assert_eq!(of(MeshProvider::Envoy, MeshMode::Both), (false, vec![17_022]));
        assert_eq!(of(MeshProvider::IstioAmbient, MeshMode::Both), (false, vec![]));
    }

    #[test]
    fn http2_from_a_gateway_has_a_port_that_says_so() {
        let mut spec = spec();
        spec.gateway = Some(GatewaySpec { class: Some("c".into()), ..GatewaySpec::default() });
        let mut http2 = point("http", "hopbench");
        http2.job.params = serde_json::json!({"http2": true}).into();
        let of = |via: Via, mesh: MeshMode| {
            let variant = (!mesh.is_none()).then(Variant::plain);
            let path = Path { mesh, variant, ..path("in", "pod@a", "pod@b", via) };
            let placement = placement(&plan(vec![path], vec![http2.clone()]));
            let service = services(&spec, &placement).remove(0);
            (service.http2, service.sidecars.into_iter().collect::<Vec<_>>())
        };
        let enters = || Via::Gateway(String::new());
        assert_eq!(of(enters(), MeshMode::None), (true, vec![]));
        assert_eq!(of(Via::ClusterIp, MeshMode::None), (false, vec![]));
        let sidecar = vec![("http2-agent".to_owned(), 17_030)];
        assert_eq!(of(enters(), MeshMode::Server), (false, sidecar.clone()));
        assert_eq!(of(Via::ClusterIp, MeshMode::Server), (false, sidecar));
    }
}
