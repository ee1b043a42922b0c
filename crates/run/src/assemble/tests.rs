use hopbench_model::fixture::job;
use hopbench_model::{
    CPU_QUOTA_SETTING, CPUS_SETTING, Counter, Counts, LatencyKind, Member, Nanos, Reading,
    Schedule, Tick, WorkerCounts,
};
use hopbench_testbed::{AgentId, Proxy};
use hopbench_wire::PROTOCOL;
use serde_json::json;

use super::*;
use crate::conduct::Edges;
use crate::metered::UnderLoad;

/// Readings of the machine and of one process group, at the edges of a second in which it used so
/// many seconds.
fn end(counts: &[(Counter, u64)], readings: &[(&str, &[(&str, f64)])]) -> EndReport {
    let mut total = Counts::default();
    counts.iter().for_each(|(counter, n)| total.set(*counter, *n));
    let after: BTreeMap<String, Reading> = readings
        .iter()
        .map(|(meter, values)| {
            ((*meter).to_owned(), values.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect())
        })
        .collect();
    let mut before = after.clone();
    let totals = before.values_mut().flatten().filter(|(name, _)| name.ends_with("_total"));
    totals.for_each(|(_, value)| *value = 0.0);
    EndReport {
        start: Tick { readings: before, ..Tick::default() },
        end: Tick { t_ns: SECOND as i64, counts: total, readings: after, ..Tick::default() },
        drained: total,
        window_ns: SECOND,
        ..EndReport::default()
    }
}

fn outcome(client: EndReport, clients: Vec<EndReport>, servers: Vec<EndReport>) -> TrialResult {
    TrialResult {
        stood: false,
        warmup_ns: 0,
        client,
        server: servers.first().cloned(),
        clients: clients.into_iter().map(Some).collect(),
        servers: servers.into_iter().map(Some).collect(),
        onlookers: BTreeMap::new(),
        fault: None,
        limited: Vec::new(),
        shared_clock: true,
        one_machine: true,
        server_unseen: None,
        seen_beside: Vec::new(),
        orders_late_ns: [0; 2],
        failed_onlookers: BTreeMap::new(),
        programs_apart: false,
        clock_error_ns: 0,
        started: std::time::Duration::ZERO,
        proxies: Vec::new(),
        conductor_cpu_ns: 0,
    }
}

type Held<'a> = (&'a [Option<CpuSet>], &'a [Option<CpuSet>]);

fn recorded(job: &Job, cpus: Held<'_>, outcome: &TrialResult) -> Record {
    recorded_with(job, cpus, outcome, &[])
}

