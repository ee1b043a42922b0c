//! The scenarios that are shipped: they resolve to what they promise.

mod promised;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use self::promised::promised;
use crate::common::{plan, vocabularies};
use hopbench_model::{
    CpuOf, EngineKind, IpFamily, MeshMode, Plan, RateRange, SECOND, Schedule, SearchGoal,
    TestbedSpec, Variant, Via,
};
use hopbench_scenario::{Overrides, SHIPPED, read, shipped};

fn resolved(name: &str) -> Plan {
    plan(shipped(name).expect("a scenario").text)
}

/// Time of a round with 150 ms between trials, s.
fn round_s(plan: &Plan) -> f64 {
    let cells = plan.cells.iter().filter(|cell| plan.points[cell.point].search.is_none());
    cells
        .map(|cell| plan.points[cell.point].job.timing)
        .map(|t| (t.warmup_ns + t.window_ns) as f64 / 1e9 + 0.15)
        .sum()
}

/// The shortest and the longest time of all rounds, minutes.
fn minutes(plan: &Plan) -> [f64; 2] {
    if let Some(ns) = plan.budget_ns {
        return [ns as f64 / 60e9; 2];
    }
    let round_s = round_s(plan);
    let budget_s = plan
        .stop
        .as_ref()
        .and_then(|stop| stop.budget_ns)
        .map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
    let least = plan.stop.as_ref().map_or(plan.rounds, |stop| stop.min_rounds);
    // A round that was begun is finished.
    let most = f64::from(plan.rounds).min((budget_s / round_s).ceil());
    [f64::from(least), most].map(|rounds| rounds * round_s / 60.0)
}

fn values(plan: &Plan, workload: &str, key: &str) -> Vec<String> {
    let points = plan.points.iter().filter(|p| p.workload == workload);
    points.map(|p| p.point[key].to_string().trim_matches('"').to_owned()).collect()
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.paths.iter().map(|path| path.name.as_str()).collect()
}

#[test]
fn every_file_is_registered_and_says_what_it_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder of the scenarios")
        .map(|entry| {
            entry
                .expect("an entry")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let registered: BTreeSet<String> = SHIPPED.iter().map(|s| s.name.to_owned()).collect();
    assert_eq!(files, registered);
    for scenario in SHIPPED {
        let plan = plan(scenario.text);
        assert_eq!(plan.name, scenario.name);
        assert!(
            scenario.summary().ends_with('?') && scenario.summary().len() <= 59,
            "{}: no question: {}",
            scenario.name,
            scenario.summary()
        );
        assert!(
            scenario.text.lines().count() <= 40,
            "{} cannot be read in a minute",
            scenario.name
        );
        assert!(
            plan.references().twins().count() > 0 && plan.most_rounds() >= 3
                || plan.baseline.is_some() && !plan.has_rounds(),
            "{} cannot give a verdict",
            scenario.name
        );
        let rounds = plan.cells.iter().any(|cell| plan.points[cell.point].search.is_none());
        assert_eq!(
            plan.references().twins().count() > 0,
            rounds,
            "{}: how much of its differences is noise?",
            scenario.name
        );
        // How long searches take, `hopbench plan` estimates.
        let ([least, most], [shortest, longest]) = (promised(scenario.text), minutes(&plan));
        let near = (least - shortest).abs() <= 0.5 && (most - longest).abs() <= 0.5;
        assert!(near || !rounds, "{}: {shortest:.1} to {longest:.1} minutes", scenario.name);
    }
}

#[test]
fn quickstart() {
    let plan = resolved("quickstart");
    assert_eq!(
        names(&plan),
        [
            "host",
            "bridge",
            "overlay",
            "eni",
            "node-port",
            "server-sidecar",
            "sidecars",
            "host again"
        ]
    );
    let kinds: Vec<&str> = plan.points.iter().map(|p| p.job.workload.as_str()).collect();
    assert_eq!(kinds, ["stream", "rr", "http", "udp", "ping"]);
    assert_eq!((plan.cells.len(), plan.budget_ns), (34, Some(150_000_000_000)));
    assert!(minutes(&plan)[1] <= 3.0, "{} minutes of `make demo`", minutes(&plan)[1]);
    // What proxies leave alone is not measured through them.
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        assert!(
            !path.is_proxied() || !["udp", "ping"].contains(&point.job.workload.as_str()),
            "{}",
            path.name
        );
    }
    // The modes side by side: between the same places, none to both.
    let bridges = plan.paths.iter().filter(|p| p.from.network == "bridge" && p.via == Via::Direct);
    let ends: BTreeSet<_> =
        bridges.clone().map(|path| (path.from.clone(), path.to.clone())).collect();
    let modes: Vec<MeshMode> = bridges.map(|path| path.mesh).collect();
    assert_eq!((ends.len(), modes), (1, vec![MeshMode::None, MeshMode::Server, MeshMode::Both]));
    assert!(plan.paths.iter().all(|path| path.from.node != path.to.node));
    assert_eq!(plan.paths[4].via, Via::NodePort("b".to_owned()));
    assert_eq!(plan.points[2].server.request, "/?size=1024");
}

