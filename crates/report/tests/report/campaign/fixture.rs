//! Made-up runs that look like real ones: nothing here was measured. The same call gives the same run.

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, Cost, EngineKind, Environment, Failure, Invariant, Job, LabNode, LabSpec, Latency, MeshMode, NodeCost,
    PLAN_SCHEMA, Pacing, Path, Place, Plan, Point, Proof, RECORD_SCHEMA, RUN_SCHEMA, Record, RunFile, RunStatus,
    SECOND, Schedule, ServerSpec, Skipped, TestbedSpec, Timing, Via, Warning, WarningKind, point_label,
};
use hopbench_stats::Histogram;
use serde_json::{Value, json};

/// A run and its records, in the order in which they were measured.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) run: RunFile,
    pub(crate) records: Vec<Record>,
}

/// Numbers that look random and are not.
#[derive(Default)]
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    /// Uniform in 0..1.
    pub(crate) fn next(&mut self) -> f64 {
        // The multiplier and increment of Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, within this share.
    pub(crate) fn about(&mut self, share: f64) -> f64 {
        1.0 + share * (2.0 * self.next() - 1.0)
    }
}

fn place(network: &str, node: &str) -> Place {
    Place { network: network.to_owned(), node: node.to_owned(), runtime: None }
}

pub(crate) fn path(name: &str, from: (&str, &str), to: (&str, &str), via: Via) -> Path {
    let (from, to) = (place(from.0, from.1), place(to.0, to.1));
    Path { name: name.to_owned(), from, to, via, clients: 1, backends: 1, mesh: MeshMode::None, variant: None }
}

pub(crate) fn job(kind: &str, params: Value, schedule: Schedule, connections: u32) -> Job {
    Job {
        workload: kind.to_owned(),
        params,
        schedule,
        engine: EngineKind::Epoll,
        connections,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing {
            warmup_ns: SECOND / 2,
            window_ns: 2 * SECOND,
            interval_ns: SECOND / 5,
            timeout_ns: 2 * SECOND,
        },
        seed: 42,
    }
}

pub(crate) fn point(workload: &str, values: &[(&str, Value)], job: Job) -> Point {
    let server =
        ServerSpec { program: ServerSpec::AGENT.to_owned(), request: "/?size=1024".to_owned(), response_bytes: None };
    let point = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Point { search: None, workload: workload.to_owned(), point, job, server }
}

pub(crate) fn run(name: &str, paths: Vec<Path>, points: Vec<Point>, rounds: u32, baseline: Option<&str>) -> RunFile {
    let node = |name: &str, zone: &str| LabNode {
        name: name.to_owned(),
        zone: zone.to_owned(),
        link_bits_per_s: Some(10_000_000_000),
    };
    let cells = (0..paths.len()).flat_map(|path| (0..points.len()).map(move |point| Cell { path, point })).collect();
    RunFile {
        schema: RUN_SCHEMA.to_owned(),
        run_id: "made-up-0001".to_owned(),
        status: RunStatus::Complete,
        session: 1,
        started_at: "2026-03-01T12:00:00.123456789Z".to_owned(),
        ended_at: Some("2026-03-01T12:06:41.5Z".to_owned()),
        plan: Plan {
            schema: PLAN_SCHEMA.to_owned(),
            name: name.to_owned(),
            testbed: TestbedSpec::Lab(LabSpec {
                nodes: vec![node("a", "one"), node("b", "one"), node("c", "two")],
                mtu: 1500,
                zone_link_bits_per_s: Some(5_000_000_000),
                zone_delay_ns: 0,
            }),
            paths,
            points,
            cells,
            rounds,
            baseline: baseline.map(str::to_owned),
            seed: 42,
            twin: None,
            stop: None,
            minimum_effect: 0.0,
        },
        scenario: format!(
            "# Made up for tests: nothing was measured.\nname: {name}\ntestbed: {{lab: {{nodes: 3, link: 10Gbit}}}}\n"
        ),
        environment: text(&[
            ("cpu_model", "Made-up CPU @ 2.00 GHz"),
            ("cpu_count", "8"),
            ("governor", "performance"),
            ("kernel", "Linux 6.18.0"),
            ("version", "hopbench 0.1.0 (made up)"),
        ]),
        testbed: text(&[("a", "CPUs 0-1, 10.0.0.1"), ("b", "CPUs 2-3, 10.0.0.2"), ("c", "CPUs 4-5, 10.0.0.3")]),
        failures: Vec::new(),
        skipped: Vec::new(),
        notes: Vec::new(),
        stopped: Vec::new(),
    }
}