fn recorded_with(
    job: &Job,
    cpus: Held<'_>,
    outcome: &TrialResult,
    proxies: &[ProxySaid<'_>],
) -> Record {
    recorded_under(job, cpus, outcome, proxies, &[])
}

/// The record of a trial whose server programs have these CPU limits.
fn recorded_under(
    job: &Job,
    cpus: Held<'_>,
    outcome: &TrialResult,
    proxies: &[ProxySaid<'_>],
    program_limits: &[Option<f64>],
) -> Record {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "1".to_owned(),
        commit: "c".to_owned(),
        boot_id: "b".to_owned(),
        machine: BTreeMap::new(),
    };
    let target =
        Target { name: "x".to_owned(), address: ([10, 0, 0, 1], 80).into(), others: Vec::new() };
    let setting = Setting {
        run_id: "r",
        workload: hopbench_load::workload(&job.workload).unwrap(),
        name: "w",
        job,
        point: BTreeMap::new(),
        round: 1,
        target: &target,
        client: &hello,
        server: Some(&hello),
        nodes: (&[], &[]),
        cpus,
        program_limits,
        link: Some(LinkRate {
            bits_per_s: Some(1_000_000_000),
            mtu_bytes: 1450,
            tunnel_bytes: 50,
            v6: false,
        }),
        proxies,
    };
    record(&setting, outcome)
}

const MACHINE: (&str, &[(&str, f64)]) =
    ("cpu", &[("busy_s_total", 1.0), ("cpu0_busy_s_total", 0.5), ("cpu1_busy_s_total", 0.5)]);

fn agent(cpu_s: f64) -> EndReport {
    end(&[], &[MACHINE, ("self", &[("user_s_total", cpu_s), ("system_s_total", 0.0)])])
}

#[test]
fn all_clients_together_have_the_rate_that_each_was_asked_for() {
    let params =
        json!({"size": "128KiB", "direction": "to-server", "receive": "copy", "rate": "100Mbit"});
    let limit = |bytes_per_s: u64| {
        let sent = end(&[(Counter::SentBytes, bytes_per_s)], &[]);
        let received = end(&[(Counter::ReceivedBytes, bytes_per_s)], &[]);
        // Five clients; the merged report is what they sent together.
        let outcome = outcome(sent.clone(), vec![sent; 5], vec![received]);
        recorded(&job("stream", params.clone()), (&[], &[]), &outcome).limited_by
    };
    assert_eq!(limit(495_000_000 / 8), "target_rate");
    assert_ne!(
        limit(110_000_000 / 8),
        "target_rate",
        "a fifth of what was asked for, though more than one's share"
    );
}

#[test]
fn ends_that_begin_far_apart_are_warned_of() {
    let late = |start_late_ns| EndReport { start_late_ns, ..agent(0.1) };
    let warned = |client_ns, server_ns| {
        let outcome = outcome(late(client_ns), vec![late(client_ns)], vec![late(server_ns)]);
        let record = recorded(&job("rr", json!({"size": "1B"})), (&[], &[]), &outcome);
        let warning =
            record.warnings.into_iter().find(|warning| warning.kind == WarningKind::StartSkew);
        (record.settings["start_skew_ns"].clone(), warning.map(|warning| warning.detail))
    };
    // All as late as the other is no skew.
    assert_eq!(warned(90_000_000, 90_000_000), ("0".to_owned(), None));
    assert_eq!(warned(5_000_000, 25_000_000), ("20000000".to_owned(), None));
    let detail =
        "the ends began 31 ms apart: not all of them took part in the whole window".to_owned();
    assert_eq!(warned(36_000_000, 5_000_000), ("31000000".to_owned(), Some(detail)));
}

#[test]
fn ends_that_read_their_meters_far_apart_are_warned_of() {
    let warned = |client_ms: i64, server_ms: i64, window_ns: Nanos| {
        let at = |ms: i64| {
            let mut end = EndReport { window_ns, ..agent(0.1) };
            end.start.t_ns = ms * 1_000_000;
            end
        };
        let outcome = outcome(at(client_ms), vec![at(client_ms)], vec![at(server_ms)]);
        let record = recorded(&job("rr", json!({"size": "1B"})), (&[], &[]), &outcome);
        let warning = record.warnings.into_iter().find(|w| w.kind == WarningKind::StartSkew);
        (record.settings["readings_skew_ns"].clone(), warning.map(|warning| warning.detail))
    };
    assert_eq!(warned(80, 81, SECOND), ("1000000".to_owned(), None), "both as late");
    assert_eq!(warned(1, 51, SECOND), ("50000000".to_owned(), None));
    let detail = "the ends read their CPU time and counters 76 ms apart in a window of 1 s: their \
                  costs are of different times";
    assert_eq!(warned(77, 1, SECOND), ("76000000".to_owned(), Some(detail.to_owned())));
    assert!(warned(14, 1, SECOND / 4).1.is_some(), "a short window is less sure");
    assert_eq!(warned(14, 1, 2 * SECOND).1, None);
}

#[test]
fn clocks_that_may_be_far_apart_are_warned_of() {
    let warned = |clock_error_ns, window_ns| {
        let end = || EndReport { window_ns, ..agent(0.1) };
        let outcome = outcome(end(), vec![end()], vec![end()]);
        let outcome = TrialResult { clock_error_ns, ..outcome };
        let record = recorded(&job("rr", json!({"size": "1B"})), (&[], &[]), &outcome);
        record.warnings.into_iter().find(|w| w.kind == WarningKind::StartSkew)
    };
    assert_eq!(warned(12_000_000, SECOND / 4), None);
    assert_eq!(warned(13_000_000, SECOND), None);
    let warning = warned(13_000_000, SECOND / 4).expect("a warning");
    assert!(warning.detail.starts_with("the clocks of the ends may differ by 13"), "{warning:?}");
}

#[test]
fn a_worker_of_a_program_is_one_thread_whatever_the_client_has() {
    let program = |workers: [f64; 2]| {
        let (sum, processes) =
            (workers.iter().sum(), ["process2_cpu_s_total", "process4_cpu_s_total"]);
        let values = [
            ("processes", 4.0),
            ("user_s_total", sum),
            ("system_s_total", 0.0),
            ("process1_cpu_s_total", 0.0),
            ("process1_threads", 1.0),
            (processes[0], workers[0]),
            ("process2_threads", 1.0),
            ("process3_cpu_s_total", 0.0),
            ("process3_threads", 1.0),
            (processes[1], workers[1]),
            ("process4_threads", 1.0),
        ];
        let own: &[(&str, f64)] = &[("user_s_total", 0.01), ("system_s_total", 0.0)];
        end(&[], &[MACHINE, ("self", own), ("program", &values)])
    };
    let params = json!({"url": "http://10.0.0.1/"});
    let limit = |threads: u32, workers: [f64; 2]| {
        let job = Job { threads, connections: 64, ..job("http", params.clone()) };
        // Both servers' agents look at all processes of the program.
        let watchers = vec![program(workers), program(workers)];
        recorded(&job, (&[], &[]), &outcome(agent(0.5), vec![agent(0.5)], watchers))
    };
    let record = limit(16, [0.98, 0.1]);
    assert_eq!(
        (record.limited_by.as_str(), record.limited_because.contains("0.98")),
        ("cpu:server", true)
    );
    assert_eq!(
        limit(1, [0.6, 0.6]).limited_by,
        "unknown",
        "both waited, though they used more than a core together"
    );
    assert_eq!(record.cost.server["cores"], 1.08);
    // Its agent read late, when the program rested.
    let mut late = program([0.98, 0.1]);
    late.end.t_ns += 60_000_000;
    let late = outcome(agent(0.5), vec![agent(0.5)], vec![late]);
    let record = recorded(&job("http", params.clone()), (&[], &[]), &late);
    assert_eq!((record.limited_by.as_str(), record.cost.server["cores"]), ("cpu:server", 1.08));
    // On a cluster each of them looks at the program beside it.
    let http = job("http", params);
    let watchers = vec![program([0.98, 0.1]), program([0.2, 0.1])];
    let shared = outcome(agent(0.5), vec![agent(0.5)], watchers);
    let apart = TrialResult { programs_apart: true, ..shared };
    let spent = recorded(&http, (&[], &[]), &apart).cost.server["cores"];
    assert!((spent - 1.38).abs() < 1e-9, "{spent}");
    assert!(
        record.cost.server.keys().all(|name| !name.contains('1') && !name.contains('2')),
        "{:?}",
        record.cost.server
    );
}

#[test]
fn an_end_uses_no_more_than_the_cpus_that_it_is_held_to() {
    let broken = |cpus: Held<'_>, job: &Job| {
        let record = recorded(job, cpus, &outcome(agent(1.6), vec![agent(1.6)], vec![agent(0.2)]));
        let names = record.invariants.iter().filter(|i| i.name.ends_with("_process_le_cpus"));
        assert_eq!(names.clone().count(), 2, "{:?}", record.invariants);
        names.filter(|i| !i.ok).map(|i| i.name.clone()).collect::<Vec<_>>()
    };
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    assert!(broken((&[], &[]), &http).is_empty(), "the machine has two CPUs");
    let (held, free) = ([Some(CpuSet(vec![0]))], [None]);
    assert_eq!(broken((&held, &free), &http), ["client_process_le_cpus"]);
    let pinned = Job { client_cpus: Some(CpuSet(vec![0, 1])), ..http };
    assert!(broken((&held, &free), &pinned).is_empty(), "the job has put the workers elsewhere");
}

