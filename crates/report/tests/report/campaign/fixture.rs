//! Made-up runs that look like real ones: nothing here was measured. The same call gives the same
//! run.

mod part;
mod runs;

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, Cost, Invariant, Job, LabNode, LabSpec, Latency, NodeCost, Path, Plan, Point, Proof,
    RUN_SCHEMA, Record, RunFile, RunStatus, SECOND, Schedule, ServerSpec, TestbedSpec, Timing, Via,
    fixture as model,
};
use hopbench_stats::Histogram;
use serde_json::Value;

pub(crate) use self::runs::{connections, costs_of, hostile, matrix, measured, quickstart};

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
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, within this share.
    pub(crate) fn about(&mut self, share: f64) -> f64 {
        1.0 + share * (2.0 * self.next() - 1.0)
    }
}

pub(crate) fn path(name: &str, from: (&str, &str), to: (&str, &str), via: Via) -> Path {
    let (from, to) = (model::place(from.0, from.1), model::place(to.0, to.1));
    Path { from, to, via, ..model::path(name) }
}

pub(crate) fn job(kind: &str, params: Value, schedule: Schedule, connections: u32) -> Job {
    let timing = Timing {
        warmup_ns: SECOND / 2,
        window_ns: 2 * SECOND,
        interval_ns: SECOND / 5,
        timeout_ns: 2 * SECOND,
    };
    Job { schedule, connections, timing, seed: 42, ..model::job(kind, params) }
}

pub(crate) fn point(workload: &str, values: &[(&str, Value)], job: Job) -> Point {
    let server = ServerSpec { request: "/?size=1024".to_owned(), ..model::server() };
    let point = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Point { point, server, ..model::point(workload, job) }
}

pub(crate) fn run(
    name: &str,
    paths: Vec<Path>,
    points: Vec<Point>,
    rounds: u32,
    baseline: Option<&str>,
) -> RunFile {
    let node = |name: &str, zone: &str| LabNode {
        name: name.to_owned(),
        zone: zone.to_owned(),
        link_bits_per_s: Some(10_000_000_000),
        server_work_ns: None,
        stands_for: None,
        settings: hopbench_model::NodeSettings::default(),
    };
    RunFile {
        schema: RUN_SCHEMA.to_owned(),
        run_id: "made-up-0001".to_owned(),
        status: RunStatus::Complete,
        session: 1,
        started_at: "2026-03-01T12:00:00.123456789Z".to_owned(),
        ended_at: Some("2026-03-01T12:06:41.5Z".to_owned()),
        plan: Plan {
            name: name.to_owned(),
            testbed: TestbedSpec::Lab(LabSpec {
                nodes: vec![node("a", "one"), node("b", "one"), node("c", "two")],
                mtu: 1500,
                zone_link_bits_per_s: Some(5_000_000_000),
                zone_delay_ns: 0,
            }),
            rounds,
            baseline: baseline.map(str::to_owned),
            seed: 42,
            ..model::plan(paths, points)
        },
        scenario: format!(
            "# Made up for tests: nothing was measured.\nname: {name}\n\
             testbed: {{lab: {{nodes: 3, link: 10Gbit}}}}\n"
        ),
        environment: text(&[
            ("cpu_model", "Made-up CPU @ 2.00 GHz"),
            ("cpu_count", "8"),
            ("governor", "performance"),
            ("kernel", "Linux 6.18.0"),
            ("version", "hopbench 0.1.0 (made up)"),
        ]),
        testbed: text(&[
            ("a", "CPUs 0-1, 10.0.0.1"),
            ("b", "CPUs 2-3, 10.0.0.2"),
            ("c", "CPUs 4-5, 10.0.0.3"),
        ]),
        failures: Vec::new(),
        skipped: Vec::new(),
        spent_ns: 0,
        shared: Default::default(),
        spared_trials: 0,
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
pub(crate) fn record(
    run: &RunFile,
    cell: Cell,
    round: u32,
    costs: Costs,
    noise: &mut Noise,
) -> Record {
    let (path, point) = run.plan.at(cell);
    let job = &point.job;
    let connections = f64::from(job.connections);
    let mut record = blank(run, path, point, round);
    let speed = costs.speed * noise.about(0.02);
    let slow = costs.latency * noise.about(0.03);
    let size = point
        .point
        .get("size")
        .and_then(Value::as_str)
        .and_then(|s| s.parse::<hopbench_model::units::Bytes>().ok());
    let size = size.map_or(1.0, |size| size.0 as f64);
    let mut work = 0.0;
    match job.workload.as_str() {
        "stream" => {
            let rate = (9.4e9 * speed).min(9.41e9);
            metric(&mut record, "received_bits_per_s", rate);
            metric(
                &mut record,
                "retransmitted_bytes",
                (rate / 8.0 * 2.0 * 0.0004 * noise.next()).floor(),
            );
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
        run_id: run.run_id.clone(),
        path: path.name.clone(),
        workload: point.workload.clone(),
        point: point.point.clone(),
        round,
        started_at: "2026-03-01T12:00:01Z".to_owned(),
        window_s: 2.0,
        limited_by: "unknown".to_owned(),
        cost: Cost { nodes: vec![NodeCost::default()], ..Cost::default() },
        proof: vec![
            Proof {
                hop: "client".to_owned(),
                evidence: format!("flow 0 from {}, in namespace hb-{}", path.from, path.from.node),
                ok: true,
            },
            Proof {
                hop: "server".to_owned(),
                evidence: format!("flow 0 arrived at {}", path.to),
                ok: true,
            },
        ],
        invariants: vec![Invariant {
            name: "received_le_sent".to_owned(),
            ok: true,
            detail: String::new(),
        }],
        settings: link_settings(run, path),
        job: serde_json::to_value(&point.job).unwrap(),
        ..model::record(&[])
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