fn text(facts: &[(&str, &str)]) -> BTreeMap<String, String> {
    facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What a path costs, relative to the first: throughput, latency, CPU.
#[derive(Clone, Copy)]
pub(crate) struct Costs {
    pub(crate) speed: f64,
    pub(crate) latency: f64,
    pub(crate) cpu: f64,
}

/// A record of a cell: the workload's usual figures, bent by the path's costs and by noise.
pub(crate) fn record(run: &RunFile, cell: Cell, round: u32, costs: Costs, noise: &mut Noise) -> Record {
    let (path, point) = run.plan.at(cell);
    let job = &point.job;
    let connections = f64::from(job.connections);
    let mut record = blank(run, path, point, round);
    let speed = costs.speed * noise.about(0.02);
    let slow = costs.latency * noise.about(0.03);
    let size =
        point.point.get("size").and_then(Value::as_str).and_then(|s| s.parse::<hopbench_model::units::Bytes>().ok());
    let size = size.map_or(1.0, |size| size.0 as f64);
    let mut work = 0.0;
    match job.workload.as_str() {
        "stream" => {
            let rate = (9.4e9 * speed).min(9.41e9);
            metric(&mut record, "sent_bits_per_s", rate * 1.001);
            metric(&mut record, "received_bits_per_s", rate);
            metric(&mut record, "retransmitted_bytes", (rate / 8.0 * 2.0 * 0.0004 * noise.next()).floor());
            record.limited_by = if costs.speed < 0.95 { "cpu:server" } else { "nic" }.to_owned();
            record.limited_because = "CPU 3 was busy 99 %, 71 % of it in softirq".to_owned();
            work = rate / 8.0 / 1024.0 / 60.0;
        }
        "rr" => {
            let latency = 18_000.0 * slow + size * 0.9 * slow;
            metric(&mut record, "requests_per_s", 1e9 / latency);
            latencies(&mut record, "service_ns", latency, noise);
            work = 1e9 / latency;
        }
        "udp" => {
            let rate = 410_000.0 * speed;
            metric(&mut record, "received_packets_per_s", rate);
            metric(&mut record, "received_bits_per_s", rate * 128.0);
            metric(&mut record, "lost_ratio", (0.004 * noise.next() * costs.cpu).max(0.0));
            metric(&mut record, "jitter_ns", 6100.0 * slow);
            record.limited_by = "cpu:client".to_owned();
            record.limited_because = "the client used 1.00 of its thread's CPU".to_owned();
            work = rate / 10.0;
        }
        "ping" => {
            metric(&mut record, "lost_ratio", 0.0);
            latencies(&mut record, "service_ns", 31_000.0 * slow, noise);
        }
        "http" => {
            let most = 52_000.0 * speed;
            let asked = job.schedule.per_s();
            let rate = asked.unwrap_or(most * connections / (connections + 14.0)).min(most);
            let load = rate / most;
            let latency = 90_000.0 * slow / (1.0 - 0.9 * load.min(0.99));
            let latency = if asked.is_some() { latency } else { connections * 1e9 / rate };
            metric(&mut record, "requests_per_s", rate);
            metric(&mut record, "error_ratio", 0.0);
            latencies(&mut record, "service_ns", latency * 0.8, noise);
            if asked.is_some() {
                latencies(&mut record, "response_ns", latency, noise);
                record.limited_by = "target_rate".to_owned();
            }
            work = rate;
        }
        other => panic!("no figures for {other}"),
    }
    if work > 0.0 {
        for (end, share) in [(&mut record.cost.client, 0.8), (&mut record.cost.server, 1.0)] {
            let cpu_s = 2.0 * work * 5.2e-6 * share * costs.cpu * noise.about(0.03);
            end.insert("user_s".to_owned(), cpu_s * 0.2);
            end.insert("system_s".to_owned(), cpu_s * 0.8);
            // The readings are taken a little outside the window of 2 s.
            end.insert("cores".to_owned(), cpu_s / 2.05);
        }
    }
    record.cost.nodes = nodes(run, path, &record.cost);
    record.cost.one_machine = true;
    record
}

/// What the nodes of a lab saw of its one machine.
fn nodes(run: &RunFile, path: &Path, cost: &Cost) -> Vec<NodeCost> {
    let TestbedSpec::Lab(_) = &run.plan.testbed else { return Vec::new() };
    let ends: f64 = [&cost.client, &cost.server].iter().filter_map(|end| end.get("cores")).sum();
    let busy = 0.04 + 1.3 * ends;
    let mut names = vec![&path.from.node, &path.to.node];
    names.dedup();
    let of = |name: &&String| NodeCost {
        name: (*name).clone(),
        busy_cores: busy,
        softirq_cores: 0.25 * busy,
        per_cpu_busy: vec![busy / 8.0; 8],
        per_cpu_softirq: vec![busy / 32.0; 8],
        ..NodeCost::default()
    };
    names.iter().map(of).collect()
}

fn blank(run: &RunFile, path: &Path, point: &Point, round: u32) -> Record {
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        run_id: run.run_id.clone(),
        path: path.name.clone(),
        workload: point.workload.clone(),
        point: point.point.clone(),
        round,
        session: 1,
        started_at: "2026-03-01T12:00:01Z".to_owned(),
        window_s: 2.0,
        limited_by: "unknown".to_owned(),
        limited_because: String::new(),
        metrics: BTreeMap::new(),
        latency: BTreeMap::new(),
        intervals: Vec::new(),
        cost: Cost { nodes: vec![NodeCost::default()], ..Cost::default() },
        proof: vec![
            Proof {
                hop: "client".to_owned(),
                evidence: format!("flow 0 from {}, in namespace hb-{}", path.from, path.from.node),
                ok: true,
            },
            Proof { hop: "server".to_owned(), evidence: format!("flow 0 arrived at {}", path.to), ok: true },
        ],
        invariants: vec![Invariant { name: "received_le_sent".to_owned(), ok: true, detail: String::new() }],
        warnings: Vec::new(),
        statuses: BTreeMap::new(),
        errors: BTreeMap::new(),
        settings: link_settings(run, path),
        job: serde_json::to_value(&point.job).unwrap(),
        environment: Environment::default(),
        incomplete: None,
        error: None,
        search: None,
    }
}

