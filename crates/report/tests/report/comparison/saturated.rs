//! Cells that did not carry the rate that was asked for, before or now.

use hopbench_model::{Latency, Schedule, Via};
use hopbench_report::comparison::{CaseState, Comparison, comparison_format};
use serde_json::json;

use super::{Made, bounded, compared, of, row};
use crate::campaign::fixture::{job, path, point, run};

const ASKED: f64 = 5000.0;

/// Requests at a rate on one path, of which the trials of so many rounds do no more than 3909 a
/// second, with a latency that says nothing.
fn made(salt: u32, short: u32) -> Made {
    let paths = vec![path("host", ("host", "a"), ("host", "b"), Via::Direct)];
    let points = vec![point("web", &[], job("http", json!({}), Schedule::Rate(ASKED), 16))];
    let mut made = of(run("made up", paths, points, 6, None), salt, |_| 1.0);
    for record in &mut made.records {
        let done = if record.round <= short { 3909.0 } else { ASKED };
        let figures = [
            ("intended_per_s", ASKED),
            ("completed_per_s", done),
            ("requests_per_s", done),
            ("requests", ASKED * record.window_s),
        ];
        record.metrics.extend(figures.map(|(name, value)| (name.to_owned(), value)));
        let grown = if done < ASKED { 1000 } else { 1 };
        let ns = |typical: u64| grown * (typical + 1000 * u64::from(record.round));
        let response =
            Latency { p50: ns(90_000), p99: ns(200_000), count: 10_000, ..Latency::default() };
        record.latency.insert("response_ns".to_owned(), response);
    }
    made
}

const BOUNDS: [&str; 2] = ["p99_response>5%", "throughput>5%"];

/// The state of the bound on the latency, and of that on the rate.
fn states(found: &Comparison) -> [CaseState; 2] {
    [0, 1].map(|bound| found.bounds[bound].cases[0].state)
}

#[test]
fn a_candidate_that_no_longer_carries_the_rate_breaks_bounds_on_its_latency() {
    let found = compared(&made(1, 0), &made(2, 6), &bounded(&BOUNDS));
    assert_eq!(states(&found), [CaseState::Broken, CaseState::Broken]);
    let latency = row(&found, "host", "response_p99_ns");
    assert_eq!(
        (latency.text.as_str(), latency.ratio, latency.q),
        ("saturated at 3909/s", None, None)
    );
    assert_eq!(
        (latency.baseline_saturated_per_s, latency.candidate_saturated_per_s),
        (None, Some(3909.0))
    );
    assert!(row(&found, "host", "requests_per_s").text.starts_with("slower by 22 %"));
    for format in ["table", "markdown", "junit", "json"] {
        let text = (comparison_format(format).unwrap().render)(&found, false);
        assert!(text.contains("saturated at 3909/s"), "{format}: {text}");
    }
    let junit = (comparison_format("junit").unwrap().render)(&found, false);
    assert!(junit.contains("<failure message=\"saturated at 3909/s\""), "{junit}");
    assert!(found.counts().contains("withheld"), "{}", found.counts());
    assert!(!found.counts().contains("not decided"), "{}", found.counts());
}

#[test]
fn of_two_latencies_of_which_the_first_is_no_measure_nothing_is_said() {
    let both = compared(&made(1, 6), &made(2, 6), &bounded(&BOUNDS));
    assert_eq!(states(&both), [CaseState::Unjudged, CaseState::Kept]);
    assert_eq!(
        row(&both, "host", "response_p99_ns").text,
        "saturated at 3909/s, the baseline at 3909/s"
    );
    assert_eq!(both.blind().count(), 1, "--strict fails");
    let junit = (comparison_format("junit").unwrap().render)(&both, false);
    assert!(junit.contains("<skipped message=\"saturated at 3909/s, "), "{junit}");
    let better = compared(&made(1, 6), &made(2, 0), &bounded(&BOUNDS));
    assert_eq!(states(&better), [CaseState::Unjudged, CaseState::Kept]);
    let text = &row(&better, "host", "response_p99_ns").text;
    assert_eq!(text, "the baseline is saturated at 3909/s");
}

#[test]
fn one_trial_that_stalled_leaves_the_comparison_as_it_is() {
    let found = compared(&made(1, 0), &made(2, 1), &bounded(&BOUNDS));
    let latency = row(&found, "host", "response_p99_ns");
    assert!(latency.ratio.is_some() && latency.candidate_saturated_per_s.is_none(), "{latency:?}");
    assert_ne!(states(&found)[0], CaseState::Broken);
}
