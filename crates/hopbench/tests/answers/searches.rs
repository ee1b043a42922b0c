//! Searches in the lab whose answers are known: the rate of a link, and a CPU that is to be half
//! busy; and one that is killed in the middle.

#![allow(clippy::print_stderr, reason = "what was found is printed")]

use std::collections::BTreeSet;
use std::fs;

use hopbench_model::{CpuSet, Record, RunStatus, SearchOutcome, SearchStep};

use crate::lab::bench::{Results, good};
use crate::lab::namespace::{outside, outside_alone};
use crate::lab::process::try_kill;
use crate::lab::records::metric;
use crate::lab::wait::{S, until};
use crate::lab::{Bench, User};

/// A search takes up to a minute on a machine with nothing else to do.
const PATIENCE: u64 = 240 * S;
/// Where time decides, the machine may be at fault once.
const ATTEMPTS: usize = 2;

/// Runs a scenario to its end; every record is good.
fn measured(scenario: &str) -> Results {
    let bench = Bench::new(User::Caller, scenario);
    let done = bench.start(&[]).finish_within(PATIENCE);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    results.records.iter().for_each(good);
    results
}

fn steps<'r>(results: &'r Results, path: &str) -> Vec<&'r SearchStep> {
    let of_path = results.records.iter().filter(|record| record.path == path);
    of_path.filter_map(|record| record.search.as_ref()).collect()
}

/// The load that the only search of a run found.
fn found(results: &Results) -> f64 {
    match results
        .records
        .last()
        .and_then(|record| record.search.as_ref())
        .and_then(|step| step.outcome)
    {
        Some(SearchOutcome::Found { load, .. }) => load,
        other => panic!("{other:?} after {} trials", results.records.len()),
    }
}

/// Tries until `one` says that what it found is near enough; what it found is printed.
fn attempts(one: impl Fn() -> (bool, String)) {
    let mut told = Vec::new();
    for _ in 0..ATTEMPTS {
        let (is_near, what) = one();
        eprintln!("{what}");
        told.push(what);
        if is_near {
            return;
        }
    }
    panic!("{told:?}");
}

/// Trials of 2.5 s: what is above the link's rate by 1.3 % then overflows its queue of 21 ms and
/// its bucket of 10 ms.
const SHAPED: &str = "
name: shaped
testbed: {lab: {nodes: [a, b], link: 100Mbit, mtu: 1500}}
rounds: 1
time: 1500ms
warmup: 1s
seed: 4
paths:
  link: bridge@a -> bridge@b
workloads:
  flood:
    udp: {size: 1400B}
    search: {lossless: {loss: 0.1%, rates: 80Mbit..120Mbit, precision: 1%, repeats: 1}}
";
const LINK_BITS_PER_S: f64 = 100e6;
/// On the link a datagram has 8 bytes of UDP, 20 of IP and 14 of Ethernet more.
const DATAGRAM_BYTES: f64 = 1400.0 + 8.0 + 20.0 + 14.0;

#[test]
fn the_rate_of_a_shaped_link_is_found_within_2_percent() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    attempts(|| {
        let results = measured(SHAPED);
        let (found, expected) = (found(&results), LINK_BITS_PER_S / 8.0 / DATAGRAM_BYTES);
        let steps = steps(&results, "link");
        // It begins at the highest rate, where all that is beyond the link's is lost, but for what
        // its queue holds.
        assert!((steps[0].load - 120e6 / 8.0 / 1400.0).abs() < 1.0, "{}", steps[0].load);
        let (beyond, lost) = (1.0 - expected / steps[0].load, steps[0].value.unwrap_or_default());
        assert!((lost - beyond).abs() < 0.03, "{lost} lost, {beyond} is beyond the link");
        for record in &results.records {
            let step = record.search.as_ref().expect("a search");
            assert_eq!((step.parameter.as_str(), step.figure.as_str()), ("rate", "loss"));
            assert_eq!(step.value, Some(metric(record, "lost_ratio")));
            let asked = metric(record, "intended_per_s");
            assert!(
                (asked / step.load - 1.0).abs() < 0.005,
                "{asked}/s were asked for, {} is the step's",
                step.load
            );
            assert_eq!(record.job["params"]["rate"], format!("{}pps", step.load));
        }
        let off = found / expected - 1.0;
        let what = format!(
            "{found}/s, {:+.2} % of {expected:.0}/s, in {} trials",
            100.0 * off,
            steps.len()
        );
        (off.abs() <= 0.02, what)
    });
}

/// A server that works for a known time before each answer, on the first CPU: half of that CPU is a
/// known rate.
const HALF: &str = "
name: half
testbed: {lab: {nodes: {a: {server-work: 150us}, b: {}}}}
rounds: 3
time: 1s
warmup: 200ms
seed: 4
paths:
  direct: host@b -> host@a
workloads:
  web:
    http: {connections: 16, response: 1KiB WANTED}
    SEARCH
