//! An agent dies: its trial fails, the others go on.

use std::fs;
use std::path::Path;

use hopbench_model::RunStatus;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::tree::{World, agents, processes};
use crate::lab::namespace::inside_within;
use crate::lab::process::try_kill;
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{Bench, User};

/// One path: its two agents take part in every trial.
const SCENARIO: &str = "
name: agents
rounds: 2
time: 500ms
warmup: 20ms
interval: 50ms
paths: {bridge: bridge@a -> bridge@b}
workloads: {ask: {rr: {size: 64B}}}
";

const SEED: u64 = 20_260_102;
const KILLS: usize = 8;

#[test]
fn an_agent_that_dies_costs_its_trial_and_no_other() {
    inside_within(300 * S, || {
        let binary = World::make_own();
        let mut random = StdRng::seed_from_u64(SEED);
        let users = User::all();
        for number in 0..KILLS {
            // Half of them for certain inside the window of the first trial, half at any moment of
            // the run.
            let certain = number % 2 == 0;
            let wait = random.random_range(if certain { 50..300 } else { 0..1200 });
            one_run(&binary, users[number / 2 % users.len()], number / 2 % 2, certain, wait * MS);
        }
    });
}

/// Whether an agent has a connection in its pod: the load of a trial.
fn has_flow(agent: u32) -> bool {
    let table = fs::read_to_string(format!("/proc/{agent}/net/tcp")).unwrap_or_default();
    let is_established = |line: &str| line.split_whitespace().nth(3) == Some("01");
    table.lines().skip(1).any(is_established)
}

/// The agent `which` is killed `wait` ns after both were started, or, to be `certain`, after the
/// first trial began.
fn one_run(binary: &Path, user: User, which: usize, certain: bool, wait: u64) {
    let bench = Bench::with(user, SCENARIO, binary);
    let before = World::now(bench.work());
    let started = bench.start(&[]);
    let both = until(20 * S, || Some(agents(started.pid())).filter(|agents| agents.len() == 2));
    let both = both.expect("two agents");
    let victim = both[which];
    if certain {
        until(20 * S, || has_flow(both[1]).then_some(())).expect("a trial");
    }
    pause(wait);
    let at = format!("agent {which} of {user} after {} ms", wait / MS);
    try_kill(victim);
    let done = started.finish();
    assert_eq!(World::now(bench.work()), before, "{at}");
    assert_eq!(processes(), [1], "{at}");
    let results = bench.results();
    assert!(fs::read_to_string(bench.out().join("report.html")).is_ok(), "{at}: no report");
    if done.code == Some(0) && !certain {
        // It was not needed any more, or not yet.
        return results.whole();
    }
    assert_eq!(done.code, Some(4), "{at}: {}", done.story());
    assert!(
        done.stderr.contains("FAILED round") && done.stderr.contains("--resume"),
        "{at}: {}",
        done.story()
    );
    assert_eq!(results.run.status, RunStatus::Incomplete, "{at}");
    // Said once: by what was measured until then, or, where that is nothing, by run.json.
    let cut = results.records.iter().filter_map(|r| Some((r.incomplete.clone()?, r.round)));
    let failed = results.run.failures.iter().map(|failure| (failure.reason.clone(), failure.round));
    let told: Vec<(String, u32)> = cut.chain(failed).collect();
    let [(reason, round)] = &told[..] else { panic!("{at}: {told:?}") };
    let name = ["bridge@a", "bridge@b"][which];
    assert!(reason.contains("agent") && reason.contains(name), "{at}: {reason}");
    // The other round has its record.
    let complete: Vec<&String> = results
        .records
        .iter()
        .zip(&results.lines)
        .filter(|(r, _)| r.incomplete.is_none())
        .map(|(_, l)| l)
        .collect();
    assert_eq!(complete.len(), 1, "{at}: {}", done.story());
    assert!(results.records.iter().all(|r| r.incomplete.is_none() || r.round == *round), "{at}");

    let done = bench.resume(&[]);
    assert_eq!(done.code, Some(0), "{at}: {}", done.story());
    let after = bench.results();
    assert_eq!((after.run.status, after.run.failures.len()), (RunStatus::Complete, 0), "{at}");
    assert!(after.lines.contains(complete[0]), "{at}: a complete trial was measured again");
    after.whole();
}