#[test]
fn an_end_that_may_use_some_cpus_only_is_judged_by_those() {
    // 0.6 cores of a client that was started on CPU 1; what fills CPU 0 is a server that nobody
    // meters.
    let limit = |confined: Option<&str>, [first, second]: [f64; 2]| {
        let busy = [
            ("busy_s_total", first + second),
            ("cpu0_busy_s_total", first),
            ("cpu1_busy_s_total", second),
        ];
        let own: &[(&str, f64)] = &[("user_s_total", 0.6), ("system_s_total", 0.0)];
        let mut client = end(&[], &[("cpu", &busy), ("self", own)]);
        client.settings.extend(confined.map(|cpus| (CPUS_SETTING.to_owned(), cpus.to_owned())));
        let http = job("http", json!({"url": "http://10.0.0.1/"}));
        let record = recorded(&http, (&[], &[]), &outcome(client.clone(), vec![client], vec![]));
        (record.limited_by, record.limited_because)
    };
    let (name, why) = limit(Some("1"), [1.0, 0.6]);
    assert_eq!(name, "cpu:other");
    assert!(why.contains("no end that is metered may use it"), "{why}");
    assert_eq!(limit(Some("0"), [1.0, 0.6]).0, "cpu:client");
    let (name, why) = limit(None, [1.0, 0.9]);
    assert_eq!(name, "cpu:other");
    assert!(
        why.contains("on all CPUs the client used 0.60 cores and what is not metered 1.30"),
        "{why}"
    );
}

