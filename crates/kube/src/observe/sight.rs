//! The sources of CPU and memory of what is no agent: an agent beside it, or only meters.

use std::collections::{BTreeSet, HashMap};

use hopbench_model::{Cell, ClusterSpec, Place, Plan, Point, TestbedSpec};
use hopbench_testbed::placement::Endpoints;

use crate::plan::attachment::sees_processes;
use crate::plan::placement::placement;

/// The containers of a cell whose CPU and memory are no agent's own, by who reads them. It is as
/// far as the scenario tells.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sight {
    /// Those that the agents beside them read from `/proc`, at the edges of the window.
    pub by_agents: BTreeSet<&'static str>,
    /// Those that only kubelets, cAdvisor and Prometheus read: each trial waits for them.
    pub by_meters: BTreeSet<&'static str>,
}

impl Sight {
    /// Of the cells of a plan; none if it is not on a cluster.
    pub fn of_cells(plan: &Plan) -> HashMap<Cell, Self> {
        let TestbedSpec::Kubernetes(spec) = &plan.testbed else { return HashMap::new() };
        let placement = placement(plan);
        let of_cell = |cell: &Cell| {
            let (path, point) = plan.at(*cell);
            Some((*cell, Self::of(spec, placement.paths.get(&path.name)?, point)))
        };
        plan.cells.iter().filter_map(of_cell).collect()
    }

    fn of(spec: &ClusterSpec, ends: &Endpoints, point: &Point) -> Self {
        let mut sight = Self::default();
        // A trial of a tool of others has no meters.
        if point.peer.is_some() {
            return sight;
        }
        let path = &ends.path;
        for place in ends.sidecar_places() {
            if ends.rules.captures_pods {
                sight.by_meters.insert("proxies on nodes");
            } else {
                sight.add(spec, place, "sidecars");
            }
        }
        for pod in &ends.gateways {
            sight.add(spec, &pod.place, "gateways");
        }
        if spec.gateway_of(path).is_some_and(|gateway| gateway.class.is_some()) {
            sight.by_meters.insert("gateways of others");
        }
        if let Some(pod) = &ends.policy {
            sight.add(spec, &pod.place, "policy services");
        }
        if !point.server.is_agent() {
            sight.add(spec, &path.to, "server programs");
        }
        if [&path.from, &path.to].iter().any(|place| place.runtime.is_some()) {
            sight.by_meters.insert("sandboxes");
        }
        sight
    }

    /// Adds containers of a place.
    fn add(&mut self, spec: &ClusterSpec, place: &Place, what: &'static str) {
        let source = match sees_processes(spec, place) {
            Some(true) => &mut self.by_agents,
            Some(false) => &mut self.by_meters,
            // The cluster cannot have the place.
            None => return,
        };
        source.insert(what);
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{GatewaySpec, MeshMode, MeshProvider, Path, Peer, Variant, Via};
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::{path, plan_on, point, spec};

    const NOTHING: [&str; 0] = [];

    /// Of the only cell of a plan.
    fn sight(spec: &ClusterSpec, path: &Path, point: Point) -> Sight {
        let plan = plan_on(spec, vec![path.clone()], vec![point]);
        Sight::of_cells(&plan).remove(&plan.cells[0]).unwrap()
    }

    fn assert_sight(spec: &ClusterSpec, path: &Path, agents: &[&str], meters: &[&str]) {
        let sight = sight(spec, path, point("http", "nginx"));
        assert_eq!(Vec::from_iter(sight.by_agents), agents, "{}", path.name);
        assert_eq!(Vec::from_iter(sight.by_meters), meters, "{}", path.name);
    }

    #[test]
    fn agents_read_what_is_beside_them_and_meters_the_rest() {
        let asks = Variant { policy_check: true, ..Variant::plain() };
        let ends = path("own", "pod@a", "pod@b", Via::Gateway("c".into()));
        let own = Path { mesh: MeshMode::Server, variant: Some(asks), ..ends };
        let all = ["gateways", "policy services", "server programs", "sidecars"];
        assert_sight(&spec(), &own, &all, &NOTHING);
        let mut apart = spec();
        apart.patch = Some(json!({"spec": {"shareProcessNamespace": false}}));
        assert_sight(&apart, &own, &NOTHING, &all);
        let mut class = spec();
        class.gateway = Some(GatewaySpec { class: Some("c".into()), ..GatewaySpec::default() });
        let others = path("others", "pod@a", "pod@b", Via::Gateway(String::new()));
        assert_sight(&class, &others, &["server programs"], &["gateways of others"]);
        let sandboxed = path("sandboxed", "pod@a", "pod+runsc@b", Via::Direct);
        assert_sight(&spec(), &sandboxed, &NOTHING, &["sandboxes", "server programs"]);
        let mut ambient = spec();
        ambient.mesh.provider = MeshProvider::IstioAmbient;
        let both = Path { mesh: MeshMode::Both, ..path("both", "pod@a", "pod@b", Via::Direct) };
        assert_sight(&ambient, &both, &["server programs"], &["proxies on nodes"]);
        let mut by_tool = point("http", "nginx");
        by_tool.peer = Some(Peer { tool: "wrk".into(), of: "http".into() });
        assert_eq!(sight(&spec(), &own, by_tool), Sight::default());
    }
}
