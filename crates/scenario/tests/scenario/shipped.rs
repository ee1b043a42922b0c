//! The scenarios that are shipped: they resolve to what they promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{plan, vocabularies};
use hopbench_model::{MeshMode, Plan, SECOND, Schedule, TestbedSpec, Variant, Via};
use hopbench_scenario::{Overrides, SHIPPED, read, shipped};

fn resolved(name: &str) -> Plan {
    plan(shipped(name).expect("a scenario").text)
}

/// Trials and their whole time with 150 ms between them, s.
fn extent(plan: &Plan) -> (usize, f64) {
    let trials = plan.cells.len() * plan.rounds as usize;
    (trials, plan.least_ns() as f64 / 1e9 + trials as f64 * 0.15)
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
        .map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
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
        assert!(scenario.text.lines().count() <= 40, "{} cannot be read in a minute", scenario.name);
        assert!(plan.baseline.is_some() && plan.rounds >= 3, "{} cannot give a verdict", scenario.name);
        // What the comment promises.
        let minutes: f64 = scenario
            .text
            .split_once("# About ")
            .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
            .expect("About N minutes");
        let (_, seconds) = extent(&plan);
        assert!((seconds / 60.0 - minutes).abs() <= 0.5, "{}: {:.1} minutes", scenario.name, seconds / 60.0);
    }
}

#[test]
fn quickstart() {
    let plan = resolved("quickstart");
    assert_eq!(names(&plan), ["host", "bridge", "overlay", "eni", "node-port", "server-sidecar", "sidecars"]);
    let kinds: Vec<&str> = plan.points.iter().map(|p| p.job.workload.as_str()).collect();
    assert_eq!(kinds, ["stream", "rr", "http", "udp", "ping"]);
    assert_eq!(plan.cells.len(), 30);
    let (trials, seconds) = extent(&plan);
    assert!(trials == 90 && seconds <= 150.0, "{trials} trials, {seconds} s");
    // What proxies leave alone is not measured through them.
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        assert!(!path.is_proxied() || !["udp", "ping"].contains(&point.job.workload.as_str()), "{}", path.name);
    }
    // The modes side by side: between the same places, none to both.
    let bridges = plan.paths.iter().filter(|p| p.from.network == "bridge" && p.via == Via::Direct);
    let ends: BTreeSet<_> = bridges.clone().map(|path| (path.from.clone(), path.to.clone())).collect();
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
    assert_eq!((&feed.job.params["size"], &feed.job.params["rate"]), (&"25kB".into(), &20.0.into()));
    let bulk = plan.points.iter().find(|p| p.job.workload == "stream").expect("as much as goes");
    assert_eq!((&bulk.job.params["size"], &bulk.job.params["direction"]), (&"100kB".into(), &"from-server".into()));
    assert_eq!(plan.paths.len(), 6, "the six situations");
    let pods = |network: &str| {
        let of = plan.paths.iter().filter(|p| p.from.network == network && p.to.network == network);
        of.map(|path| path.mesh).collect::<Vec<_>>()
    };
    assert_eq!(pods("host"), [MeshMode::None]);
    assert_eq!(pods("bridge"), [MeshMode::None, MeshMode::Both]);
    assert_eq!(pods("macvlan"), [MeshMode::None, MeshMode::Both]);
    assert_eq!(plan.paths[5].to_string_nodes(), ["client", "server", "entry"]);
    assert_eq!(plan.cells.len(), 12);
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
    assert_eq!(names(&plan)[..3], ["host-host.same-node", "host-bridge.same-node", "host-bridge+runsc.same-node"]);
    assert_eq!(names(&plan)[11], "host-bridge+runsc.cross-node.cluster-ip");
    assert_eq!(plan.paths.len(), 12);
    for workload in ["latency", "bandwidth"] {
        assert_eq!(values(&plan, workload, "size"), ["1B", "64B", "4KiB", "256KiB"]);
    }
    assert_eq!(plan.cells.len(), 96);
}

