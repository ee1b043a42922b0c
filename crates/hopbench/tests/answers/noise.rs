//! `hopbench doctor --noise`: real runs, and whether what it says is what its records say.

use std::collections::BTreeMap;
use std::path::Path;

use hopbench_model::{Record, RunFile};
use hopbench_report::campaign::{Noise, noise_page};
use hopbench_run::results;
use hopbench_stats::summary::{mean, median};
use serde_json::Value;

use crate::lab::namespace::{outside, outside_alone};
use crate::lab::program::run;
use crate::lab::{Bench, Finished, User, program};

fn read(folder: &Path) -> (RunFile, Vec<Record>) {
    let (run, records) = results::open(folder).expect("a results folder");
    (run, records.collect::<Result<_, _>>().expect("records"))
}

/// A figure of a record, by its name in the answer, from nothing but the record.
fn figure(record: &Record, name: &str) -> Option<f64> {
    let latency = |kind: &str| record.latency.get(kind);
    let cores = || Some(record.cost.client.get("cores")? + record.cost.server.get("cores")?);
    let metric = |name: &str| record.metrics.get(name).copied();
    match name {
        "service_p50_ns" => Some(latency("service_ns")?.p50 as f64),
        "service_p99_ns" => Some(latency("service_ns")?.p99 as f64),
        "response_p50_ns" => Some(latency("response_ns")?.p50 as f64),
        "response_p99_ns" => Some(latency("response_ns")?.p99 as f64),
        "cpu_per_request_ns" => Some(cores()? * 1e9 / metric("requests_per_s")?),
        "cpu_per_kib_ns" => Some(cores()? * 1e9 / (metric("received_bits_per_s")? / 8192.0)),
        name => metric(name),
    }
}

fn close(found: &Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()))
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let centre = mean(values).expect("values");
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt() / centre
}

/// The logarithm of a ratio: the mean of few, from 8 rounds on the median of the means of two.
fn middle(logs: &[f64]) -> f64 {
    if logs.len() < 8 {
        return mean(logs).expect("rounds");
    }
    let of = |at: usize| logs[at..].iter().map(move |other| f64::midpoint(logs[at], *other));
    median(&(0..logs.len()).flat_map(of).collect::<Vec<_>>()).expect("rounds")
}

/// Whether rounds have too few samples for the figure, which is then read from several together.
fn is_pooled(records: &[Record], workload: &str, name: &str) -> bool {
    let Some(kind) = name.strip_suffix("_p99_ns") else { return false };
    let samples = |path: &str| {
        let own = records.iter().filter(|r| r.path == path && r.workload == workload);
        let counts = own.filter_map(|r| Some(r.latency.get(&format!("{kind}_ns"))?.count as f64));
        mean(&counts.collect::<Vec<_>>())
    };
    ["once", "once again"].iter().any(|path| samples(path).is_some_and(|each| each < 1000.0))
}

/// Recomputes what the answer says of each figure, except of those that are read from several
/// rounds together.
fn figures_are_the_records(said: &Value, run: &RunFile, records: &[Record]) {
    let figures = said["figures"].as_array().expect("figures");
    let workloads: Vec<_> =
        figures.iter().map(|figure| figure["workload"].as_str().expect("a name")).collect();
    for workload in ["stream", "rr", "http"] {
        assert!(workloads.contains(&workload), "{workloads:?}");
    }
    for known in figures {
        let (workload, name) =
            (known["workload"].as_str().expect("a name"), known["name"].as_str().expect("a name"));
        if is_pooled(records, workload, name) {
            continue;
        }
        let of = |path: &str| -> BTreeMap<u32, f64> {
            let own = records.iter().filter(|r| r.path == path && r.workload == workload);
            own.filter_map(|record| Some((record.round, figure(record, name)?))).collect()
        };
        let (first, second) = (of("once"), of("once again"));
        let pairs: Vec<(f64, f64)> =
            second.iter().filter_map(|(round, s)| Some((*s, *first.get(round)?))).collect();
        let ratios: Vec<f64> = pairs.iter().map(|(second, first)| second / first).collect();
        let (seconds, firsts): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let what = format!("{workload} {name}: {known}");
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let ratio = middle(&logs).exp();
        assert!(close(&known["ratio"], ratio), "{what}, not {ratio}");
        assert!(close(&known["noise_floor"], ratio.max(1.0 / ratio) - 1.0), "{what}");
        let vary = ((variation(&firsts).powi(2) + variation(&seconds).powi(2)) / 2.0).sqrt();
        assert!(close(&known["variation"], vary), "{what}, not {vary}");
        assert!(
            close(&known["median"], median(&[firsts, seconds].concat()).expect("rounds")),
            "{what}"
        );
        let (low, high) =
            (known["low"].as_f64().expect("an end"), known["high"].as_f64().expect("an end"));
        assert!(low <= ratio && ratio <= high, "{what}");
        let seen = known["could_have_seen"].as_f64().expect("what could be seen");
        let later = known["in_minutes"].as_object().expect("other times");
        assert_eq!(later.len(), 3, "{what}");
        for (minutes, scaled) in later {
            let ns = minutes.parse::<f64>().expect("a number") * 60e9;
            let spent_ns = run.spent_ns as f64 / 3.0;
            let rounds = said["rounds"].as_f64().expect("rounds");
            let root = (spent_ns / ns.min(spent_ns / rounds * 1000.0)).sqrt();
            assert!(close(scaled, (seen.ln_1p() * root).exp_m1()), "{what}");
        }
    }
}

