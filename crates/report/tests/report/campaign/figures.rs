//! Figures, comparisons and what is left out of them, with known answers.

use hopbench_model::{MeteredCost, NodeCost, ProxyCost, RunStatus, Schedule, Via};
use hopbench_report::campaign::{Outcome, RunData, Spread, Summary, main_latency};
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};
use super::{render, summary};

/// Two paths, one stream workload, with the given rates in bits/s a round.
pub(crate) fn made(rates: &[(f64, f64)]) -> Made {
    let paths = vec![
        fixture::path("base", ("host", "a"), ("host", "b"), Via::Direct),
        fixture::path("other", ("bridge", "a"), ("bridge", "b"), Via::Direct),
    ];
    let points =
        vec![fixture::point("bulk", &[], fixture::job("stream", json!({}), Schedule::Closed, 1))];
    let run = fixture::run("figures", paths, points, rates.len() as u32, Some("base"));
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut records = Vec::new();
    for (index, (base, other)) in rates.iter().enumerate() {
        for (cell, rate) in run.plan.cells.iter().zip([base, other]) {
            let mut record =
                fixture::record(&run, *cell, index as u32 + 1, costs, &mut Noise::default());
            record.metrics.insert("received_bits_per_s".to_owned(), *rate);
            record.metrics.insert("retransmitted_bytes".to_owned(), 1e6);
            for end in [&mut record.cost.client, &mut record.cost.server] {
                end.insert("user_s".to_owned(), 0.25);
                end.insert("system_s".to_owned(), 0.75);
                // Half a core: the readings were 2 s apart, as long as the window.
                end.insert("cores".to_owned(), 0.5);
            }
            records.push(record);
        }
    }
    Made { run, records }
}

pub(crate) fn figure<'a>(
    summary: &'a Summary,
    path: &str,
    name: &str,
) -> &'a hopbench_report::campaign::Estimate {
    let cell = summary.workloads[0].cells.iter().find(|cell| cell.path == path).unwrap();
    cell.figure(name).unwrap_or_else(|| panic!("{path} has no {name}"))
}

#[test]
fn figures_are_medians_and_ratios_are_paired() {
    // Every round is 10 % slower on the other path, whatever the round is like.
    let summary = summary(&made(&[(8e9, 7.2e9), (4e9, 3.6e9), (2e9, 1.8e9)]));
    let rate = figure(&summary, "other", "received_bits_per_s");
    // Student's t of the logarithms: 4.3027 x ln 2 / sqrt(3) = 1.72188 around ln 3.6e9.
    let ends = [rate.spread.low.unwrap(), rate.spread.high.unwrap()].map(|end| (end / 3.6e9).ln());
    assert!((ends[0] + 1.72188).abs() < 1e-4 && (ends[1] - 1.72188).abs() < 1e-4, "{ends:?}");
    assert_eq!((rate.spread.median, rate.spread.rounds), (3.6e9, 3));
    let ratio = rate.ratio.as_ref().unwrap();
    assert!(ratio.spread.is_some_and(|all| (all.median - 0.9).abs() < 1e-12 && all.rounds == 3));
    let verdict = ratio.verdict.as_ref().unwrap();
    assert_eq!(
        (verdict.outcome, verdict.text.as_str()),
        (Outcome::Worse, "slower by 10 % [10, 10]")
    );
    assert!(
        figure(&summary, "base", "received_bits_per_s").ratio.is_none(),
        "the baseline has no ratio to itself"
    );
    // 8 Gbit/s over 2 s are 1 953 125 KiB; 1 s of CPU for each end.
    let summary = self::summary(&made(&[(8e9, 8e9)]));
    assert_eq!(figure(&summary, "base", "client_cpu_per_kib_ns").spread.median, 512.0);
    assert_eq!(figure(&summary, "base", "server_cpu_per_kib_ns").spread.median, 512.0);
    assert_eq!(figure(&summary, "base", "retransmitted_ratio").spread.median, 0.0005);
    assert_eq!(
        figure(&summary, "base", "link_share_ratio").spread.median,
        0.8,
        "of a link of 10 Gbit/s"
    );
}