#[test]
fn tcp_fanout() {
    let plan = resolved("tcp-fanout");
    let feed = plan.points.iter().find(|p| p.job.workload == "push").expect("the business case");
    assert_eq!(feed.job.connections, 100);
    assert_eq!(
        (&feed.job.params["size"], &feed.job.params["rate"]),
        (&"25kB".into(), &20.0.into())
    );
    let bulk = plan.points.iter().find(|p| p.job.workload == "stream").expect("as much as goes");
    assert_eq!(
        (&bulk.job.params["size"], &bulk.job.params["direction"]),
        (&"100kB".into(), &"from-server".into())
    );
    assert_eq!(plan.paths.len(), 7, "the six situations, and the first of them again");
    let pods = |network: &str| {
        let of = plan.paths.iter().filter(|p| p.from.network == network && p.to.network == network);
        of.map(|path| path.mesh).collect::<Vec<_>>()
    };
    assert_eq!(pods("host"), [MeshMode::None; 2]);
    assert_eq!(pods("bridge"), [MeshMode::None, MeshMode::Both]);
    assert_eq!(pods("macvlan"), [MeshMode::None, MeshMode::Both]);
    assert_eq!(plan.paths[5].to_string_nodes(), ["client", "server", "entry"]);
    assert_eq!(plan.cells.len(), 14);
}

trait Nodes {
    fn to_string_nodes(&self) -> [&str; 3];
}

impl Nodes for hopbench_model::Path {
    fn to_string_nodes(&self) -> [&str; 3] {
        let Via::NodePort(entry) = &self.via else { panic!("no NodePort") };
        [&self.from.node, &self.to.node, entry]
    }
}

#[test]
fn message_size_sweep() {
    let plan = resolved("message-size-sweep");
    assert_eq!(
        names(&plan)[..3],
        ["host-host.same-node", "host-bridge.same-node", "host-bridge+runsc.same-node"]
    );
    assert_eq!(names(&plan)[14], "host-bridge+runsc.cross-node.cluster-ip");
    assert_eq!(names(&plan)[17], "host-bridge+runsc.cross-node.node-port-b");
    assert_eq!(plan.paths.len(), 19);
    for workload in ["latency", "bandwidth"] {
        assert_eq!(values(&plan, workload, "size"), ["1B", "64B", "4KiB", "256KiB"]);
    }
    assert_eq!(plan.cells.len(), 152);
}

#[test]
fn mesh_latency() {
    let plan = resolved("mesh-latency");
    assert_eq!(names(&plan), ["none", "server", "client", "both", "ingress", "none again"]);
    let ways: Vec<String> = plan.paths.iter().map(hopbench_model::Path::way).collect();
    assert_eq!(
        ways,
        [
            "direct",
            "direct, mesh server",
            "direct, mesh client",
            "direct, mesh both",
            "gateway@c, mesh server",
            "direct"
        ]
    );
    assert_eq!(values(&plan, "rates", "rate"), ["100", "500", "1000", "2000", "4000"]);
    for point in &plan.points {
        assert_eq!((point.job.connections, point.server.response_bytes), (16, Some(1024)));
        assert!(matches!(point.job.schedule, Schedule::Rate(_)), "constant");
    }
    assert_eq!(plan.cells.len(), 30);
    assert_eq!((plan.budget_ns, plan.stop.as_ref()), (Some(300 * SECOND), None));
    // The original took 30 minutes without any interval.
    assert!(minutes(&plan)[1] <= 6.0, "{} minutes", minutes(&plan)[1]);
}

