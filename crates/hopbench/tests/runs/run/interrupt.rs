//! Ctrl-C, and what is measured afterwards.

use std::os::unix::process::CommandExt;

use hopbench_model::RunStatus;
use serde_json::Value;

use crate::lab::bench::FILES;
use crate::lab::namespace::outside;
use crate::lab::process::signal_group;
use crate::lab::program::{Finished, Running};
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{Bench, User};

const SCENARIO: &str = "
name: interrupted
rounds: 2
time: 1500ms
warmup: 50ms
interval: 100ms
paths:
  host:   host@a -> host@b
  bridge: bridge@a -> bridge@b
workloads:
  ask: {rr: {size: 64B}}
";

/// To the group of processes, as a terminal does it.
#[test]
fn what_is_interrupted_keeps_what_there_is_and_goes_on_later() {
    let Some(_turn) = outside() else {
        return;
    };
    for user in User::all() {
        let bench = Bench::new(user, SCENARIO);
        let (scenario, out) = (bench.scenario(), bench.out());
        let mut command = bench.command(&["run", &scenario, "--out", &out.to_string_lossy()]);
        let started = Running::start(command.process_group(0));
        // In the second trial: half a second into it there are figures.
        let lines = || {
            std::fs::read_to_string(out.join("records.jsonl")).unwrap_or_default().lines().count()
        };
        assert!(until(20 * S, || (lines() == 1).then_some(())).is_some(), "no record");
        pause(800 * MS);
        signal_group(started.pid(), "INT");
        let done = started.finish();
        assert_eq!(done.code, Some(4), "{user}: {}", done.story());
        assert!(
            done.stderr.contains("interrupted") && done.stderr.contains("--resume"),
            "{}",
            done.story()
        );
        let results = bench.results();
        assert_eq!(results.files, FILES.map(str::to_owned).into(), "{user}");
        assert_eq!((results.run.status, results.cut), (RunStatus::Incomplete, 0), "{user}");
        assert!(
            results.run.ended_at.is_some() && results.run.failures.is_empty(),
            "{:?}",
            results.run.failures
        );
        let complete: Vec<bool> =
            results.records.iter().map(|record| record.incomplete.is_none()).collect();
        assert_eq!(complete, [true, false], "{user}");
        let cut = &results.records[1];
        assert!((0.2..1.45).contains(&cut.window_s), "{user}: {} s", cut.window_s);
        assert!(cut.metrics["requests"] > 0.0, "{:?}", cut.metrics);
        assert!(
            std::fs::read_to_string(out.join("report.html"))
                .is_ok_and(|text| text.contains("host"))
        );

        let done = bench.resume(&[]);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let after = bench.results();
        assert_eq!(
            (after.run.status, &after.run.run_id),
            (RunStatus::Complete, &results.run.run_id)
        );
        assert_eq!(after.lines[0], results.lines[0], "a complete trial was measured again");
        after.whole();
        // What was cut short is kept, where it is in nobody's way.
        let aside =
            std::fs::read_to_string(out.join("superseded.jsonl")).expect("what was cut short");
        assert_eq!(aside.lines().collect::<Vec<_>>(), [results.lines[1].as_str()]);
    }
}

/// The second turn of `new` begins with a command that waits for something.
const COMMANDS: &str = "
name: commands
testbed: {lab: {nodes: [a, b]}}
rounds: 4
time: 60ms
warmup: 10ms
paths: {p: bridge@a -> bridge@b}
subjects:
  old:
  new:
    command:
      before: 'echo begin >> FILE; test $(wc -l < FILE) -lt 3 || { sleep 9; echo late >> FILE; }'
      after: echo end >> FILE
workloads: {ask: {rr: {}}}
";

#[test]
fn the_command_of_a_subject_is_ended_and_the_one_after_it_runs() {
    let Some(_turn) = outside() else {
        return;
    };
    for user in User::all() {
        let folder = user.folder();
        let file = folder.path().join("commands");
        let bench = Bench::new(user, &COMMANDS.replace("FILE", &file.to_string_lossy()));
        let (scenario, out) = (bench.scenario(), bench.out());
        let mut command = bench.command(&["run", &scenario, "--out", &out.to_string_lossy()]);
        let started = Running::start(command.process_group(0));
        let said = || std::fs::read_to_string(&file).unwrap_or_default();
        let is_second = || (said() == "begin\nend\nbegin\n").then_some(());
        assert!(until(20 * S, is_second).is_some(), "{}", said());
        signal_group(started.pid(), "INT");
        // Without it, the command would have written a line more.
        let done = started.finish();
        assert_eq!(done.code, Some(4), "{user}: {}", done.story());
        assert!(done.stderr.contains("interrupted"), "{}", done.story());
        assert_eq!(said(), "begin\nend\nbegin\nend\n", "{user}");
        let results = bench.results();
        assert_eq!(results.run.status, RunStatus::Incomplete, "{user}");
        assert!(results.run.failures.is_empty(), "{:?}", results.run.failures);
        assert!(results.records.iter().all(|record| record.incomplete.is_none()), "{user}");
    }
}

