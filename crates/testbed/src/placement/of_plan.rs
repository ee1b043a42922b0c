//! The pods, endpoints and sidecars of a whole plan.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::{App, Offer, Protocol};
use hopbench_model::{Path, Plan, PodSettings, Point, Transport, Variant};

use super::endpoints::{Ask, Demand, Endpoints};
use super::pod::PodId;
use super::rules::Rules;

/// The placement of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// The paths that have cells, by name.
    pub paths: BTreeMap<String, Endpoints>,
    /// Their pods, each once, however many paths share it.
    pub pods: BTreeSet<PodId>,
    /// The pods with a sidecar, and how it is set up.
    pub sidecars: BTreeMap<PodId, Variant>,
    /// What the subjects of pods change in them.
    pub settings: BTreeMap<PodId, PodSettings>,
}

impl Placement {
    /// The placement of the paths that have cells. If a plan has no cells at all, of all paths,
    /// with the agents as servers.
    pub fn of(plan: &Plan, rules: Rules) -> Self {
        let used: BTreeSet<usize> = if plan.cells.is_empty() {
            (0..plan.paths.len()).collect()
        } else {
            plan.cells.iter().map(|cell| cell.path).collect()
        };
        let used: Vec<(usize, &Path)> =
            used.into_iter().filter_map(|at| Some((at, plan.paths.get(at)?))).collect();
        let first = used
            .iter()
            .find_map(|(_, path)| path.variant.as_ref())
            .map(|variant| variant.name.as_str());
        let mut placement = Self::default();
        let mut services = 0..;
        for (at, path) in used {
            let service = if path.has_service() { services.next() } else { None };
            let own = settings(plan, path);
            let subject = own.and(path.subject.as_deref());
            let demand = Demand { service, first, subject, ..demand(plan, at, rules) };
            let endpoints = Endpoints::new(path, rules, demand);
            if let Some(own) = own {
                placement.settings.extend(endpoints.pods().map(|pod| (pod.clone(), own.clone())));
            }
            placement.pods.extend(endpoints.pods().cloned());
            if let Some(variant) = &path.variant {
                placement
                    .sidecars
                    .extend(endpoints.sidecars().map(|pod| (pod.clone(), variant.clone())));
            }
            placement.paths.insert(path.name.clone(), endpoints);
        }
        placement
    }

    /// Whether any path has proxies.
    pub fn is_proxied(&self) -> bool {
        self.paths.values().any(|endpoints| endpoints.path.is_proxied())
    }

    /// The pod of an agent.
    pub fn pod(&self, agent: &str) -> Option<&PodId> {
        self.pods.iter().find(|pod| pod.to_string() == agent)
    }

    /// Paths with a Service, in the order of their numbers.
    pub fn services(&self) -> Vec<(usize, &Endpoints)> {
        let mut all: Vec<_> = self
            .paths
            .values()
            .filter_map(|endpoints| Some((endpoints.service?, endpoints)))
            .collect();
        all.sort_by_key(|(number, _)| *number);
        all
    }

    /// The nodes of the scenario that take part, by name.
    pub fn nodes(&self) -> BTreeSet<&str> {
        let of_paths = self.paths.values().flat_map(|endpoints| endpoints.path.nodes());
        self.pods.iter().map(|pod| pod.place.node.as_str()).chain(of_paths).collect()
    }

    /// The variants of the sidecars, as facts for readers of the results.
    pub fn facts(&self) -> impl Iterator<Item = (String, String)> {
        let fact = |(pod, variant): (&PodId, &Variant)| {
            (format!("pod {pod} sidecar"), format!("variant {}", variant.name))
        };
        self.sidecars.iter().map(fact)
    }
}

/// The changes of a path's subject in pods; `None`: none.
fn settings<'a>(plan: &'a Plan, path: &Path) -> Option<&'a PodSettings> {
    let named = plan.subjects.iter().find(|known| path.subject.as_ref() == Some(&known.name))?;
    Some(&named.pod).filter(|pod| **pod != PodSettings::default())
}

