//! Loads that searches found in two runs, compared.

use hopbench_model::{Failure, SearchGoal, SearchOutcome};
use hopbench_report::comparison::{
    Asked, CaseState, Comparison, Outcome, Row, compare, comparison_format,
};
use serde_json::Value;

use super::{Made, attempt, bounded, compared, values};
use crate::campaign::searched::{self, At, SLO};

const SEARCH: At<'static> =
    At { path: 0, point: SLO, goal: "slo", parameter: "rate", figure: "response_ns p99" };

/// A run of the SLO search whose paths, by index, come to this.
fn ended(salt: u32, ends: &[(usize, SearchOutcome)]) -> Made {
    let mut run = searched::run();
    run.run_id = format!("run-{salt}");
    run.plan.points.truncate(1);
    run.plan.cells.retain(|cell| cell.point == SLO && cell.path != 1);
    let mut records = Vec::new();
    for (path, outcome) in ends.iter().copied() {
        let (load, high) = match outcome {
            SearchOutcome::Found { load, high, .. } => (load, high.unwrap_or(2.0 * load)),
            SearchOutcome::AboveHighest => (25_000.0, 50_000.0),
            _ => (100.0, 100.0),
        };
        let trial = |step, load, value| {
            searched::trial(&run, At { path, ..SEARCH }, step, load, "confirm", value)
        };
        let mut trials = [trial(1, load, 4e6), trial(2, load, 4.2e6), trial(3, high, 7e6)];
        if let SearchOutcome::Found { .. } = outcome {
            // Three searches, whose results lie a little around it.
            for (trial, by) in trials.iter_mut().zip([0.995, 1.005, 1.0]) {
                trial.search.as_mut().unwrap().found = Some(load * by);
            }
        }
        trials[2].search.as_mut().unwrap().outcome = Some(outcome);
        records.extend(trials);
    }
    Made { run, records }
}

fn found(load: f64, high: f64) -> SearchOutcome {
    SearchOutcome::Found { load, low: load, high: Some(high) }
}

/// Loads of `direct` and of `overlay`, each known to 2 %.
fn loads(salt: u32, direct: f64, overlay: f64) -> Made {
    ended(salt, &[(0, found(direct, 1.02 * direct)), (2, found(overlay, 1.02 * overlay))])
}

fn of<'a>(comparison: &'a Comparison, path: &str, metric: &str) -> &'a Row {
    super::row(comparison, path, metric)
}

fn render(comparison: &Comparison, format: &str) -> String {
    (comparison_format(format).unwrap().render)(comparison, true)
}

#[test]
fn a_lower_load_is_called_where_the_searches_tell_them_apart() {
    let asked = bounded(&["found_load>5%", "found_load>25%", "found_rate_per_s>5%"]);
    let said = compared(&loads(1, 1000.0, 800.0), &loads(2, 1010.0, 640.0), &asked);
    let same = of(&said, "direct", "found_rate_per_s");
    assert_eq!(
        (same.outcome, same.text.as_str(), same.search),
        (Outcome::Same, "same within 4.2 %", Some("slo"))
    );
    assert!(same.worse_by_at_most.is_some_and(|worse| worse < 0.045), "a step of the search");
    let worse = of(&said, "overlay", "found_rate_per_s");
    assert_eq!(
        (worse.outcome, worse.text.as_str(), worse.ratio),
        (Outcome::Worse, "lower by 20 % [17, 23]", Some(0.8))
    );
    // Both paths are judged together.
    assert!(worse.is_worse && worse.p.is_some_and(|p| p < 0.01) && worse.q > worse.p);
    assert_eq!((worse.baseline.unwrap().median, worse.candidate.unwrap().values), (800.0, 1));
    let states =
        |bound: usize| said.bounds[bound].cases.iter().map(|case| case.state).collect::<Vec<_>>();
    // Of the third path's search, which did not end, nothing can be said.
    let broken_and_kept = vec![CaseState::Kept, CaseState::Broken, CaseState::Unjudged];
    let kept = vec![CaseState::Kept, CaseState::Kept, CaseState::Unjudged];
    assert_eq!((states(0), states(1), states(2)), (broken_and_kept.clone(), kept, broken_and_kept));
    assert_eq!(
        (said.searches, said.candidate[0].search_trials, said.candidate[0].used_trials),
        (1, 6, 0)
    );
    // The one that did not end says how far it came.
    let open: Vec<_> =
        said.not_compared.iter().map(|cell| (cell.cell.as_str(), cell.reason.as_str())).collect();
    assert_eq!(open, [("relay web (slo over rate)", "in the baseline: not ended, after 0 trials")]);
}

