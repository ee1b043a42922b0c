use hopbench_model::{NodeCost, Reading, Tick, fixture};

use super::*;

const S: u64 = SECOND;

fn reading(
    who: &str,
    source: &'static str,
    at_s: u64,
    cpu_s: f64,
    throttled_s: Option<f64>,
) -> Metered {
    Metered {
        who: who.to_owned(),
        what: MeteredKind::Proxy,
        source,
        at: Duration::from_secs(1_000_000 + at_s),
        cpu_ns: (cpu_s * S as f64) as u64,
        memory_bytes: Some(5_000_000),
        throttled_ns: throttled_s.map(|s| (s * S as f64) as u64),
    }
}

/// The window began 100 s after an arbitrary moment.
const STARTED: Duration = Duration::from_secs(1_000_100);

fn one(start: (u64, f64), end: (u64, f64)) -> MeteredCost {
    let (mut costs, unavailable) = costs(
        &[reading("p", "kubelet", start.0, start.1, None)],
        &[reading("p", "kubelet", end.0, end.1, None)],
        STARTED,
    );
    assert_eq!((costs.len(), unavailable.len()), (1, 0));
    costs.remove(0)
}

/// Warm-up of 2 s, a window of 60 s, and nothing before for long.
const LOAD: LoadTimes = LoadTimes { quiet_since_s: -50.0, began_s: -2.0, window_s: 60.0 };

fn cores(cost: MeteredCost, load: &LoadTimes) -> Result<BTreeMap<String, f64>, String> {
    under_load(&[cost], MeteredKind::Proxy, "p", load).unwrap().map(|found| found.figures)
}

#[test]
fn a_cost_is_of_the_meters_own_window() {
    let cost = one((95, 10.0), (170, 40.0));
    assert_eq!((cost.window_s, cost.starts_at_s), (75.0, -5.0));
    assert_eq!(cost.figures["cpu_s"], 30.0);
    assert_eq!(cost.figures["cores"], 0.4);
    assert_eq!(cost.figures["memory_bytes"], 5e6);
    assert!(!cost.figures.contains_key("throttled_s"));
}

#[test]
fn what_was_not_read_twice_is_not_known() {
    let before =
        [reading("stale", "kubelet", 90, 1.0, None), reading("again", "kubelet", 90, 9.0, None)];
    let after = [
        reading("stale", "kubelet", 90, 1.0, None),
        reading("again", "kubelet", 150, 1.0, None),
        reading("new", "kubelet", 150, 1.0, None),
        // The other one's reading is no reading of this one.
        reading("stale", "prometheus", 150, 1.0, None),
    ];
    let (costs, why) = costs(&before, &after, STARTED);
    assert_eq!(costs, []);
    assert!(why["metered_kubelet_proxy stale"].contains("read nothing new"), "{why:?}");
    assert!(why["metered_kubelet_proxy again"].contains("started again"), "{why:?}");
    assert!(why["metered_kubelet_proxy new"].contains("did not know it"), "{why:?}");
    assert!(why["metered_prometheus_proxy stale"].contains("did not know it"), "{why:?}");
}

#[test]
fn cores_under_load_are_of_the_time_in_which_there_was_load() {
    // Half a core from 98 s to 160 s, and nothing else: 31 s of CPU, however much idle time the
    // meter's window has.
    for (start, end) in [(97, 161), (90, 172), (98, 160)] {
        let figures = cores(one((start, 7.0), (end, 38.0)), &LOAD).unwrap();
        assert_eq!(
            (figures["cores"], figures["metered_load_s"]),
            (0.5, 62.0),
            "from {start} to {end}"
        );
        assert_eq!(figures["metered_window_s"], (end - start) as f64);
    }
    // A meter whose last reading came in the middle of the window saw a part of the load.
    assert_eq!(cores(one((90, 7.0), (130, 23.0)), &LOAD).unwrap()["cores"], 0.5);
}

