//! The processes of the mesh that a route meets, with their containers.

use std::collections::BTreeMap;

use hopbench_testbed::placement::{MeshRole, Met, PodId};
use hopbench_testbed::{Beside, MeteredKind, Route};

use super::{injected, on_nodes};
use crate::objects::containers::GATEWAY;
use crate::observe::meters::target::{Container, MeterTarget};
use crate::provision::built::Built;

/// The processes of the mesh on a route.
pub(super) fn on_route(built: &Built, route: &Route) -> Vec<Met> {
    let ends = built.placement.paths.get(&route.path);
    // Those on the nodes are in no pod of the run.
    let Some(ends) = ends.filter(|ends| !ends.rules.captures_pods) else { return Vec::new() };
    let servers: Vec<PodId> =
        route.servers.iter().filter_map(|agent| built.placement.pod(&agent.0)).cloned().collect();
    built.placement.met(ends, &servers, route.bypasses_proxies())
}

/// The proxies that a route names, of those in pods of the run: their pods, and the names of their
/// containers.
pub(crate) fn containers(built: &Built, route: &Route) -> Vec<(PodId, &'static str)> {
    let proxies = on_route(built, route).into_iter().filter(|met| met.named && met.role.is_proxy());
    let place = |met: Met| {
        let container = container(built, &met);
        (met.pod, container)
    };
    proxies.map(place).collect()
}

/// The name of the container that one is in.
fn container(built: &Built, met: &Met) -> &'static str {
    match met.role {
        MeshRole::Sidecar => injected::container(built.spec.mesh.provider),
        MeshRole::Gateway => GATEWAY,
        MeshRole::Policy | MeshRole::Telemetry => met.role.word(),
    }
}

/// The agent that sees its processes, as its pod stands.
pub(super) fn beside(built: &Built, met: &Met) -> Option<Beside> {
    built.beside(&met.pod, container(built, met))
}

/// Their containers and the pods of those on the nodes, for meters and watches.
pub(crate) fn targets(built: &Built, route: &Route) -> Vec<MeterTarget> {
    let target = |met: Met| {
        let container = container(built, &met);
        let (namespace, pod) = (built.run.namespace.clone(), built.names.get(&met.pod)?.clone());
        Some(MeterTarget {
            who: met.name,
            what: MeteredKind::Proxy,
            node: built.nodes.get(&met.pod.place.node)?.name.clone(),
            container: Some(Container { namespace, pod, name: container.to_owned() }),
        })
    };
    let in_pods = on_route(built, route).into_iter().filter_map(target);
    in_pods.chain(on_nodes::targets(built, route)).collect()
}

/// Facts about the proxies for readers of the results.
pub(crate) fn facts(built: &Built) -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = built.placement.facts().collect();
    for pod in built.placement.sidecars.keys() {
        let found = built
            .pods
            .get(pod)
            .and_then(|found| injected::describe(built.spec.mesh.provider, found));
        facts.extend(found.map(|found| (format!("pod {pod} proxy"), found)));
    }
    facts
}