/// What the lab says of its links: 10 Gbit/s, half of that between zones, none within a node.
fn link_settings(run: &RunFile, path: &Path) -> BTreeMap<String, String> {
    let TestbedSpec::Lab(lab) = &run.plan.testbed else { return BTreeMap::new() };
    if path.from.node == path.to.node {
        return BTreeMap::new();
    }
    let between = lab.zone_link_bits_per_s.filter(|_| path.to.node == "c");
    let tunnel = if path.from.network == "overlay" { 50 } else { 0 };
    text(&[
        ("link_bits_per_s", &between.unwrap_or(10_000_000_000).to_string()),
        ("link_mtu_bytes", &(1500 - tunnel).to_string()),
        ("tunnel_bytes", &tunnel.to_string()),
    ])
}

fn metric(record: &mut Record, name: &str, value: f64) {
    record.metrics.insert(name.to_owned(), value);
}

fn latencies(record: &mut Record, name: &str, typical_ns: f64, noise: &mut Noise) {
    record.latency.insert(name.to_owned(), distribution(typical_ns, noise));
}

/// A distribution with a body around `typical_ns` and a tail.
pub(crate) fn distribution(typical_ns: f64, noise: &mut Noise) -> Latency {
    let mut histogram = Histogram::new();
    for _ in 0..4000 {
        let body = 0.82 + 0.36 * noise.next() * noise.next();
        let u = noise.next();
        let tail = if u > 0.985 { 1.0 + 0.02 / (1.001 - u) } else { 1.0 };
        histogram.record((typical_ns * body * tail) as u64);
    }
    histogram.summary()
}

/// All cells of the plan in every round.
pub(crate) fn measured(run: RunFile, costs: impl Fn(&Path) -> Costs) -> Made {
    let mut noise = Noise(7);
    let mut records = Vec::new();
    for round in 1..=run.plan.rounds {
        for cell in &run.plan.cells {
            records.push(record(&run, *cell, round, costs(&run.plan.paths[cell.path]), &mut noise));
        }
    }
    Made { run, records }
}

