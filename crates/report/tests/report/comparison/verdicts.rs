//! Verdicts on the differences of two runs.

use hopbench_report::comparison::{
    Asked, CaseState, Comparison, Outcome, compare, comparison_format,
};

use super::{Made, attempt, bounded, compared, made, row, values};

const RATE: &str = "received_bits_per_s";

#[test]
fn a_slower_path_is_called_and_the_other_is_not() {
    let slower = |path: &str| if path == "bridge" { 0.9 } else { 1.0 };
    let found = compared(&made(10, 1, |_| 1.0), &made(10, 2, slower), &Asked::default());
    let rate = row(&found, "bridge", RATE);
    assert_eq!((rate.outcome, rate.is_worse), (Outcome::Worse, true), "{}", rate.text);
    assert!((0.87..0.93).contains(&rate.ratio.unwrap()), "{rate:?}");
    assert!(
        rate.low.unwrap() < 0.9 && 0.9 < rate.high.unwrap() && rate.high.unwrap() < 0.95,
        "{rate:?}"
    );
    assert!(rate.text.starts_with("slower by ") && rate.text.contains(" % ["), "{}", rate.text);
    // A latency that is longer by 11 % is slower, too.
    let latency = row(&found, "bridge", "service_p99_ns");
    assert_eq!(latency.outcome, Outcome::Worse, "{}", latency.text);
    assert!(
        latency.ratio.unwrap() > 1.08 && latency.text.starts_with("slower by 1"),
        "{latency:?}"
    );
    let other = row(&found, "host", RATE);
    assert!([Outcome::Same, Outcome::NotDecided].contains(&other.outcome), "{}", other.text);
    assert!((0.0..0.06).contains(&other.worse_by_at_most.unwrap()), "{other:?}");
    // The worst comes first, and everything that is called before the rest.
    let called: Vec<bool> = found.comparisons.iter().map(|row| row.outcome.is_called()).collect();
    assert!(called.is_sorted_by_key(|called| !called) && called[0], "{called:?}");
    let sizes: Vec<f64> = found
        .comparisons
        .iter()
        .filter(|row| row.outcome == Outcome::Worse)
        .map(|r| r.ratio.unwrap().ln().abs())
        .collect();
    assert!(sizes.len() >= 3 && sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let back = compared(&made(10, 2, slower), &made(10, 1, |_| 1.0), &Asked::default());
    let rate = row(&back, "bridge", RATE);
    assert_eq!((rate.outcome, rate.is_worse), (Outcome::Better, false));
    assert!(rate.text.starts_with("faster by "), "{}", rate.text);
}

#[test]
fn the_same_thing_twice_is_the_same() {
    let calls = |salt| {
        let found =
            compared(&made(8, salt, |_| 1.0), &made(8, salt + 100, |_| 1.0), &Asked::default());
        found.comparisons.iter().filter(|row| row.outcome.is_called()).count()
    };
    // Each of 20 pairs calls anything with 5 % at most: 4 or more of them with 1.6 %.
    assert!((0..20).filter(|salt| calls(*salt) > 0).count() <= 3);
    let one = made(8, 1, |_| 1.0);
    let itself = compared(&one, &one, &Asked::default());
    assert!(
        itself
            .comparisons
            .iter()
            .all(|row| { matches!(row.outcome, Outcome::Same | Outcome::NotDecided) }),
        "{:?}",
        itself.comparisons
    );
    assert!(itself.differences.is_empty() && itself.not_compared.is_empty());
    // Nothing was sent again: no ratio, and no difference either.
    assert_eq!(row(&itself, "host", "retransmitted_ratio").text, "same: 0 in every round");
}

#[test]
fn the_noise_floor_of_either_run_withholds() {
    let with_twin = |salt: u32, twin: f64| {
        let mut one = made(10, salt, |_| 1.0);
        let mut path = one.run.plan.paths[0].clone();
        path.name = "host-again".to_owned();
        one.run.plan.paths.push(path);
        for point in 0..2 {
            one.run.plan.cells.push(hopbench_model::Cell { path: 2, point });
        }
        one.run.plan.twin = Some("host-again".to_owned());
        super::of(one.run, salt, move |name| match (name, salt) {
            ("host-again", _) => twin,
            ("bridge", 2) => 0.9,
            _ => 1.0,
        })
    };
    for (a, b) in [(1.2, 1.0), (1.0, 1.2)] {
        let found = compared(&with_twin(1, a), &with_twin(2, b), &Asked::default());
        let rate = row(&found, "bridge", RATE);
        assert_eq!(rate.outcome, Outcome::NotDecided, "{}", rate.text);
        assert!(
            rate.text.starts_with("not decided: -2")
                && (0.15..0.25).contains(&rate.noise_floor.unwrap())
        );
        assert!(
            found.comparisons.iter().all(|row| row.path != "host-again"),
            "the second half of the pair is no path"
        );
        assert!(found.not_compared.is_empty(), "{:?}", found.not_compared);
    }
    let quiet = compared(&with_twin(1, 1.0), &with_twin(2, 1.0), &Asked::default());
    assert_eq!(row(&quiet, "bridge", RATE).outcome, Outcome::Worse);
}

#[test]
fn small_differences_are_of_no_interest_if_one_says_so() {
    let (a, b) = (made(20, 1, |_| 1.0), made(20, 2, |_| 0.95));
    let asked = Asked { minimum_effect: Some(0.1), ..Asked::default() };
    assert_eq!(row(&compared(&a, &b, &asked), "host", RATE).text, "same within 7.4 %");
    assert_eq!(row(&compared(&a, &b, &Asked::default()), "host", RATE).outcome, Outcome::Worse);
    // What the plans say counts where nothing is asked: the larger one.
    let (mut a, mut b) = (a, b);
    (a.run.plan.minimum_effect, b.run.plan.minimum_effect) = (0.1, 0.01);
    assert_eq!(compared(&a, &b, &Asked::default()).minimum_effect, 0.1);
    assert_eq!(row(&compared(&a, &b, &Asked::default()), "host", RATE).outcome, Outcome::Same);
}

#[test]
fn two_rounds_and_a_slow_generator_have_no_verdict() {
    let found = compared(&made(2, 1, |_| 1.0), &made(9, 2, |_| 0.5), &Asked::default());
    assert_eq!(row(&found, "host", RATE).text, "too few rounds (3 needed)");
    let (a, mut b) = (made(9, 1, |_| 1.0), made(9, 2, |_| 0.5));
    let cell = b.records[0].clone();
    let of_cell =
        b.records.iter_mut().filter(|r| (&r.path, &r.workload) == (&cell.path, &cell.workload));
    of_cell.filter(|r| r.round <= 5).for_each(|r| r.limited_by = "generator".to_owned());
    let found = compared(&a, &b, &Asked::default());
    let limited: Vec<_> =
        found.comparisons.iter().filter(|row| row.outcome == Outcome::Generator).collect();
    assert!(
        !limited.is_empty()
            && limited.iter().all(|row| (&row.path, &row.workload) == (&cell.path, &cell.workload))
    );
    assert_eq!(row(&found, "bridge", RATE).outcome, Outcome::Worse, "other cells have theirs");
}

#[test]
fn what_cannot_be_used_is_left_out_and_counted() {
    let (a, mut b) = (made(10, 1, |_| 1.0), made(10, 2, |_| 1.0));
    // Of the first cell; each of them would be far away.
    let bulk: Vec<usize> = (0..b.records.len())
        .filter(|at| b.records[*at].path == "host" && b.records[*at].workload == "bulk")
        .collect();
    for at in &bulk[..4] {
        b.records[*at].metrics.insert(RATE.to_owned(), 1.0);
    }
    b.records[bulk[0]].testbed_changed = Some("pod server restarted".to_owned());
    b.records[bulk[1]].incomplete = Some("interrupted".to_owned());
    b.records[bulk[2]].error = Some("no proof".to_owned());
    let astray = &mut b.records[bulk[3]];
    astray.proof[0].ok = false;
    astray.error = astray.contradiction();
    let found = compared(&a, &b, &Asked::default());
    let rate = row(&found, "host", RATE);
    assert_eq!(
        (rate.baseline.unwrap().values, rate.candidate.unwrap().values, rate.outcome),
        (10, 6, Outcome::Same)
    );
    let left_out = &found.candidate[0].left_out;
    assert_eq!(
        (left_out.in_error, left_out.cut_short, left_out.disturbed, left_out.foreign),
        (2, 1, 1, 0)
    );
    assert_eq!(found.candidate[0].used_trials, 36);
    // The later of two records of one trial counts.
    let low = rate.low.unwrap();
    let mut again = b.records[bulk[5]].clone();
    again.metrics.insert(RATE.to_owned(), 1.0);
    b.records.push(again);
    let found = compared(&a, &b, &Asked::default());
    assert_eq!(row(&found, "host", RATE).candidate.unwrap().values, 6);
    assert!(row(&found, "host", RATE).low.unwrap() < low, "its value is there");
}

#[test]
fn runs_are_compared_where_there_are_enough_of_them() {
    // Rounds agree within 2 %; runs of one thing are up to 10 % apart.
    let drift = [1.0, 1.1, 0.95, 1.04];
    let side =
        |salt: u32, at: [usize; 3]| at.map(|at| made(8, salt + at as u32, move |_| drift[at]));
    let sides = (side(1, [0, 1, 2]), side(11, [1, 2, 3]));
    let asked = Asked::default();
    let all = |made: &[Made]| made.iter().map(|made| values(made, &asked)).collect::<Vec<_>>();
    let found = compare(&all(&sides.0), &all(&sides.1), &asked).unwrap();
    let rate = row(&found, "host", RATE);
    assert_eq!(
        (found.by_run, rate.baseline.unwrap().values, rate.candidate.unwrap().values),
        (true, 3, 3)
    );
    assert_eq!(rate.outcome, Outcome::NotDecided, "{}", rate.text);
    // One run of each says more than it knows.
    assert_eq!(
        row(&attempt(&sides.0[1], &sides.1[1], &asked).unwrap(), "host", RATE).outcome,
        Outcome::Worse
    );
    // Two of each are pooled.
    let two = compare(&all(&sides.0[..2]), &all(&sides.1[..2]), &asked).unwrap();
    assert_eq!((two.by_run, row(&two, "host", RATE).baseline.unwrap().values), (false, 16));
}

/// Three runs of 12 rounds, whose medians lie close together. In two rounds of each the path
/// carries this share of the others.
fn bad_at_times(salt: u32, speed: f64, share: f64) -> [Made; 3] {
    [0, 1, 2].map(|run| {
        let mut one = made(12, salt + run, |_| 1.0);
        let is_bulk = |record: &&mut hopbench_model::Record| {
            record.path == "bridge" && record.workload == "bulk"
        };
        for record in one.records.iter_mut().filter(is_bulk) {
            let about = 1.0 + 0.001 * f64::from(record.round % 3) + 0.0005 * f64::from(run);
            let share = if matches!(record.round, 3 | 6) { share } else { 1.0 };
            record.metrics.insert(RATE.to_owned(), 8e9 * speed * about * share);
        }
        one
    })
}

/// Such runs against those that are never bad.
fn against_good(speed: f64, share: f64) -> Comparison {
    let asked = bounded(&["throughput>5%"]);
    let all = |made: &[Made]| made.iter().map(|made| values(made, &asked)).collect::<Vec<_>>();
    let (a, b) = (bad_at_times(1, 1.0, 1.0), bad_at_times(11, speed, share));
    compare(&all(&a), &all(&b), &asked).unwrap()
}

fn state(found: &Comparison) -> CaseState {
    found.bounds[0].cases.iter().find(|case| case.cell == "bridge bulk").unwrap().state
}

#[test]
fn runs_whose_medians_are_the_same_differ_if_all_rounds_together_do() {
    let good = against_good(1.0, 1.0);
    let rate = row(&good, "bridge", RATE);
    assert_eq!((rate.by_run, rate.outcome, state(&good)), (true, Outcome::Same, CaseState::Kept));
    let bad = against_good(1.0, 1.0 / 3.0);
    let rate = row(&bad, "bridge", RATE);
    assert_eq!((rate.ratio, rate.outcome), (Some(1.0), Outcome::NotDecided), "{}", rate.text);
    assert!(rate.text.ends_with(" %, but -11 % over all rounds"), "{}", rate.text);
    assert!((rate.worse_by_at_most.unwrap() - 0.111).abs() < 0.002, "{rate:?}");
    assert_eq!((state(&bad), rate.note.as_str()), (CaseState::Unseen, ""));
}

#[test]
fn a_difference_that_all_rounds_together_oppose_has_a_note() {
    let found = against_good(1.02, 0.2);
    let rate = row(&found, "bridge", RATE);
    assert_eq!((rate.outcome, rate.note.as_str()), (Outcome::Better, "over all rounds -12 %"));
    assert!(rate.text.starts_with("faster by 2.0 % ["), "{}", rate.text);
    assert_eq!(state(&found), CaseState::Unseen, "a bound is about all rounds");
    let page = |format: &str| {
        let page = (comparison_format(format).unwrap().render)(&found, false);
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let table = page("table");
    assert!(table.contains("- over all rounds -12 % (bridge bulk "), "{table}");
    assert!(page("json").contains("\"note\": \"over all rounds -12 %\""), "{}", page("json"));
    assert!(page("junit").contains("]; over all rounds -12 %\""), "{}", page("junit"));
    // Without the bad rounds there is nothing to note.
    assert_eq!(row(&against_good(1.02, 1.0), "bridge", RATE).note, "");
}

#[test]
fn losses_that_were_not_there_are_seen() {
    let lossy = |salt: u32, lost: [f64; 8]| {
        let mut one = made(8, salt, |_| 1.0);
        for record in one
            .records
            .iter_mut()
            .filter(|record| record.path == "bridge" && record.workload == "ask")
        {
            record.metrics.insert("lost_ratio".to_owned(), lost[record.round as usize - 1]);
        }
        one
    };
    let asked = bounded(&["lost_ratio>5%"]);
    let some = [0.01, 0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.08];
    let found = compared(&lossy(1, [0.0; 8]), &lossy(2, some), &asked);
    let lost = row(&found, "bridge", "lost_ratio");
    assert_eq!((lost.outcome, lost.ratio, lost.is_worse), (Outcome::More, None, true), "{lost:?}");
    assert_eq!(lost.text, "higher: 0 % before, 2.50 % now", "the mean, and not the median");
    assert_eq!(found.broken().count(), 1);
    let better = compared(&lossy(1, some), &lossy(2, [0.0; 8]), &asked);
    assert_eq!(
        (row(&better, "bridge", "lost_ratio").outcome, better.broken().count()),
        (Outcome::Less, 0)
    );
    // A loss now and then on both sides is none, and what the bound could not see is told.
    let rare = |at: usize| std::array::from_fn(|round| if round == at { 0.02 } else { 0.0 });
    let found = compared(&lossy(1, rare(2)), &lossy(2, rare(5)), &asked);
    let lost = row(&found, "bridge", "lost_ratio");
    assert_eq!(lost.text, "no ratio: 0 in 7 of 8 before, 7 of 8 now");
    assert_eq!(lost.both(), "0.25 -> 0.25 %");
    assert!(
        found.broken().count() == 0
            && found.warnings()[0].contains("nothing can be said of 1 cell")
    );
}

#[test]
fn losses_of_a_run_are_the_mean_of_its_rounds() {
    // Of each run a quarter of the trials lose, which no median shows.
    let side = |salt: u32, lost: f64| {
        [0, 1, 2].map(|run| {
            let mut one = made(8, salt + run, |_| 1.0);
            for record in one.records.iter_mut().filter(|record| record.workload == "ask") {
                let share = if record.round.is_multiple_of(4) { lost } else { 0.0 };
                record.metrics.insert("lost_ratio".to_owned(), share);
            }
            one
        })
    };
    let asked = bounded(&["lost_ratio>5%"]);
    let all = |made: &[Made]| made.iter().map(|made| values(made, &asked)).collect::<Vec<_>>();
    let (a, b) = (side(1, 0.02), side(11, 0.08));
    let found = compare(&all(&a), &all(&b), &asked).unwrap();
    let lost = row(&found, "bridge", "lost_ratio");
    assert_eq!((lost.by_run, lost.both().as_str()), (true, "0.50 -> 2.00 %"));
    assert_eq!(lost.outcome, Outcome::More, "{}", lost.text);
}

#[test]
fn shares_that_were_nothing_are_held_against_the_minimum_effect_and_the_floor_by_their_difference()
{
    let some = [0.01, 0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.01];
    // The means are 0 % and 1.625 %; `twin`: of the second half of the A/A pair, whose first half
    // lost nothing.
    let lossy = |salt: u32, lost: [f64; 8], twin: f64| {
        let mut one = made(8, salt, |_| 1.0);
        let mut path = one.run.plan.paths[0].clone();
        path.name = "host-again".to_owned();
        one.run.plan.paths.push(path);
        one.run.plan.cells.extend((0..2).map(|point| hopbench_model::Cell { path: 2, point }));
        one.run.plan.twin = Some("host-again".to_owned());
        let mut one = super::of(one.run, salt, |_| 1.0);
        for record in one.records.iter_mut().filter(|record| record.workload == "ask") {
            let at = record.round as usize - 1;
            let share = [("host", 0.0), ("bridge", lost[at]), ("host-again", twin)];
            let share = share.iter().find(|(name, _)| *name == record.path).unwrap().1;
            record.metrics.insert("lost_ratio".to_owned(), share);
        }
        one
    };
    let outcome = |least: f64, twin: f64| {
        let asked = Asked { minimum_effect: Some(least), ..bounded(&["lost_ratio>5%"]) };
        let found = compared(&lossy(1, [0.0; 8], twin), &lossy(2, some, 0.0), &asked);
        (row(&found, "bridge", "lost_ratio").outcome, found.broken().count())
    };
    assert_eq!(outcome(0.0, 0.0), (Outcome::More, 1));
    assert_eq!(outcome(0.01, 0.0), (Outcome::More, 1));
    assert_eq!(outcome(0.02, 0.0), (Outcome::MinimumEffect, 0));
    assert_eq!(outcome(0.0, 0.01), (Outcome::More, 1));
    assert_eq!(outcome(0.0, 0.02), (Outcome::NoiseFloor, 0));
}

#[test]
fn a_cell_that_too_few_runs_have_is_compared_by_rounds_and_said_so() {
    let side = |salt: u32| [0, 1, 2].map(|run| made(8, salt + run, |_| 1.0));
    let (a, mut b) = (side(1), side(11));
    b[2].records.retain(|record| record.path != "bridge" || record.workload != "bulk");
    let asked = Asked::default();
    let all = |made: &[Made]| made.iter().map(|made| values(made, &asked)).collect::<Vec<_>>();
    let found = compare(&all(&a), &all(&b), &asked).unwrap();
    let by_rounds: std::collections::BTreeSet<_> =
        found.comparisons.iter().filter(|row| !row.by_run).map(|row| row.cell()).collect();
    assert_eq!((found.by_run, by_rounds), (false, ["bridge bulk".to_owned()].into()));
    assert_eq!(row(&found, "bridge", RATE).candidate.unwrap().values, 16);
    let text = (comparison_format("markdown").unwrap().render)(&found, false);
    assert!(text.contains("Values are runs"), "{text}");
    assert!(
        text.contains("Not so in 1 cell with too few runs, where figures are rounds: bridge bulk."),
        "{text}"
    );
}
