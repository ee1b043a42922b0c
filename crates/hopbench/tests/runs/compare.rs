//! `hopbench compare` on results folders, as a gate in CI.

#![allow(clippy::print_stdout, reason = "how long it took is printed")]

use std::path::Path;

use serde_json::Value;

use crate::lab::namespace::outside_alone;
use crate::lab::program::{Finished, run};
use crate::lab::{Bench, User, program};

/// Two nodes with a link of this rate between them: nothing else limits throughput. With eight
/// rounds on each side a difference of one figure among many is called even where a busy machine
/// disturbed some of them; of four rounds all 70 ways to deal them are too few for that, whatever
/// the values are.
fn scenario(link: &str) -> String {
    format!(
        "
name: gate
testbed: {{lab: {{nodes: 2, link: {link}}}}}
rounds: 8
time: 300ms
warmup: 200ms
interval: 100ms
paths: {{host: host@a -> host@b}}
workloads:
  bulk: {{stream: {{connections: 2}}}}
"
    )
}

/// The results of a run of it.
fn measured(link: &str) -> Bench {
    let bench = Bench::new(User::all()[0], &scenario(link));
    let done = bench.run(&["--no-report"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    bench
}

/// The results of a run as if they were another run's.
fn another((id, of): (&&str, &Bench)) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let run_id = of.results().run.run_id;
    for name in ["run.json", "records.jsonl"] {
        let text = std::fs::read_to_string(of.out().join(name)).expect("results");
        std::fs::write(dir.path().join(name), text.replace(&run_id, id)).expect("a folder");
    }
    dir
}

fn compared(a: &Bench, b: &Bench, more: &[&str]) -> Finished {
    compared_with(a, &b.out(), more)
}

/// The results of a run against those in a folder.
fn compared_with(a: &Bench, b: &Path, more: &[&str]) -> Finished {
    let a_out = a.out();
    let folders = ["compare", &*a_out.to_string_lossy(), &*b.to_string_lossy()].map(str::to_owned);
    let arguments: Vec<&str> =
        folders.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(&mut a.command(&arguments))
}

#[test]
fn a_slower_link_fails_the_gate_and_the_same_link_does_not() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let (fast, again, slow) = (measured("100Mbit"), measured("100Mbit"), measured("50Mbit"));
    // A shared machine disturbs by some percent, not by a quarter.
    let gate = ["--fail-on", "throughput>25%"];

    let same = compared(&fast, &again, &gate);
    assert_eq!(same.code, Some(0), "{}", same.story());
    assert_eq!(
        compared(&fast, &again, &["--strict"]).code,
        Some(0),
        "they were measured under the same circumstances"
    );
    assert!(
        same.stdout.contains("throughput>25%: kept in ") && !same.stdout.contains("BROKEN"),
        "{}",
        same.stdout
    );

    let half = compared(&fast, &slow, &gate);
    assert_eq!(half.code, Some(1), "{}", half.story());
    assert!(
        half.stdout.contains("BROKEN throughput>25%: host bulk: slower by "),
        "{}",
        half.stdout
    );
    let values = |line: &str| {
        line.contains("host bulk  received ") && line.contains(" -> ") && line.contains(" Mbit/s")
    };
    assert!(half.stdout.lines().any(values), "both values stand in a row: {}", half.stdout);
    // The job is the same and the links are not: told first, and refused only when strict.
    assert!(
        half.stdout.contains("link_bits_per_s: 100.0 Mbit/s, now 50.00 Mbit/s"),
        "{}",
        half.stdout
    );
    assert!(half.stdout.lines().all(|line| line.chars().count() <= 80), "{}", half.stdout);
    let strict = compared(&fast, &slow, &["--strict"]);
    assert_eq!((strict.code, strict.stdout.as_str()), (Some(2), ""), "{}", strict.story());
    assert!(strict.stderr.contains("link_bits_per_s"), "{}", strict.stderr);
    // It got better the other way round, and a bound that is wide enough holds.
    assert_eq!(compared(&slow, &fast, &gate).code, Some(0));
    assert_eq!(compared(&fast, &slow, &["--fail-on", "throughput>70%"]).code, Some(0));

    let json = compared(
        &fast,
        &slow,
        &["--format", "json", "--fail-on", "throughput>25%,received_bits_per_s>70%"],
    );
    assert_eq!(json.code, Some(1), "{}", json.story());
    assert!(
        json.stderr.contains("throughput>25% is broken: host bulk: slower by"),
        "{}",
        json.stderr
    );
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    let received = |row: &&Value| row["metric"] == "received_bits_per_s";
    let rate = found["comparisons"].as_array().unwrap().iter().find(received).unwrap();
    let ratio = rate["ratio"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&ratio), "half the rate: {ratio}");
    assert_eq!(rate["outcome"], "worse");

    // A file gets the page, the terminal what broke; no file of what was measured is written over.
    let file = fast.work().join("junit.xml");
    let page = file.to_string_lossy().into_owned();
    let written = compared(&fast, &slow, &[&gate[..], &["-f", "junit", "-o", &page]].concat());
    assert_eq!((written.code, written.stdout.as_str()), (Some(1), ""), "{}", written.story());
    assert!(written.stderr.contains("is broken"), "{}", written.stderr);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("<?xml") && text.contains("<failure message=\"slower by "), "{text}");
    let records = slow.out().join("records.jsonl");
    let spared = compared(&fast, &slow, &["-o", &records.to_string_lossy()]);
    assert_eq!(spared.code, Some(2), "{}", spared.story());

    // Three runs on each side: runs are compared, each of them once.
    let more: Vec<_> =
        ["1", "2", "3", "4"].iter().zip([&fast, &again, &fast, &again]).map(another).collect();
    let more: Vec<_> = more.iter().map(|dir| dir.path().to_string_lossy()).collect();
    let runs =
        ["--more-a", &more[0], "--more-a", &more[1], "--more-b", &more[2], "--more-b", &more[3]];
    let runs = compared(&again, &fast, &[&runs[..], &["-f", "json"]].concat());
    assert_eq!(runs.code, Some(0), "{}", runs.story());
    let found: Value = serde_json::from_str(&runs.stdout).unwrap();
    assert_eq!(
        (&found["by_run"], &found["comparisons"][0]["baseline"]["values"]),
        (&Value::from(true), &Value::from(3))
    );
    let first = fast.out().to_string_lossy().into_owned();
    let twice = compared(&fast, &again, &["--more-a", &first]);
    assert_eq!((twice.code, twice.stdout.as_str()), (Some(2), ""), "{}", twice.story());
    assert!(
        twice.stderr.contains("2 times") && twice.stderr.contains("expected each run once"),
        "{}",
        twice.stderr
    );
    let slow_out = slow.out().to_string_lossy().into_owned();
    let mixed = compared(&fast, &again, &["--more-b", &slow_out]);
    assert_eq!((mixed.code, mixed.stdout.as_str()), (Some(2), ""), "{}", mixed.story());
    assert!(
        mixed.stderr.contains("--more-b") && mixed.stderr.contains("link_bits_per_s"),
        "{}",
        mixed.stderr
    );
    assert_eq!(compared(&fast, &fast, &[]).code, Some(0), "a run against itself is told");

    // A gate that saw nothing is no failure, unless strict.
    let none = ["--fail-on", "received_bits_per_s>0.0001%"];
    let blind = compared(&fast, &fast, &none);
    assert_eq!(blind.code, Some(0), "{}", blind.story());
    assert!(blind.stdout.contains("Nothing could be judged: "), "{}", blind.stdout);
    let strict = compared(&fast, &fast, &[&none[..], &["--strict"]].concat());
    assert_eq!(strict.code, Some(1), "{}", strict.story());
    assert!(
        strict.stderr.contains("--strict: no cell could judge received_bits_per_s>0.0001%"),
        "{}",
        strict.stderr
    );

    // One flag is about that alone: another kernel, which --strict refuses, does not matter to it.
    let patched = another((&"5", &fast));
    let file = patched.path().join("run.json");
    let text = std::fs::read_to_string(&file).expect("run.json");
    let mut facts: Value = serde_json::from_str(&text).expect("JSON");
    facts["environment"]["kernel"] = "another".into();
    std::fs::write(&file, facts.to_string()).expect("a folder");
    let with = |more: &[&str]| compared_with(&fast, patched.path(), more);
    let refused = with(&[&none[..], &["--strict"]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    let unjudged = with(&[&none[..], &["--fail-unjudged"]].concat());
    assert_eq!(unjudged.code, Some(1), "{}", unjudged.story());
    let told = "--fail-unjudged: no cell could judge received_bits_per_s>0.0001%";
    assert!(unjudged.stderr.contains(told), "{}", unjudged.stderr);
    let judged = with(&[&gate[..], &["--fail-unjudged"]].concat());
    assert_eq!(judged.code, Some(0), "{}", judged.story());

    let unknown = compared(&fast, &slow, &["--fail-on", "p99_response>5%"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.story());
    assert!(
        unknown.stderr.contains("received_bits_per_s"),
        "the metrics there are: {}",
        unknown.stderr
    );
}

#[test]
fn what_cannot_be_compared_is_told_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let compare =
        |more: &[&str]| run(program(&["compare"]).arg(dir.path()).arg(dir.path()).args(more));
    let none = compare(&[]);
    assert_eq!(none.code, Some(2), "{}", none.story());
    assert!(none.stderr.contains("is no results folder"), "{}", none.stderr);
    for (arguments, told) in [
        (&["--fail-on", "throughput"][..], "expected METRIC>PERCENT"),
        (&["--fail-on", "throughput>5%,p99>x%"], "p99>x%"),
        (&["--min-effect", "2"], "expected a percentage like 2%"),
        (&["--format", "junit"], "--fail-on"),
        (&["--fail-unjudged"], "required arguments were not provided"),
        (&["--format", "html"], "junit"),
    ] {
        let refused = compare(arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.story());
        assert!(refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
    }
    assert_eq!(run(&mut program(&["compare", "one-folder"])).code, Some(2));
    let nowhere = dir.path().join("nowhere");
    let gone = run(program(&["compare"]).arg(&nowhere).arg(dir.path()));
    assert_eq!(gone.code, Some(2), "{}", gone.story());
    assert!(gone.stderr.contains("nowhere does not exist"), "{}", gone.stderr);
    assert!(Path::new(dir.path()).read_dir().unwrap().next().is_none(), "nothing was left");
}

/// A folder with 100 points and 50 rounds, made of one real record; figures are bent by what looks
/// random and is not.
fn multiplied(of: &Bench, dir: &Path, mut state: u64) {
    let results = of.results();
    let mut about = move |share: f64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1.0 + share * ((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    let mut run = results.run;
    let point = run.plan.points[0].clone();
    run.plan.points = (0..100)
        .map(|n| hopbench_model::Point {
            point: [("n".to_owned(), n.into())].into(),
            ..point.clone()
        })
        .collect();
    run.plan.cells = (0..100).map(|point| hopbench_model::Cell { path: 0, point }).collect();
    run.plan.rounds = 50;
    let mut lines = String::new();
    for round in 1..=50 {
        for point in &run.plan.points {
            let mut record = results.records[0].clone();
            (record.round, record.point) = (round, point.point.clone());
            record.metrics.values_mut().for_each(|value| *value *= about(0.03));
            for latency in record.latency.values_mut() {
                for ns in [&mut latency.p50, &mut latency.p90, &mut latency.p99, &mut latency.p999]
                {
                    *ns = (*ns as f64 * about(0.05)) as u64;
                }
            }
            for end in [&mut record.cost.client, &mut record.cost.server] {
                end.values_mut().for_each(|value| *value *= about(0.02));
            }
            lines += &serde_json::to_string(&record).expect("JSON");
            lines.push('\n');
        }
    }
    std::fs::write(dir.join("run.json"), serde_json::to_string(&run).expect("JSON"))
        .expect("a folder");
    std::fs::write(dir.join("records.jsonl"), lines).expect("a folder");
}

#[test]
#[ignore = "a time: alone on the machine, with a release binary in HOPBENCH_BINARY"]
fn ten_thousand_records_take_five_seconds() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let web = scenario("1Gbit").replace(
        "bulk: {stream: {connections: 2}}",
        "web: {http: {connections: 16, response: 1KiB}}",
    );
    let bench = Bench::new(User::all()[0], &web);
    let done = bench.run(&["--no-report", "--rounds", "1"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    dirs.iter().zip([1, 2]).for_each(|(dir, seed)| multiplied(&bench, dir.path(), seed));
    let begun = hopbench_sys::clock::now();
    let found =
        run(program(&["compare"]).args(dirs.each_ref().map(|dir| dir.path())).args(["-f", "json"]));
    let took_s = (hopbench_sys::clock::now() - begun) as f64 / 1e9;
    assert_eq!(found.code, Some(0), "{}", found.story());
    let json: Value = serde_json::from_str(&found.stdout).unwrap();
    let comparisons = json["comparisons"].as_array().unwrap().len();
    assert_eq!(json["baseline"][0]["used_trials"], 5000);
    println!("10 000 records, {comparisons} comparisons: {took_s:.2} s");
    assert!(comparisons >= 800 && took_s <= 5.0, "{comparisons} comparisons took {took_s} s");
}
