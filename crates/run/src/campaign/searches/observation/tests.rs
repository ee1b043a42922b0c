use hopbench_model::fixture::{self, record};
use hopbench_model::{CpuOf, RateRange};
use serde_json::json;

use super::*;

const RATES: RateRange = RateRange { lowest_per_s: 1.0, highest_per_s: 1e6 };

fn slo() -> SearchSpec {
    fixture::search(SearchGoal::Slo {
        percentile: 99.5,
        limit_ns: 1,
        rates: RATES,
        precision: 0.02,
    })
}

/// The value and whether all else was within bounds.
fn of(spec: &SearchSpec, workload: &str, record: &Record) -> (Option<f64>, bool) {
    let (Measurement { value, within }, _) =
        seen(spec, &fixture::job(workload, json!({})), record).unwrap();
    (value.is_finite().then_some(value), within)
}

/// The bounds that a trial broke, each with its share in tenths of a percent.
fn bounds(spec: &SearchSpec, record: &Record) -> Vec<(SearchBound, f64)> {
    broken(spec, record)
        .iter()
        .map(|broken| (broken.bound, (broken.share * 1000.0).round()))
        .collect()
}

#[test]
fn a_service_level_needs_its_percentile_its_answers_and_few_errors() {
    let answers = |requests: f64, errors: f64| {
        let metrics = [
            ("intended_per_s", 1000.0),
            ("requests_per_s", requests),
            ("requests", requests),
            ("errors", errors),
        ];
        let mut record = record(
            &[metrics.as_slice(), &[("error_ratio", errors / (requests + errors))]].concat(),
        );
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|n| histogram.record(n * 1000));
        record.latency.insert("response_ns".to_owned(), histogram.summary());
        record
    };
    let (value, within) = of(&slo(), "http", &answers(1000.0, 0.0));
    assert!(within && (value.unwrap() / 995_000.0 - 1.0).abs() < 1e-3, "{value:?}");
    assert!(of(&slo(), "http", &answers(990.0, 0.0)).1);
    assert!(
        !of(&slo(), "http", &answers(989.0, 0.0)).1,
        "1.1 % of what was due was never answered"
    );
    assert!(of(&slo(), "http", &answers(991.0, 9.0)).1);
    assert!(!of(&slo(), "http", &answers(980.0, 20.0)).1, "2 % failed");
    let mut nothing = answers(1000.0, 0.0);
    nothing.latency.clear();
    assert_eq!(of(&slo(), "http", &nothing), (None, false));
    assert_eq!(figure(&slo().goal, &fixture::job("http", json!({}))), "response_ns p99.5");
}

#[test]
fn a_rate_at_which_answers_pile_up_is_no_service_level() {
    // 4 KiB over a link that carries 2911 a second: all are answered in the end, and within the
    // limit.
    let trial = |asked: f64, done: f64, service_ns: u64| {
        let mut record =
            record(&[("intended_per_s", asked), ("requests_per_s", done), ("error_ratio", 0.0)]);
        record.window_s = 0.25;
        record.metrics.insert("requests".to_owned(), asked * 0.25);
        record.metrics.insert("errors".to_owned(), 0.0);
        let mut histogram = Histogram::new();
        histogram.record(service_ns);
        for name in ["service_ns", "response_ns"] {
            record.latency.insert(name.to_owned(), histogram.summary());
        }
        record
    };
    let cpu = fixture::search(SearchGoal::Cpu { of: CpuOf::Server, ceiling: 0.5, rates: RATES });
    let piled = trial(3000.0, 2936.577, 300_000);
    assert!(!of(&slo(), "http", &piled).1);
    assert_eq!(bounds(&slo(), &piled), [(SearchBound::Queued, 21.0)]);
    assert_eq!(bounds(&cpu, &piled), [(SearchBound::NotDone, 21.0)]);
    // Two of 25 at the edge, and what is as slow with nothing before it.
    assert_eq!(bounds(&slo(), &trial(100.0, 92.0, 300_000)), []);
    assert_eq!(bounds(&slo(), &trial(100.0, 88.0, 300_000)), [(SearchBound::Queued, 120.0)]);
    let slow = trial(3000.0, 2850.0, 12_500_000);
    assert!(
        bounds(&slo(), &slow).is_empty() && bounds(&cpu, &slow).is_empty(),
        "37 were under way at the end"
    );
    assert!(!bounds(&slo(), &trial(3000.0, 2800.0, 12_500_000)).is_empty());
}

