//! Sandboxes of which something dies: nothing is left.

use std::collections::BTreeSet;

use hopbench_model::RunStatus;

use super::sandboxed::{Sandboxed, beneath, command_line, turn};
use crate::lab::User;
use crate::lab::namespace::outside;
use crate::lab::process::signal;
use crate::lab::program::Running;
use crate::lab::wait::{MS, S, pause, until};

const SCENARIO: &str = "
name: ends
time: 400ms
warmup: 50ms
interval: 50ms
rounds: 6
paths:
  boxed: bridge@a -> bridge+runsc@b
workloads:
  ask: {rr: {}}
";

/// The processes of the first sandbox that a run has, as soon as a record is there.
fn sandbox(sandboxed: &Sandboxed, run: &Running) -> Vec<(u32, String)> {
    let records = sandboxed.bench().out().join("records.jsonl");
    let measured = || std::fs::read_to_string(&records).is_ok_and(|text| text.contains('\n'));
    assert!(until(30 * S, || measured().then_some(())).is_some(), "no record");
    beneath(run.pid())
}

#[test]
fn a_conductor_that_is_killed_leaves_no_sandbox() {
    let Some(_turn) = turn(outside) else {
        return;
    };
    for user in User::all() {
        let sandboxed = Sandboxed::new(user, SCENARIO);
        let run = sandboxed.start();
        let all = sandbox(&sandboxed, &run);
        let of_runsc = all.iter().filter(|(_, line)| line.contains("runsc-sandbox")).count();
        assert_eq!(of_runsc, 1, "{user}: {all:?}");
        run.signal("KILL");
        let _ = run.finish();
        let left = || {
            all.iter().filter(|(pid, line)| !line.is_empty() && command_line(*pid) == *line).count()
        };
        let gone = until(5 * S, || (left() == 0).then_some(()));
        assert!(gone.is_some(), "{user}: {} of {} processes are left", left(), all.len());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        assert!(!mounts.contains("hopbench-runtimes"), "{user}: {mounts}");
        assert!(!left_in_run(), "{user}: files are left in /run");
    }
}

/// Whether the bundles of a lab are seen outside of it.
fn left_in_run() -> bool {
    let entries = std::fs::read_dir("/run").expect("/run").flatten();
    entries
        .map(|entry| entry.file_name())
        .any(|name| name.to_string_lossy().starts_with("hopbench-runtimes"))
}

#[test]
fn a_sandbox_that_dies_costs_one_trial_and_comes_back_with_its_address() {
    let Some(_turn) = turn(outside) else {
        return;
    };
    let sandboxed = Sandboxed::new(User::Caller, SCENARIO);
    let run = sandboxed.start();
    let all = sandbox(&sandboxed, &run);
    let kernel = all.iter().find(|(_, line)| line.contains("runsc-sandbox")).expect("a sandbox").0;
    // Well inside the next trial.
    pause(250 * MS);
    signal(kernel, "KILL");
    let done = run.finish();
    assert_eq!(done.code, Some(4), "{}", done.story());
    let results = sandboxed.bench().results();
    assert_eq!(results.run.status, RunStatus::Incomplete, "{}", done.story());
    // What broke in the middle left a record or a failure of its round, and only of that one.
    let whole: BTreeSet<u32> =
        results.records.iter().filter(|r| r.incomplete.is_none()).map(|r| r.round).collect();
    let cut = results.records.iter().filter(|r| r.incomplete.is_some()).map(|r| r.round);
    let broken: BTreeSet<u32> =
        cut.chain(results.run.failures.iter().map(|failure| failure.round)).collect();
    assert_eq!((whole.len(), broken.len()), (5, 1), "{whole:?} {broken:?} {}", done.story());
    assert!(whole.is_disjoint(&broken), "{whole:?} {broken:?}");
    // The one that came after it took over the same address, and answered.
    for record in results.records.iter().filter(|record| record.incomplete.is_none()) {
        crate::lab::bench::good(record);
    }
}