#[test]
fn the_cpu_time_is_the_trials_only_where_the_window_is() {
    let has =
        |start, end| cores(one((start, 1.0), (end, 31.0)), &LOAD).unwrap().contains_key("cpu_s");
    assert!(has(100, 160) && has(98, 163) && has(97, 157));
    assert!(!has(96, 160), "4 s of 60 too early");
    assert!(!has(100, 164) && !has(104, 160));
}

#[test]
fn a_window_with_little_load_or_anothers_says_nothing() {
    let long = LoadTimes { quiet_since_s: -90.0, ..LOAD };
    let why = cores(one((40, 0.0), (400, 30.0)), &long).unwrap_err();
    assert!(why.contains("had load for 62.0 s only"), "{why}");
    assert_eq!(
        cores(one((40, 0.0), (340, 31.0)), &long).unwrap()["cores"],
        0.5,
        "a fifth, but all of the load"
    );
    let why = cores(one((40, 0.0), (155, 30.0)), &long).unwrap_err();
    assert!(
        why.contains("had load for 57.0 s only"),
        "not even half, and not all of the load: {why}"
    );
    let why =
        cores(one((95, 0.0), (165, 30.0)), &LoadTimes { quiet_since_s: -3.0, ..LOAD }).unwrap_err();
    assert!(why.contains("when the trial before was on"), "{why}");
    assert!(under_load(&[one((95, 0.0), (165, 30.0))], MeteredKind::Agent, "p", &LOAD).is_none());
    assert!(under_load(&[one((95, 0.0), (165, 30.0))], MeteredKind::Proxy, "q", &LOAD).is_none());
}

#[test]
fn the_meter_whose_window_has_the_most_load_counts() {
    let before =
        [reading("p", "kubelet", 90, 0.0, None), reading("p", "prometheus", 98, 0.0, None)];
    let after =
        [reading("p", "kubelet", 172, 30.0, None), reading("p", "prometheus", 162, 31.0, None)];
    let found = under_load(&costs(&before, &after, STARTED).0, MeteredKind::Proxy, "p", &LOAD)
        .unwrap()
        .unwrap();
    assert!(found.source.starts_with("by prometheus"), "{}", found.source);
    assert_eq!(found.figures["cores"], 0.5);
}

#[test]
fn the_meter_that_has_this_load_alone_counts() {
    let kubelet =
        (reading("p", "kubelet", 90, 0.0, None), reading("p", "kubelet", 190, 31.0, None));
    let source = |start, end| {
        let before = [kubelet.0.clone(), reading("p", "prometheus", start, 0.0, None)];
        let after = [kubelet.1.clone(), reading("p", "prometheus", end, 20.0, None)];
        let load = LoadTimes { quiet_since_s: -12.0, ..LOAD };
        let found =
            under_load(&costs(&before, &after, STARTED).0, MeteredKind::Proxy, "p", &load).unwrap();
        found.unwrap().source[3..10].to_owned()
    };
    assert_eq!(source(85, 162), "kubelet", "the other one's began in the load before");
    assert_eq!(source(110, 150), "kubelet", "the other one's has not all of the load");
    assert_eq!(source(95, 165), "prometheus"[..7], "both have all, this one with less around");
}

#[test]
fn throttling_inside_the_window_is_told() {
    let held = |before, after| {
        let (start, end) =
            (reading("p", "kubelet", 95, 1.0, before), reading("p", "kubelet", 165, 30.0, after));
        throttled(costs(&[start], &[end], STARTED).0.iter())
    };
    let told = held(Some(3.0), Some(4.5));
    assert_eq!(told[0].kind, WarningKind::CpuQuota);
    assert_eq!(
        told[0].detail,
        "the CPU limit of the proxy p held it back for 1.50 s of 70.0 s (kubelet)"
    );
    assert_eq!(held(Some(3.0), Some(3.0)), []);
    assert_eq!(held(Some(3.0), Some(3.05)), [], "less than a thousandth");
    assert_eq!(held(None, Some(3.0)), []);
}