#[test]
fn noise_is_no_difference_and_one_round_no_verdict() {
    let same = summary(&made(&[(8e9, 7.9e9), (7.8e9, 8e9), (8.1e9, 8.05e9)]));
    let ratio = figure(&same, "other", "received_bits_per_s").ratio.clone().unwrap();
    assert_eq!(ratio.verdict.unwrap().outcome, Outcome::NotDecided);
    let once = summary(&made(&[(8e9, 1e9)]));
    let figure = figure(&once, "other", "received_bits_per_s");
    let verdict = figure.ratio.as_ref().unwrap().verdict.as_ref().unwrap();
    assert_eq!((figure.spread.low, verdict.outcome), (None, Outcome::TooFewRounds));
    assert_eq!(verdict.text, "too few rounds (3 needed)");
    assert!(
        once.workloads[0].headline.contains("One round shows no verdict"),
        "{}",
        once.workloads[0].headline
    );
    assert!(!render(&made(&[(8e9, 1e9)]), "html").contains("slower by"));
}

#[test]
fn bad_records_are_listed_and_not_used() {
    type Spoil = fn(&mut hopbench_model::Record);
    let spoils: [(&str, Spoil); 7] = [
        ("no evidence", |record| {
            record.error = Some("there is no evidence of the path".to_owned());
        }),
        ("cut short: ^C", |record| record.incomplete = Some("^C".to_owned())),
        ("a reason", |record| record.error = Some("a reason".to_owned())),
        ("did not take the path", |record| {
            record.proof[0].ok = false;
            record.error = record.contradiction();
        }),
        ("contradict each other", |record| {
            record.invariants[0].ok = false;
            record.error = record.contradiction();
        }),
        ("another run", |record| record.run_id = "earlier".to_owned()),
        ("no such cell", |record| record.workload = "unknown".to_owned()),
    ];
    for (reason, spoil) in spoils {
        let mut made = made(&[(8e9, 4e9), (8e9, 4e9), (8e9, 1e6)]);
        spoil(made.records.last_mut().unwrap());
        let summary = summary(&made);
        let rate = figure(&summary, "other", "received_bits_per_s");
        assert_eq!((rate.spread.low, rate.spread.rounds), (Some(4e9), 2), "{reason}");
        assert_eq!(summary.run.used_trials, 5);
        assert_eq!(summary.failures.len(), 1);
        assert!(summary.failures[0].reason.contains(reason), "{:?}", summary.failures);
        for format in ["table", "markdown", "html", "json"] {
            assert!(render(&made, format).contains(reason), "{format} does not say `{reason}`");
        }
    }
}

#[test]
fn short_windows_are_added_up_for_the_cpu_of_the_machine() {
    // Rounds of 100 ms in which the kernel counted one tick of 10 ms or none: 0.1 cores or nothing.
    let of = |rounds: usize| {
        let mut made = made(&vec![(8e9, 4e9); rounds]);
        for record in &mut made.records {
            record.window_s = 0.1;
            let ticks = if record.round == 1 { 0.1 } else { 0.0 };
            record.cost.one_machine = true;
            for node in &mut record.cost.nodes {
                (node.busy_cores, node.per_cpu_busy) = (ticks, vec![ticks, 0.0]);
            }
        }
        made
    };
    let five = summary(&of(5));
    let busy = figure(&five, "other", "node_cores");
    assert!(
        (busy.spread.median - 0.02).abs() < 1e-9,
        "the median of the rounds is 0: {:?}",
        busy.spread
    );
    assert_eq!((busy.spread.low, busy.spread.rounds), (None, 5));
    assert!(five.run.notes.iter().all(|note| !note.contains("too short")), "{:?}", five.run.notes);
    let four = summary(&of(4));
    assert!(
        four.workloads[0]
            .cells
            .iter()
            .all(|cell| cell.figures.iter().all(|one| one.name != "node_cores"))
    );
    let said =
        "2 cells: all windows together are too short (below 0.5 s) for the CPU of the machine";
    assert!(four.run.notes.iter().any(|note| note.starts_with(said)), "{:?}", four.run.notes);
}