#[test]
fn a_server_that_waits_thousands_of_times_is_not_said_to_hardly_wait() {
    let waits = |waits: f64| {
        let busy = [("busy_s_total", 1.6), ("cpu0_busy_s_total", 0.8), ("cpu1_busy_s_total", 0.8)];
        let own =
            [("user_s_total", 0.97), ("system_s_total", 0.0), ("voluntary_switches_total", waits)];
        let server = end(&[], &[("cpu", &busy), ("self", &own)]);
        let http = job("http", json!({"url": "http://10.0.0.1/"}));
        let client = agent(0.2);
        recorded(&http, (&[], &[]), &outcome(client.clone(), vec![client], vec![server])).limited_by
    };
    assert_eq!([waits(100.0), waits(4000.0)], ["cpu:server", "unknown"]);
}

#[test]
fn a_cpu_quota_that_stops_an_end_is_its_limit_and_a_warning() {
    let stopped = |seconds: f64, quota: &str| {
        let own: &[(&str, f64)] = &[
            ("user_s_total", 0.2),
            ("system_s_total", 0.0),
            ("throttled_s_total", seconds),
            ("throttled_times_total", 7.0),
        ];
        let mut report = end(&[], &[MACHINE, ("self", own)]);
        report.settings.insert(CPU_QUOTA_SETTING.to_owned(), quota.to_owned());
        report
    };
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let recorded = |clients: Vec<EndReport>, server| {
        recorded(&http, (&[], &[]), &outcome(clients[0].clone(), clients, vec![server]))
    };
    let told = |record: &Record| {
        let told = record.warnings.iter().filter(|warning| warning.kind == WarningKind::CpuQuota);
        told.map(|warning| warning.detail.clone()).collect::<Vec<_>>()
    };
    let record = recorded(vec![agent(0.1)], stopped(0.25, "0.5 (cgroup /b)"));
    assert_eq!(record.limited_by, "cpu_quota:server");
    assert_eq!(
        record.limited_because,
        "a CPU quota of 0.5 (cgroup /b) stopped it 7 times, for 25 % of the window"
    );
    let spent = &record.cost.server;
    assert_eq!([spent["throttled_ratio"], spent["throttled_times"]], [0.25, 7.0]);
    assert!(!spent.contains_key("throttled_s"), "{spent:?}");
    let expected =
        "a CPU quota stopped the server for 25 % of the window: it is 0.5 (cgroup /b)".to_owned();
    assert_eq!(told(&record), [expected]);
    // Two clients of one group are stopped once, together.
    let clients = ["0.5 (cgroup /b)"; 2].map(|quota| stopped(0.4, quota)).to_vec();
    let record = recorded(clients, agent(0.1));
    assert_eq!(record.limited_by, "cpu_quota:client");
    assert_eq!(record.cost.client["throttled_ratio"], 0.4);
    // A quota that hardly stops it is a figure, and no more.
    let record = recorded(vec![stopped(0.005, "4 (cgroup /b)")], agent(0.1));
    assert_eq!((record.cost.client["throttled_ratio"], told(&record).len()), (0.005, 0));
    assert_eq!(record.settings[CPU_QUOTA_SETTING], "4 (cgroup /b)");
    assert!(!record.cost.server.contains_key("throttled_ratio"), "{:?}", record.cost.server);
}

#[test]
fn a_program_that_uses_up_the_limit_of_its_container_is_limited_by_it() {
    let own: &[(&str, f64)] = &[("user_s_total", 0.01), ("system_s_total", 0.0)];
    let program: &[(&str, f64)] = &[
        ("processes", 1.0),
        ("user_s_total", 0.48),
        ("system_s_total", 0.0),
        ("process1_cpu_s_total", 0.48),
        ("process1_threads", 1.0),
    ];
    let looks_on = end(&[], &[MACHINE, ("self", own), ("program", program)]);
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let limited_by = |programs_apart, limit| {
        let seen = outcome(agent(0.1), vec![agent(0.1)], vec![looks_on.clone()]);
        let outcome = TrialResult { programs_apart, ..seen };
        recorded_under(&http, (&[], &[]), &outcome, &[], &[limit]).limited_by
    };
    assert_eq!(limited_by(true, Some(0.5)), "cpu_quota:server");
    for (apart, limit) in [(true, Some(0.6)), (true, None), (false, Some(0.5))] {
        assert_eq!(limited_by(apart, limit), "unknown", "{apart} {limit:?}");
    }
}