/// Whether two meters with these windows and cores contradict each other.
fn told(a: (f64, f64, f64), b: (f64, f64, f64)) -> Option<String> {
    let cost = |(starts_at_s, window_s, cores): (f64, f64, f64), source: &str| MeteredCost {
        who: "p".to_owned(),
        what: "proxy".to_owned(),
        source: source.to_owned(),
        window_s,
        starts_at_s,
        figures: [("cores".to_owned(), cores)].into(),
    };
    disagree(&[cost(a, "kubelet"), cost(b, "prometheus")], &[], 60.0)
        .pop()
        .map(|warning| warning.detail)
}

#[test]
fn meters_of_one_thing_and_time_that_differ_are_told() {
    let text = told((0.0, 60.0, 1.0), (0.0, 60.0, 0.84)).unwrap();
    assert_eq!(
        text,
        "the proxy p used 1.00 cores by kubelet over 60 s, and 0.84 cores by prometheus over 60 s"
    );
    assert_eq!(told((0.0, 60.0, 1.0), (0.0, 60.0, 0.86)), None, "within 15 %");
    assert_eq!(told((0.0, 60.0, 0.1), (0.0, 60.0, 0.06)), None, "too little to matter");
    assert_eq!(told((0.0, 29.0, 1.0), (0.0, 29.0, 0.1)), None, "too short");
    assert_eq!(told((0.0, 60.0, 1.0), (20.0, 60.0, 0.1)), None, "of two times");
    // A sixth of the time is not common: that may be all the difference.
    assert_eq!(told((0.0, 60.0, 1.0), (10.0, 50.0, 0.7)), None);
    assert!(told((0.0, 60.0, 1.0), (10.0, 50.0, 0.6)).is_some());
}

#[test]
fn what_was_seen_here_is_a_meter_too() {
    let cost = MeteredCost {
        who: "a".to_owned(),
        what: "node".to_owned(),
        source: "kubelet".to_owned(),
        window_s: 62.0,
        starts_at_s: -1.0,
        figures: [("cores".to_owned(), 3.0)].into(),
    };
    let own = |what, cores| [Own { what, who: "a".to_owned(), cores }];
    assert_eq!(disagree(std::slice::from_ref(&cost), &own("node", 2.9), 60.0), []);
    assert_eq!(
        disagree(std::slice::from_ref(&cost), &own("agent", 1.0), 60.0),
        [],
        "of something else"
    );
    let told = disagree(&[cost], &own("node", 2.0), 60.0);
    assert!(
        told.len() == 1 && told[0].detail.contains("2.00 cores by hopbench itself over 60 s"),
        "{told:?}"
    );
}

#[test]
fn a_program_that_only_others_meter_is_the_servers_cost() {
    let mut record = fixture::record(&[]);
    record.cost.server.insert("cores".to_owned(), 0.01);
    record.cost.server.insert("nic_rx_bytes_per_s".to_owned(), 5.0);
    let program = |who: &str| MeteredCost {
        who: who.to_owned(),
        what: "program".to_owned(),
        ..one((97, 0.0), (161, 31.0))
    };
    record.cost.metered = vec![program("server"), program("server#2")];
    let servers = ["server".to_owned(), "server#2".to_owned()];
    assert!(of_program(&mut record, &servers, &LOAD, "no agent saw it"));
    assert_eq!(record.cost.server["cores"], 1.0);
    assert!(record.settings["server_program"].contains("by kubelet"));
    record.cost.metered.pop();
    assert!(!of_program(&mut record, &servers, &LOAD, "no agent saw it"));
    assert!(!record.cost.server.contains_key("cores"), "one of two is not all");
    assert_eq!(record.cost.server["nic_rx_bytes_per_s"], 5.0);
    assert_eq!(
        record.settings["server_program"],
        "unavailable: nobody metered it, and no agent saw it"
    );
}