#[test]
fn every_format_has_it() {
    let said =
        compared(&loads(1, 1000.0, 800.0), &loads(2, 1010.0, 640.0), &bounded(&["found_load>5%"]));
    for format in ["table", "markdown", "json", "junit"] {
        let page = render(&said, format).replace('\\', "");
        assert!(
            page.contains("overlay web") && page.contains("lower by 20 % [17, 23]"),
            "{format}: {page}"
        );
    }
    let table = render(&said, "table");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(
        table.contains("found rate")
            && table.contains("1 lower")
            && table.contains("complete, 6 trials of searches used"),
        "{table}"
    );
    let json: Value = serde_json::from_str(&render(&said, "json")).unwrap();
    let row = &json["comparisons"][0];
    assert_eq!(
        (row["metric"].as_str(), row["search"].as_str()),
        (Some("found_rate_per_s"), Some("slo"))
    );
    assert_eq!(row["candidate"]["median"].as_f64(), Some(640.0));
}

#[test]
fn what_found_nothing_stands_where_it_must() {
    let below = ended(2, &[(0, SearchOutcome::BelowLowest), (2, found(800.0, 816.0))]);
    let asked = bounded(&["found_load>50%"]);
    let said = compared(&loads(1, 1000.0, 800.0), &below, &asked);
    let row = of(&said, "direct", "found_rate_per_s");
    assert_eq!(
        (row.outcome, row.text.as_str(), row.ratio),
        (Outcome::Worse, "lower: 1000 before, now < 100", None)
    );
    assert_eq!(
        said.bounds[0].cases_of(CaseState::Broken).count(),
        1,
        "at least 90 % lower: {:?}",
        said.bounds
    );
    // Even the highest load is not too high, here and there: nobody knows what lies above.
    let above = |salt| ended(salt, &[(0, SearchOutcome::AboveHighest)]);
    let said = compared(&above(1), &above(2), &asked);
    let row = of(&said, "direct", "found_rate_per_s");
    assert_eq!(
        (row.outcome, row.text.as_str()),
        (Outcome::NoRatio, "ended above the highest: >= 50000")
    );
    assert_eq!(said.bounds[0].cases[0].state, CaseState::Unjudged);
    assert_eq!(
        said.warnings()[0],
        "found_load>50%: nothing can be said of 3 cells: direct web, overlay web, relay web (ended \
         above the highest: >= 50000)"
    );
    let below = |salt| ended(salt, &[(0, SearchOutcome::BelowLowest)]);
    let said = compared(&below(1), &below(2), &asked);
    assert_eq!(of(&said, "direct", "found_rate_per_s").text, "ended below the lowest: < 100");
    // What is known of one of them can say something: the other one found the highest load.
    let said = compared(&ended(1, &[(0, found(49_000.0, 50_000.0))]), &above(2), &asked);
    let row = of(&said, "direct", "found_rate_per_s");
    assert_eq!(
        (row.outcome, row.text.as_str()),
        (Outcome::NotDecided, "not decided: 49000 before, now >= 50000")
    );
    assert_eq!(said.bounds[0].cases[0].state, CaseState::Kept, "it cannot be lower");
}

