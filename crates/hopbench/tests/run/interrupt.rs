//! Ctrl-C, and what is measured afterwards.

use std::os::unix::process::CommandExt;

use hopbench_model::RunStatus;

use crate::lab::bench::FILES;
use crate::lab::namespace::outside;
use crate::lab::process::signal_group;
use crate::lab::program::Running;
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
    let Some(_turn) = outside("what_is_interrupted_keeps_what_there_is_and_goes_on_later") else {
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
