//! The rules by which the pods of a cluster are shared, and the ports of their agents.

use hopbench_model::{ClusterSpec, MeshProvider, Plan, TestbedSpec};
use hopbench_testbed::placement::{AGENT_PORT, Placement, PodId, Rules};

/// The placement of a plan in a cluster.
pub(crate) fn placement(plan: &Plan) -> Placement {
    Placement::of(
        plan,
        match &plan.testbed {
            TestbedSpec::Kubernetes(spec) => rules(spec),
            _ => of_mesh(MeshProvider::Envoy),
        },
    )
}

/// The rules of a cluster.
pub(crate) fn rules(spec: &ClusterSpec) -> Rules {
    of_mesh(spec.mesh.provider)
}

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
    use std::collections::BTreeSet;

    use hopbench_model::Via;

    use super::*;
    use crate::plan::fixture::{path, plan, point};

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
