use hopbench_model::fixture::{self, record};
use hopbench_model::{Latency, Schedule};
use hopbench_stats::Histogram;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn closed(connections: u32) -> Job {
    Job { connections, ..fixture::job("rr", json!({"size": "1B"})) }
}

/// A record of 1 s with so many exchanges, each of which took so long.
fn exchanges(per_s: f64, mean_ns: f64, max_ns: u64) -> Record {
    let mut record = record(&[("requests_per_s", per_s)]);
    let service = Latency { count: per_s as u64, mean: mean_ns, max: max_ns, ..Latency::default() };
    record.latency.insert("service_ns".to_owned(), service);
    record
}

fn limit(job: &Job, record: &Record) -> Option<String> {
    of(job, record, "nothing else was full").map(|(name, why)| format!("{name}: {why}"))
}

#[test]
fn connections_that_wait_all_the_time_are_limited_by_the_round_trip() {
    let expected = "round_trip: 16 connections / 250 us a round trip = 64000 a second, 63500 were \
                    done (Little's law, within 5 %); nothing else was full";
    assert_eq!(
        limit(&closed(16), &exchanges(63_500.0, 250_000.0, 2_000_000)).as_deref(),
        Some(expected)
    );
    let one = limit(&closed(1), &exchanges(20_000.0, 50_000.0, 90_000)).unwrap();
    assert!(
        one.starts_with("round_trip: 1 connection / 50 us a round trip = 20000 a second, "),
        "{one}"
    );
}

#[test]
fn connections_that_rest_are_not() {
    // A client that is busy elsewhere for a fifth of the time.
    assert_eq!(limit(&closed(16), &exchanges(51_200.0, 250_000.0, 2_000_000)), None);
    // More than there are connections for: figures that contradict each other prove nothing.
    assert_eq!(limit(&closed(16), &exchanges(70_400.0, 250_000.0, 2_000_000)), None);
    // One exchange of 300 ms: the law could not tell a fifth of rest.
    assert_eq!(limit(&closed(1), &exchanges(19_000.0, 50_000.0, 300_000_000)), None);
}

/// An open loop of 16 connections with so many done a second in 1 ms each, of 20 000 that were due,
/// of which this share found every connection busy.
fn open(done: f64, waited: f64) -> Option<String> {
    let job = Job { schedule: Schedule::Rate(20_000.0), ..closed(16) };
    let mut record = exchanges(done, 1e6, 2_000_000);
    for (name, value) in [("intended_per_s", 20_000.0), ("queued", waited * 20_000.0)] {
        record.metrics.insert(name.to_owned(), value);
    }
    limit(&job, &record)
}

#[test]
fn an_open_loop_whose_connections_are_all_busy_is_limited_by_them() {
    let expected = "connections: 16 connections / 1 ms a round trip = 16000 a second, 15900 were \
                    done (Little's law, within 5 %); 93 % of the arrivals found every connection \
                    busy; nothing else was full";
    assert_eq!(open(15_900.0, 0.93).as_deref(), Some(expected));
    assert_eq!(open(15_900.0, 0.4), None, "most arrivals found one free");
    assert_eq!(open(12_000.0, 0.93), None, "they rested for a quarter of the time");
}

#[test]
fn only_who_waits_for_answers_has_a_round_trip() {
    let fits = exchanges(20_000.0, 50_000.0, 90_000);
    assert!(limit(&closed(1), &fits).is_some());
    assert_eq!(limit(&Job { schedule: Schedule::Rate(20_000.0), ..closed(1) }, &fits), None);
    assert_eq!(limit(&Job { workload: "stream".to_owned(), ..closed(1) }, &fits), None);
    assert_eq!(
        limit(&closed(1), &record(&[("requests_per_s", 20_000.0)])),
        None,
        "no exchange was timed"
    );
    assert_eq!(limit(&closed(1), &exchanges(0.0, 0.0, 0)), None);
}

/// What a window of 1 s, which begins after so long, sees of connections that repeat these
/// exchanges with a rest after each, ns.
fn seen(connections: &[Vec<u64>], rest_ns: u64, begins_ns: u64) -> Record {
    let ends_ns = begins_ns + 1_000_000_000;
    let mut histogram = Histogram::new();
    for services in connections {
        let mut now = 0;
        for service in services.iter().cycle() {
            now += service;
            if now >= ends_ns {
                break;
            }
            if now >= begins_ns {
                histogram.record(*service);
            }
            now += rest_ns;
        }
    }
    let mut record = record(&[("requests_per_s", histogram.count() as f64)]);
    record.latency.insert("service_ns".to_owned(), histogram.summary());
    record
}

proptest! {
    /// Wherever the edges of the window fall, and however long single exchanges take.
    #[test]
    fn the_law_holds_for_whoever_never_rests_and_not_for_who_rests_a_third_of_the_time(
        connections in prop::collection::vec(
            prop::collection::vec(100_000u64..20_000_000, 1..40),
            1..8,
        ),
        begins_ns in 0u64..100_000_000,
    ) {
        let job = closed(u32::try_from(connections.len()).unwrap());
        let busy = seen(&connections, 0, begins_ns);
        prop_assert!(limit(&job, &busy).is_some(), "{:?}", Law::of(&job, &busy));
        let all: u64 = connections.iter().flatten().sum();
        let mean = all / connections.iter().map(|services| services.len() as u64).sum::<u64>();
        let idle = seen(
            &connections.iter().map(|_| vec![mean]).collect::<Vec<_>>(),
            mean / 2,
            begins_ns,
        );
        prop_assert_eq!(limit(&job, &idle), None, "{:?}", Law::of(&job, &idle));
    }
}