#[test]
fn mesh_variants() {
    let plan = resolved("mesh-variants");
    let variants: Vec<&Variant> =
        plan.paths.iter().filter_map(|path| path.variant.as_ref()).collect();
    let known = Variant::known();
    assert!(known.iter().all(|one| variants.contains(&one)), "not all that are known");
    assert_eq!(
        (variants.len(), plan.paths.len()),
        (known.len() + 1, known.len() + 2),
        "one of them again"
    );
    assert!(plan.paths.iter().all(|path| path.mesh.is_none() == (path.name == "none")));
    let schedules: Vec<_> =
        plan.points.iter().map(|p| (p.job.workload.as_str(), p.job.schedule)).collect();
    let expected =
        [("http", Schedule::Rate(1000.0)), ("http", Schedule::Closed), ("rr", Schedule::Closed)];
    assert_eq!(schedules, expected);
}

#[test]
fn mesh_protocols() {
    let plan = resolved("mesh-protocols");
    assert_eq!(names(&plan), ["none", "server", "both", "ingress", "none again"]);
    assert_eq!(plan.budget_ns, Some(300 * SECOND));
    for point in &plan.points {
        let streams = point.job.params["streams"].as_u64().unwrap_or(1);
        assert_eq!(u64::from(point.job.connections) * streams, 16, "{}", point.workload);
        assert_eq!(point.server.response_bytes, Some(1024));
    }
    let of =
        |is: fn(&hopbench_model::Job) -> bool| plan.points.iter().filter(|p| is(&p.job)).count();
    assert_eq!(
        (of(hopbench_model::Job::is_over_tls), of(hopbench_model::Job::is_over_http2)),
        (3, 6)
    );
    assert!(minutes(&plan)[1] <= 6.0, "{} minutes", minutes(&plan)[1]);
}

#[test]
fn cni_matrix() {
    let plan = resolved("cni-matrix");
    assert_eq!(plan.paths.len(), 19);
    assert_eq!(plan.budget_ns, Some(300 * SECOND));
    assert!(minutes(&plan)[1] <= 8.0, "{} minutes", minutes(&plan)[1]);
    assert!(names(&plan).contains(&"eni-ptp.cross-zone"));
    let TestbedSpec::Lab(lab) = &plan.testbed else { panic!("no lab: {:?}", plan.testbed) };
    assert!(
        lab.nodes.iter().all(|node| node.link_bits_per_s.is_some()),
        "a share needs a nominal rate"
    );
    let zone = |name: &str| lab.nodes.iter().find(|n| n.name == name).map(|n| n.zone.as_str());
    for path in &plan.paths {
        assert_ne!(path.from.node, path.to.node);
        assert_eq!(
            zone(&path.from.node) == zone(&path.to.node),
            path.name.contains(".same-zone"),
            "{}",
            path.name
        );
    }
    let udp = plan.points.iter().find(|p| p.job.workload == "udp").expect("packets");
    assert_eq!(udp.job.client_cpus.as_ref().map(ToString::to_string).as_deref(), Some("0"));
    assert_eq!(
        (&udp.job.params["size"], &udp.job.params["rate"]),
        (&"16B".into(), &"100Mbit".into())
    );
    let ping = plan.points.iter().find(|p| p.job.workload == "ping").expect("echoes");
    let probes = ping.job.timing.window_ns / (SECOND / 100);
    assert!(probes >= 10, "{probes} echoes a window");
}