#[test]
fn a_generator_at_its_limit_gives_no_verdict() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9), (8e9, 4e9)]);
    let outcome = |made: &Made| {
        figure(&summary(made), "other", "received_bits_per_s")
            .ratio
            .clone()
            .unwrap()
            .verdict
            .unwrap()
            .outcome
    };
    // One round of three hardly moves the median; two do.
    made.records[5].limited_by = "generator".to_owned();
    assert_ne!(outcome(&made), Outcome::Generator);
    made.records[3].limited_by = "generator".to_owned();
    assert_eq!(outcome(&made), Outcome::Generator);
    // A warning is as good a reason.
    for late in [3, 5] {
        made.records[late].limited_by = "target_rate".to_owned();
        made.records[late].warnings.push(hopbench_model::Warning::new(
            hopbench_model::WarningKind::GeneratorLimited,
            "1 % of the sends were late",
            "take --pacing spin",
        ));
    }
    assert_eq!(outcome(&made), Outcome::Generator);
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        assert!(page.contains("! target_rate") || page.contains("! nic"), "{format}: {page}");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("The load generator was late in half of the trials"), "{format}");
    }
    assert!(!render(&made, "csv").contains("! "), "programs read limits as records name them");
}

#[test]
fn settings_say_what_holds_for_all_points() {
    let setting = |kind: &str, values: &[(&str, serde_json::Value)]| {
        let mut made = made(&[(8e9, 4e9)]);
        made.run.plan.points =
            vec![fixture::point("w", values, fixture::job(kind, json!({}), Schedule::Closed, 2))];
        RunData::new(&made.run).into_summary().workloads[0].setting.clone()
    };
    assert!(
        setting("rr", &[]).starts_with("closed loop, 2 connections, engine epoll, "),
        "{}",
        setting("rr", &[])
    );
    assert!(
        setting("push", &[]).starts_with("2 connections, engine epoll, "),
        "{}",
        setting("push", &[])
    );
    let swept = setting("rr", &[("engine", json!("epoll"))]);
    assert!(!swept.contains("engine"), "{swept}");
}

#[test]
fn a_trial_that_was_repeated_counts_once() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let mut again = made.records[3].clone();
    again.metrics.insert("received_bits_per_s".to_owned(), 5e9);
    made.records.push(again);
    let rate = figure(&summary(&made), "other", "received_bits_per_s").clone();
    assert_eq!(
        (rate.spread.rounds, rate.spread.median),
        (2, 4.5e9),
        "the later record is the valid one"
    );
}

#[test]
fn a_trial_that_failed_and_was_repeated_is_no_failure() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let good = made.records[3].clone();
    made.records[3].error = Some("a reason".to_owned());
    assert_eq!(summary(&made).failures.len(), 1);
    made.records.push(good);
    let summary = summary(&made);
    assert_eq!((summary.failures.len(), summary.run.used_trials), (0, 4));
}

#[test]
fn a_run_without_records_has_a_page_in_every_format() {
    let mut empty = made(&[(1.0, 1.0)]);
    empty.run.status = RunStatus::Running;
    let summary = RunData::new(&empty.run).into_summary();
    for format in hopbench_report::campaign::SUMMARY_FORMATS {
        let text = (format.render)(&summary);
        assert!(text.ends_with('\n') && !text.contains("NaN"), "{}: {text}", format.name);
    }
    assert!(hopbench_report::campaign::summary_format("paper").is_none());
}