#[test]
fn an_agent_that_sees_nothing_of_the_program_beside_it_is_not_taken_for_it() {
    // The client used 0.6 cores, the agent that looks on next to nothing; what fills CPU 0 is the
    // program.
    let busy = [("busy_s_total", 1.6), ("cpu0_busy_s_total", 1.0), ("cpu1_busy_s_total", 0.6)];
    let agent = |cpu_s| {
        end(&[], &[("cpu", &busy), ("self", &[("user_s_total", cpu_s), ("system_s_total", 0.0)])])
    };
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let seen = outcome(agent(0.6), vec![agent(0.6)], vec![agent(0.01)]);
    let record = recorded(&http, (&[], &[]), &seen);
    assert_eq!(
        (record.limited_by.as_str(), record.cost.server["cores"]),
        ("cpu:client", 0.01),
        "it is the server"
    );
    let why = "no agent saw its processes".to_owned();
    let unseen = TrialResult { server_unseen: Some(why), ..seen };
    let record = recorded(&http, (&[], &[]), &unseen);
    assert_eq!(record.limited_by, "cpu:other", "{}", record.limited_because);
    let why = "what is not metered 1.00, of which the server may be a part";
    assert!(record.limited_because.contains(why), "{}", record.limited_because);
    assert!(record.cost.server.is_empty(), "{:?}", record.cost.server);
}

#[test]
fn what_an_agents_meters_took_is_not_what_its_end_cost() {
    // Its threads took half a second together, an eighth of a second of it for meters.
    let own: &[(&str, f64)] =
        &[("cpu_s_total", 0.375), ("user_s_total", 0.125), ("system_s_total", 0.375)];
    let client = end(&[], &[MACHINE, ("self", own)]);
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let seen = outcome(client.clone(), vec![client], vec![agent(0.1)]);
    let spent = recorded(&http, (&[], &[]), &seen).cost.client;
    assert_eq!([spent["cores"], spent["user_s"], spent["system_s"]], [0.375, 0.09375, 0.28125]);
    assert!(!spent.contains_key("cpu_s"), "{spent:?}");
}

#[test]
fn the_most_memory_is_never_less_than_the_last() {
    let memory = |most: f64, before: f64, after: f64| {
        let own: &[(&str, f64)] =
            &[("user_s_total", 0.1), ("system_s_total", 0.0), ("max_rss_bytes", most)];
        let mut client = end(&[], &[MACHINE, ("self", own), ("process", &[("rss_bytes", after)])]);
        client
            .start
            .readings
            .insert("process".to_owned(), [("rss_bytes".to_owned(), before)].into());
        let http = job("http", json!({"url": "http://10.0.0.1/"}));
        let spent =
            recorded(&http, (&[], &[]), &outcome(client.clone(), vec![client], vec![agent(0.1)]))
                .cost
                .client;
        (spent["max_rss_bytes"], spent["rss_bytes"])
    };
    assert_eq!(memory(9e6, 4e6, 5e6), (9e6, 5e6));
    assert_eq!(memory(4e6, 4e6, 5e6), (5e6, 5e6));
    assert_eq!(memory(4e6, 6e6, 5e6), (6e6, 5e6));
}

#[test]
fn what_is_known_of_the_way_stands_among_the_settings() {
    let flow = |local: &str, peer: &str| FlowReport {
        flow: 0,
        local: local.to_owned(),
        peer: peer.to_owned(),
    };
    let client = EndReport { flows: vec![flow("10.0.0.2:5", "10.0.0.1:80")], ..agent(0.1) };
    let server = EndReport { flows: vec![flow("10.0.0.9:80", "10.0.0.7:5")], ..agent(0.1) };
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let record = recorded(&http, (&[], &[]), &outcome(client.clone(), vec![client], vec![server]));
    let said = ["link_bits_per_s", "link_mtu_bytes", "tunnel_bytes"]
        .map(|name| record.settings[name].as_str());
    assert_eq!(said, ["1000000000", "1450", "50"]);
    assert_eq!(
        record.settings["first_flows_arrived"],
        "server: flow 0 at 10.0.0.9:80 from 10.0.0.7:5"
    );
    let hops: Vec<_> = record.proof.iter().map(|p| (p.hop.as_str(), p.ok)).collect();
    assert_eq!(hops, [("client", true)], "what a server sees is no proof by itself");
    assert!(record.cost.one_machine, "its nodes' CPUs are the same ones");
}

