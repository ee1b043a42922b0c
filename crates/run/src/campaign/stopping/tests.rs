use hopbench_model::{Point, SearchGoal, fixture};
use serde_json::{Value, json};

use super::*;

/// So many paths, `p0` the baseline, and points of `rr`, all with each other: cell
/// `path * points + point`.
pub(in crate::campaign) fn plan(paths: usize, points: usize, rule: Option<StopRule>) -> Plan {
    let point = |i: usize| Point {
        point: BTreeMap::from([("n".to_owned(), json!(i))]),
        ..fixture::point("w", fixture::job("rr", json!({})))
    };
    let paths = (0..paths).map(|i| fixture::path(&format!("p{i}"))).collect();
    let points = (0..points).map(point).collect();
    Plan {
        rounds: 20,
        baseline: Some("p0".to_owned()),
        stop: rule,
        seed: 7,
        ..fixture::plan(paths, points)
    }
}

fn rule() -> StopRule {
    StopRule {
        half_width_share: 0.02,
        metric: "throughput".to_owned(),
        min_rounds: 3,
        budget_ns: None,
    }
}

fn record(round: u32, requests_per_s: f64) -> Record {
    Record { round, ..fixture::record(&[("requests_per_s", requests_per_s)]) }
}

fn cells(open: &[Open]) -> Vec<(usize, usize)> {
    open.iter().map(|open| (open.cell.path, open.cell.point)).collect()
}

/// A round of all its cells, whose values these are by path and point.
fn make(stopping: &mut Stopping<'_>, round: u32, value: impl Fn(usize, usize) -> f64) {
    let open = stopping.round(round);
    stopping.begin(round, &open);
    for Open { cell, .. } in open {
        stopping.take(cell, &record(round, value(cell.path, cell.point)));
    }
}

fn quiet(round: u32) -> f64 {
    100.0 + 0.1 * f64::from(round % 3)
}

fn wild(round: u32) -> f64 {
    100.0 + 20.0 * f64::from(round % 2)
}

#[test]
fn a_cell_goes_on_until_it_is_sure_and_takes_the_baseline_along() {
    let plan = plan(3, 2, Some(rule()));
    let mut stopping = Stopping::new(&plan);
    for round in 1..=3 {
        assert_eq!(stopping.round(round).len(), 6, "round {round}");
        // Only path 1 at point 1 is restless.
        make(&mut stopping, round, |path, point| {
            if (path, point) == (1, 1) { wild(round) } else { quiet(round) }
        });
    }
    assert_eq!(cells(&stopping.round(4)), [(0, 1), (1, 1)]);
    let stopped = stopping.stopped(false);
    let names: Vec<_> =
        stopped.iter().map(|s| (s.path.as_str(), s.point.as_str(), s.rounds, s.why)).collect();
    let narrow = StopWhy::Narrow;
    assert_eq!(
        names,
        [
            ("p0", "n=0", 3, narrow),
            ("p1", "n=0", 3, narrow),
            ("p2", "n=0", 3, narrow),
            ("p2", "n=1", 3, narrow)
        ]
    );
    // The mean of 100.1, 100.2 and 100.0, give or take: Student's t with 2 degrees at 95.8 %.
    let share = stopped[0].half_width_share.unwrap();
    assert!((0.0025..0.003).contains(&share), "{share}");
    assert_eq!(stopping.ended(false), CellsEnded { narrow: 4, open: 2, ..CellsEnded::default() });
    // It calms down: from many values near each other the interval gets narrow, and both end
    // together.
    for round in 4..=16 {
        make(&mut stopping, round, |_, _| quiet(round));
    }
    assert_eq!(cells(&stopping.round(17)), []);
    let stopped = stopping.stopped(false);
    let last: BTreeSet<u32> =
        stopped.iter().filter(|s| s.point == "n=1" && s.path != "p2").map(|s| s.rounds).collect();
    assert_eq!((stopped.len(), last.len()), (6, 1), "{stopped:?}");
    assert!(last.iter().all(|round| (10..=16).contains(round)), "{last:?}");
}

