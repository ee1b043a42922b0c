//! The placement of a plan: the pods that it needs, the endpoints of its paths, and the proxies
//! that these meet.
//!
//! Everything here is pure. It does no I/O, and knows nothing of Kubernetes but ports.

pub(crate) mod endpoints;
pub(crate) mod mesh_processes;
pub(crate) mod pod;

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::{Offer, Protocol};
use hopbench_model::{MeshProvider, Plan, TestbedSpec, Transport, Variant, Via};

use self::endpoints::{Ask, PathEndpoints, Sharing, program};
use self::pod::{AGENT_PORT, PodId};

/// The placement of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Placement {
    /// The paths that have cells, by name.
    pub(crate) paths: BTreeMap<String, PathEndpoints>,
    /// Their pods, each once however many paths share it.
    pub(crate) pods: BTreeSet<PodId>,
    /// Those that send or answer ICMP echoes.
    pub(crate) echoing: BTreeSet<PodId>,
    /// Those that have a sidecar, with how it is set up.
    pub(crate) sidecars: BTreeMap<PodId, Variant>,
    /// The first port of the agents on each node's own network.
    pub(crate) host_port: u16,
}

impl Placement {
    /// Of the paths that have cells; of all paths, with the agents as servers, where a plan has no
    /// cells at all.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut placement = Self { host_port: AGENT_PORT, ..Self::default() };
        let used = |at: usize| plan.cells.is_empty() || plan.cells.iter().any(|cell| cell.path == at);
        let variants =
            plan.paths.iter().enumerate().filter(|(at, _)| used(*at)).filter_map(|(_, path)| path.variant.as_ref());
        let first = variants.map(|variant| variant.name.as_str()).next();
        let connects = match &plan.testbed {
            TestbedSpec::Kubernetes(spec) => spec.mesh.provider == MeshProvider::Envoy,
            _ => true,
        };
        let sharing = Sharing { first, connects };
        for (at, path) in plan.paths.iter().enumerate() {
            let cells = plan.cells.iter().filter(|cell| cell.path == at);
            let points: Vec<_> = cells.filter_map(|cell| plan.points.get(cell.point)).collect();
            if points.is_empty() && !plan.cells.is_empty() {
                continue;
            }
            let mut programs: BTreeSet<_> = points.iter().map(|point| program(&point.server)).collect();
            if programs.is_empty() {
                programs.insert(None);
            }
            let proxied = points.iter().filter(|point| !point.job.bypasses_proxies());
            let mut asks: BTreeSet<Ask> = proxied
                .map(|point| Ask {
                    program: program(&point.server),
                    protocol: Offer::of(&point.job, &point.server).protocol,
                })
                .collect();
            if plan.cells.is_empty() {
                asks.extend([Protocol::Tcp, Protocol::Http].map(|protocol| Ask { program: None, protocol }));
            }
            let datagrams = points.iter().any(|point| point.job.transport() == Transport::Udp);
            let ends = PathEndpoints::new(path, &programs, datagrams, asks, sharing);
            placement.pods.extend(ends.pods().cloned());
            if let Some(variant) = &path.variant {
                placement.sidecars.extend(ends.sidecars().map(|pod| (pod.clone(), variant.clone())));
            }
            if points.iter().any(|point| point.job.transport() == Transport::Icmp) {
                placement.echoing.extend(ends.clients.iter().cloned());
            }
            placement.paths.insert(path.name.clone(), ends);
        }
        placement
    }

    /// The port of a pod's agent: those on one node's own network need one each.
    pub(crate) fn agent_port(&self, pod: &PodId) -> u16 {
        if !pod.is_host() {
            return AGENT_PORT;
        }
        let beside = self.pods.iter().filter(|other| other.is_host() && other.place.node == pod.place.node);
        self.host_port + beside.take_while(|other| *other != pod).count() as u16
    }

    /// The pod of an agent.
    pub(crate) fn pod(&self, agent: &str) -> Option<&PodId> {
        self.pods.iter().find(|pod| pod.to_string() == agent)
    }

    /// The nodes of the scenario that take part, by name.
    pub(crate) fn nodes(&self) -> BTreeSet<&str> {
        let entered = self.paths.values().filter_map(|ends| match &ends.path.via {
            Via::NodePort(node) | Via::Gateway(node) if !node.is_empty() => Some(node.as_str()),
            _ => None,
        });
        self.pods.iter().map(|pod| pod.place.node.as_str()).chain(entered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::{path, plan, point};

    #[test]
    fn pods_are_shared_by_what_does_not_disturb_each_other() {
        let mut two = path("two", "bridge@a", "bridge@a", Via::Direct);
        two.clients = 2;
        let mut service = path("service", "bridge@a", "bridge@b", Via::ClusterIp);
        service.backends = 2;
        let placement = Placement::of(&plan(
            vec![path("direct", "bridge@a", "bridge@b", Via::Direct), two, service],
            vec![point("rr", "hopbench"), point("http", "nginx")],
        ));
        let of = |name: &str| placement.paths[name].pods().map(PodId::to_string).collect::<Vec<_>>();
        assert_eq!(of("direct"), ["bridge@a", "bridge@b", "bridge@b:nginx"]);
        assert_eq!(of("two"), ["bridge@a", "bridge@a#2", "bridge@a#3", "bridge@a:nginx"]);
        let servers = ["bridge@b/service", "bridge@b/service#2", "bridge@b/service:nginx", "bridge@b/service:nginx#2"];
        assert_eq!(of("service"), [&["bridge@a"][..], &servers].concat());
        assert_eq!(placement.pods.len(), 10);
    }

    #[test]
    fn who_shares_a_nodes_network_has_a_port_of_its_own() {
        let mut both = path("both", "host@a", "host@a", Via::Direct);
        both.clients = 2;
        let paths =
            vec![both, path("out", "host@a", "host@b", Via::Direct), path("in", "pod@b", "host@a", Via::Direct)];
        let mut placement = Placement::of(&plan(paths, vec![point("rr", "hopbench"), point("http", "nginx")]));
        placement.host_port = 23_000;
        let ports = |node: &str| {
            let pods = placement.pods.iter().filter(|pod| pod.is_host() && pod.place.node == node);
            pods.map(|pod| placement.agent_port(pod)).collect::<BTreeSet<_>>()
        };
        let on = |node: &str| placement.pods.iter().filter(|pod| pod.is_host() && pod.place.node == node).count();
        assert_eq!((ports("a").len(), ports("b").len()), (on("a"), on("b")));
        assert_eq!(ports("a").first(), Some(&23_000));
        let pod = placement.pods.iter().find(|pod| !pod.is_host()).unwrap();
        assert_eq!(placement.agent_port(pod), 7474);
    }

    #[test]
    fn a_path_without_cells_needs_nothing() {
        let mut plan = plan(
            vec![
                path("used", "pod@a", "pod@b", Via::Direct),
                path("idle", "pod@a", "pod@c", Via::NodePort("d".into())),
            ],
            vec![point("udp", "hopbench"), point("ping", "hopbench")],
        );
        plan.cells.retain(|cell| cell.path == 0);
        let placement = Placement::of(&plan);
        assert_eq!(placement.nodes(), BTreeSet::from(["a", "b"]));
        assert!(placement.paths["used"].datagrams);
        assert_eq!(placement.echoing.iter().map(PodId::to_string).collect::<Vec<_>>(), ["pod@a"]);
        plan.cells.clear();
        assert_eq!(Placement::of(&plan).nodes(), BTreeSet::from(["a", "b", "c", "d"]));
    }
}