const BUDGET: &str = "
name: shorter
budget: 20s
time: 100ms
warmup: 30ms
baseline: host
paths:
  host:   host@a -> host@b
  bridge: bridge@a -> bridge@b
workloads:
  ask: {rr: {size: 64B}}
";

/// A run with a budget, and the same for programs: each is ended after a bit more than ten seconds
/// of its rounds.
fn ended_early(bench: &Bench, more: &[&str]) -> Finished {
    let (scenario, out) = (bench.scenario(), bench.out());
    let folder = out.to_string_lossy();
    let arguments = [&["run", &scenario, "--out", &folder], more].concat();
    let started = Running::start(bench.command(&arguments).process_group(0));
    let spent_ns = || {
        let text = std::fs::read_to_string(out.join("run.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()?["spent_ns"].as_u64()
    };
    // Whatever is due every ten seconds was due once, before a trial.
    let is_due = || spent_ns().filter(|spent| *spent > 11 * S);
    assert!(until(60 * S, is_due).is_some(), "no rounds");
    signal_group(started.pid(), "INT");
    started.finish()
}

#[test]
fn a_budget_that_is_interrupted_is_a_complete_run_with_less_time() {
    let Some(_turn) = outside() else { return };
    let benches = [(); 2].map(|()| Bench::new(User::Caller, BUDGET));
    let [told, events] = std::thread::scope(|scope| {
        let told = scope.spawn(|| ended_early(&benches[0], &[]));
        let events = scope.spawn(|| ended_early(&benches[1], &["--format", "json"]));
        [told, events].map(|run| run.join().expect("a run"))
    });
    for (bench, done) in benches.iter().zip([&told, &events]) {
        assert_eq!(done.code, Some(0), "{}", done.story());
        let results = bench.results();
        assert_eq!(results.files, FILES.map(str::to_owned).into());
        assert_eq!((results.run.status, results.cut), (RunStatus::Complete, 0));
        let rounds = results.run.plan.rounds;
        assert!(results.run.ended_at.is_some() && results.run.failures.is_empty() && rounds > 3);
        assert!(results.records.iter().all(|record| record.incomplete.is_none()));
        assert!((11 * S..20 * S).contains(&results.run.spent_ns), "{}", results.run.spent_ns);
        let note = "the user ended the rounds after 1";
        assert!(
            results.run.notes.iter().any(|said| said.contains(note)),
            "{:?}",
            results.run.notes
        );
        let report = bench.command(&["report", &bench.out().to_string_lossy()]).output();
        let report = String::from_utf8(report.expect("a report").stdout).expect("text");
        assert!(report.contains("bridge") && !report.contains("INCOMPLETE"), "{report}");
    }
    lines_and_answer(&told);
    events_with_answers(&events);

    // What is left of the time is used later.
    let before = benches[0].results();
    let done = benches[0].resume(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let after = benches[0].results();
    assert_eq!((after.run.status, after.run.session), (RunStatus::Complete, 2));
    assert!(after.run.plan.rounds > before.run.plan.rounds, "{}", done.story());
    assert_eq!(after.lines[..before.lines.len()], before.lines);
    let made = after.records.iter().map(|record| record.round).max();
    assert_eq!(made, Some(after.run.plan.rounds));
}

/// Without a terminal nothing is drawn: there are a line after ten seconds, and the answer.
fn lines_and_answer(done: &Finished) {
    assert!(!done.stderr.contains(['\u{1b}', '\r']), "{}", done.story());
    let is_place = |line: &&str| line.contains("s of 20s, round ") && line.starts_with("1");
    let places: Vec<&str> = done.stderr.lines().filter(is_place).collect();
    assert_eq!(places.len(), 1, "one in eleven seconds: {}", done.story());
    assert!(places[0].ends_with(" of 1 decided"), "{}", places[0]);
    assert!(done.stderr.contains("the user ended the rounds after"), "{}", done.story());
    assert!(done.stdout.contains("bridge") && done.stdout.contains("better:"), "{}", done.story());
}

/// For programs there is an answer after ten seconds, and one before the end.
fn events_with_answers(done: &Finished) {
    let events: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let name = |event: &Value| event["event"].as_str().unwrap_or_default().to_owned();
    let names: Vec<String> = events.iter().map(name).collect();
    assert_eq!(names[names.len() - 2..], ["answer", "run_done"]);
    let answers: Vec<&Value> = events.iter().filter(|event| name(event) == "answer").collect();
    assert_eq!(answers.len(), 2, "{names:?}");
    for answer in answers {
        assert_eq!(
            (&answer["schema"], &answer["comparisons"]),
            (&"hopbench.event/1".into(), &1.into())
        );
        assert!(answer["decided"].as_u64().is_some_and(|decided| decided <= 1), "{answer}");
        let verdicts = answer["verdicts"].as_array().expect("a list");
        let first = &verdicts[0];
        assert_eq!((&first["path"], &first["workload"]), (&"bridge".into(), &"ask".into()));
        assert!(first["figure"].is_string() && first["verdict"]["outcome"].is_string(), "{first}");
        let figure = |key: &str| first[key].as_f64().unwrap_or(f64::NAN);
        assert!(figure("low") < figure("ratio") && figure("ratio") < figure("high"), "{first}");
    }
}