pub(crate) fn costs_of(network: &str) -> Costs {
    let (speed, latency, cpu) = match network {
        "host" => (1.0, 1.0, 1.0),
        "eni" => (1.0, 1.01, 1.01),
        "bridge" => (0.97, 1.14, 1.12),
        "ptp" => (0.985, 1.08, 1.07),
        "overlay" => (0.71, 1.46, 1.61),
        _ => (0.9, 1.33, 1.3),
    };
    Costs { speed, latency, cpu }
}

/// Five paths, five workloads, with a size sweep and a rate sweep.
pub(crate) fn quickstart(rounds: u32) -> Made {
    let mut paths: Vec<Path> = ["host", "bridge", "overlay", "eni"]
        .iter()
        .map(|network| path(network, (network, "a"), (network, "b"), Via::Direct))
        .collect();
    paths.push(path("node-port", ("host", "a"), ("bridge", "b"), Via::NodePort("c".to_owned())));
    let mut points = vec![point("throughput", &[], job("stream", json!({"size": "128KiB"}), Schedule::Closed, 4))];
    for size in ["1B", "64B", "4KiB", "256KiB"] {
        points.push(point("latency", &[("size", json!(size))], job("rr", json!({"size": size}), Schedule::Closed, 1)));
    }
    points.push(point("packets", &[], job("udp", json!({"size": "16B"}), Schedule::Closed, 1)));
    points.push(point("echo", &[], job("ping", json!({}), Schedule::Rate(20.0), 1)));
    for rate in [500, 2000, 8000, 16_000] {
        points.push(point(
            "web",
            &[("rate", json!(rate))],
            job("http", json!({}), Schedule::Rate(f64::from(rate)), 16),
        ));
    }
    let mut run = run("quickstart (made up)", paths, points, rounds, Some("host"));
    let TestbedSpec::Lab(lab) = &mut run.plan.testbed else { unreachable!("made above") };
    lab.zone_link_bits_per_s = None;
    let mut made =
        measured(run, |path| costs_of(if path.name == "node-port" { "node-port" } else { &path.from.network }));
    caveats(&mut made);
    made
}

/// A failed proof, a trial cut short, one that left nothing, and warnings.
fn caveats(made: &mut Made) {
    let records = &mut made.records;
    for record in records.iter_mut().filter(|record| record.workload == "throughput" && record.path == "overlay") {
        record.warnings.push(Warning::new(
            WarningKind::NotSteady,
            "the rate fell from 7.1 to 6.2 Gbit/s inside the window",
            "take a longer --warmup, or look at what else ran",
        ));
    }
    let at = |records: &[Record], workload: &str, path: &str| {
        records.iter().position(|r| r.workload == workload && r.path == path && r.round == 1).unwrap()
    };
    let failed = at(records, "packets", "node-port");
    records[failed].proof[1].ok = false;
    records[failed].proof[1].evidence = "flow 0 arrived at bridge@c, expected bridge@b".to_owned();
    let cut = at(records, "echo", "bridge");
    records[cut].incomplete = Some("the client was interrupted after 0.4 of 2 s".to_owned());
    let slow = records.iter_mut().filter(|r| r.workload == "web" && r.path == "eni");
    slow.for_each(|r| r.limited_by = "generator".to_owned());
    let gone = records.iter().position(|r| r.workload == "web" && r.path == "overlay" && r.round == 1).unwrap();
    let gone = records.remove(gone);
    made.run.failures.push(Failure {
        path: gone.path,
        workload: gone.workload,
        point: "rate=500".to_owned(),
        round: 1,
        reason: "the agent bridge@b ended with signal 9".to_owned(),
    });
    made.run.status = RunStatus::Incomplete;
    made.run.plan.paths.push(path("sandbox", ("bridge", "a"), ("bridge", "b"), Via::Direct));
    let sandbox = made.run.plan.paths.len() - 1;
    made.run.plan.paths[sandbox].to.runtime = Some("runsc".to_owned());
    for point in 0..made.run.plan.points.len() {
        made.run.plan.cells.push(Cell { path: sandbox, point });
        let settings = &made.run.plan.points[point];
        made.run.skipped.push(Skipped {
            path: "sandbox".to_owned(),
            workload: settings.workload.clone(),
            point: point_label(&settings.point),
            reason: "runsc is not installed".to_owned(),
        });
    }
}