#[test]
fn warnings_say_times_in_a_unit_that_reads() {
    let mut late = Histogram::new();
    (0..2000).for_each(|_| late.record(1_600_000 as Nanos));
    let mut client =
        EndReport { latency: [(LatencyKind::Lateness, late.to_base64())].into(), ..agent(0.1) };
    client.drained.set(Counter::Intended, 1000);
    let params = json!({"url": "http://10.0.0.1/"});
    let job = Job { schedule: Schedule::Rate(1000.0), ..job("http", params) };
    let record =
        recorded(&job, (&[], &[]), &outcome(client.clone(), vec![client], vec![agent(0.1)]));
    let warning = record.warnings.iter().find(|w| w.kind == WarningKind::GeneratorLimited);
    assert!(
        warning.is_some_and(|w| w.detail.contains("more than 1.6 ms late")),
        "{:?}",
        record.warnings
    );
}

/// A proxy that used so many cores for 2 s, and the edges at which that was seen.
fn proxy(name: &str, node: &str, cores: f64) -> (Proxy, Edges) {
    let reading = |cpu_s: f64| {
        let values = [
            ("cpu_s_total", cpu_s),
            ("user_s_total", cpu_s),
            ("system_s_total", 0.0),
            ("rss_bytes", 40e6),
            ("process1_cpu_s_total", cpu_s),
            ("process1_threads", 5.0),
            ("processes", 1.0),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    };
    let (name, node) = (name.to_owned(), node.to_owned());
    let proxy =
        Proxy { name, node, named: true, pids: vec![1], beside: None, workers: 2, cpus: None };
    (proxy, Edges { start: reading(7.0), end: reading(7.0 + 2.0 * cores), seconds: 2.0 })
}

fn said(proxy: &Proxy) -> ProxySaid<'_> {
    let counted = [("upstream_connects", 4), ("upstream_connect_us_total", 6000), ("requests", 12)];
    let counted = counted.map(|(name, n)| (name.to_owned(), n)).into();
    ProxySaid {
        proxy,
        counted,
        gauges: [("allocated_bytes".to_owned(), 5e6)].into(),
        metered: None,
    }
}

#[test]
fn proxies_have_a_price_and_are_busy_on_their_nodes() {
    let (first, second) =
        (proxy("client-sidecar", "client", 1.5), proxy("server-sidecar#2", "server", 1.9375));
    let counts = [(Counter::Completed, 1000), (Counter::Counted, 1000), (Counter::SentBytes, 3000)];
    let client =
        end(&counts, &[MACHINE, ("self", &[("user_s_total", 0.125), ("system_s_total", 0.0)])]);
    let mut outcome = outcome(client.clone(), vec![client], vec![agent(0.125)]);
    outcome.one_machine = false;
    outcome.proxies = vec![Ok(first.1), Ok(second.1)];
    let http = Job { connections: 4, ..job("http", json!({"url": "http://10.0.0.1/"})) };
    let record = recorded_with(&http, (&[], &[]), &outcome, &[said(&first.0), said(&second.0)]);
    assert!(!record.cost.one_machine);
    let figures: Vec<(&str, f64)> =
        record.cost.proxies[0].figures.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    let expected = [
        ("allocated_bytes", 5e6),
        ("cores", 1.5),
        ("cpu_ns_per_request", 1.5e6),
        ("cpu_s", 3.0),
        ("requests", 12.0),
        ("rss_bytes", 40e6),
        ("system_s", 0.0),
        ("upstream_connect_mean_us", 1500.0),
        ("upstream_connect_us_total", 6000.0),
        ("upstream_connects", 4.0),
        ("user_s", 3.0),
    ];
    assert_eq!(figures, expected);
    let metric = |name: &str| record.metrics[name];
    assert_eq!((metric("proxy_cores"), metric("proxy_rss_bytes")), (3.4375, 80e6));
    assert!((metric("proxy_cpu_us_per_request") - 3437.5).abs() < 1e-6);
    // The kernel's ticks saw one busy core on each.
    let busy: Vec<_> =
        record.cost.nodes.iter().map(|node| (node.name.as_str(), node.busy_cores)).collect();
    assert_eq!(busy, [("client", 1.625), ("server", 2.0625)]);
    assert_eq!(record.limited_by, "cpu:server-sidecar", "{}", record.limited_because);
    // Some took a millisecond, or nearly two; most took less, and nobody knows how much.
    let mut short = said(&first.0);
    short.counted.insert("upstream_connect_us_total".to_owned(), 3999);
    let record = recorded_with(&http, (&[], &[]), &outcome, &[short, said(&second.0)]);
    let figures = &record.cost.proxies[0].figures;
    assert!(
        !figures.contains_key("upstream_connect_mean_us") && figures["upstream_connects"] == 4.0,
        "{figures:?}"
    );
    // Of one that is not known no sum is made.
    outcome.proxies[1] = Err("nobody knows".to_owned());
    let record = recorded_with(&http, (&[], &[]), &outcome, &[said(&first.0), said(&second.0)]);
    assert_eq!(record.settings["proxy_server-sidecar#2"], "unavailable: nobody knows");
    assert!(record.metrics.keys().all(|name| !name.starts_with("proxy_")), "{:?}", record.metrics);
    assert_eq!(record.cost.proxies[1].figures["requests"], 12.0);
}

