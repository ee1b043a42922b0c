//! The pods, sidecars, Services and server programs of a whole plan.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::Offer;
use hopbench_model::{Cell, Path, Plan, ServerSpec, Variant, Via};

use super::endpoints::Endpoints;
use super::pod::PodId;

/// The placement of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Placement {
    /// The paths that have cells, by name.
    pub(crate) paths: BTreeMap<String, Endpoints>,
    /// Their pods, each once, however many paths share it.
    pub(crate) pods: BTreeSet<PodId>,
    /// The pods with a sidecar, and how it is set up.
    pub(crate) sidecars: BTreeMap<PodId, Variant>,
    /// The server programs other than the agent.
    pub(crate) programs: BTreeSet<ServerSpec>,
    /// CPUs that workloads name for the agents of pods.
    pub(crate) named: BTreeMap<PodId, BTreeSet<usize>>,
}

impl Placement {
    /// The placement of the paths that have cells. If a plan has no cells at all, of all paths.
    pub(crate) fn of(plan: &Plan) -> Self {
        let used: BTreeSet<usize> = if plan.cells.is_empty() {
            (0..plan.paths.len()).collect()
        } else {
            plan.cells.iter().map(|cell| cell.path).collect()
        };
        let mut placement = Self::default();
        let used: Vec<(usize, &Path)> = used.into_iter().filter_map(|at| Some((at, plan.paths.get(at)?))).collect();
        let first = used.iter().find_map(|(_, path)| path.variant.as_ref()).map(|variant| variant.name.as_str());
        let mut services = 0..;
        for (at, path) in used {
            let service = if matches!(path.via, Via::ClusterIp | Via::NodePort(_)) { services.next() } else { None };
            let mut endpoints = Endpoints::new(path, service, first, Offer::of_path(plan, at));
            endpoints.find_policy(first);
            placement.pods.extend(
                endpoints
                    .clients
                    .iter()
                    .chain(&endpoints.servers)
                    .chain(&endpoints.gateway)
                    .chain(&endpoints.policy)
                    .cloned(),
            );
            if let Some(variant) = &path.variant {
                placement.sidecars.extend(endpoints.sidecars().map(|pod| (pod.clone(), variant.clone())));
            }
            placement.paths.insert(path.name.clone(), endpoints);
        }
        let points = plan.cells.iter().filter_map(|cell| plan.points.get(cell.point));
        placement.programs = points.map(|point| point.server.clone()).filter(|server| !server.is_agent()).collect();
        for cell in &plan.cells {
            placement.name_cpus(plan, *cell);
        }
        placement
    }

    /// Whether any path has proxies.
    pub(crate) fn is_proxied(&self) -> bool {
        self.paths.values().any(|endpoints| endpoints.path.is_proxied())
    }

    /// The pods with the services that proxies ask, with the variants of those proxies.
    pub(crate) fn policies(&self) -> BTreeMap<&PodId, &Variant> {
        let pods = self
            .paths
            .values()
            .filter_map(|endpoints| Some((endpoints.policy.as_ref()?, endpoints.path.variant.as_ref()?)));
        pods.collect()
    }

    /// The number of proxies and services.
    pub(crate) fn mesh_process_count(&self) -> usize {
        let gateways = self.paths.values().filter(|endpoints| endpoints.gateway.is_some()).count();
        let services = |variant: &Variant| usize::from(variant.policy_check) + usize::from(variant.policy_report);
        self.sidecars.len() + gateways + self.policies().into_values().map(services).sum::<usize>()
    }

    fn name_cpus(&mut self, plan: &Plan, cell: Cell) {
        let (Some(path), Some(point)) = (plan.paths.get(cell.path), plan.points.get(cell.point)) else { return };
        let Some(endpoints) = self.paths.get(&path.name) else { return };
        for (pods, cpus) in [(&endpoints.clients, &point.job.client_cpus), (&endpoints.servers, &point.job.server_cpus)]
        {
            let Some(cpus) = cpus else { continue };
            for pod in pods {
                self.named.entry(pod.clone()).or_default().extend(&cpus.0);
            }
        }
    }

    /// The network kinds that are used, by name.
    pub(crate) fn networks(&self) -> BTreeSet<&str> {
        self.pods.iter().map(|pod| pod.place.network.as_str()).collect()
    }

