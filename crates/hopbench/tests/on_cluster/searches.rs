//! Searches on a real cluster, through the binary: what the cable of a node carries, and one for
//! which there is no time.

use std::collections::BTreeSet;
use std::process::Command;

use hopbench_model::{Record, RunStatus, SearchOutcome, SearchStep};
use serde_json::Value;

use crate::ground::{ANY_THREE, Ground, assert_sound, ground};

/// The cable of a node's second NIC, which only its `eni` pod uses: control and probes of others go
/// by the first.
struct Cable;

/// Its name in the fabric, and what it carries from now on.
const CABLE: &str = "n3-eni";
const CABLE_BITS_PER_S: f64 = 10e6;

impl Cable {
    /// What goes to the pod gets this rate, with a bucket of 10 ms and a queue of 40 ms.
    fn shaped() -> Self {
        let (rate, bucket, queue) = (format!("{CABLE_BITS_PER_S}bit"), "12500", "50000");
        assert!(qdisc(&[
            "add", "dev", CABLE, "root", "tbf", "rate", &rate, "burst", bucket, "limit", queue
        ]));
        Self
    }
}

/// However the test ends.
impl Drop for Cable {
    fn drop(&mut self) {
        qdisc(&["del", "dev", CABLE, "root"]);
    }
}

fn qdisc(arguments: &[&str]) -> bool {
    Command::new("tc")
        .args(["-n", "hbc-fabric", "qdisc"])
        .args(arguments)
        .status()
        .unwrap()
        .success()
}

/// What a search is about.
struct Wanted {
    workload: &'static str,
    goal: &'static str,
    figure: &'static str,
    /// Of the figure.
    limit: f64,
    precision: f64,
    /// The load at which the cable is full.
    full_per_s: f64,
}

/// A datagram of 1400 B has 8 B of UDP, 20 B of IP and 14 B of Ethernet more. Between the loads
/// that are tried those next to the full cable are 0.94 and 1.08 times as high: the one leaves
/// stalls of 50 ms without loss, the other overflows queue and bucket in 0.7 s of the 1.3 s.
const FLOOD: Wanted = Wanted {
    workload: "flood",
    goal: "lossless",
    figure: "loss",
    limit: 0.01,
    precision: 0.16,
    full_per_s: CABLE_BITS_PER_S / 8.0 / (1400.0 + 8.0 + 20.0 + 14.0),
};
/// A request of 4 KiB is three segments, each with 32 B of TCP, 20 B of IP and 14 B of Ethernet.
/// The loads next to the full cable are 0.92 and 1.1 times as high: beyond it each request waits
/// for all that came too early before it.
const ASK: Wanted = Wanted {
    workload: "ask",
    goal: "slo",
    figure: "response_ns p50",
    limit: 40e6,
    precision: 0.2,
    full_per_s: CABLE_BITS_PER_S / 8.0 / (4096.0 + 3.0 * (32.0 + 20.0 + 14.0)),
};

const SHAPED: &str = "rounds: 1
time: 1s
seed: 4
paths: {cable: eni@a -> eni@c}
workloads:
  flood:
    udp: {size: 1400B}
    search: {lossless: {loss: 1%, rates: 705pps..1232pps, precision: 16%, repeats: 1}}
  ask:
    rr: {size: 4KiB, response: 1B, connections: 8}
    search: {slo: {p50: 40ms, rates: 190..600, precision: 20%, repeats: 1}}
";

fn steps<'r>(records: &'r [Record], workload: &str) -> Vec<&'r SearchStep> {
    let own = records.iter().filter(|record| record.workload == workload);
    own.map(|record| record.search.as_ref().unwrap()).collect()
}

/// Every trial has the load that its search says, and another number.
fn assert_trace(records: &[Record], wanted: &Wanted) {
    let Wanted { workload, goal, figure, .. } = wanted;
    let numbers: Vec<u32> = steps(records, workload).iter().map(|step| step.step).collect();
    assert_eq!(
        numbers,
        (1..=numbers.len() as u32).collect::<Vec<_>>(),
        "{workload}: no gap, none twice"
    );
    for record in records.iter().filter(|record| record.workload == *workload) {
        let step = record.search.as_ref().unwrap();
        assert_eq!(
            (step.goal.as_str(), step.figure.as_str(), step.parameter.as_str()),
            (*goal, *figure, "rate")
        );
        assert_eq!(
            (record.round, record.point["rate"].as_f64()),
            (step.step, Some(step.load)),
            "{workload}"
        );
        assert!(step.value.is_some(), "{workload} {}: no value", step.load);
        let asked = record.metrics["intended_per_s"];
        assert!(
            (asked / step.load - 1.0).abs() < 0.02,
            "{workload}: {asked}/s, {} is the step's",
            step.load
        );
    }
}

/// The highest load that most of its trials held below the lowest that they did not, and that one.
fn bracket(steps: &[&SearchStep], limit: f64) -> (f64, f64) {
    let held = |step: &SearchStep| step.within && step.value.is_some_and(|value| value <= limit);
    let is_held = |load: f64| {
        let (yes, no): (Vec<&SearchStep>, Vec<&SearchStep>) =
            steps.iter().copied().filter(|step| step.load == load).partition(|step| held(step));
        yes.len() > no.len()
    };
    let loads = || steps.iter().map(|step| step.load);
    let high = loads().filter(|load| !is_held(*load)).fold(f64::INFINITY, f64::min);
    let low = loads().filter(|load| is_held(*load) && *load < high).fold(0.0, f64::max);
    (low, high)
}

