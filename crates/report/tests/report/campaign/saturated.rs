//! Paths that did not carry the rate that was asked for: a result of their own in every format.

use hopbench_model::Record;
use hopbench_report::campaign::{CellSummary, Outcome, RatioSummary, Summary};

use super::fixture::Made;
use super::mesh::mesh;
use super::{render, summary};

/// What `both` carries of the 4000 a second that are asked for at most.
const CARRIED: f64 = 2909.0;
const TEXT: &str = "saturated at 2909/s";

/// Sets what a trial of `web` was asked for and did a second, with a queue of what it did not.
fn did(record: &mut Record, done: f64) {
    let asked = record.point["rate"].as_f64().unwrap();
    let figures = [
        ("intended_per_s", asked),
        ("completed_per_s", done),
        ("requests_per_s", done),
        ("requests", asked * record.window_s),
        ("errors", 0.0),
    ];
    record.metrics.extend(figures.map(|(name, value)| (name.to_owned(), value)));
    if done < asked {
        record.limited_by = "cpu:client-sidecar".to_owned();
        let response = record.latency.get_mut("response_ns").unwrap();
        for ns in [&mut response.p50, &mut response.p90, &mut response.p99] {
            *ns = 200_000_000 * u64::from(record.round);
        }
    }
}

/// A run of `web` in which these trials at 4000 a second, by path and round, do no more than
/// [`CARRIED`].
fn run(is_short: impl Fn(&str, u32) -> bool) -> Made {
    let mut made = mesh(5);
    made.records.retain(|record| record.workload == "web");
    for record in &mut made.records {
        let asked = record.point["rate"].as_f64().unwrap();
        let short = asked == 4000.0 && is_short(&record.path, record.round);
        did(record, if short { CARRIED } else { asked });
    }
    made
}

fn cell<'a>(found: &'a Summary, path: &str, point: &str) -> &'a CellSummary {
    let is_it = |cell: &&CellSummary| cell.path == path && cell.point_label == point;
    found.workloads[0].cells.iter().find(is_it).unwrap()
}

fn ratio<'a>(found: &'a Summary, path: &str, figure: &str) -> &'a RatioSummary {
    cell(found, path, "rate=4000").figure(figure).unwrap().ratio.as_ref().unwrap()
}

fn outcome(found: &Summary, path: &str, figure: &str) -> Outcome {
    ratio(found, path, figure).verdict.as_ref().unwrap().outcome
}

/// A page without the breaks of its lines.
fn page(made: &Made, format: &str) -> String {
    render(made, format).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_latency_of_a_saturated_path_is_not_compared_and_its_rate_is() {
    let (made, kept) = (run(|path, _| path == "both"), run(|_, _| false));
    let (found, all) = (summary(&made), summary(&kept));
    assert_eq!(cell(&found, "both", "rate=4000").saturated_per_s, Some(CARRIED));
    assert_eq!(cell(&found, "both", "rate=2000").saturated_per_s, None);
    assert_eq!(cell(&found, "none", "rate=4000").saturated_per_s, None);
    for figure in ["response_p50_ns", "response_p90_ns", "response_p99_ns"] {
        let ratio = ratio(&found, "both", figure);
        assert_eq!((ratio.spread, ratio.p, ratio.q), (None, None, None), "{figure}");
        let verdict = ratio.verdict.as_ref().unwrap();
        assert_eq!((verdict.outcome, verdict.text.as_str()), (Outcome::Saturated, TEXT));
        assert!(outcome(&all, "both", figure).is_judged(), "{figure}: it is, where it keeps up");
    }
    let rate = ratio(&found, "both", "requests_per_s").verdict.as_ref().unwrap();
    assert!(rate.text.starts_with("slower by 27 %"), "{}", rate.text);
    assert!(outcome(&found, "both", "cpu_per_request_ns").is_judged());
    // Three latencies are out of the family of what is judged together, one of them a verdict that
    // pages show.
    assert_eq!(found.run.judged, all.run.judged - 3);
    assert_eq!(found.run.comparisons, all.run.comparisons - 1);
    let text = &found.workloads[0].headline;
    assert!(text.contains("both: saturated at 2909/s at 1 of 5 points"), "{text}");
    assert!(text.contains("both slower by"), "the other points have verdicts: {text}");
}

#[test]
fn most_trials_of_a_cell_decide() {
    let at = |rounds: &'static [u32]| {
        let found = summary(&run(|path, round| path == "both" && rounds.contains(&round)));
        cell(&found, "both", "rate=4000").saturated_per_s
    };
    assert_eq!(at(&[2]), None, "one stalled");
    assert_eq!(at(&[1, 5]), None);
    assert_eq!(at(&[1, 3, 5]), Some(CARRIED));
    assert_eq!(at(&[1, 2, 4, 5]), Some(CARRIED), "one did not");
}