#[test]
fn the_twin_goes_where_the_baseline_goes() {
    let plan = Plan { twin: Some("p2".to_owned()), ..plan(3, 1, Some(rule())) };
    for restless in 0..3 {
        let mut stopping = Stopping::new(&plan);
        for round in 1..=3 {
            make(
                &mut stopping,
                round,
                |path, _| if path == restless { wild(round) } else { quiet(round) },
            );
        }
        let expected: &[(usize, usize)] =
            if restless == 1 { &[(0, 0), (1, 0), (2, 0)] } else { &[(0, 0), (2, 0)] };
        assert_eq!(cells(&stopping.round(4)), expected, "{restless}");
    }
}

#[test]
fn the_time_ends_what_is_not_sure() {
    let plan = plan(2, 2, Some(rule()));
    let mut stopping = Stopping::new(&plan);
    for round in 1..=4 {
        make(&mut stopping, round, |path, point| {
            if (path, point) == (1, 1) { wild(round) } else { quiet(round) }
        });
    }
    let stopped = stopping.stopped(true);
    let whys: Vec<_> =
        stopped.iter().map(|s| (s.path.as_str(), s.point.as_str(), s.rounds, s.why)).collect();
    let (narrow, budget) = (StopWhy::Narrow, StopWhy::Budget);
    // The baseline of the last is sure, and went on for its sake.
    assert_eq!(
        whys,
        [
            ("p0", "n=0", 3, narrow),
            ("p0", "n=1", 4, narrow),
            ("p1", "n=0", 3, narrow),
            ("p1", "n=1", 4, budget)
        ]
    );
    let widest = stopping.widest(5, &stopping.round(5)).unwrap();
    assert_eq!(stopped[3].half_width_share, Some(widest));
    assert!(widest > 0.1, "{widest}");
    assert_eq!(
        stopping.ended(true),
        CellsEnded { narrow: 3, by_budget: 1, ..CellsEnded::default() }
    );
    // Two rounds are no interval worth speaking of, and one is none.
    let mut short = Stopping::new(&plan);
    make(&mut short, 1, |_, _| 1.0);
    assert!(
        short
            .stopped(true)
            .iter()
            .all(|s| (s.rounds, s.why, s.half_width_share) == (1, budget, None))
    );
}

#[test]
fn all_rounds_are_no_stop() {
    let plan = Plan { rounds: 4, ..plan(1, 1, Some(rule())) };
    let mut stopping = Stopping::new(&plan);
    for round in 1..=4 {
        make(&mut stopping, round, |_, _| wild(round));
    }
    assert_eq!(stopping.round(5), []);
    let stopped = stopping.stopped(false);
    assert!(
        matches!(
            &stopped[..],
            [Stopped { rounds: 4, why: StopWhy::Rounds, half_width_share: Some(share), .. }]
                if *share > 0.02
        ),
        "{stopped:?}"
    );
    assert_eq!(stopping.ended(false), CellsEnded { by_rounds: 1, ..CellsEnded::default() });
    let mut sure = Stopping::new(&plan);
    for round in 1..=4 {
        let open = sure.round(1);
        sure.begin(round, &open);
        sure.take(plan.cells[0], &record(round, quiet(round)));
    }
    assert!(matches!(sure.stopped(false)[..], [Stopped { rounds: 4, why: StopWhy::Narrow, .. }]));
}

#[test]
fn without_a_rule_every_cell_has_all_rounds() {
    let plan = Plan { rounds: 4, ..plan(2, 1, None) };
    let mut stopping = Stopping::new(&plan);
    for round in 1..=4 {
        let open = stopping.round(round);
        assert_eq!((open.len(), open[0].more), (2, 4 - round));
        make(&mut stopping, round, |_, _| 100.0);
    }
    assert_eq!(
        (stopping.round(5).len(), stopping.stopped(true).len(), stopping.news().len()),
        (0, 0, 0)
    );
}

#[test]
fn a_trial_without_figures_is_no_value() {
    let plan = plan(1, 1, Some(rule()));
    let mut stopping = Stopping::new(&plan);
    let cell = plan.cells[0];
    let broken = [
        Record { error: Some("no proof".to_owned()), ..record(3, 100.0) },
        Record { incomplete: Some("it died".to_owned()), ..record(3, 100.0) },
        Record { testbed_changed: Some("a pod moved".to_owned()), ..record(3, 100.0) },
    ];
    for round in 1..=2 {
        make(&mut stopping, round, |_, _| quiet(round));
    }
    let open = stopping.round(3);
    stopping.begin(3, &open);
    broken.iter().for_each(|record| stopping.take(cell, record));
    assert_eq!(cells(&stopping.round(4)), [(0, 0)], "two values are not enough");
    make(&mut stopping, 4, |_, _| quiet(4));
    assert_eq!(stopping.round(5), []);
    assert_eq!(stopping.stopped(false)[0].rounds, 4, "the hole is among them");
}

