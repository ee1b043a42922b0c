use hopbench_model::{SearchGoal, fixture};
use hopbench_stats::Histogram;

use super::*;
use crate::campaign::start::new_run;
use crate::campaign::stopping::tests::plan;
use crate::campaign::supported::only;

/// A run with a budget: `p1` is twice as slow as the baseline `p0`, and of `p2` nobody can say.
/// Where there is a `p3`, nobody can say of it either.
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
    let (ns, scatter) = match path.name.as_str() {
        "p0" => (10_000.0, 0.01),
        "p1" => (20_000.0, 0.01),
        // Its rounds are by turns faster and slower than its ratio says.
        _ => (10_350.0, 0.06),
    };
    let scatter = scatter + 0.0001 * f64::from(round);
    let scatter = if round.is_multiple_of(2) { 1.0 + scatter } else { 1.0 / (1.0 + scatter) };
    let ns = ns * scatter;
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

/// The cells of each of 24 rounds, with a record of each, where these are known before.
fn walked(run: &RunFile, known: Vec<Record>) -> (Vec<Vec<Cell>>, Vec<Record>) {
    walked_on(run, &run.plan, known, |_| true)
}

/// The same in a session that measures only `plan`, where a trial on these paths leaves a record.
fn walked_on(
    run: &RunFile,
    plan: &Plan,
    known: Vec<Record>,
    works: impl Fn(&str) -> bool,
) -> (Vec<Vec<Cell>>, Vec<Record>) {
    let before: Vec<_> = known.iter().map(|r| (r.round, r.path.clone(), r.point.clone())).collect();
    let mut records = known.clone();
    let mut allocation = Allocation::of(run, plan, known.into_iter());
    let one = |round: u32| {
        allocation.look(round);
        let cells: Vec<Cell> =
            plan.cells.iter().copied().filter(|cell| allocation.has(*cell, round)).collect();
        for cell in cells.iter().filter(|cell| works(&plan.paths[cell.path].name)) {
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

/// The rounds that a path has at a point.
fn rounds_of(rounds: &[Vec<Cell>], path: usize, point: usize) -> Vec<u32> {
    let has = |cells: &Vec<Cell>| cells.contains(&Cell { path, point });
    (1..).zip(rounds).filter(|(_, cells)| has(cells)).map(|(round, _)| round).collect()
}

/// The rounds of what is clear at a point: all up to the first look, which is before round 9, and
/// then each fourth.
fn rested(point: usize) -> Vec<u32> {
    let first = [1, 2, 3, 4, 5, 6, 7, 8];
    let later = [[12, 16, 20, 24], [11, 15, 19, 23]];
    [&first[..], &later[point]].concat()
}

/// The part of a run's plan without a path.
fn without(run: &RunFile, name: &str) -> Plan {
    let plan = &run.plan;
    let stays = |cell: &&Cell| plan.paths[cell.path].name != name;
    let cells: Vec<Cell> = plan.cells.iter().filter(stays).copied().collect();
    only(plan, &cells)
}

#[test]
fn what_is_clear_has_every_fourth_round_and_takes_nothing_from_the_baseline() {
    let (rounds, _) = walked(&run(), Vec::new());
    let every: Vec<u32> = (1..=24).collect();
    for point in 0..2 {
        let of = |path: usize| rounds_of(&rounds, path, point);
        assert_eq!((of(0), of(2)), (every.clone(), every.clone()), "{point}");
        assert_eq!(of(1), rested(point));
    }
}

#[test]
fn a_path_that_is_gone_gives_its_place_to_no_other() {
    let run = of_paths(4);
    let (_, mut known) = walked(&run, Vec::new());
    known.retain(|record| record.round <= 12);
    // Now `p2` has the number that `p1` has in the whole plan.
    let plan = without(&run, "p1");
    let (rounds, _) = walked_on(&run, &plan, known, |_| true);
    for (at, cells) in rounds.iter().enumerate() {
        assert_eq!(cells.len(), plan.cells.len(), "round {}", at + 1);
    }
}

#[test]
fn rounds_before_a_path_was_gone_are_read_as_they_were_made() {
    let run = run();
    let (rounds, mut known) = walked(&run, Vec::new());
    known.retain(|record| record.round <= 14);
    // Without `p2` nothing is open.
    let plan = without(&run, "p2");
    let (again, _) = walked_on(&run, &plan, known, |_| true);
    for (at, cells) in again.iter().enumerate() {
        let was: Vec<Cell> = rounds[at].iter().copied().filter(|cell| cell.path < 2).collect();
        let expected = if at < 14 { &was } else { &plan.cells };
        assert_eq!(cells, expected, "round {}", at + 1);
    }
}

#[test]
fn a_path_that_is_gone_misses_the_rounds_that_it_was_in() {
    let mut run = run();
    let (rounds, mut known) = walked(&run, Vec::new());
    known.retain(|record| record.round <= 14);
    let plan = without(&run, "p1");
    // Its last trial failed.
    let last = CellName::of(&run.plan, Cell { path: 1, point: 0 }).trial(16);
    run.failures.push(last.failed("the program is missing".to_owned()));
    let mut allocation = Allocation::of(&run, &plan, known.into_iter());
    let mut had = Vec::new();
    for round in 1..=24 {
        allocation.look(round);
        let cell = CellName::of(&run.plan, Cell { path: 1, point: 0 });
        had.extend(Some(round).filter(|round| allocation.had(&cell.trial(*round))));
    }
    let mut expected = rounds_of(&rounds, 1, 0);
    expected.retain(|round| *round <= 16);
    assert_eq!(had, expected);
}

#[test]
fn a_path_without_records_is_in_each_round_and_no_other_rests_for_it() {
    let every: Vec<u32> = (1..=24).collect();
    // Beside `p2` there is `p3`, which is open.
    for (paths, others) in [(3, &every), (4, &rested(0))] {
        let run = of_paths(paths);
        let (rounds, _) = walked_on(&run, &run.plan, Vec::new(), |path| path != "p2");
        let of = |path: usize| rounds_of(&rounds, path, 0);
        assert_eq!((of(0), of(2)), (every.clone(), every.clone()), "{paths} paths");
        assert_eq!(of(1), *others, "{paths} paths");
    }
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
    let mut allocation = Allocation::of(&run, &run.plan, known.into_iter());
    allocation.look(9);
    let of_rounds = |cell: &&Cell| cell.point == 0;
    let mut cells = run.plan.cells.iter().filter(of_rounds);
    assert!(cells.all(|cell| (9..13).all(|round| allocation.has(*cell, round))));
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