#[test]
fn a_bound_on_a_search_is_no_input_error_whatever_its_outcome() {
    let asked = bounded(&["found_load>5%", "found_rate_per_s>5%"]);
    // Not ended on a path: what was seen in the meantime is not the load.
    let open = |salt| {
        let mut made = loads(salt, 1000.0, 800.0);
        let direct = made.records.iter_mut().filter(|record| record.path == "direct");
        direct.for_each(|record| record.search.as_mut().unwrap().outcome = None);
        made
    };
    for (a, b) in
        [(open(1), open(2)), (open(1), loads(2, 1000.0, 800.0)), (loads(1, 1000.0, 800.0), open(2))]
    {
        let said = compared(&a, &b, &asked);
        for bound in &said.bounds {
            let case = bound.cases.iter().find(|case| case.cell == "direct web").unwrap();
            assert_eq!(case.state, CaseState::Unjudged);
            assert!(
                case.text.starts_with("in the ")
                    && case.text.ends_with("not ended, after 3 trials"),
                "{case:?}"
            );
        }
        let told = said.warnings();
        assert!(
            told.iter().all(|text| !text.starts_with("no bound says anything")),
            "said once: {told:?}"
        );
        let without = compared(&a, &b, &Asked::default());
        assert!(
            without.not_compared.iter().any(|cell| cell.cell.starts_with("direct web")),
            "{:?}",
            without.not_compared
        );
    }
    // The names of what searches have stand among those that are known.
    let refused = attempt(
        &loads(1, 1000.0, 800.0),
        &loads(2, 1000.0, 800.0),
        &bounded(&["found_conections>5%"]),
    );
    let text = refused.unwrap_err().text;
    assert!(text.contains(", found_load, one of found_rate_per_s"), "{text}");
}

#[test]
fn found_loads_stand_in_a_block_of_their_own_where_there_is_no_room() {
    let long = "a-path-whose-name-is-long-and-tells-everything";
    let renamed = |mut made: Made| {
        made.run.plan.paths[2].name = long.to_owned();
        made.records
            .iter_mut()
            .filter(|r| r.path == "overlay")
            .for_each(|r| r.path = long.to_owned());
        made
    };
    let table = |a: &Made, b: &Made| {
        let table = render(&compared(a, b, &Asked::default()), "table");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        table
    };
    let (a, b) = (|| loads(1, 1000.0, 123_456.0), || loads(2, 2000.0, 640.5));
    let short = table(&a(), &b());
    let both = "123456/s -> 640.5/s";
    assert!(short.contains(" A -> B ") && short.matches(both).count() == 1, "{short}");
    let cut = table(&renamed(a()), &renamed(b()));
    assert!(cut.contains(" A -> B") && cut.contains(both), "{cut}");
    assert!(
        cut.matches("found rate  ").count() > short.matches("found rate  ").count(),
        "another block: {cut}"
    );
}

#[test]
fn too_few_searches_the_minimum_effect_and_the_generator_withhold() {
    let base = loads(1, 1000.0, 800.0);
    let text = |candidate: &Made, asked: &Asked| {
        let said = compared(&base, candidate, asked);
        let row = of(&said, "overlay", "found_rate_per_s");
        (row.outcome, row.text.clone())
    };
    let lower = || loads(2, 1000.0, 720.0);
    let mut once = lower();
    once.records.iter_mut().for_each(|record| record.search.as_mut().unwrap().found = None);
    assert_eq!(
        text(&once, &Asked::default()),
        (Outcome::TooFewRounds, "too few searches (3 needed)".to_owned())
    );
    let asked = Asked { minimum_effect: Some(0.2), ..Asked::default() };
    assert_eq!(text(&lower(), &asked), (Outcome::Same, "same within 15 %".to_owned()));
    let mut late = lower();
    late.records.iter_mut().for_each(|record| record.limited_by = "generator".to_owned());
    assert_eq!(
        text(&late, &Asked::default()),
        (Outcome::Generator, "no verdict: the load generator was the limit".to_owned())
    );
}