/// What was found lies where its own trials say, and the full cable lies there, too.
fn assert_found(records: &[Record], wanted: &Wanted) -> (f64, f64) {
    let Wanted { workload, limit, precision, full_per_s, .. } = wanted;
    let steps = steps(records, workload);
    let (last, before) = steps.split_last().unwrap();
    assert!(before.iter().all(|step| step.outcome.is_none()), "{workload} goes on after its end");
    let (low, high) = bracket(&steps, *limit);
    println!(
        "{workload}: {low} to {high}/s, {full_per_s:.0}/s fill the cable, in {} trials",
        steps.len()
    );
    assert_eq!(
        last.outcome,
        Some(SearchOutcome::Found { load: low, low, high: Some(high) }),
        "{workload}"
    );
    assert!(high / low <= 1.0 + precision, "{workload}: {low} to {high} is wider than {precision}");
    // Acknowledgements of their own fill the cable, too: up to 2 %.
    assert!(
        low <= *full_per_s && high >= full_per_s * 0.98,
        "{workload}: {low} to {high}, not {full_per_s}"
    );
    (low, high)
}

/// `hopbench report` on the folder.
fn reported(ground: &Ground, format: &str) -> String {
    let ended = Command::new(env!("CARGO_BIN_EXE_hopbench"))
        .arg("report")
        .arg(ground.out())
        .args(["--format", format])
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_the_cable_of_a_node_carries_is_found() {
    let Some(ground) = ground("searches on a shaped cable") else { return };
    let _shaped = Cable::shaped();
    let testbed = "nodes: {a: {name: n1}, c: {name: n3}}, networks: {eni: {runtime-class: eni}}";
    let records = ground.measured("searched", testbed, SHAPED);
    records.iter().for_each(assert_sound);
    let run = ground.run_file();
    assert_eq!((run.status, run.failures.len()), (RunStatus::Complete, 0), "{:?}", run.failures);
    // A trial of each in turn, as long as both search.
    let shortest = [FLOOD, ASK]
        .map(|wanted| steps(&records, wanted.workload).len())
        .into_iter()
        .min()
        .unwrap();
    for pass in records.chunks(2).take(shortest) {
        assert_eq!(
            pass.iter().map(|record| record.workload.as_str()).collect::<BTreeSet<_>>().len(),
            2
        );
    }
    let summary: Value = serde_json::from_str(&reported(&ground, "json")).unwrap();
    let table = reported(&ground, "table");
    for wanted in [FLOOD, ASK] {
        assert_trace(&records, &wanted);
        let (low, high) = assert_found(&records, &wanted);
        let searches = summary["searches"].as_array().unwrap();
        let own = searches.iter().find(|search| search["workload"] == wanted.workload).unwrap();
        assert_eq!(
            (&own["goal"], &own["limit"]),
            (&Value::from(wanted.goal), &Value::from(wanted.limit))
        );
        let path = &own["paths"][0];
        let said = ["at", "low", "high"].map(|key| path[key].as_f64());
        assert_eq!(said, [Some(low), Some(low), Some(high)], "{path}");
        let trace: Vec<f64> = path["trace"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["load"].as_f64().unwrap())
            .collect();
        let loads: Vec<f64> =
            steps(&records, wanted.workload).iter().map(|step| step.load).collect();
        assert_eq!(trace, loads, "{}", wanted.workload);
        let (title, value) = (
            format!("{} ({} over ", wanted.workload, wanted.goal),
            format!("{low:.0} [{low:.0}, {high:.0}]"),
        );
        assert!(table.contains(&title) && table.contains(&value), "`{title}`, `{value}`: {table}");
    }
    assert_eq!(
        reported(&ground, "searches").lines().count(),
        1 + records.len(),
        "a row a trial, below a head"
    );
}

/// A level takes three trials of 0.8 s, and there are six.
const ENDLESS: &str = "stop: {ci: 5%, budget: 2s}
time: 500ms
paths: {near: pod@a -> pod@b}
workloads:
  ask:
    rr: {}
    search: {knee: {connections: [1, 2, 4, 8, 16, 32]}}
";

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_search_begins_no_trial_when_its_time_is_over() {
    let Some(ground) = ground("a search without time") else { return };
    let ended = ground.run("endless", ANY_THREE, ENDLESS).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(4), "{said}");
    let (run, records) = (ground.run_file(), ground.records());
    // In 2 s no more than three of 0.8 s begin.
    assert!((1..=3).contains(&records.len()), "{} trials: {said}", records.len());
    records.iter().for_each(assert_sound);
    let steps = steps(&records, "ask");
    assert!(steps.iter().all(|step| step.load == 1.0 && step.outcome.is_none()), "{steps:?}");
    assert_eq!((run.status, run.failures.len()), (RunStatus::Incomplete, 1), "{:?}", run.failures);
    let failure = &run.failures[0];
    assert!(
        failure.reason.contains("`budget`") && failure.reason.contains("--resume"),
        "{}",
        failure.reason
    );
    assert_eq!(failure.round, records.len() as u32 + 1, "the trial that comes next");
    let table = reported(&ground, "table");
    let words = format!("not ended, after {} trial", records.len());
    assert!(table.contains(&words), "`{words}`: {table}");
}
