use hopbench_model::{CpuOf, RateRange};
use serde_json::json;

use super::*;
use crate::sample::{self, record};

const RATES: RateRange = RateRange { lowest_per_s: 1.0, highest_per_s: 1e6 };

fn spec(goal: SearchGoal) -> SearchSpec {
    SearchSpec { goal, errors_share: 0.01, equal_load: false }
}

fn slo() -> SearchSpec {
    spec(SearchGoal::Slo { percentile: 99.5, limit_ns: 1, rates: RATES, precision: 0.02 })
}

/// The value and whether all else was within bounds.
fn of(spec: &SearchSpec, workload: &str, record: &Record) -> (Option<f64>, bool) {
    let Seen { value, within } = seen(spec, &sample::job(workload, json!({})), record).unwrap();
    (value.is_finite().then_some(value), within)
}

#[test]
fn a_service_level_needs_its_percentile_its_answers_and_few_errors() {
    let answers = |requests: f64, errors: f64| {
        let metrics = [("intended_per_s", 1000.0), ("requests", requests), ("errors", errors)];
        let mut record = record(&[metrics.as_slice(), &[("error_ratio", errors / (requests + errors))]].concat());
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|n| histogram.record(n * 1000));
        record.latency.insert("response_ns".to_owned(), histogram.summary());
        record
    };
    let (value, within) = of(&slo(), "http", &answers(1000.0, 0.0));
    assert!(within && (value.unwrap() / 995_000.0 - 1.0).abs() < 1e-3, "{value:?}");
    assert!(of(&slo(), "http", &answers(990.0, 0.0)).1);
    assert!(!of(&slo(), "http", &answers(989.0, 0.0)).1, "1.1 % of what was due was never answered");
    assert!(of(&slo(), "http", &answers(991.0, 9.0)).1);
    assert!(!of(&slo(), "http", &answers(980.0, 20.0)).1, "2 % failed");
    let mut nothing = answers(1000.0, 0.0);
    nothing.latency.clear();
    assert_eq!(of(&slo(), "http", &nothing), (None, false));
    assert_eq!(figure(&slo().goal, &sample::job("http", json!({}))), "response_ns p99.5");
}

#[test]
fn a_knee_goes_by_what_its_workload_does_and_by_errors() {
    let knee = spec(SearchGoal::Knee { connections: vec![1], threads: vec![], least_growth: 0.05 });
    let metrics = |errors| {
        record(&[
            ("requests_per_s", 5.0),
            ("connections_per_s", 6.0),
            ("received_bits_per_s", 7.0),
            ("error_ratio", errors),
        ])
    };
    assert_eq!(of(&knee, "http", &metrics(0.0)), (Some(5.0), true));
    assert_eq!(of(&knee, "crr", &metrics(0.01)), (Some(6.0), true));
    assert_eq!(of(&knee, "stream", &metrics(0.02)), (Some(7.0), false));
    assert_eq!(of(&knee, "push", &metrics(0.0)), (None, false));
}

#[test]
fn a_cpu_that_nobody_saw_is_no_measurement_and_a_rate_that_was_not_kept_is_too_high() {
    let cpu = spec(SearchGoal::Cpu { of: CpuOf::Server, ceiling: 0.5, rates: RATES });
    let trial = |done: f64| {
        record(&[("cpu_share", 0.3), ("intended_per_s", 100.0), ("requests_per_s", done), ("requests", 100.0)])
    };
    assert_eq!(of(&cpu, "http", &trial(99.5)), (Some(0.3), true));
    assert_eq!(of(&cpu, "http", &trial(90.0)), (Some(0.3), false), "the rest was done after the window");
    let mut unknown = trial(100.0);
    unknown.metrics.remove("cpu_share");
    unknown.settings.insert("cpu_share".to_owned(), "unavailable: no meter".to_owned());
    let why = seen(&cpu, &sample::job("http", json!({})), &unknown).unwrap_err();
    assert!(why.contains("no meter"), "{why}");
}

#[test]
fn loss_counts_where_the_sender_kept_its_rate() {
    let lossless = spec(SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01, repeats: 1 });
    let trial = |sent: f64, unsent: f64, errors: f64| {
        let all = [("intended_per_s", 1000.0), ("sent_packets_per_s", sent), ("unsent", unsent), ("errors", errors)];
        record(&[all.as_slice(), &[("lost_ratio", 0.25)]].concat())
    };
    assert_eq!(of(&lossless, "udp", &trial(995.0, 0.0, 0.0)), (Some(0.25), true), "too much, but a measurement");
    assert_eq!(of(&lossless, "udp", &trial(980.0, 0.0, 0.0)), (Some(0.25), false));
    assert_eq!(of(&lossless, "udp", &trial(1000.0, 20.0, 0.0)), (Some(0.25), false));
    assert_eq!(of(&lossless, "udp", &trial(990.0, 0.0, 20.0)), (Some(0.25), false), "the kernel refused 2 %");
    // Where answers come, what has none is lost, and no other bound holds it.
    let rr = [("intended_per_s", 100.0), ("requests_per_s", 95.0), ("requests", 95.0), ("errors", 5.0)];
    assert_eq!(of(&lossless, "rr", &record(&[rr.as_slice(), &[("error_ratio", 0.05)]].concat())), (Some(0.05), true));
}

#[test]
fn only_failures_of_most_exchanges_are_forgiven() {
    let mut overload = record(&[("error_ratio", 0.7)]);
    overload.error = failed_exchanges(&overload);
    forgive(&mut overload);
    assert_eq!((overload.error.as_deref(), overload.warnings.len()), (None, 1));
    let mut astray = record(&[("error_ratio", 0.7)]);
    astray.error = Some("the traffic did not take the path: x".to_owned());
    forgive(&mut astray);
    assert!(astray.error.is_some() && astray.warnings.is_empty());
    assert!(!of(&slo(), "http", &overload).1);
}