#[test]
fn nothing_is_compared_with_the_latency_of_a_saturated_baseline() {
    let made = run(|path, _| path == "none" || path == "both");
    let found = summary(&made);
    let text = |path: &str, figure: &str| {
        ratio(&found, path, figure).verdict.as_ref().unwrap().text.clone()
    };
    assert_eq!(text("server", "response_p99_ns"), "the baseline is saturated at 2909/s");
    assert_eq!(text("both", "response_p99_ns"), "saturated at 2909/s, the baseline at 2909/s");
    assert!(outcome(&found, "server", "requests_per_s").is_judged());
    let reference = &found.workloads[0].reference;
    assert!(reference.contains("(saturated at 2909/s) at rate=4000"), "{reference}");
    // On one screen the baseline says it, and the figures of the others stand for themselves.
    let screen = render(&made, "screen");
    let line = |name: &str| screen.lines().find(|line| line.trim_start().starts_with(name));
    assert!(line("none").is_some_and(|line| line.contains(TEXT)), "{screen}");
    assert!(line("server").is_some_and(|line| line.contains("us")), "{screen}");
}

#[test]
fn every_format_says_it() {
    let made = run(|path, _| path == "both");
    for format in ["screen", "table", "markdown", "html", "csv", "json"] {
        let page = page(&made, format);
        assert!(page.contains(TEXT), "{format}: {page}");
        assert!(!page.contains("could have seen"), "{format}");
    }
    let screen = render(&made, "screen");
    assert!(screen.contains("saturated: it did not carry the asked rate"), "{screen}");
    assert!(
        screen.contains("latency not compared: both rate=4000 saturated at 2909/s"),
        "{screen}"
    );
    // The charts of latency leave the point out and say so.
    assert!(page(&made, "html").contains("Not shown: both rate=4000 saturated at 2909/s."));
    let csv = render(&made, "csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = |name: &str| head.iter().position(|column| *column == name).unwrap();
    assert_eq!(at("saturated_per_s"), head.len() - 2);
    let is_it = |row: &&Vec<&str>| row[at("path")] == "both" && row[at("rate")] == "4000";
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let row = |figure: &str| {
        let mut own = rows.iter().filter(is_it);
        own.find(|row| row[at("figure")] == figure).unwrap().clone()
    };
    let latency = row("response_p50_ns");
    assert_eq!((latency[at("ratio")], latency[at("verdict")]), ("", TEXT));
    assert_eq!(latency[at("saturated_per_s")], "2909");
    assert!(row("requests_per_s")[at("ratio")].starts_with("0.72725"));
}

#[test]
fn a_step_to_a_saturated_path_has_no_latency() {
    let found = summary(&run(|path, _| path == "both"));
    let waterfall = found.waterfall.iter().find(|one| one.point["rate"] == 4000).unwrap();
    for step in &waterfall.steps {
        let has_latency = step.added.iter().any(|added| added.name.contains("_p50"));
        let is_of_both = step.path == "both";
        assert_eq!(has_latency, !is_of_both, "{step:?}");
        assert_eq!(step.saturated_per_s, is_of_both.then_some(CARRIED), "{step:?}");
        let text = "saturated at 2909/s, its latency is not compared (both)";
        assert_eq!(step.note.contains(text), is_of_both, "{step:?}");
        assert!(step.added.iter().any(|added| added.name.starts_with("cpu_")), "{step:?}");
    }
    let curve = found.proxy_curves.iter().find(|curve| curve.path == "both").unwrap();
    assert!(curve.text.ends_with("; saturated at 2909/s at rate=4000"), "{}", curve.text);
    let saturated: Vec<_> = curve.points.iter().filter_map(|point| point.saturated_per_s).collect();
    assert_eq!(saturated, [CARRIED]);
}

#[test]
fn a_run_without_a_baseline_says_it_beside_the_figures() {
    let mut made = run(|path, _| path == "both");
    made.run.plan.baseline = None;
    for format in ["table", "markdown", "html"] {
        assert!(page(&made, format).contains(TEXT), "{format}");
    }
}

#[test]
fn records_without_the_count_between_the_edges_have_the_same_result() {
    let mut made = run(|path, _| path == "both");
    for record in &mut made.records {
        record.metrics.remove("completed_per_s");
    }
    assert_eq!(cell(&summary(&made), "both", "rate=4000").saturated_per_s, Some(CARRIED));
}