#[test]
fn no_baseline_no_ratio() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    made.run.plan.baseline = None;
    let summary = summary(&made);
    assert!(figure(&summary, "other", "received_bits_per_s").ratio.is_none());
    assert!(
        summary.workloads[0]
            .headline
            .starts_with("Received from 4.000 Gbit/s (other) to 8.000 Gbit/s (base)")
    );
    // Of one cell there are no two ends.
    made.records.retain(|record| record.path == "other");
    let headline = self::summary(&made).workloads[0].headline.clone();
    assert!(headline.starts_with("Received 4.000 Gbit/s."), "{headline}");
}

#[test]
fn a_trials_main_latency_is_that_of_its_table() {
    let made = fixture::quickstart(1);
    let main = |workload: &str| {
        let record = made.records.iter().find(|record| record.workload == workload).unwrap();
        let of = |name: &str| record.latency.get(name).map_or(0.0, |latency| latency.p50 as f64);
        (main_latency(record), of("service_ns"), of("response_ns"))
    };
    let (latency, rtt, _) = main("echo");
    assert_eq!(latency, Some(("RTT p50", rtt)), "a ping has a schedule, and its table the RTT");
    let (latency, _, response) = main("web");
    assert_eq!(latency, Some(("response p50", response)), "at a rate");
    assert_eq!(main("throughput").0, None);
    let mut ping = made.records.iter().find(|record| record.workload == "echo").unwrap().clone();
    let later = hopbench_model::Latency { p50: 9_000_000, ..ping.latency["service_ns"].clone() };
    ping.latency.insert("response_ns".to_owned(), later);
    assert_eq!(main_latency(&ping).unwrap().1, ping.latency["service_ns"].p50 as f64);
}

#[test]
fn a_maximum_is_that_of_all_rounds_and_no_ground_for_a_verdict() {
    let mut made = fixture::quickstart(3);
    made.records.retain(|record| record.workload == "echo");
    // The slowest echo of the host's rounds took 9 ms, the fastest 10 us.
    for (round, min, max) in [(1, 30_000, 400_000), (2, 10_000, 9_000_000), (3, 20_000, 500_000)] {
        let of_it =
            |record: &&mut hopbench_model::Record| record.path == "host" && record.round == round;
        let host = made.records.iter_mut().find(of_it).unwrap();
        host.latency.insert("service_ns".to_owned(), super::mesh::of(&[min, 50_000, max]));
    }
    let found = summary(&made);
    let echo = found.workloads.iter().find(|workload| workload.name == "echo").unwrap();
    let of = |path: &str, name: &str| {
        echo.cells.iter().find(|cell| cell.path == path).unwrap().figure(name).unwrap().clone()
    };
    let alone = |median| Spread { median, low: None, high: None, rounds: 3 };
    assert_eq!(of("host", "rtt_max_ns").spread, alone(9_000_000.0));
    assert_eq!(of("host", "rtt_min_ns").spread, alone(10_000.0));
    assert!(of("host", "rtt_p50_ns").spread.low.is_some(), "a median of medians has its interval");
    for name in ["rtt_max_ns", "rtt_min_ns"] {
        assert!(of("overlay", name).ratio.is_none(), "{name}: {:?}", of("overlay", name));
    }
    assert!(of("overlay", "rtt_p50_ns").ratio.unwrap().verdict.is_some());
    // The plot of the distribution ends there, too. A histogram has three digits.
    let host = echo.distributions.iter().find(|one| one.path == "host").unwrap();
    let last = host.curve.last().unwrap();
    assert!((last.1 as f64 / 9e6 - 1.0).abs() < 1e-3, "{:?}", host.curve);
    assert!(
        render(&made, "csv").contains(",rtt_max_ns,9000000,,,3,,,,,"),
        "{}",
        render(&made, "csv")
    );
}