#[test]
fn mesh_latency() {
    let plan = resolved("mesh-latency");
    assert_eq!(names(&plan), ["none", "server", "client", "both", "ingress"]);
    let ways: Vec<String> = plan.paths.iter().map(hopbench_model::Path::way).collect();
    assert_eq!(
        ways,
        ["direct", "direct, mesh server", "direct, mesh client", "direct, mesh both", "gateway@c, mesh server"]
    );
    assert_eq!(values(&plan, "rates", "rate"), ["100", "500", "1000", "2000", "4000"]);
    for point in &plan.points {
        assert_eq!((point.job.connections, point.server.response_bytes), (16, Some(1024)));
        assert!(matches!(point.job.schedule, Schedule::Rate(_)), "constant");
    }
    assert_eq!(plan.cells.len(), 25);
}

#[test]
fn mesh_variants() {
    let plan = resolved("mesh-variants");
    let variants: Vec<&Variant> = plan.paths.iter().filter_map(|path| path.variant.as_ref()).collect();
    let known = Variant::known();
    assert!(known.iter().all(|one| variants.contains(&one)), "not all that are known");
    assert_eq!((variants.len(), plan.paths.len()), (known.len(), known.len() + 1));
    assert!(plan.paths.iter().all(|path| path.mesh.is_none() == (path.name == "none")));
    let schedules: Vec<_> = plan.points.iter().map(|p| (p.job.workload.as_str(), p.job.schedule)).collect();
    let expected = [("http", Schedule::Rate(1000.0)), ("http", Schedule::Closed), ("rr", Schedule::Closed)];
    assert_eq!(schedules, expected);
}

#[test]
fn cni_matrix() {
    let plan = resolved("cni-matrix");
    assert_eq!(plan.paths.len(), 18);
    assert!(names(&plan).contains(&"eni-ptp.cross-zone"));
    let TestbedSpec::Lab(lab) = &plan.testbed else { panic!("no lab: {:?}", plan.testbed) };
    assert!(lab.nodes.iter().all(|node| node.link_bits_per_s.is_some()), "a share needs a nominal rate");
    let zone = |name: &str| lab.nodes.iter().find(|n| n.name == name).map(|n| n.zone.as_str());
    for path in &plan.paths {
        assert_ne!(path.from.node, path.to.node);
        assert_eq!(zone(&path.from.node) == zone(&path.to.node), path.name.ends_with(".same-zone"), "{}", path.name);
    }
    let udp = plan.points.iter().find(|p| p.job.workload == "udp").expect("packets");
    assert_eq!(udp.job.client_cpus.as_ref().map(ToString::to_string).as_deref(), Some("0"));
    assert_eq!((&udp.job.params["size"], &udp.job.params["rate"]), (&"16B".into(), &"100Mbit".into()));
    let ping = plan.points.iter().find(|p| p.job.workload == "ping").expect("echoes");
    assert_eq!((&ping.job.params["count"], ping.job.timing.warmup_ns), (&30.into(), 0));
    assert!(ping.job.timing.window_ns.abs_diff(6 * SECOND) < 1000, "settled: {}", ping.job.timing.window_ns);
}

#[test]
fn max_throughput() {
    let plan = resolved("max-throughput");
    assert_eq!(values(&plan, "connections", "connections"), ["8", "16", "32", "64", "128", "256"]);
    assert_eq!(values(&plan, "threads", "threads"), ["1", "2", "4", "8", "16"]);
    // Kubernetes, a mesh without Mixer, a mesh with it; each with every setting.
    assert_eq!(names(&plan), ["service", "gateway.plain", "gateway.mixer"]);
    assert_eq!(plan.cells.len(), plan.paths.len() * plan.points.len());
    let policy: Vec<_> =
        plan.paths.iter().map(|p| p.variant.as_ref().map(|v| (v.policy_check, v.policy_report))).collect();
    assert_eq!(policy, [None, Some((false, false)), Some((true, true))]);
    assert!(plan.paths[1..].iter().all(|p| p.way().starts_with("gateway@c, mesh server")));
    assert!(extent(&plan).1 <= 15.0 * 60.0);
    assert!(plan.points.iter().all(|p| p.server.program == "nginx" && p.server.request == "/bytes/1024"));
    assert!(plan.points.iter().all(|p| p.server.response_bytes == Some(1024)));
}

#[test]
fn a_plan_survives_json() {
    for scenario in SHIPPED {
        let overrides = Overrides { new_seed: u64::MAX, ..Overrides::default() };
        let plan = read(scenario.name, scenario.text, &vocabularies(), &overrides).expect("a plan").plan;
        let text = serde_json::to_string(&plan).expect("JSON");
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan, "{}", scenario.name);
    }
}