/// What only a meter of a cluster sees is summed up with what we see ourselves.
#[test]
fn memory_is_that_of_whoever_metered_a_proxy() {
    let (first, second) = (proxy("client-sidecar", "a", 0.5), proxy("server-sidecar", "b", 0.5));
    let metered = UnderLoad {
        figures: [("cores", 0.25), ("memory_bytes", 7e6)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        source: "by kubelet".to_owned(),
    };
    let mut outcome = outcome(agent(0.1), vec![agent(0.1)], vec![agent(0.1)]);
    outcome.proxies = vec![Ok(first.1), Err("it is in a pod".to_owned())];
    let http = job("http", json!({"url": "http://10.0.0.1/"}));
    let far = ProxySaid { metered: Some(Ok(metered)), ..said(&second.0) };
    let record = recorded_with(&http, (&[], &[]), &outcome, &[said(&first.0), far]);
    assert_eq!(record.metrics["proxy_rss_bytes"], 47e6);
    assert_eq!(record.metrics["proxy_cores"], 0.75);
}

#[test]
fn a_connection_keeps_one_worker_busy() {
    let limit = |name: &str, cores: f64, connections: u32, [clients, servers]: [usize; 2]| {
        let (proxy, edges) = proxy(name, "client", cores);
        assert_eq!(proxy.workers, 2);
        let mut outcome = outcome(agent(0.1), vec![agent(0.1); clients], vec![agent(0.1); servers]);
        outcome.proxies = vec![Ok(edges)];
        let http = Job { connections, ..job("http", json!({"url": "http://10.0.0.1/"})) };
        recorded_with(&http, (&[], &[]), &outcome, &[said(&proxy)]).limited_by
    };
    let found = ["cpu:client-sidecar", "unknown", "cpu:client-sidecar"];
    assert_eq!(
        [(0.97, 1), (0.97, 2), (1.93, 2)].map(|(cores, n)| limit(
            "client-sidecar",
            cores,
            n,
            [1, 1]
        )),
        found
    );
    // Each client's sidecar has its own; a gateway has all of them, and servers share them.
    assert_eq!(limit("client-sidecar#2", 0.97, 1, [2, 1]), "cpu:client-sidecar");
    assert_eq!(limit("gateway", 0.97, 1, [2, 1]), "unknown");
    assert_eq!(limit("gateway", 0.97, 1, [1, 1]), "cpu:gateway");
    assert_eq!(limit("server-sidecar", 0.97, 1, [2, 1]), "unknown");
    assert_eq!(limit("server-sidecar#2", 0.97, 1, [2, 2]), "cpu:server-sidecar");
}

#[test]
fn the_conductor_and_all_meters_together_are_watched() {
    let busy = |conductor_ms: u64, meter_ms: [u64; 2]| {
        let end = |ms: u64| EndReport { control_cpu_ns: ms * 1_000_000, ..agent(0.1) };
        let [client, server] = meter_ms.map(end);
        let mut outcome = outcome(client.clone(), vec![client], vec![server]);
        outcome.conductor_cpu_ns = conductor_ms * 1_000_000;
        let record =
            recorded(&job("http", json!({"url": "http://10.0.0.1/"})), (&[], &[]), &outcome);
        let told =
            record.warnings.iter().find(|w| w.detail.contains("the conductor and the meters"));
        (record.metrics["overhead_cores"], told.map(|w| w.detail.clone()))
    };
    assert_eq!(busy(5, [7, 7]), (0.019, None));
    let (cores, told) = busy(5, [7, 13]);
    assert_eq!(cores, 0.025);
    let expected =
        "2.5 % of a core during the trial: 0.5 % the conductor, 2.0 % the meters of 2 agents";
    assert!(told.as_ref().is_some_and(|told| told.contains(expected)), "{told:?}");
}

#[test]
fn an_onlooker_is_of_neither_side_and_its_meters_count() {
    let of = |onlookers: BTreeMap<AgentId, EndReport>| {
        let seen = outcome(agent(0.1), vec![agent(0.1)], vec![agent(0.2)]);
        let job = job("http", json!({"url": "http://10.0.0.1/"}));
        recorded(&job, (&[], &[]), &TrialResult { onlookers, ..seen })
    };
    let meters = EndReport { control_cpu_ns: 40_000_000, ..agent(0.7) };
    let onlookers = BTreeMap::from([(AgentId("gate".to_owned()), meters)]);
    let (with, without) = (of(onlookers), of(BTreeMap::new()));
    assert_eq!(with.cost, without.cost);
    assert_eq!((&with.limited_by, &with.settings), (&without.limited_by, &without.settings));
    let more = with.metrics["overhead_cores"] - without.metrics["overhead_cores"];
    assert!((more - 0.04).abs() < 1e-9, "{more}");
}

/// A server that took in so many connections before the window and answered so many requests in it,
/// by worker.
fn served(workers: &[(u64, u64)]) -> EndReport {
    let counts = |connections, requests| {
        let mut counts = Counts::default();
        counts.set(Counter::Accepted, connections);
        counts.set(Counter::Completed, requests);
        counts
    };
    let all = |of: fn(&(u64, u64)) -> u64| workers.iter().map(of).sum::<u64>();
    let mut end = agent(0.1);
    for (tick, times) in [(&mut end.start, 0), (&mut end.end, 1)] {
        tick.counts = counts(all(|one| one.0), times * all(|one| one.1));
    }
    if workers.len() > 1 {
        let each = |times: u64| workers.iter().map(|one| counts(one.0, times * one.1)).collect();
        end.workers = WorkerCounts { start: each(0), end: each(1) };
    }
    end
}

/// What the warnings of a trial with these servers say of balance, and its record.
fn balance_of(servers: Vec<EndReport>) -> (Vec<String>, Record) {
    let outcome = outcome(agent(0.1), vec![agent(0.1)], servers);
    let record = recorded(&job("rr", json!({"size": "1B"})), (&[], &[]), &outcome);
    let unbalanced = record.warnings.iter().filter(|w| w.kind == WarningKind::Unbalanced);
    (unbalanced.map(|warning| warning.detail.clone()).collect(), record)
}

#[test]
fn a_server_that_gets_most_of_the_requests_is_named_with_its_share() {
    let (told, record) =
        balance_of(vec![served(&[(2, 240)]), served(&[(25, 2520)]), served(&[(3, 240)])]);
    let most = "3 servers: server 2 on node server carried 84 % of 3000 requests, and had 83 % of \
                30 connections; an equal share is 33 %";
    assert_eq!(told, [most]);
    let members = &record.cost.members;
    assert_eq!(members.len(), 3, "one client is no role of several: {members:?}");
    let of = |member: &Member| (member.name.clone(), member.connections, member.requests);
    assert_eq!(of(&members[1]), ("server 2".to_owned(), Some(25), Some(2520)));
    assert_eq!((members[1].cpu_s, members[1].bytes), (Some(0.1), None));
    let (even, _) = balance_of(vec![served(&[(11, 900)]), served(&[(10, 1100)])]);
    assert_eq!(even, [""; 0]);
}

#[test]
fn a_worker_that_gets_all_connections_is_named() {
    let (told, record) = balance_of(vec![served(&[(12, 400), (0, 0)])]);
    let all = "2 workers of the server: worker 1 on node server carried 100 % of 400 requests, and \
               had 100 % of 12 connections; an equal share is 50 %";
    assert_eq!(told, [all]);
    assert_eq!(record.cost.members[1].of, "server");
    assert!(balance_of(vec![served(&[(6, 230), (6, 170)])]).0.is_empty());
    assert!(balance_of(vec![served(&[(4, 400), (0, 0)])]).0.is_empty(), "by chance, 1 in 8");
}