#[test]
fn what_nodes_were_busy_with_stands_in_every_format() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let node = |name: &str, busy: f64| NodeCost {
        name: name.to_owned(),
        busy_cores: busy,
        softirq_cores: busy / 4.0,
        steal_cores: 0.125,
        per_cpu_busy: vec![busy / 2.0; 2],
        ..NodeCost::default()
    };
    for record in &mut made.records {
        let busy = if record.path == "base" { 1.0 } else { 1.5 };
        record.cost.nodes = vec![node("a", busy), node("b", busy + 0.01)];
        record.cost.one_machine = true;
        record.cost.client.insert("nic_rx_bytes_per_s".to_owned(), 125e6);
        record.cost.server.insert("nic_tx_packets_per_s".to_owned(), 8e4);
    }
    let found = summary(&made);
    let of = |found: &Summary, name: &str| figure(found, "other", name).clone();
    let (busy, softirq) = (of(&found, "node_cores"), of(&found, "node_softirq_cores"));
    assert_eq!(
        (busy.spread.median, softirq.spread.median),
        (1.5, 0.375),
        "one machine counts once"
    );
    assert!(
        busy.ratio.is_none() && softirq.ratio.is_none(),
        "it is everybody's: nothing to compare"
    );
    assert_eq!(of(&found, "node_steal_cores").spread.median, 0.125);
    assert!(found.workloads[0].cells[1].nodes.is_empty(), "one machine is all there is");
    // What only CSV and JSON have.
    assert_eq!(of(&found, "node_idle_ratio").spread.median, 0.25);
    assert_eq!(of(&found, "client_nic_rx_bytes_per_s").spread.median, 125e6);
    assert!(of(&found, "server_nic_tx_packets_per_s").ratio.is_none(), "nothing to compare");
    let csv = render(&made, "csv");
    assert!(csv.contains(",client_nic_rx_bytes_per_s,125000000,"), "{csv}");
    // 125 MB/s are 1 Gbit/s.
    let markdown = render(&made, "markdown");
    let row = |table: &str, path: &str| -> String {
        let (_, rest) = markdown.split_once(table).unwrap_or_else(|| panic!("{table}: {markdown}"));
        let start = format!("| {path} |");
        rest.lines().find(|line| line.starts_with(&start)).unwrap_or_default().to_owned()
    };
    assert_eq!(row("client in, Gbit/s", "other"), "| other | 1.000 | 80000 |", "{markdown}");
    assert!(row("machine, % idle", "other").ends_with(" 25.0 |"), "{markdown}");
    for (format, text) in [
        ("table", "stolen cores"),
        ("markdown", "| node cores | softirq cores | stolen cores |"),
        ("csv", ",node_cores,1.5,1.5,1.5,2,,,,,"),
        ("json", "\"name\": \"node_softirq_cores\""),
        ("html", ">node cores</th>"),
    ] {
        let page = render(&made, format);
        assert!(page.contains(text), "{format}: {page}");
    }
    assert!(!render(&made, "html").contains("CPU of the nodes"));
    made.records
        .iter_mut()
        .flat_map(|record| &mut record.cost.nodes)
        .for_each(|node| node.steal_cores = 0.0);
    assert!(!render(&made, "table").contains("stolen"), "a column of zeros says nothing");
    // Machines of their own are added up, and stand one by one.
    made.records.iter_mut().for_each(|record| record.cost.one_machine = false);
    let apart = summary(&made);
    assert_eq!(of(&apart, "node_cores").spread.median, 3.01);
    let names: Vec<_> =
        apart.workloads[0].cells[1].nodes.iter().map(|node| node.name.clone()).collect();
    assert_eq!(names, ["a", "b"]);
    let html = render(&made, "html");
    assert!(
        html.contains("<th scope=\"row\">other</th><td>b</td><td class=\"n\">1.510</td>"),
        "{html}"
    );
    assert!(html.contains("<td class=\"n\">24.5</td>"), "{html}");
    assert!(render(&made, "json").contains("\"busy_cores\": {"));
    // Of nodes that are not all known there is no sum.
    made.records.iter_mut().for_each(|record| record.cost.nodes[1].per_cpu_busy.clear());
    let half = summary(&made);
    assert!(half.workloads[0].cells[1].figure("node_cores").is_none());
}