/// What was measured before is found by its names, and what searches asked for is not.
#[test]
fn rounds_of_earlier_sessions_decide_as_if_they_were_of_this_one() {
    let plan = plan(2, 1, Some(rule()));
    let mut live = Stopping::new(&plan);
    let mut kept = Vec::new();
    for round in 1..=5 {
        let open = live.round(round);
        live.begin(round, &open);
        for Open { cell, .. } in open {
            let value = if cell.path == 1 { wild(round) } else { quiet(round) };
            let (path, at) = plan.at(cell);
            let (path, workload, point) =
                (path.name.clone(), at.workload.clone(), at.point.clone());
            let record = Record { path, workload, point, session: round, ..record(round, value) };
            live.take(cell, &record);
            kept.push(record);
        }
    }
    let step: Value = json!({
        "goal": "knee", "step": 6, "parameter": "n", "load": 0.0, "why": "raise", "figure": "x",
        "within": true,
    });
    let searched =
        Record { search: serde_json::from_value(step).unwrap(), round: 6, ..kept[0].clone() };
    let mut back = Stopping::new(&plan);
    back.take_all(kept.into_iter().chain([searched]));
    for round in 1..=20 {
        assert_eq!(back.round(round), live.round(round), "round {round}");
    }
    assert_eq!(back.stopped(true), live.stopped(true));
}

#[test]
fn the_rounds_to_come_are_guessed_and_the_baseline_has_those_of_its_partners() {
    let plan = plan(2, 1, Some(rule()));
    let mut stopping = Stopping::new(&plan);
    assert_eq!(stopping.round(1).iter().map(|open| open.more).collect::<Vec<_>>(), [2, 2]);
    make(&mut stopping, 1, |path, _| if path == 1 { 98.0 } else { 100.0 });
    make(&mut stopping, 2, |path, _| if path == 1 { 102.0 } else { 100.0 });
    assert_eq!(
        (stopping.round(3)[0].more, stopping.widest(3, &stopping.round(3))),
        (0, None),
        "the width of two values says nothing"
    );
    make(&mut stopping, 3, |_, _| 100.0);
    let share = stopping.widest(4, &stopping.round(4)).unwrap();
    let expected = (3.0 * (share / 0.02).powi(2)).ceil().min(20.0) as u32 - 4;
    assert_eq!(
        stopping.round(4).iter().map(|open| open.more).collect::<Vec<_>>(),
        [expected; 2],
        "{share}"
    );
    // What has no width has all rounds before it.
    let mut zero = Stopping::new(&plan);
    (1..=3).for_each(|round| make(&mut zero, round, |_, _| 0.0));
    assert_eq!(zero.round(4)[0].more, 16);
}

#[test]
fn what_is_looked_at_instead_is_said_once() {
    let p90 = StopRule { metric: "p90".to_owned(), ..rule() };
    let plan = plan(2, 2, Some(p90));
    let mut stopping = Stopping::new(&plan);
    assert_eq!(stopping.news(), Vec::<String>::new(), "nothing is known yet");
    // The records have no latency.
    make(&mut stopping, 1, |_, _| 100.0);
    assert_eq!(
        stopping.news(),
        ["stop: w: it has no p90: its rounds end when its requests_per_s is sure"]
    );
    assert_eq!(stopping.news(), Vec::<String>::new());
    make(&mut stopping, 2, |_, _| 100.0);
    make(&mut stopping, 3, |_, _| 100.0);
    assert_eq!(stopping.round(4), []);
    let stopped = stopping.stopped(false);
    assert!(
        stopped.len() == 4 && stopped.iter().all(|s| s.figure == "requests_per_s" && s.instead),
        "{stopped:?}"
    );
}

#[test]
fn a_cell_that_is_searched_has_no_rounds() {
    let mut plan = plan(1, 2, Some(rule()));
    let goal =
        SearchGoal::Knee { connections: vec![1, 2], threads: Vec::new(), least_growth: 0.05 };
    plan.points[0].search = Some(fixture::search(goal));
    let stopping = Stopping::new(&plan);
    assert_eq!((stopping.count(), cells(&stopping.round(1))), (1, vec![(0, 1)]));
}