#[test]
fn a_knee_goes_by_what_its_workload_does_and_by_errors() {
    let knee = fixture::search(SearchGoal::Knee {
        connections: vec![1],
        threads: vec![],
        least_growth: 0.05,
    });
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
fn a_rate_that_was_not_kept_is_too_high_for_the_cpu() {
    let cpu = fixture::search(SearchGoal::Cpu { of: CpuOf::Server, ceiling: 0.5, rates: RATES });
    let trial = |done: f64| {
        record(&[
            ("cpu_share", 0.3),
            ("intended_per_s", 100.0),
            ("requests_per_s", done),
            ("requests", 100.0),
        ])
    };
    assert_eq!(of(&cpu, "http", &trial(99.5)), (Some(0.3), true));
    assert_eq!(
        of(&cpu, "http", &trial(90.0)),
        (Some(0.3), false),
        "the rest was done after the window"
    );
}

#[test]
fn loss_counts_where_the_sender_kept_its_rate() {
    let lossless =
        fixture::search(SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01 });
    let trial = |sent: f64, unsent: f64, errors: f64| {
        let all = [
            ("intended_per_s", 1000.0),
            ("sent_packets_per_s", sent),
            ("unsent", unsent),
            ("errors", errors),
        ];
        record(&[all.as_slice(), &[("lost_ratio", 0.25)]].concat())
    };
    assert_eq!(
        of(&lossless, "udp", &trial(995.0, 0.0, 0.0)),
        (Some(0.25), true),
        "too much, but a measurement"
    );
    assert_eq!(of(&lossless, "udp", &trial(980.0, 0.0, 0.0)), (Some(0.25), false));
    assert_eq!(of(&lossless, "udp", &trial(1000.0, 20.0, 0.0)), (Some(0.25), false));
    assert_eq!(
        of(&lossless, "udp", &trial(990.0, 0.0, 20.0)),
        (Some(0.25), false),
        "the kernel refused 2 %"
    );
    // Where answers come, what has none is lost, and no other bound holds it.
    let rr =
        [("intended_per_s", 100.0), ("requests_per_s", 95.0), ("requests", 95.0), ("errors", 5.0)];
    assert_eq!(
        of(&lossless, "rr", &record(&[rr.as_slice(), &[("error_ratio", 0.05)]].concat())),
        (Some(0.05), true)
    );
}

#[test]
fn a_rate_at_which_a_queue_grows_is_too_high() {
    let lossless =
        fixture::search(SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01 });
    let trial = |asked: f64, received: f64, lost: f64| {
        let all = [
            ("intended_per_s", asked),
            ("sent_packets_per_s", asked),
            ("unsent", 0.0),
            ("errors", 0.0),
        ];
        record(
            &[all.as_slice(), &[("lost_ratio", lost), ("received_packets_per_s", received)]]
                .concat(),
        )
    };
    // A link of 867 a second, behind a queue that swallows the rest until the window is over.
    let mut slow = trial(932.0, 867.0, 0.0);
    assert_eq!(of(&lossless, "udp", &slow), (Some(0.0), false));
    slow.metrics.insert("cpu_share".to_owned(), 0.3);
    let cpu = fixture::search(SearchGoal::Cpu { of: CpuOf::Server, ceiling: 0.5, rates: RATES });
    assert_eq!(of(&cpu, "udp", &slow), (Some(0.3), false));
    let [(SearchBound::NotArrived, share)] = bounds(&lossless, &slow)[..] else {
        panic!("{slow:?}")
    };
    assert!((60.0..70.0).contains(&share), "{share}");
    assert!(of(&lossless, "udp", &trial(867.0, 866.0, 0.0)).1);
    assert!(of(&lossless, "udp", &trial(1000.0, 500.0, 0.5)).1, "what is lost is in no queue");
    assert!(of(&lossless, "udp", &trial(19.0, 17.0, 0.0)).1, "two on their way");
    assert!(!of(&lossless, "udp", &trial(19.0, 16.0, 0.0)).1);
}

#[test]
fn every_bound_that_was_broken_is_stored() {
    let lossless =
        fixture::search(SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01 });
    let sent = |sent| {
        record(&[("intended_per_s", 1000.0), ("sent_packets_per_s", sent), ("lost_ratio", 0.0)])
    };
    assert_eq!(bounds(&lossless, &sent(880.0)), [(SearchBound::NotSent, 120.0)]);
    assert_eq!(bounds(&lossless, &sent(1000.0)), []);
    let http = |done, errors| {
        record(&[
            ("intended_per_s", 100.0),
            ("requests_per_s", done),
            ("requests", done),
            ("error_ratio", errors),
        ])
    };
    let cpu = fixture::search(SearchGoal::Cpu { of: CpuOf::Server, ceiling: 0.5, rates: RATES });
    assert_eq!(bounds(&cpu, &http(90.0, 0.0)), [(SearchBound::NotDone, 100.0)]);
    assert_eq!(bounds(&slo(), &http(95.0, 0.0)), [(SearchBound::Unanswered, 50.0)]);
    assert_eq!(bounds(&slo(), &http(100.0, 0.02)), [(SearchBound::Failed, 20.0)]);
    assert_eq!(
        bounds(&slo(), &http(95.0, 0.02)),
        [(SearchBound::Unanswered, 50.0), (SearchBound::Failed, 20.0)]
    );
}

#[test]
fn a_trial_in_which_the_testbed_changed_shows_nothing() {
    let mut disturbed = record(&[("requests_per_s", 5.0)]);
    let knee = fixture::search(SearchGoal::Knee {
        connections: vec![1],
        threads: vec![],
        least_growth: 0.05,
    });
    assert!(of(&knee, "http", &disturbed).1);
    disturbed.testbed_changed = Some("a pod moved".to_owned());
    let why = seen(&knee, &fixture::job("http", json!({})), &disturbed).unwrap_err();
    assert_eq!(why, "the testbed changed: a pod moved");
}
