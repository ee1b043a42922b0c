//! Cells that stay prepared between their trials.

use std::collections::BTreeMap;

use hopbench_model::{Plan, Record, Schedule};
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, run};
use crate::plans::{job, path, plan, point};

/// By cell, round by round: whether the connections stood.
fn stood(records: &[Record]) -> BTreeMap<String, Vec<bool>> {
    let mut cells: BTreeMap<String, Vec<(u32, bool)>> = BTreeMap::new();
    for record in records {
        let cell = format!("{} {}", record.path, record.workload);
        let stood = record.settings.contains_key("visit");
        cells.entry(cell).or_default().push((record.round, stood));
    }
    let in_order = |mut rounds: Vec<(u32, bool)>| {
        rounds.sort_unstable();
        rounds.into_iter().map(|(_, stood)| stood).collect()
    };
    cells.into_iter().map(|(cell, rounds)| (cell, in_order(rounds))).collect()
}

#[test]
fn what_can_stay_prepared_is_visited_from_the_second_round_on() {
    let dir = tempfile::tempdir().unwrap();
    let stream = json!({"size": "128KiB", "direction": "to-server", "receive": "copy"});
    let mut rated = job("rr", json!({"size": "1B"}), 2, 100);
    rated.schedule = Schedule::Rate(2000.0);
    let points = vec![
        point("ask", &[], job("rr", json!({"size": "1B"}), 2, 100)),
        point("rated", &[], rated),
        point("bulk", &[], job("stream", stream, 2, 100)),
        point("connect", &[], job("crr", json!({"size": "1B"}), 1, 100)),
    ];
    let mut bed = Bed::default();
    run(
        Plan { stay_connected: true, ..plan(vec![path("x", 1, 1), path("y", 2, 1)], points, 3) },
        dir.path(),
        &mut bed,
        &mut Follower::default(),
    )
    .unwrap();
    let (file, records) = contents(dir.path());
    assert!(file.failures.is_empty(), "{:?}", file.failures);
    let stood = stood(&records);
    for (cell, rounds) in &stood {
        let stays = !cell.ends_with("connect");
        assert_eq!(*rounds, [false, stays, stays], "{cell}");
    }
    assert_eq!(stood.len(), 8);
    assert!(bed.opened.values().all(|sessions| *sessions == 1), "{:?}", bed.opened);
    for record in &records {
        let what = format!("{} {} round {}", record.path, record.workload, record.round);
        assert!(record.invariants.iter().all(|invariant| invariant.ok), "{what}");
        let warmup_ns = record.job["timing"]["warmup_ns"].as_u64().unwrap();
        let stood = record.settings.contains_key("visit");
        assert!(!stood || record.workload == "bulk" || warmup_ns <= 10_000_000, "{what}");
        if record.workload == "rated" {
            // 2000/s for 100 ms, of each client.
            let clients = if record.path == "y" { 2.0 } else { 1.0 };
            assert_eq!(record.metrics["intended_per_s"], 2000.0 * clients, "{what}");
        }
    }
}

#[test]
fn a_cell_that_was_lost_is_prepared_again() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("ask", &[], job("rr", json!({"size": "1B"}), 2, 200))];
    let mut bed = Bed::default();
    bed.trouble.insert("x".to_owned(), Trouble::Dies(100, true));
    run(
        Plan { stay_connected: true, ..plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 4) },
        dir.path(),
        &mut bed,
        &mut Follower::default(),
    )
    .unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!(file.failures.len(), 1, "{:?}", file.failures);
    let of = stood(&records);
    assert_eq!(of["y ask"], [false, true, true, true]);
    // What was measured before it died is a record, too.
    assert_eq!(of["x ask"][of["x ask"].len() - 3..], [false, true, true]);
}

/// A visit opens no connections, so it could not prove where those of a failed proof lead.
#[test]
fn connections_of_a_failed_proof_do_not_stay() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("ask", &[], job("rr", json!({"size": "1B"}), 2, 50))];
    let mut bed = Bed::default();
    bed.trouble.insert("x".to_owned(), Trouble::NoProof);
    run(
        Plan { stay_connected: true, ..plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 3) },
        dir.path(),
        &mut bed,
        &mut Follower::default(),
    )
    .unwrap();
    let of = stood(&contents(dir.path()).1);
    assert_eq!(of["y ask"], [false, true, true]);
    assert!(of["x ask"].len() >= 3 && of["x ask"].iter().all(|stood| !stood), "{of:?}");
}

#[test]
fn without_the_key_every_trial_opens_its_own_connections() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("ask", &[], job("rr", json!({"size": "1B"}), 2, 50))];
    let plan = plan(vec![path("x", 1, 1)], points, 3);
    run(plan, dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    assert_eq!(stood(&contents(dir.path()).1)["x ask"], [false; 3]);
}