/// Every kind of place to every kind of place, within a zone and between zones.
pub(crate) fn matrix() -> Made {
    let kinds = ["host", "ptp", "eni"];
    let mut paths = Vec::new();
    for node in ["b", "c"] {
        for from in kinds {
            for to in kinds {
                let zone = if node == "b" { "same" } else { "cross" };
                paths.push(path(&format!("{from}-{to}-{zone}-zone"), (from, "a"), (to, node), Via::Direct));
            }
        }
    }
    let points = vec![
        point("throughput", &[], job("stream", json!({"size": "128KiB"}), Schedule::Closed, 4)),
        point("packets", &[], job("udp", json!({"size": "16B"}), Schedule::Closed, 1)),
        point("echo", &[], job("ping", json!({}), Schedule::Rate(20.0), 1)),
    ];
    measured(run("cni-matrix (made up)", paths, points, 3, Some("host-host-same-zone")), |path| {
        let (from, to) = (costs_of(&path.from.network), costs_of(&path.to.network));
        let zone = if path.to.node == "c" { 0.52 } else { 1.0 };
        Costs {
            speed: from.speed * to.speed * zone,
            latency: from.latency * to.latency / zone.sqrt(),
            cpu: from.cpu * to.cpu,
        }
    })
}

/// Closed-loop HTTP over more and more connections, with many rounds.
pub(crate) fn connections() -> Made {
    let paths = vec![
        path("direct", ("host", "a"), ("bridge", "b"), Via::Direct),
        path("cluster-ip", ("host", "a"), ("bridge", "b"), Via::ClusterIp),
        path("overlay", ("overlay", "a"), ("overlay", "b"), Via::Direct),
    ];
    let points = [8, 16, 32, 64, 128, 256]
        .map(|n| point("knee", &[("connections", json!(n))], job("http", json!({}), Schedule::Closed, n)))
        .into();
    measured(run("max-throughput (made up)", paths, points, 7, Some("direct")), |path| match path.name.as_str() {
        "direct" => costs_of("host"),
        "cluster-ip" => Costs { speed: 0.995, latency: 1.01, cpu: 1.02 },
        _ => costs_of("overlay"),
    })
}

/// A run in which every text that comes from outside tries to be markup.
pub(crate) fn hostile() -> Made {
    let bad = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;|`*[x](y)\u{202e}\u{1b}[2J</textarea><!--";
    let mut path = path(bad, (bad, "a"), (bad, "b"), Via::NodePort(bad.to_owned()));
    path.from.runtime = Some(bad.to_owned());
    let other = self::path("plain", ("host", "a"), ("host", "b"), Via::Direct);
    let points = vec![
        point(bad, &[(bad, json!(bad))], job("rr", json!({ bad: bad }), Schedule::Closed, 1)),
        point(bad, &[(bad, json!("b"))], job("rr", json!({ bad: bad }), Schedule::Closed, 1)),
        point("other", &[], job("rr", json!({}), Schedule::Closed, 1)),
    ];
    let mut run = run(bad, vec![other, path], points, 2, Some("plain"));
    run.run_id = bad.to_owned();
    run.scenario = bad.to_owned();
    run.started_at = bad.to_owned();
    run.environment.insert(bad.to_owned(), bad.to_owned());
    run.environment.insert("kernel".to_owned(), bad.to_owned());
    run.testbed.insert(bad.to_owned(), bad.to_owned());
    let text = || bad.to_owned();
    run.skipped.push(Skipped {
        path: bad.to_owned(),
        workload: bad.to_owned(),
        point: bad.to_owned(),
        reason: bad.to_owned(),
    });
    run.failures.push(Failure { path: text(), workload: text(), point: text(), round: 1, reason: text() });
    let mut made = measured(run, |_| costs_of("host"));
    for record in &mut made.records {
        record.limited_by = text();
        record.limited_because = text();
        record.warnings.push(Warning::new(WarningKind::Errors, bad, bad));
        record.proof.push(Proof { hop: text(), evidence: text(), ok: true });
    }
    made.records[0].incomplete = Some(text());
    made
}