/// A run in the lab that keeps its records; `None`: it was skipped.
fn measured(user: User, more: &[&str]) -> (Bench, Finished) {
    let bench = Bench::new(user, "");
    let out = bench.out();
    let arguments = ["doctor", "--noise", "--time", "10s", "--out", out.to_str().expect("a path")];
    let done = run(&mut bench.command(&[&arguments, more].concat()));
    assert_eq!(done.code, Some(0), "{user}: {}", done.story());
    (bench, done)
}

#[test]
fn what_it_says_is_what_it_measured() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let (bench, done) = measured(User::Caller, &["--json"]);
    let said: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.story()));
    let (run, records) = read(&bench.out());
    assert_eq!(
        (run.plan.baseline.as_deref(), run.plan.twin.as_deref()),
        (Some("once"), Some("once again"))
    );
    let rounds = run.plan.rounds;
    assert!(rounds >= 8, "{rounds} rounds in 10 s");
    assert_eq!(records.len(), rounds as usize * 6, "rounds of three workloads on both");
    assert_eq!(
        (said["schema"].as_str(), said["rounds"].as_u64()),
        (Some("hopbench.noise/2"), Some(u64::from(rounds)))
    );
    figures_are_the_records(&said, &run, &records);
    let steal = records.iter().map(|record| {
        let node = &record.cost.nodes[0];
        node.steal_cores / node.per_cpu_busy.len() as f64
    });
    assert!(
        close(
            &said["machine"]["steal_share"],
            median(&steal.collect::<Vec<_>>()).expect("records")
        ),
        "{said}"
    );
    let cpus = std::thread::available_parallelism().expect("CPUs").get() as u64;
    assert!(said["machine"]["cpus"].as_u64().is_some_and(|found| found >= cpus), "{said}");
    let ends = records.iter().map(|record| {
        let node = &record.cost.nodes[0];
        (node.busy_cores
            - node.steal_cores
            - record.cost.client["cores"]
            - record.cost.server["cores"])
            .max(0.0)
    });
    assert!(
        close(
            &said["machine"]["others_most_cores"],
            median(&ends.collect::<Vec<_>>()).expect("records")
        ),
        "{said}"
    );
}

#[test]
fn by_default_it_is_a_page_and_keeps_nothing() {
    let Some(_turn) = outside() else {
        return;
    };
    let user = *User::all().last().expect("a user");
    let (bench, done) = measured(user, &[]);
    let (file, records) = read(&bench.out());
    let noise = Noise::of(&file, &records).expect("figures");
    assert_eq!(done.stdout, noise_page(&noise), "{}", done.stderr);
    // What is not asked to be kept is not: the working directory and the one for temporary files
    // are as before.
    let plain = Bench::new(user, "");
    let scenario = plain.scenario();
    let home = Path::new(&scenario).parent().expect("a folder");
    let left =
        || [home, plain.work()].map(|folder| std::fs::read_dir(folder).expect("a folder").count());
    let before = left();
    let done = run(&mut plain.command(&["doctor", "--noise", "--time", "10s"]));
    assert_eq!(done.code, Some(0), "{}", done.story());
    assert_eq!(left(), before);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_built() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().to_string_lossy().into_owned();
    let hosts = folder.path().join("hosts.yaml").to_string_lossy().into_owned();
    std::fs::write(&hosts, "hosts: {nodes: {a: 127.0.0.1:7474, b: 127.0.0.1:7475}}")
        .expect("a file");
    for (arguments, words) in [
        (&["doctor", "--time", "9s"][..], "--noise"),
        (&["doctor", "--json"], "--noise"),
        (&["doctor", "--noise", "--time", "9s"], "10s to 24h"),
        (&["doctor", "--noise", "--testbed", &hosts], "lab or kubernetes"),
        (&["doctor", "--noise", "--out", &taken], "empty"),
        (&["doctor", "--noise", "--out", "/run/hopbench-noise"], "--out"),
    ] {
        let done = run(&mut program(arguments));
        assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.story());
        assert!(done.stderr.contains(words), "{arguments:?}: {}", done.story());
    }
}
