//! The rules by which the pods of a cluster are shared, the pods of agents alone that it needs, and
//! the ports of its agents.

use std::collections::BTreeSet;

use hopbench_model::{ClusterSpec, MeshProvider, Place, Plan, TestbedSpec, Via};
use hopbench_testbed::placement::{AGENT_PORT, Endpoints, Group, Placement, PodId, Rules};

use crate::plan::attachment::{has_agent, sees_node};

/// The placement of a plan in a cluster.
pub(crate) fn placement(plan: &Plan) -> Placement {
    let TestbedSpec::Kubernetes(spec) = &plan.testbed else {
        return Placement::of(plan, of_mesh(MeshProvider::Envoy));
    };
    let mut placement = Placement::of(plan, of_mesh(spec.mesh.provider));
    let alone = alone(spec, &placement);
    placement.pods.extend(alone);
    placement
}

/// The pods of agents alone: one on each node that a path passes and that no agent of the run sees.
fn alone(spec: &ClusterSpec, placement: &Placement) -> BTreeSet<PodId> {
    let passed = placement.paths.values().flat_map(|ends| without_agent(spec, ends));
    let unseen: BTreeSet<&str> =
        passed.filter(|node| seeing(spec, placement, node).next().is_none()).collect();
    let pod = |node: &str| {
        let (network, node) = ("pod".to_owned(), node.to_owned());
        let place = Place { network, node, more_nodes: Vec::new(), runtime: None };
        PodId::first(place, Group::AgentAlone)
    };
    unseen.into_iter().map(pod).filter(|pod| sees_node(spec, pod)).collect()
}

/// The nodes that a path passes and that none of its agents is on. They are that of a NodePort, and
/// those of gateways without an agent beside them.
fn without_agent<'a>(spec: &ClusterSpec, ends: &'a Endpoints) -> BTreeSet<&'a str> {
    let with_agent = ends.pods().filter(|pod| has_agent(spec, pod));
    let with_agent: BTreeSet<&str> = with_agent.map(|pod| pod.place.node.as_str()).collect();
    passed(ends).filter(|node| !with_agent.contains(node)).collect()
}

/// The nodes that a path passes between its ends: that of a NodePort, and those of the pods that
/// serve its mesh.
pub(crate) fn passed(ends: &Endpoints) -> impl Iterator<Item = &str> {
    let entered = match &ends.path.via {
        Via::NodePort(node) => Some(node.as_str()),
        // The node of a gateway is that of its pod.
        Via::Direct | Via::ClusterIp | Via::Gateway(_) | Via::LoadBalancer | Via::Address(_) => {
            None
        }
    };
    entered.into_iter().chain(ends.helpers().map(|pod| pod.place.node.as_str()))
}

/// The pods whose agents see a node.
pub(crate) fn seeing<'a>(
    spec: &'a ClusterSpec,
    placement: &'a Placement,
    node: &'a str,
) -> impl Iterator<Item = &'a PodId> {
    let on_node = placement.pods.iter().filter(move |pod| pod.place.node == node);
    on_node.filter(move |pod| sees_node(spec, pod))
}

/// The rules of a cluster with this mesh.
fn of_mesh(provider: MeshProvider) -> Rules {
    Rules {
        programs_apart: true,
        connects: provider == MeshProvider::Envoy,
        captures_pods: provider.is_on_nodes(),
        captures_programs: matches!(provider, MeshProvider::Istio | MeshProvider::Linkerd),
        policy_on_servers_node: true,
        // Those of others read it from the Service's port.
        versions_apart: true,
    }
}