#[test]
fn ip_families() {
    let plan = resolved("ip-families");
    // Beside each path stands the same by the other family.
    let once: Vec<_> = plan.paths.iter().filter(|path| !path.name.ends_with(" again")).collect();
    assert_eq!(once.len(), 8);
    for pair in once.chunks(2) {
        let [four, six] = pair else { panic!("{pair:?}") };
        assert_eq!((four.family, six.family), (Some(IpFamily::Ipv4), Some(IpFamily::Ipv6)));
        let same = |path: &hopbench_model::Path| {
            let mut path = path.clone();
            (path.name, path.family) = (String::new(), None);
            path
        };
        assert_eq!(same(four), same(six));
    }
    assert!(minutes(&plan)[1] <= 5.0, "{} minutes", minutes(&plan)[1]);
}

#[test]
fn max_throughput() {
    let plan = resolved("max-throughput");
    let [point, ceiling] = plan.points.as_slice() else { panic!("{:?}", plan.points) };
    let search = point.search.as_ref().expect("a search");
    let knee = SearchGoal::Knee {
        connections: vec![8, 16, 32, 64, 128, 256, 300],
        threads: vec![1, 2, 4, 8, 16],
        least_growth: 0.05,
    };
    assert_eq!(
        (&search.goal, search.equal_load),
        (&knee, true),
        "the best of one is measured in the others"
    );
    assert_eq!((point.job.threads, point.job.is_closed_loop()), (2, true));
    // Kubernetes, a mesh without Mixer, a mesh with it; each with every setting.
    assert_eq!(names(&plan), ["service", "gateway.plain", "gateway.mixer"]);
    assert_eq!(plan.cells.len(), plan.paths.len() * plan.points.len());
    let policy: Vec<_> = plan
        .paths
        .iter()
        .map(|p| p.variant.as_ref().map(|v| (v.policy_check, v.policy_report)))
        .collect();
    assert_eq!(policy, [None, Some((false, false)), Some((true, true))]);
    let way = "gateway@[d, e] x 5, mesh server";
    assert!(plan.paths[1..].iter().all(|path| path.way().starts_with(way)));
    assert!(plan.paths.iter().all(|path| path.to.nodes().eq(["b", "c"]) && path.backends == 8));
    assert_eq!(ceiling.job.connections, 300);
    let ceiling = &ceiling.search.as_ref().expect("a search").goal;
    let of = CpuOf::Nodes(vec!["b".to_owned(), "c".to_owned()]);
    let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
    assert_eq!(*ceiling, SearchGoal::Cpu { of, ceiling: 0.6, rates });
    assert!(
        plan.points
            .iter()
            .all(|p| p.server.program == "nginx" && p.server.request == "/bytes/1024")
    );
    assert!(plan.points.iter().all(|p| p.server.response_bytes == Some(1024)));
}

#[test]
fn a_plan_survives_json() {
    for scenario in SHIPPED {
        let overrides = Overrides { new_seed: u64::MAX, ..Overrides::default() };
        let plan =
            read(scenario.name, scenario.text, &vocabularies(), &overrides).expect("a plan").plan;
        let text = serde_json::to_string(&plan).expect("JSON");
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan, "{}", scenario.name);
    }
}

#[test]
fn check_against_peers() {
    let plan = resolved("check-against-peers");
    let names: Vec<&str> = plan.points.iter().map(|point| point.workload.as_str()).collect();
    assert_eq!(
        names,
        [
            "throughput",
            "throughput (iperf3)",
            "latency",
            "latency (sockperf)",
            "web",
            "web (wrk)",
            "echo",
            "echo (ping)"
        ]
    );
    // Both ask for the same, and both wait for messages in the same way.
    for pair in plan.points.chunks(2) {
        let [ours, theirs] = pair else { panic!("{pair:?}") };
        assert_eq!(ours.job.params, theirs.job.params);
        assert_eq!((ours.job.connections, &ours.server), (theirs.job.connections, &theirs.server));
    }
    assert_eq!(plan.points[2].job.engine, EngineKind::Threads);
    // A budget of two minutes has rounds enough for verdicts.
    let rounds = minutes(&plan)[1] * 60.0 / round_s(&plan);
    assert!(rounds >= 4.0, "{rounds} rounds");
}