#[test]
fn three_runs_on_a_side_are_compared_as_runs() {
    let side = |salt: u32, loads: [f64; 3]| -> Vec<Made> {
        loads.iter().zip(salt..).map(|(load, salt)| self::loads(salt, 1000.0, *load)).collect()
    };
    let said = |a: &[Made], b: &[Made]| {
        let asked = Asked::default();
        let all = |side: &[Made]| side.iter().map(|made| values(made, &asked)).collect::<Vec<_>>();
        compare(&all(a), &all(b), &asked).unwrap()
    };
    let (a, b) = (side(1, [800.0, 820.0, 900.0]), side(4, [700.0, 720.0, 840.0]));
    let found = said(&a, &b);
    let row = of(&found, "overlay", "found_rate_per_s");
    assert_eq!(
        (row.outcome, row.baseline.unwrap().median, row.candidate.unwrap().values),
        (Outcome::NotDecided, 820.0, 3)
    );
    assert!(row.by_run && found.by_run);
    let found = said(&a, &side(4, [600.0, 610.0, 620.0]));
    let row = of(&found, "overlay", "found_rate_per_s");
    assert_eq!((row.outcome, row.text.as_str()), (Outcome::Worse, "lower by 26 % [6.6, 43]"));
}

#[test]
fn a_knee_is_neither_better_nor_worse_and_its_throughput_is() {
    let mut sides = [1, 2].map(|salt| {
        let made = searched::searched();
        let mut run = made.run;
        run.run_id = format!("run-{salt}");
        let mut records = made.records;
        records.iter_mut().for_each(|record| record.run_id.clone_from(&run.run_id));
        Made { run, records }
    });
    let on_overlay = |record: &&mut hopbench_model::Record| {
        record.workload == "pool" && record.path == "overlay"
    };
    for record in sides[1].records.iter_mut().filter(on_overlay) {
        let step = record.search.as_mut().unwrap();
        step.value = step.value.map(|value| value / 2.0);
    }
    let [a, b] = sides;
    let said = compared(&a, &b, &bounded(&["at_found_connections_requests_per_s>10%"]));
    let load = of(&said, "overlay", "found_connections");
    assert_eq!(
        (load.outcome, load.search, load.is_worse),
        (Outcome::NotDecided, Some("knee"), false)
    );
    let there = of(&said, "overlay", "at_found_connections_requests_per_s");
    assert!(
        there.outcome == Outcome::Worse && there.text.starts_with("lower by 50 % ["),
        "{there:?}"
    );
    assert_eq!((said.bounds[0].cases.len(), said.broken().count()), (4, 1));
    assert_eq!(said.searches, 0);
    // Both throughputs stand there, however long names and verdicts are.
    let page = render(&said, "table");
    assert!(page.lines().any(|line| line.contains("/s -> ")), "{page}");
    // The whole page fits, whatever was found.
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
}

#[test]
fn another_search_is_not_compared_and_one_that_failed_breaks_its_bounds() {
    let (a, mut b) = (loads(1, 1000.0, 800.0), loads(2, 1000.0, 800.0));
    let refused = |b: &Made, asked: &Asked| attempt(&a, b, asked).unwrap_err().text;
    if let Some(spec) = &mut b.run.plan.points[SLO].search {
        let SearchGoal::Slo { limit_ns, .. } = &mut spec.goal else { panic!("{spec:?}") };
        *limit_ns = 9_000_000;
    }
    let text = refused(&b, &Asked::default());
    assert!(
        text.contains(
            "searched otherwise: the highest rate with a response time p99 of at most 5.00 ms"
        ),
        "{text}"
    );
    let mut b = loads(2, 1000.0, 800.0);
    b.records.retain(|record| record.path != "overlay");
    let (path, workload, reason) =
        ("overlay".to_owned(), "web".to_owned(), "no route to host".to_owned());
    b.run.failures.push(Failure { path, workload, point: String::new(), round: 1, reason });
    let said = compared(&a, &b, &bounded(&["found_load>50%"]));
    let broken: Vec<_> =
        said.broken().map(|(_, case)| (case.cell.as_str(), case.text.as_str())).collect();
    assert_eq!(broken, [("overlay web", "no usable trial in B: no route to host")]);
    // Where no run has such a search a bound on it is refused.
    assert!(attempt(&a, &b, &bounded(&["found_connections>5%"])).is_err());
}
