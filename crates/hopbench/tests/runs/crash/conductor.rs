//! The three processes that hold a run together: outside, process 1 inside, and the conductor.

use std::collections::BTreeSet;
use std::path::Path;

use hopbench_model::RunStatus;
use hopbench_sys::clock;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::tree::{World, children, networks, processes};
use crate::lab::bench::{FILES, Results};
use crate::lab::namespace::inside_within;
use crate::lab::process::try_kill;
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{Bench, User};

const SCENARIO: &str = "
name: crash
rounds: 2
time: 100ms
warmup: 20ms
interval: 20ms
seed: 3
paths:
  overlay:    overlay@a -> overlay@b
  cluster-ip: bridge@a -> bridge@b via cluster-ip
workloads:
  ask:  {rr: {size: 64B}}
  bulk: stream
";

/// Of the moments; another one finds other faults.
const SEED: u64 = 20_260_101;
/// A run is killed this often before it may end.
const KILLS_EACH: usize = 3;
/// Kills, and the runs that they may take: where other tests have the CPUs, few kills come late in
/// a run.
const KILLS: usize = 33;
const MOST_RUNS: usize = 60;
/// By then nothing may be left.
const PATIENCE: u64 = 5 * S;

#[derive(Debug, Clone, Copy)]
enum Victim {
    Outer,
    Init,
    Conductor,
}

impl Victim {
    const ALL: [Self; 3] = [Self::Outer, Self::Init, Self::Conductor];

    /// Kills it, or whoever is there before it.
    fn kill(self, outer: u32) {
        let first = |pid: u32| children(pid).first().copied();
        let pid = match self {
            Self::Outer => Some(outer),
            Self::Init => first(outer),
            Self::Conductor => first(outer).and_then(first),
        };
        // It may have ended by itself just now.
        try_kill(pid.unwrap_or(outer));
    }
}

/// What kills came to.
#[derive(Debug, Default)]
struct Seen {
    kills: usize,
    /// Kills before there was a run to go on with, before the lab stood, when it did, and in a run
    /// that had records.
    early: usize,
    building: usize,
    standing: usize,
    measuring: usize,
}

impl Seen {
    /// Whether there were enough kills at each kind of moment.
    fn is_enough(&self) -> bool {
        self.kills >= KILLS
            && self.early >= 1
            && [self.building, self.standing, self.measuring].iter().all(|n| *n >= 5)
    }
}

#[test]
fn killed_at_any_moment_nothing_stays_and_nothing_is_lost() {
    inside_within(300 * S, || {
        let binary = World::make_own();
        let mut random = StdRng::seed_from_u64(SEED);
        let mut seen = Seen::default();
        let users = User::all();
        for number in 0..MOST_RUNS {
            if seen.is_enough() {
                break;
            }
            one_run(&binary, users[number % users.len()], number, &mut random, &mut seen);
        }
        assert!(seen.is_enough(), "{seen:?}");
    });
}

/// A run that is killed a few times and comes to its end all the same.
fn one_run(binary: &Path, user: User, number: usize, random: &mut StdRng, seen: &mut Seen) {
    let bench = Bench::with(user, SCENARIO, binary);
    let out = bench.out();
    let before = World::now(bench.work());
    let mut complete: BTreeSet<String> = BTreeSet::new();
    for kill in 0..KILLS_EACH {
        let victim = Victim::ALL[(number + kill) % 3];
        let resume = out.join("run.json").exists();
        // Reading and building takes a tenth of a second, the trials 1.5 s when nothing was
        // measured yet.
        let most_ms = [20, 100, 100, 1500, 1500][random.random_range(0..5)];
        // The first run is killed before there can be anything of it.
        let wait = if number == 0 { kill as u64 } else { random.random_range(0..most_ms) } * MS;
        let at =
            format!("run {number} of {user}, {victim:?} after {} ms, resumed: {resume}", wait / MS);
        let started = if resume { bench.start_resume(&[]) } else { bench.start(&[]) };
        let end = clock::now() + wait;
        let mut standing = false;
        while clock::now() < end {
            // The test's, the lab's, its nodes' and its pods'.
            standing |= networks().len() == 8;
            pause(2 * MS);
        }
        victim.kill(started.pid());
        let gone = until(PATIENCE, || (processes() == [1]).then_some(()));
        assert!(gone.is_some(), "{at}: {:?} are left", processes());
        let done = started.finish();
        assert_eq!(World::now(bench.work()), before, "{at}");
        if done.code == Some(0) {
            // It was faster.
            break;
        }
        assert!(matches!(done.code, None | Some(3 | 4 | 137)), "{at}: {}", done.story());
        seen.kills += 1;
        seen.standing += usize::from(standing);
        seen.building += usize::from(!standing);
        if !out.join("run.json").exists() {
            seen.early += 1;
            assert!(complete.is_empty(), "{at}");
            // There is nothing to go on with yet: it is begun again in the same folder.
            continue;
        }
        let results = Results::read(&out);
        let lines: BTreeSet<String> = results.lines.iter().cloned().collect();
        assert!(lines.is_superset(&complete), "{at}: a record was lost");
        seen.measuring += usize::from(!lines.is_empty());
        let good = results
            .records
            .iter()
            .zip(results.lines)
            .filter(|(r, _)| r.incomplete.is_none() && r.error.is_none());
        complete = good.map(|(_, line)| line).collect();
    }
    let done = if out.join("run.json").exists() { bench.resume(&[]) } else { bench.run(&[]) };
    assert_eq!(done.code, Some(0), "{}", done.story());
    assert_eq!(processes(), [1]);
    let results = bench.results();
    assert_eq!((results.run.status, results.cut), (RunStatus::Complete, 0));
    results.whole();
    let lines: BTreeSet<String> = results.lines.into_iter().collect();
    assert!(lines.is_superset(&complete), "a complete trial was measured again, or lost");
    let extra: Vec<_> =
        results.files.iter().filter(|name| !FILES.contains(&name.as_str())).collect();
    assert!(extra.is_empty() || extra == ["superseded.jsonl"], "{extra:?}");
}