/// The demand on the path at this position.
fn demand(plan: &Plan, at: usize, rules: Rules) -> Demand<'static> {
    let path = &plan.paths[at];
    let cells = plan.cells.iter().filter(|cell| cell.path == at);
    let points: Vec<&Point> = cells.filter_map(|cell| plan.points.get(cell.point)).collect();
    let sends =
        |transport: Transport| points.iter().any(|point| point.job.transport() == transport);
    let mut programs: BTreeSet<_> =
        points.iter().map(|point| rules.program(&point.server)).collect();
    let proxied = points.iter().filter(|point| !point.job.bypasses_proxies());
    let mut asks: BTreeSet<Ask> = proxied
        .map(|point| Ask {
            program: rules.program(&point.server),
            offer: rules.offer(path, &point.job, &point.server),
        })
        .collect();
    if plan.cells.is_empty() {
        // Nobody knows which programs would have pods of their own.
        let is_offered = |offer: &Offer| {
            let is_apart = offer.protocol == Protocol::Http2;
            (offer.app == App::Agent || !rules.programs_apart)
                && (rules.has_versions_apart(path) || !is_apart)
        };
        let offers = Offer::ALL.into_iter().filter(is_offered);
        asks.extend(offers.map(|offer| Ask { program: None, offer }));
    }
    if programs.is_empty() {
        programs.insert(None);
    }
    let of_peers: Vec<&&Point> = points.iter().filter(|point| point.peer.is_some()).collect();
    let asks_agent =
        |point: &Point| point.server.is_agent() && point.job.transport() == Transport::Http;
    Demand {
        programs,
        asks,
        datagrams: sends(Transport::Udp),
        echoes: sends(Transport::Icmp),
        peers: !of_peers.is_empty(),
        peers_ask_agents: of_peers.iter().any(|point| asks_agent(point)),
        ..Demand::default()
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{
        HttpVersion, Job, MeshMode, Peer, Place, ServerSpec, Subject, Via, WorkloadKind, fixture,
    };

    use super::*;

    /// The rules of a cluster with Envoys that hopbench itself puts into pods.
    const CLUSTER: Rules = Rules {
        programs_apart: true,
        connects: true,
        policy_on_servers_node: true,
        captures_pods: false,
        captures_programs: false,
        versions_apart: true,
    };

    fn place(text: &str) -> Place {
        let (network, node) = text.split_once('@').unwrap();
        fixture::place(network, node)
    }

    fn path(name: &str, from: &str, to: &str, via: Via) -> Path {
        Path { from: place(from), to: place(to), via, ..fixture::path(name) }
    }

    /// A path from node a to node b. The variant `checked` asks a policy service.
    fn meshed(name: &str, to: &str, via: Via, mesh: MeshMode, variant: Option<&str>) -> Path {
        let variant = variant.map(|name| Variant {
            name: name.into(),
            policy_check: name != "plain",
            ..Variant::plain()
        });
        Path { mesh, variant, ..path(name, "bridge@a", &format!("{to}@b"), via) }
    }

    fn point(workload: &str, program: &str) -> Point {
        let server = ServerSpec { program: program.into(), ..fixture::server() };
        Point {
            server,
            ..fixture::point(workload, fixture::job(workload, serde_json::Value::Null))
        }
    }

    /// Of paths without cells in a lab.
    fn placement(paths: Vec<Path>) -> Placement {
        Placement::of(&fixture::plan(paths, vec![]), Rules::default())
    }

    fn pods(placement: &Placement, path: &str) -> Vec<String> {
        placement.paths[path].pods().map(PodId::to_string).collect()
    }

    /// The A/A pair: the same path by another name.
    #[test]
    fn a_path_and_its_twin_share_all_but_services_and_gateways() {
        let twins = |via: Via| {
            let one = meshed("one", "bridge", via, MeshMode::Server, Some("plain"));
            let again = Path { name: "one again".into(), ..one.clone() };
            let placement = placement(vec![one, again]);
            let numbers =
                placement.services().iter().map(|(number, _)| *number).collect::<Vec<_>>();
            (pods(&placement, "one"), pods(&placement, "one again"), numbers)
        };
        let (one, again, services) = twins(Via::Direct);
        assert_eq!((one, services), (again, vec![]));
        let (one, again, services) = twins(Via::ClusterIp);
        assert_eq!((one, services), (vec!["bridge@a".into(), "bridge@b/one".into()], vec![0, 1]));
        assert_eq!(again, ["bridge@a", "bridge@b/one again"]);
        let (one, again, _) = twins(Via::Gateway("c".into()));
        assert_eq!(one, ["bridge@a", "bridge@b", "bridge@c/gateway-one"]);
        assert_eq!(again, ["bridge@a", "bridge@b", "bridge@c/gateway-one again"]);
    }

    #[test]
    fn pods_are_shared_by_what_does_not_disturb_each_other() {
        let placement = placement(vec![
            meshed("none", "bridge", Via::Direct, MeshMode::None, None),
            meshed("both", "bridge", Via::Direct, MeshMode::Both, Some("plain")),
            meshed("checked", "bridge", Via::Direct, MeshMode::Both, Some("checked")),
            meshed("service", "bridge", Via::ClusterIp, MeshMode::Both, Some("plain")),
            meshed("entry", "bridge", Via::Gateway("c".into()), MeshMode::Server, Some("checked")),
            meshed("host", "host", Via::ClusterIp, MeshMode::Client, Some("plain")),
        ]);
        let of = |name: &str| pods(&placement, name);
        assert_eq!(of("none"), ["bridge@a", "bridge@b"]);
        assert_eq!(of("both"), of("none"), "the first variant has no pods of its own");
        assert_eq!(
            of("checked"),
            ["bridge@a/checked", "bridge@b/checked", "bridge@b/policy-checked"]
        );
        assert_eq!(of("service"), ["bridge@a", "bridge@b/service"]);
        let entry = [
            "bridge@a/checked",
            "bridge@b/checked",
            "bridge@c/gateway-entry",
            "bridge@b/policy-checked",
        ];
        assert_eq!(of("entry"), entry);
        assert_eq!(of("host"), ["bridge@a", "host@b"]);
        let sidecars: BTreeMap<String, &str> = placement
            .sidecars
            .iter()
            .map(|(pod, variant)| (pod.to_string(), variant.name.as_str()))
            .collect();
        let expected = [
            ("bridge@a", "plain"),
            ("bridge@a/checked", "checked"),
            ("bridge@b", "plain"),
            ("bridge@b/checked", "checked"),
            ("bridge@b/service", "plain"),
        ];
        assert_eq!(
            sidecars,
            BTreeMap::from(expected.map(|(pod, variant)| (pod.to_owned(), variant)))
        );
        assert_eq!(placement.services().len(), 2, "a gateway is no Service");
        assert_eq!(
            placement.mesh_processes().len(),
            5 + 1 + 1,
            "sidecars, a gateway, a policy service"
        );
    }

    #[test]
    fn subjects_that_change_pods_have_pods_of_their_own() {
        let of = |name: &str, subject: &str, via: Via| Path {
            subject: Some(subject.to_owned()),
            ..meshed(name, "bridge", via, MeshMode::Server, Some("plain"))
        };
        let host = |name: &str, subject: &str| Path {
            subject: Some(subject.to_owned()),
            ..path(name, "host@a", "host@b", Via::Direct)
        };
        let entry = || Via::Gateway("c".into());
        let paths = vec![
            of("p.old", "old", Via::Direct),
            of("p.new", "new", Via::Direct),
            of("p.other", "other", Via::Direct),
            of("g.new", "new", entry()),
            host("h.old", "old"),
            host("h.new", "new"),
        ];
        let subject = |name: &str| Subject { name: name.to_owned(), ..Subject::default() };
        let pod = PodSettings { agent: Some("agent:b".to_owned()), ..PodSettings::default() };
        let new = Subject { pod: pod.clone(), ..subject("new") };
        let subjects = vec![subject("old"), new, subject("other")];
        let plan = Plan { subjects, ..fixture::plan(paths, vec![]) };
        let placement = Placement::of(&plan, CLUSTER);
        let of = |name: &str| pods(&placement, name);
        assert_eq!(of("p.old"), ["bridge@a", "bridge@b"]);
        assert_eq!(of("p.new"), ["bridge@a~new", "bridge@b~new"]);
        assert_eq!(of("p.other"), of("p.old"), "it changes nothing in pods");
        assert_eq!(of("g.new"), ["bridge@a~new", "bridge@b~new", "bridge@c~new/gateway-g.new"]);
        assert_eq!(
            (of("h.old"), of("h.new")),
            (
                vec!["host@a".to_owned(), "host@b".to_owned()],
                vec!["host@a~new".to_owned(), "host@b~new".to_owned()],
            )
        );
        let changed: Vec<String> = placement.settings.keys().map(PodId::to_string).collect();
        assert_eq!(changed.len(), 5, "{changed:?}");
        assert!(placement.settings.values().all(|settings| *settings == pod));
        let sidecars: Vec<String> = placement.sidecars.keys().map(PodId::to_string).collect();
        assert_eq!(sidecars, ["bridge@b", "bridge@b~new"]);
    }

    #[test]
    fn server_programs_have_pods_of_their_own_where_the_rules_say_so() {
        let two = Path { clients: 2, ..path("two", "bridge@a", "bridge@a", Via::Direct) };
        let service =
            Path { backends: 2, ..path("service", "bridge@a", "bridge@b", Via::ClusterIp) };
        let paths = vec![path("direct", "bridge@a", "bridge@b", Via::Direct), two, service];
        let plan = fixture::plan(paths, vec![point("rr", "hopbench"), point("http", "nginx")]);
        let apart = Placement::of(&plan, CLUSTER);
        let of = |name: &str| pods(&apart, name);
        assert_eq!(of("direct"), ["bridge@a", "bridge@b", "bridge@b:nginx"]);
        assert_eq!(of("two"), ["bridge@a", "bridge@a#2", "bridge@a#3", "bridge@a:nginx"]);
        let servers = [
            "bridge@b/service",
            "bridge@b/service#2",
            "bridge@b/service:nginx",
            "bridge@b/service:nginx#2",
        ];
        assert_eq!(of("service"), [&["bridge@a"][..], &servers].concat());
        assert_eq!(apart.pods.len(), 10);
        let service = &apart.paths["service"];
        assert_eq!(service.servers_of(Some("nginx")), &service.servers[2..]);
        assert_eq!(
            (service.servers_of(None).len(), service.servers_of(Some("caddy")).len()),
            (2, 0)
        );
        let asks: Vec<(Option<&str>, &str)> =
            service.asks.iter().map(|ask| (ask.program.as_deref(), ask.offer.word())).collect();
        assert_eq!(asks, [(None, "agent-tcp"), (Some("nginx"), "program-http")]);
        let beside = Placement::of(&plan, Rules::default());
        assert_eq!(pods(&beside, "two"), ["bridge@a", "bridge@a#2", "bridge@a#3"]);
        let asks: Vec<(Option<&str>, &str)> = beside.paths["two"]
            .asks
            .iter()
            .map(|ask| (ask.program.as_deref(), ask.offer.word()))
            .collect();
        assert_eq!(asks, [(None, "agent-tcp"), (None, "program-http")]);
    }

    #[test]
    fn http2_is_asked_for_apart_where_ports_say_the_version() {
        let mut http2 = point("http", "hopbench");
        http2.job.params = serde_json::json!({"http2": true}).into();
        let paths = vec![path("p", "bridge@a", "bridge@b", Via::Direct)];
        let plan = fixture::plan(paths, vec![point("http", "hopbench"), http2]);
        let asked = |rules: Rules| -> Vec<&str> {
            let placement = Placement::of(&plan, rules);
            placement.paths["p"].asks.iter().map(|ask| ask.offer.word()).collect()
        };
        assert_eq!(asked(CLUSTER), ["agent-http", "agent-http2"]);
        assert_eq!(asked(Rules::default()), ["agent-http"]);
    }

    #[test]
    fn proxies_that_speak_http2_in_any_case_know_the_version_from_the_port() {
        let mut http2 = point("http", "hopbench");
        http2.job.params = serde_json::json!({"http2": true}).into();
        let points = vec![point("http", "hopbench"), http2];
        let asked = |via: Via, mesh: MeshMode, upstream: HttpVersion, points: &[Point]| {
            let mut path = meshed("p", "bridge", via, mesh, Some("plain"));
            path.variant = Some(Variant { upstream, ..Variant::plain() });
            let placement =
                Placement::of(&fixture::plan(vec![path], points.to_vec()), Rules::default());
            let asks = placement.paths["p"].asks.iter();
            asks.map(|ask| ask.offer.word()).collect::<Vec<_>>()
        };
        let gateway = || Via::Gateway("c".into());
        let (one, both) = (vec!["agent-http"], vec!["agent-http", "agent-http2"]);
        for (via, mesh, upstream, expected) in [
            (Via::Direct, MeshMode::Both, HttpVersion::Http1, &one),
            (Via::Direct, MeshMode::Both, HttpVersion::Http2, &both),
            (gateway(), MeshMode::None, HttpVersion::Http2, &both),
            // Nothing is between the ends.
            (Via::Direct, MeshMode::None, HttpVersion::Http2, &one),
        ] {
            assert_eq!(asked(via, mesh, upstream, &points), *expected, "{mesh} {upstream:?}");
        }
        // A lab that stands for whatever may come.
        let standing = |upstream| asked(Via::Direct, MeshMode::Both, upstream, &[]).len();
        assert_eq!((standing(HttpVersion::Http1), standing(HttpVersion::Http2)), (3, 4));
    }

    #[test]
    fn clients_that_connect_to_their_sidecar_are_apart() {
        let both = || meshed("both", "bridge", Via::Direct, MeshMode::Both, Some("plain"));
        let plain = meshed("none", "bridge", Via::Direct, MeshMode::None, None);
        let stats =
            Path { name: "stats".into(), variant: Some(Variant::known().remove(0)), ..both() };
        let placement = Placement::of(&fixture::plan(vec![both(), plain, stats], vec![]), CLUSTER);
        assert_eq!(pods(&placement, "both"), ["bridge@a/client", "bridge@b"]);
        assert_eq!(pods(&placement, "none"), ["bridge@a", "bridge@b"]);
        assert_eq!(pods(&placement, "stats"), ["bridge@a/client-stats", "bridge@b/stats"]);
        assert!(placement.paths["both"].rules.connects);
    }

    #[test]
    fn ends_of_a_mesh_that_takes_whole_pods_are_apart() {
        let path = |name: &str, via: Via, mesh: MeshMode| {
            let variant = (!mesh.is_none()).then_some("plain");
            meshed(name, "bridge", via, mesh, variant)
        };
        let paths = vec![
            path("none", Via::Direct, MeshMode::None),
            path("server", Via::Direct, MeshMode::Server),
            path("both", Via::Direct, MeshMode::Both),
            path("service", Via::ClusterIp, MeshMode::Client),
        ];
        let rules = Rules { captures_pods: true, ..Rules::default() };
        let placement = Placement::of(&fixture::plan(paths, vec![]), rules);
        let of = |name: &str| pods(&placement, name);
        assert_eq!(of("none"), ["bridge@a", "bridge@b"]);
        assert_eq!(of("server"), ["bridge@a", "bridge@b/mesh"]);
        assert_eq!(of("both"), ["bridge@a/mesh", "bridge@b/mesh"]);
        assert_eq!(of("service"), ["bridge@a/mesh", "bridge@b/service"]);
        let in_mesh: Vec<String> = placement.sidecars.keys().map(PodId::to_string).collect();
        assert_eq!(in_mesh, ["bridge@a/mesh", "bridge@b/mesh"]);
        assert!(placement.paths.values().all(|ends| !ends.names_mode(None)));
    }

    #[test]
    fn programs_that_a_mesh_takes_are_apart_and_so_are_their_clients() {
        let path = |name: &str, via: Via, mesh: MeshMode| {
            let variant = (!mesh.is_none()).then_some("plain");
            meshed(name, "bridge", via, mesh, variant)
        };
        let paths = vec![
            path("none", Via::Direct, MeshMode::None),
            path("client", Via::Direct, MeshMode::Client),
            path("server", Via::Direct, MeshMode::Server),
            path("both", Via::Direct, MeshMode::Both),
            path("service", Via::ClusterIp, MeshMode::Both),
        ];
        let rules = Rules { connects: false, captures_programs: true, ..CLUSTER };
        let placed = |points: Vec<Point>| {
            let plan = fixture::plan(paths.clone(), points);
            Placement::of(&plan, rules)
        };
        let placement = placed(vec![point("rr", "hopbench"), point("http", "nginx")]);
        let of = |name: &str| pods(&placement, name);
        assert_eq!(of("none"), ["bridge@a", "bridge@b", "bridge@b:nginx"]);
        assert_eq!(of("client"), ["bridge@a/mesh", "bridge@b", "bridge@b:nginx"]);
        assert_eq!(of("server"), ["bridge@a", "bridge@b", "bridge@b/mesh:nginx"]);
        assert_eq!(of("both"), ["bridge@a/mesh", "bridge@b", "bridge@b/mesh:nginx"]);
        assert_eq!(of("service"), ["bridge@a/mesh", "bridge@b/service", "bridge@b/service:nginx"]);
        let in_mesh: Vec<String> = placement.sidecars.keys().map(PodId::to_string).collect();
        let expected = "bridge@a/mesh bridge@b bridge@b/service bridge@b/service:nginx \
                        bridge@b/mesh:nginx";
        assert_eq!(in_mesh.join(" "), expected);
        for ends in placement.paths.values() {
            assert_eq!(ends.names_mode(None), !ends.path.mesh.is_none(), "{}", ends.path.name);
            assert!(!ends.names_mode(Some("nginx")), "{}", ends.path.name);
        }
        let of_agents = placed(vec![point("rr", "hopbench")]);
        assert_eq!(pods(&of_agents, "both"), ["bridge@a", "bridge@b"], "one pod serves all modes");
    }

    /// A proxy must reach the service that it asks, whatever other paths there are.
    #[test]
    fn whom_proxies_ask_is_beside_the_servers_of_each_path() {
        let paths = vec![
            meshed("one", "bridge", Via::Direct, MeshMode::Both, Some("checked")),
            meshed("service", "bridge", Via::ClusterIp, MeshMode::Both, Some("checked")),
            meshed("other", "macvlan", Via::Direct, MeshMode::Both, Some("checked")),
            meshed("host", "host", Via::Direct, MeshMode::Client, Some("checked")),
        ];
        let in_cluster = Placement::of(&fixture::plan(paths.clone(), vec![]), CLUSTER);
        let placement = placement(paths);
        let asked = |placement: &Placement, name: &str| {
            placement.paths[name].policy.as_ref().map(PodId::to_string).unwrap_or_default()
        };
        assert_eq!(asked(&placement, "one"), "bridge@b/policy");
        assert_eq!(asked(&placement, "service"), asked(&placement, "one"));
        assert_eq!(asked(&placement, "other"), "macvlan@b/policy");
        assert_eq!(asked(&placement, "host"), "bridge@a/policy", "nodes have no pods");
        assert_eq!(asked(&in_cluster, "host"), "bridge@b/policy");
        assert_eq!(
            placement.mesh_processes().iter().filter(|process| !process.role.is_proxy()).count(),
            3
        );
    }

    #[test]
    fn a_path_knows_of_the_tools_that_measure_on_it() {
        let by = |workload: &str, program: &str| {
            let peer = Some(Peer { tool: "x".into(), of: "w".into() });
            let kind = Some(WorkloadKind::of(workload));
            let point = point(workload, program);
            let job = Job { kind, workload: format!("peer-{workload}"), ..point.job };
            let plan = fixture::plan(
                vec![path("p", "pod@a", "pod@b", Via::Direct)],
                vec![Point { job, peer, ..point }],
            );
            let ends = Placement::of(&plan, CLUSTER).paths.remove("p").unwrap();
            (ends.peers, ends.peers_ask_agents)
        };
        assert_eq!(by("stream", "hopbench"), (true, false));
        assert_eq!(by("http", "hopbench"), (true, true));
        assert_eq!(by("http", "nginx"), (true, false));
        let ours = fixture::plan(
            vec![path("p", "pod@a", "pod@b", Via::Direct)],
            vec![point("http", "hopbench")],
        );
        let ends = &Placement::of(&ours, CLUSTER).paths["p"];
        assert!(!ends.peers && !ends.peers_ask_agents);
    }

    #[test]
    fn a_path_without_cells_needs_nothing() {
        let paths = vec![
            path("used", "pod@a", "pod@b", Via::Direct),
            path("idle", "pod@a", "pod@c", Via::NodePort("d".into())),
        ];
        let mut plan =
            fixture::plan(paths, vec![point("udp", "hopbench"), point("ping", "hopbench")]);
        plan.cells.retain(|cell| cell.path == 0);
        let placement = Placement::of(&plan, CLUSTER);
        assert_eq!(placement.nodes(), BTreeSet::from(["a", "b"]));
        let used = &placement.paths["used"];
        assert!(used.datagrams && used.echoes && used.asks.is_empty());
        assert_eq!(placement.pod("pod@b"), Some(&used.servers[0]));
        plan.cells.clear();
        let whole = Placement::of(&plan, CLUSTER);
        assert_eq!(whole.nodes(), BTreeSet::from(["a", "b", "c", "d"]));
        assert!(!whole.paths["used"].echoes);
        assert_eq!(whole.paths["used"].asks.len(), 3, "what agents offer");
        assert_eq!(
            Placement::of(&plan, Rules::default()).paths["used"].asks.len(),
            3,
            "and programs beside them"
        );
    }
}