#[test]
fn a_sandbox_costs_what_was_metered_around_it() {
    let around = |source: &str, cpu_s| MeteredCost {
        what: "agent".to_owned(),
        source: source.to_owned(),
        ..one((97, 0.0), (161, cpu_s))
    };
    let mut record = fixture::record(&[]);
    record.cost.metered = vec![around("kubelet", 1.0), around("cadvisor", 31.0)];
    record.cost.client.insert("user_s".to_owned(), 0.1);
    of_sandbox(&mut record, SandboxedEnd::Client, &["p".to_owned()], &LOAD, false);
    assert_eq!(
        (record.cost.client["cores"], record.cost.client.contains_key("user_s")),
        (0.5, false)
    );
    assert!(record.settings["client_sandbox"].starts_with("by cadvisor"));
    of_sandbox(&mut record, SandboxedEnd::Client, &["p".to_owned()], &LOAD, true);
    assert!(record.cost.client.is_empty());
    assert_eq!(record.settings["client_sandbox"], "unavailable: one sandbox is client and server");
    record.cost.metered.pop();
    of_sandbox(&mut record, SandboxedEnd::Server, &["p".to_owned()], &LOAD, false);
    assert_eq!(record.settings["server_sandbox"], "unavailable: nobody metered it");
}

/// A report of a window of 2 s in which two CPUs were busy for 3 s together, and a program for 1 s.
fn observed() -> EndReport {
    let edge = |t_ns: i64, times: f64| {
        let spent = |all: &[(&str, f64)]| -> Reading {
            all.iter().map(|(name, value)| ((*name).to_owned(), times * value)).collect()
        };
        let cpu = [("busy_s_total", 3.0), ("cpu0_busy_s_total", 2.0), ("cpu1_busy_s_total", 1.0)];
        let program = [("user_s_total", 0.5), ("system_s_total", 0.5)];
        let readings = [("cpu", spent(&cpu)), ("program", spent(&program))];
        let readings = readings.map(|(name, reading)| (name.to_owned(), reading)).into();
        Tick { t_ns, readings, ..Tick::default() }
    };
    let (start, end) = (edge(1_000_000, 1.0), edge(2_001_000_000, 2.0));
    EndReport { start, end, ..EndReport::default() }
}

#[test]
fn a_node_that_only_an_onlooker_sees_stands_with_the_metered_ones() {
    let report = observed();
    let of = |change: fn(&mut Record)| {
        let mut record = fixture::record(&[]);
        record.cost.metered.push(one((97, 0.0), (161, 31.0)));
        record.window_s = 2.0;
        change(&mut record);
        of_onlookers(&mut record, [("c", &report), ("c", &report)].into_iter());
        record.cost.metered
    };
    let metered = of(|_| {});
    let [cost, other] = &metered[..] else { panic!("{metered:?}") };
    assert_eq!([&*cost.who, &*cost.what, &*cost.source], ["c", "node", "agent"]);
    assert_eq!((cost.window_s, cost.starts_at_s, other.what.as_str()), (2.0, 0.001, "proxy"));
    for (name, value) in [("cores", 1.5), ("load_cores", 1.5), ("cpu_s", 3.0), ("cpus", 2.0)] {
        assert!((cost.figures[name] - value).abs() < 1e-9, "{name}: {cost:?}");
    }
    assert_eq!(seen_share(&metered, "c"), Some(0.75));
    assert_eq!(seen_share(&metered, "d"), None);
    // An end saw it, it is no machine of its own, or it was read late.
    let seen = of(|record| {
        let (name, per_cpu_busy) = ("c".to_owned(), vec![0.5]);
        record.cost.nodes.push(NodeCost { name, per_cpu_busy, ..NodeCost::default() });
    });
    let others =
        [seen, of(|record| record.cost.one_machine = true), of(|record| record.window_s = 0.5)];
    assert_eq!(others.map(|metered| metered.len()), [1; 3]);
}

#[test]
fn a_program_that_its_agent_sees_is_compared_with_what_others_metered() {
    let own = Own::program("server", &observed()).unwrap();
    assert_eq!((own.what, own.who.as_str()), ("program", "server"));
    assert!((own.cores - 0.5).abs() < 1e-9, "{own:?}");
    let metered = MeteredCost {
        who: "server".to_owned(),
        what: "program".to_owned(),
        ..one((100, 0.0), (160, 60.0))
    };
    assert_eq!(disagree(std::slice::from_ref(&metered), &[own], 60.0).len(), 1);
    assert_eq!(Own::program("server", &EndReport::default()), None);
}