    /// Paths with a Service, in the order of their numbers.
    pub(crate) fn services(&self) -> Vec<(usize, &Endpoints)> {
        let mut all: Vec<_> =
            self.paths.values().filter_map(|endpoints| Some((endpoints.service?, endpoints))).collect();
        all.sort_by_key(|(number, _)| *number);
        all
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{LabSpec, MeshMode, PLAN_SCHEMA, Place, TestbedSpec};

    use super::*;

    fn path(name: &str, to: &str, via: Via, mode: MeshMode, variant: Option<&str>) -> Path {
        let place = |network: &str, node: &str| Place { network: network.into(), node: node.into(), runtime: None };
        let checked = |name: &str| Variant { name: name.into(), policy_check: name != "plain", ..Variant::plain() };
        Path {
            name: name.into(),
            from: place("bridge", "a"),
            to: place(to, "b"),
            via,
            clients: 1,
            backends: 1,
            mesh: mode,
            variant: variant.map(checked),
        }
    }

    /// Of paths without cells.
    fn placement(paths: Vec<Path>) -> Placement {
        let spec = LabSpec { nodes: vec![], mtu: 1500, zone_link_bits_per_s: None, zone_delay_ns: 0 };
        Placement::of(&Plan {
            schema: PLAN_SCHEMA.into(),
            name: "test".into(),
            testbed: TestbedSpec::Lab(spec),
            paths,
            points: vec![],
            cells: vec![],
            rounds: 1,
            baseline: None,
            seed: 1,
            twin: None,
            stop: None,
            minimum_effect: 0.0,
        })
    }

    /// The A/A pair: the same path by another name.
    #[test]
    fn a_path_and_its_twin_share_all_but_services_and_gateways() {
        let pods = |via: Via| {
            let one = path("one", "bridge", via, MeshMode::Server, Some("plain"));
            let again = Path { name: "one again".into(), ..one.clone() };
            let placement = placement(vec![one, again]);
            let of = |name: &str| {
                let endpoints = &placement.paths[name];
                let all = endpoints.clients.iter().chain(&endpoints.gateway).chain(&endpoints.servers);
                all.map(PodId::to_string).collect::<Vec<_>>()
            };
            let numbers = placement.services().iter().map(|(number, _)| *number).collect::<Vec<_>>();
            (of("one"), of("one again"), numbers)
        };
        let (one, again, services) = pods(Via::Direct);
        assert_eq!((one, services), (again, vec![]));
        let (one, again, services) = pods(Via::ClusterIp);
        assert_eq!((one, services), (vec!["bridge@a".into(), "bridge@b/one".into()], vec![0, 1]));
        assert_eq!(again, ["bridge@a", "bridge@b/one again"]);
        let (one, again, _) = pods(Via::Gateway("c".into()));
        assert_eq!((one[1].as_str(), again[1].as_str()), ("bridge@c/gateway-one", "bridge@c/gateway-one again"));
        assert_eq!((&one[0], &one[2]), (&again[0], &again[2]));
    }

    #[test]
    fn pods_are_shared_by_what_does_not_disturb_each_other() {
        let placement = placement(vec![
            path("none", "bridge", Via::Direct, MeshMode::None, None),
            path("both", "bridge", Via::Direct, MeshMode::Both, Some("plain")),
            path("checked", "bridge", Via::Direct, MeshMode::Both, Some("checked")),
            path("service", "bridge", Via::ClusterIp, MeshMode::Both, Some("plain")),
            path("entry", "bridge", Via::Gateway("c".into()), MeshMode::Server, Some("checked")),
            path("host", "host", Via::ClusterIp, MeshMode::Client, Some("plain")),
        ]);
        let of = |name: &str| {
            let endpoints = &placement.paths[name];
            let all =
                endpoints.clients.iter().chain(&endpoints.gateway).chain(&endpoints.servers).chain(&endpoints.policy);
            all.map(PodId::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of("none"), ["bridge@a", "bridge@b"]);
        assert_eq!(of("both"), of("none"), "the first variant has no pods of its own");
        assert_eq!(of("checked"), ["bridge@a/checked", "bridge@b/checked", "bridge@b/policy-checked"]);
        assert_eq!(of("service"), ["bridge@a", "bridge@b/service"]);
        let entry = ["bridge@a/checked", "bridge@c/gateway-entry", "bridge@b/checked", "bridge@b/policy-checked"];
        assert_eq!(of("entry"), entry);
        assert_eq!(of("host"), ["bridge@a", "host@b"]);
        let sidecars: Vec<(String, &str)> =
            placement.sidecars.iter().map(|(pod, variant)| (pod.to_string(), variant.name.as_str())).collect();
        let expected = [
            ("bridge@a", "plain"),
            ("bridge@a/checked", "checked"),
            ("bridge@b", "plain"),
            ("bridge@b/checked", "checked"),
            ("bridge@b/service", "plain"),
        ];
        let sidecars: BTreeSet<_> = sidecars.iter().map(|(pod, variant)| (pod.as_str(), *variant)).collect();
        assert_eq!(sidecars, BTreeSet::from(expected));
        assert_eq!(placement.services().len(), 2, "a gateway is no Service");
        assert_eq!(placement.mesh_process_count(), 5 + 1 + 1, "sidecars, a gateway, a policy service");
    }

    /// A proxy must reach the service that it asks, whatever other paths there are.
    #[test]
    fn whom_proxies_ask_is_beside_the_servers_of_each_path() {
        let placement = placement(vec![
            path("one", "bridge", Via::Direct, MeshMode::Both, Some("checked")),
            path("service", "bridge", Via::ClusterIp, MeshMode::Both, Some("checked")),
            path("other", "macvlan", Via::Direct, MeshMode::Both, Some("checked")),
            path("host", "host", Via::Direct, MeshMode::Client, Some("checked")),
        ]);
        let asked = |name: &str| placement.paths[name].policy.as_ref().map(PodId::to_string).unwrap_or_default();
        assert_eq!(asked("one"), "bridge@b/policy");
        assert_eq!((asked("service"), asked("other")), (asked("one"), "macvlan@b/policy".to_owned()));
        assert_eq!(asked("host"), "bridge@a/policy", "nodes have no pods");
        assert_eq!(placement.policies().len(), 3);
    }
}
