use hopbench_model::{SearchGoal, fixture};
use hopbench_stats::Histogram;

use super::*;
use crate::campaign::start::new_run;
use crate::campaign::stopping::tests::plan;

/// A run with a budget: `p1` is twice as slow as the baseline `p0`, and of `p2` nobody can say.
fn run() -> RunFile {
    of_paths(3)
}

/// The same of the first paths only.
fn of_paths(paths: usize) -> RunFile {
    let plan = Plan { budget_ns: Some(1_000_000_000), ..plan(paths, 2, None) };
    let hello = hopbench_agent::hello();
    RunFile { run_id: String::new(), ..new_run(plan, String::new(), &hello).unwrap() }
}

fn record(plan: &Plan, cell: Cell, round: u32) -> Record {
    let (path, point) = plan.at(cell);
    // Rounds of `p2` are by turns faster and slower than its ratio says.
    let scatter = if cell.path < 2 { 0.01 } else { 0.06 };
    let scatter = scatter + 0.0001 * f64::from(round);
    let scatter = if round.is_multiple_of(2) { 1.0 + scatter } else { 1.0 / (1.0 + scatter) };
    let ns = [10_000.0, 20_000.0, 10_350.0][cell.path] * scatter;
    let mut seen = Histogram::new();
    (0..1000).for_each(|_| seen.record(ns as u64));
    let mut record = Record {
        round,
        path: path.name.clone(),
        workload: point.workload.clone(),
        point: point.point.clone(),
        ..fixture::record(&[("requests_per_s", 1e9 / ns)])
    };
    record.latency.insert("service_ns".to_owned(), seen.summary());
    record
}

/// The cells of each of 24 rounds, with a record of each; rounds up to this one are known before.
fn walked(run: &RunFile, known: Vec<Record>) -> (Vec<Vec<Cell>>, Vec<Record>) {
    let plan = &run.plan;
    let before: Vec<_> = known.iter().map(|r| (r.round, r.path.clone(), r.point.clone())).collect();
    let mut records = known.clone();
    let mut allocation = Allocation::of(run, known.into_iter());
    let one = |round: u32| {
        allocation.look(plan, round);
        let cells: Vec<Cell> =
            plan.cells.iter().copied().filter(|cell| allocation.has(plan, *cell, round)).collect();
        for cell in &cells {
            let record = record(plan, *cell, round);
            if !before.contains(&(round, record.path.clone(), record.point.clone())) {
                allocation.take(record.clone());
                records.push(record);
            }
        }
        cells
    };
    ((1..=24).map(one).collect(), records)
}

#[test]
fn what_is_clear_has_every_fourth_round_and_takes_nothing_from_the_baseline() {
    let (rounds, _) = walked(&run(), Vec::new());
    let of = |path: usize, point: usize| -> Vec<u32> {
        let has = |cells: &Vec<Cell>| cells.contains(&Cell { path, point });
        (1..).zip(&rounds).filter(|(_, cells)| has(cells)).map(|(round, _)| round).collect()
    };
    let every: Vec<u32> = (1..=24).collect();
    for point in 0..2 {
        assert_eq!((of(0, point), of(2, point)), (every.clone(), every.clone()), "{point}");
    }
    // The first look is before round 9.
    let first = [1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(of(1, 0), [&first[..], &[12, 16, 20, 24]].concat());
    assert_eq!(of(1, 1), [&first[..], &[11, 15, 19, 23]].concat());
}

#[test]
fn where_all_is_clear_nothing_rests() {
    let run = of_paths(2);
    let (rounds, _) = walked(&run, Vec::new());
    assert!(rounds.iter().all(|cells| cells.len() == run.plan.cells.len()), "{rounds:?}");
}

#[test]
fn what_is_searched_needs_no_time_of_the_rounds() {
    let mut run = of_paths(2);
    let mut known = walked(&run, Vec::new()).1;
    known.retain(|record| record.round < 9 && record.point == run.plan.points[0].point);
    let goal =
        SearchGoal::Knee { connections: vec![1, 2], threads: Vec::new(), least_growth: 0.05 };
    run.plan.points[1].search = Some(fixture::search(goal));
    let mut allocation = Allocation::of(&run, known.into_iter());
    allocation.look(&run.plan, 9);
    let of_rounds = |cell: &&Cell| cell.point == 0;
    let mut cells = run.plan.cells.iter().filter(of_rounds);
    assert!(cells.all(|cell| (9..13).all(|round| allocation.has(&run.plan, *cell, round))));
}

#[test]
fn a_run_that_goes_on_makes_the_trials_that_it_would_have_made() {
    let run = run();
    let (rounds, records) = walked(&run, Vec::new());
    for known in [1, 8, 9, 15, 24] {
        let known: Vec<Record> = records.iter().filter(|r| r.round <= known).cloned().collect();
        assert_eq!(walked(&run, known).0, rounds);
    }
}

#[test]
fn without_a_budget_or_a_baseline_each_cell_is_in_each_round() {
    let whole = run();
    let mut rounds = whole.clone();
    rounds.plan.budget_ns = None;
    let mut alone = whole;
    alone.plan.baseline = None;
    for run in [rounds, alone] {
        let (rounds, _) = walked(&run, Vec::new());
        assert!(rounds.iter().all(|cells| cells.len() == run.plan.cells.len()));
    }
}
