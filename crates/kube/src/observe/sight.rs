//! The sources of CPU and memory of what is no agent: an agent beside it, or only meters.

use std::collections::BTreeSet;

use hopbench_model::{ClusterSpec, Path, Place, Point, Via};
use hopbench_testbed::placement::helper_place;

use crate::plan::attachment::sees_processes;

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
    /// Of a cell.
    pub fn of(spec: &ClusterSpec, path: &Path, point: &Point) -> Self {
        let mut sight = Self::default();
        // A trial of a tool of others has no meters.
        if point.peer.is_some() {
            return sight;
        }
        let ends = [(path.mesh.has_client(), &path.from), (path.mesh.has_server(), &path.to)];
        for (_, place) in ends.into_iter().filter(|(has_sidecar, _)| *has_sidecar) {
            if spec.mesh.provider.is_on_nodes() {
                sight.by_meters.insert("proxies on nodes");
            } else {
                sight.add(spec, place, "sidecars");
            }
        }
        match &path.via {
            Via::Gateway(node) if !node.is_empty() => {
                sight.add(spec, &helper_place(path, node), "gateways");
            }
            Via::Gateway(_) if spec.gateway_of(path).is_some_and(|one| one.class.is_some()) => {
                sight.by_meters.insert("gateways of others");
            }
            _ => {}
        }
        let asks = path.variant.as_ref().is_some_and(|v| v.policy_check || v.policy_report);
        if asks && path.is_proxied() {
            sight.add(spec, &helper_place(path, &path.to.node), "policy services");
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
    use hopbench_model::{GatewaySpec, MeshMode, MeshProvider, Peer, Variant};
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::{path, point, spec};

    const NOTHING: [&str; 0] = [];

    fn assert_sight(spec: &ClusterSpec, path: &Path, agents: &[&str], meters: &[&str]) {
        let sight = Sight::of(spec, path, &point("http", "nginx"));
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
        assert_eq!(Sight::of(&spec(), &own, &by_tool), Sight::default());
    }
}
