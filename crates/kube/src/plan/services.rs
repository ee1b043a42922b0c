//! The Services of a plan, one for each path and server program.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::Offer;
use hopbench_model::{Affinity, Via};
use hopbench_testbed::placement::{Endpoints, Placement, PodId};

use crate::plan::names;

/// A Service that a plan needs: of one path, for the agents or for one server program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathService {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) program: Option<String>,
    pub(crate) via: Via,
    pub(crate) affinity: Affinity,
    pub(crate) datagrams: bool,
    pub(crate) backends: Vec<PodId>,
    /// The ports beside the server's own, by name. Each leads to the port of the same number, where
    /// the servers' sidecars take it.
    pub(crate) sidecars: BTreeMap<&'static str, u16>,
}

/// The Services of a plan.
pub(crate) fn services(placement: &Placement) -> Vec<PathService> {
    let mut all = Vec::new();
    // Their names have numbers by the order of the paths' names, not by that of the plan.
    for (number, ends) in placement.paths.values().filter(|ends| ends.service.is_some()).enumerate()
    {
        let path = &ends.path.name;
        all.extend(ends.by_program().enumerate().map(|(of, (program, backends))| PathService {
            name: names::service(number, path, program.map(|program| (of, program))),
            path: path.clone(),
            program: program.map(str::to_owned),
            via: ends.path.via.clone(),
            affinity: ends.path.affinity,
            datagrams: ends.datagrams,
            backends: backends.to_vec(),
            sidecars: sidecars(ends, program),
        }));
    }
    all
}

fn sidecars(ends: &Endpoints, program: Option<&str>) -> BTreeMap<&'static str, u16> {
    let mode = ends.entered();
    let named = mode.has_server() || ends.intercepted && mode.has_client();
    let asks = ends.asks.iter().filter(|ask| named && ask.program.as_deref() == program);
    asks.map(|ask| (port_name(ask.offer), ask.offer.exposed(mode))).collect()
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
    use super::*;
    use crate::plan::fixture::{path, plan, point};
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
        let services = services(&placement);
        let names: Vec<_> = services.iter().map(|service| service.name.as_str()).collect();
        assert_eq!(names, ["path0-node-port", "path0-node-port-nginx"]);
        assert!(services.iter().all(|service| service.backends.len() == 2 && service.datagrams));
        let behind = behind(&services);
        assert_eq!(behind.len(), 4);
        assert!(behind.values().all(|services| services.len() == 1));
    }
}