";
const CEILING: f64 = 0.5;
/// The highest rate with which the work alone stays below the ceiling, a second.
const MOST: f64 = CEILING / 150e-6;
/// An answer takes some CPU besides the work; it is no more than this share of it.
const BESIDES: f64 = 0.35;

/// What the server used of its CPUs, as the record's own figures say it.
fn server_share(record: &Record) -> f64 {
    let allowed =
        record.settings.get("server_cpus_allowed").or_else(|| record.settings.get("cpus_allowed"));
    let cpus = allowed.map_or(record.cost.nodes[0].per_cpu_busy.len(), |cpus| {
        cpus.parse::<CpuSet>().expect("a list of CPUs").0.len()
    });
    record.cost.server["cores"] / cpus as f64
}

#[test]
fn a_servers_cpu_is_held_at_half_within_3_points() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let search = "search: {cpu: {of: server, ceiling: 50%, rates: 20..20000, repeats: 1}}";
    attempts(|| {
        let results = measured(&HALF.replace(" WANTED", "").replace("SEARCH", search));
        let rate = found(&results);
        for record in &results.records {
            let (step, share) = (record.search.as_ref().expect("a search"), server_share(record));
            assert!(
                step.figure == "cpu_share"
                    && step.value.is_some_and(|value| (value - share).abs() < 1e-9),
                "{step:?}"
            );
        }
        assert!(rate <= 1.03 * MOST && rate > (1.0 - BESIDES) * MOST, "{rate}/s, {MOST:.0}/s");
        // The same rate without a search.
        let again =
            measured(&HALF.replace(" WANTED", &format!(", rate: {rate}")).replace("SEARCH", ""));
        let mut shares: Vec<f64> = again.records.iter().map(server_share).collect();
        shares.sort_by(f64::total_cmp);
        let off = shares[1] - CEILING;
        let what = format!(
            "{rate}/s in {} trials; then {shares:.3?}, {:+.1} points",
            results.records.len(),
            100.0 * off
        );
        (off.abs() <= 0.03, what)
    });
}

const KILLED: &str = "
name: killed
testbed: {lab: {nodes: [a, b]}}
rounds: 1
time: 150ms
warmup: 20ms
interval: 50ms
seed: 4
paths:
  host:   host@a -> host@b
  bridge: bridge@a -> bridge@b
workloads:
  ask:
    rr: {size: 64B}
    search: {knee: {connections: [1, 2, 4, 8, 16], threads: [1, 2]}}
";

#[test]
fn a_search_that_is_killed_goes_on_where_it_was() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, KILLED);
    let lines = || {
        fs::read_to_string(bench.out().join("records.jsonl")).map_or(0, |text| text.lines().count())
    };
    let mut before: Vec<String> = Vec::new();
    for (number, least) in [(0, 5), (1, 12)] {
        let running = if number == 0 { bench.start(&[]) } else { bench.start_resume(&[]) };
        until(PATIENCE, || (lines() >= least).then_some(())).expect("records");
        try_kill(running.pid());
        let ended = running.finish_within(PATIENCE);
        assert_eq!(ended.code, None, "it was killed before its end: {}", ended.story());
        // Whoever it left behind lets go of the folder.
        until(5 * S, || fs::File::open(bench.out()).ok()?.try_lock().ok())
            .expect("the folder's lock");
        let results = bench.results();
        assert_ne!(results.run.status, RunStatus::Complete);
        assert_eq!(results.lines[..before.len()], before, "what was there stays");
        before = results.lines;
    }
    let done = bench.start_resume(&[]).finish_within(PATIENCE);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    assert_eq!(
        (results.run.status, results.run.session, results.run.failures.len()),
        (RunStatus::Complete, 3, 0)
    );
    assert_eq!(results.lines[..before.len()], before, "what was there stays");
    results.records.iter().for_each(good);
    for path in ["host", "bridge"] {
        let steps = steps(&results, path);
        let numbers: Vec<u32> = steps.iter().map(|step| step.step).collect();
        assert_eq!(
            numbers,
            (1..=u32::try_from(steps.len()).expect("few")).collect::<Vec<_>>(),
            "{path}: no gap, none twice"
        );
        let ends: Vec<_> = steps
            .iter()
            .filter(|step| step.outcome.is_some())
            .map(|step| &*step.parameter)
            .collect();
        assert_eq!(ends, ["connections", "threads"], "{path}");
        assert!(steps.last().is_some_and(|step| step.outcome.is_some()), "{path}");
    }
    // The passes go on as they would have: both paths in each, as long as both search.
    let order: Vec<&str> = results.records.iter().map(|record| record.path.as_str()).collect();
    let shortest =
        ["host", "bridge"].map(|path| steps(&results, path).len()).into_iter().min().expect("two");
    assert!(
        order.chunks(2).take(shortest).all(|pass| pass.iter().collect::<BTreeSet<_>>().len() == 2),
        "{order:?}"
    );
}