/// The port of a pod's agent. Those on one node's own network need one each, from `host_port` on.
pub(crate) fn agent_port(placement: &Placement, host_port: u16, pod: &PodId) -> u16 {
    if !pod.is_host() {
        return AGENT_PORT;
    }
    let beside =
        placement.pods.iter().filter(|other| other.is_host() && other.place.node == pod.place.node);
    host_port + beside.take_while(|other| *other != pod).count() as u16
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Gateways, MeshMode, Path, PodNetwork, Variant};
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::{path, plan, plan_on, point, spec};

    #[test]
    fn a_node_that_is_entered_has_an_agent_alone_if_no_other_of_the_run_is_there() {
        let port = |name: &str, to: &str| path(name, "pod@a", to, Via::NodePort("c".into()));
        let entry = path("in", "pod@a", "pod@b", Via::Gateway("c".into()));
        let gateway = Path { variant: Some(Variant::plain()), ..entry };
        let alone = |spec: &ClusterSpec, paths: &[Path]| {
            let plan = plan_on(spec, paths.to_vec(), vec![point("rr", "hopbench")]);
            let placement = placement(&plan);
            let of_paths: BTreeSet<_> =
                placement.paths.values().flat_map(Endpoints::pods).collect();
            let others = placement.pods.iter().filter(|pod| !of_paths.contains(pod));
            others.map(PodId::to_string).collect::<Vec<_>>().join(" ")
        };
        let of = |paths: &[Path]| alone(&spec(), paths);
        let one = "pod@c/onlooker";
        assert_eq!(of(&[port("one", "pod@b"), port("two", "host@b")]), one);
        assert_eq!(of(&[port("one", "pod@c")]), "", "the server is there");
        let other = path("other", "host@c", "pod@b", Via::Direct);
        assert_eq!(of(&[port("one", "pod@b"), other]), "", "an end of another path is there");
        let sandboxed = path("sandboxed", "pod+runsc@c", "pod@b", Via::Direct);
        assert_eq!(of(&[port("one", "pod@b"), sandboxed]), one, "it does not see its node");
        assert_eq!(of(std::slice::from_ref(&gateway)), "", "an agent is beside it");
        let mut apart = spec();
        apart.patch = Some(json!({"spec": {"shareProcessNamespace": false}}));
        assert_eq!(alone(&apart, &[gateway]), one);
        let mut kata = spec();
        let class = PodNetwork { runtime_class: Some("kata".into()), ..PodNetwork::default() };
        kata.networks.insert("pod".into(), class);
        assert_eq!(alone(&kata, &[port("one", "bridge@b")]), "", "it would see nothing");
    }

    #[test]
    fn a_path_passes_the_nodes_of_all_its_gateways_and_of_the_services_that_they_ask() {
        let passes = |via: Via| {
            let more_nodes = vec!["a".to_owned()];
            let several = Gateways { count: 2, more_nodes };
            let path = Path {
                mesh: MeshMode::Server,
                variant: Some(Variant { policy_check: true, ..Variant::plain() }),
                gateways: matches!(via, Via::Gateway(_)).then_some(several),
                ..path("in", "pod@a", "pod@b", via)
            };
            let placement = placement(&plan(vec![path], vec![point("rr", "hopbench")]));
            passed(&placement.paths["in"]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(passes(Via::Gateway("c".into())), "c a b");
        assert_eq!(passes(Via::NodePort("c".into())), "c b");
        assert_eq!(passes(Via::Direct), "b");
    }

    #[test]
    fn who_shares_a_nodes_network_has_a_port_of_its_own() {
        let mut both = path("both", "host@a", "host@a", Via::Direct);
        both.clients = 2;
        let paths = vec![
            both,
            path("out", "host@a", "host@b", Via::Direct),
            path("in", "pod@b", "host@a", Via::Direct),
        ];
        let placement =
            placement(&plan(paths, vec![point("rr", "hopbench"), point("http", "nginx")]));
        let port = |pod: &PodId| agent_port(&placement, 23_000, pod);
        let ports = |node: &str| {
            let pods = placement.pods.iter().filter(|pod| pod.is_host() && pod.place.node == node);
            pods.map(port).collect::<BTreeSet<_>>()
        };
        let on = |node: &str| {
            placement.pods.iter().filter(|pod| pod.is_host() && pod.place.node == node).count()
        };
        assert_eq!((ports("a").len(), ports("b").len()), (on("a"), on("b")));
        assert_eq!(ports("a").first(), Some(&23_000));
        let pod = placement.pods.iter().find(|pod| !pod.is_host()).unwrap();
        assert_eq!(port(pod), 7474);
    }
}