/// One window of ten has all slow answers. Nine of ten windows know nothing of them, and the median
/// of the percentiles of windows would not, either.
#[test]
fn the_99th_percentile_is_of_a_thousand_samples() {
    let paths = ["base", "other"]
        .map(|name| fixture::path(name, ("host", "a"), ("host", "b"), Via::Direct))
        .to_vec();
    let points =
        vec![fixture::point("echo", &[], fixture::job("rr", json!({}), Schedule::Closed, 1))];
    let run = fixture::run("tails", paths, points, 35, Some("base"));
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut records = Vec::new();
    for round in 1..=run.plan.rounds {
        for (cell, factor) in run.plan.cells.iter().zip([1, 2]) {
            let mut seen = hopbench_stats::Histogram::new();
            // One window of ten has all the slow ones: 1 % and a little more of all answers.
            let slow = if round % 10 == 0 { 11 } else { 0 };
            (0..100).for_each(|at| seen.record(if at < slow { 9000 * factor } else { 1000 }));
            let mut noise = Noise::default();
            let mut record = fixture::record(&run, *cell, round, costs, &mut noise);
            record.latency.insert("service_ns".to_owned(), seen.summary());
            records.push(record);
        }
    }
    let summary = summary(&Made { run, records });
    let p99 = figure(&summary, "other", "service_p99_ns");
    // Batches of 10, 10 and 15 rounds: the median of their 99th percentiles is that of the slow.
    assert_eq!(p99.spread.rounds, 3);
    assert!((p99.spread.median / 18_000.0 - 1.0).abs() < 0.001, "{p99:?}");
    assert_eq!(p99.ratio.as_ref().unwrap().spread.as_ref().unwrap().rounds, 3);
    assert_eq!(figure(&summary, "other", "service_p50_ns").spread.rounds, 35);
    let note =
        "p99 is read from batches of 10 rounds, so that of 1000 samples or more 10 lie beyond it";
    assert!(summary.run.notes.iter().any(|known| known == note), "{:?}", summary.run.notes);
}

/// Each component has a column of its own, and so has each node, also one that only a meter saw.
#[test]
fn components_and_nodes_without_an_agent_stand_in_every_format() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let proxy = |name: &str, cores: f64, named| ProxyCost {
        name: name.to_owned(),
        node: "b".to_owned(),
        named,
        figures: [("cores".to_owned(), cores)].into(),
    };
    for record in made.records.iter_mut().filter(|record| record.path == "other") {
        record.cost.client = [("cores".to_owned(), 0.25)].into();
        record.cost.server = [("cores".to_owned(), 1.5)].into();
        record.cost.proxies = vec![
            proxy("gateway", 0.5, true),
            proxy("gateway#2", 0.75, true),
            proxy("server-sidecar", 9.0, false),
        ];
        record.cost.metered = vec![MeteredCost {
            who: "c".to_owned(),
            what: "node".to_owned(),
            source: "kubelet".to_owned(),
            figures: [("load_cores".to_owned(), 1.0)].into(),
            ..MeteredCost::default()
        }];
    }
    made.run.testbed.insert("node c cpus".to_owned(), "4".to_owned());
    let found = summary(&made);
    let cell = &found.workloads[0].cells[1];
    let cores: Vec<_> = cell.components.iter().map(|one| (&*one.name, one.cores.median)).collect();
    assert_eq!(cores, [("client", 0.25), ("gateway", 1.25), ("server", 1.5)]);
    assert_eq!(cell.metered_nodes[0].idle_ratio.median, 0.75);
    let csv = render(&made, "csv");
    assert!(csv.contains(",gateway_cores,1.25,1.25,1.25,2,"), "{csv}");
    assert!(csv.contains(",node_idle_ratio:c,0.75,"), "{csv}");
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        assert!(page.contains("1.250") && page.contains("75.0"), "{format}: {page}");
    }
    assert!(render(&made, "json").contains("\"components\": ["));
}
