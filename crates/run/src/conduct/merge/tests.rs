use hopbench_model::Counter;
use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;

fn counts(sent: u64, completed: u64) -> Counts {
    let mut counts = Counts::default();
    counts.set(Counter::SentBytes, sent);
    counts.set(Counter::Completed, completed);
    counts
}

fn at(t_ns: i64, sent: u64) -> Tick {
    Tick { t_ns, counts: counts(sent, 1), ..Tick::default() }
}

fn with_ticks(ticks: &[(i64, u64)]) -> EndReport {
    EndReport {
        ticks: ticks.iter().map(|(t, sent)| at(*t, *sent)).collect(),
        ..EndReport::default()
    }
}

fn sent_at(merged: &EndReport) -> Vec<(i64, u64)> {
    merged.ticks.iter().map(|t| (t.t_ns, t.counts.of(Counter::SentBytes))).collect()
}

#[test]
fn one_end_stays_as_it_is_and_none_is_none() {
    let mut one = with_ticks(&[(MS, 5)]);
    one.end.readings.insert("self".to_owned(), BTreeMap::from([("user_s_total".to_owned(), 1.0)]));
    assert_eq!(merge(&[&one], MS as u64), Some(one.clone()));
    assert_eq!(merge(&[], 1), None);
}

#[test]
fn ticks_meet_at_the_same_interval_end_and_missed_ones_are_bridged() {
    let late = |t: i64| t * 10 * MS + MS;
    // The second end missed its second tick; counts are totals, so the third covers both.
    let a = with_ticks(&[(10 * MS, 1), (20 * MS, 2), (30 * MS, 3), (36 * MS, 4)]);
    let b = with_ticks(&[(late(1), 10), (late(3), 30), (36 * MS, 40)]);
    let merged = merge(&[&a, &b], 10 * MS as u64).unwrap();
    let half = MS / 2;
    assert_eq!(sent_at(&merged), [(10 * MS + half, 11), (30 * MS + half, 33), (36 * MS, 44)]);
}

#[test]
fn sums_extremes_and_distributions() {
    let histogram = |values: &[u64]| {
        let mut histogram = Histogram::new();
        values.iter().for_each(|v| histogram.record(*v));
        BTreeMap::from([(LatencyKind::Service, histogram.to_base64())])
    };
    let tcp = |connections, smoothed_rtt_ns, min_rtt_ns| {
        Some(TcpTotals {
            connections,
            acked_bytes: 100,
            smoothed_rtt_ns,
            min_rtt_ns,
            ..TcpTotals::default()
        })
    };
    let extra = |late: f64, min: f64, max: f64| {
        BTreeMap::from(
            [("late", late), ("min_messages", min), ("max_messages", max)]
                .map(|(n, v)| (n.to_owned(), v)),
        )
    };
    let word = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let flow = |flow| FlowReport { flow, ..FlowReport::default() };
    let a = EndReport {
        latency: histogram(&[1000, 2000]),
        drained: counts(7, 1),
        drained_tcp: tcp(1, 1000, 0),
        errors: BTreeMap::from([("reset".to_owned(), 1)]),
        extra: extra(1.0, 5.0, 9.0),
        settings: BTreeMap::from([word("cpu", "asked 0, got [0]"), word("congestion", "cubic")]),
        flows: vec![flow(0), flow(1)],
        window_ns: 10,
        ..EndReport::default()
    };
    let b = EndReport {
        latency: histogram(&[3000]),
        drained: counts(8, 2),
        drained_tcp: tcp(3, 5000, 40),
        errors: BTreeMap::from([("reset".to_owned(), 2), ("timeout".to_owned(), 3)]),
        extra: extra(2.0, 4.0, 8.0),
        settings: BTreeMap::from([word("cpu", "asked 1, got [1]"), word("congestion", "cubic")]),
        flows: vec![flow(2)],
        window_ns: 12,
        incomplete: Some("interrupted".to_owned()),
        shared: true,
        ..EndReport::default()
    };
    let merged = merge(&[&a, &b], 1).unwrap();
    assert_eq!(merged.drained, counts(15, 3));
    let totals = merged.drained_tcp.unwrap();
    assert_eq!(
        (totals.connections, totals.acked_bytes, totals.smoothed_rtt_ns, totals.min_rtt_ns),
        (4, 200, 4000, 40)
    );
    assert_eq!(merged.errors, BTreeMap::from([("reset".to_owned(), 3), ("timeout".to_owned(), 3)]));
    assert_eq!(merged.extra, extra(3.0, 4.0, 9.0));
    assert_eq!(merged.settings["cpu"], "asked 0, got [0]");
    assert_eq!(
        (merged.settings["end2_cpu"].as_str(), merged.settings.len()),
        ("asked 1, got [1]", 3)
    );
    assert_eq!(
        merged.flows.iter().map(|f| f.flow).collect::<Vec<_>>(),
        [0, 2, 1],
        "each end is heard"
    );
    assert_eq!(
        (merged.window_ns, merged.incomplete.as_deref(), merged.shared),
        (12, Some("interrupted"), true)
    );
    let all = Histogram::from_base64(&merged.latency[&LatencyKind::Service]).unwrap();
    assert_eq!((all.count(), all.percentile(50.0), all.percentile(100.0) / 10), (3, 2000, 300));
}

proptest! {
    /// However ends' ticks lie, merged counts never run backwards, and never exceed what the ends
    /// counted.
    #[test]
    fn merged_ticks_only_grow(
        ends in prop::collection::vec(prop::collection::vec((0i64..8, 0u64..9), 0..12), 1..5),
    ) {
        let reports: Vec<EndReport> = ends
            .iter()
            .map(|steps| {
                let (mut t, mut sent) = (0, 0);
                let ticks = steps.iter().map(|(dt, ds)| {
                    t += dt * MS;
                    sent += ds;
                    (t, sent)
                });
                with_ticks(&ticks.collect::<Vec<_>>())
            })
            .collect();
        let merged = merge(&reports.iter().collect::<Vec<_>>(), 3 * MS as u64).unwrap();
        let last = reports.iter().filter_map(|r| r.ticks.last());
        let most: u64 = last.map(|t| t.counts.of(Counter::SentBytes)).sum();
        let sent: Vec<u64> = merged.ticks.iter().map(|t| t.counts.of(Counter::SentBytes)).collect();
        prop_assert!(sent.windows(2).all(|pair| pair[0] <= pair[1]), "{sent:?}");
        prop_assert!(sent.iter().all(|n| *n <= most));
    }
}

/// A hundred ends are one distribution: what comes of merging is, to the bit, the histogram of all
/// samples, and so are its percentiles.
#[test]
fn the_histogram_of_a_hundred_ends_is_that_of_all_samples() {
    let mut all = Histogram::new();
    let mut state = 1_u64;
    let reports: Vec<EndReport> = (0..100_u32)
        .map(|end| {
            let mut own = Histogram::new();
            // From tens of ns to minutes, and of very different lengths: means of percentiles would
            // be far off.
            for _ in 0..10 * (end + 1) {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let value = (state >> 33) >> (state % 24);
                own.record(value);
                all.record(value);
            }
            let latency = BTreeMap::from([(LatencyKind::Service, own.to_base64())]);
            EndReport { latency, ..EndReport::default() }
        })
        .collect();
    let merged = merge(&reports.iter().collect::<Vec<_>>(), 1).unwrap();
    assert_eq!(merged.latency[&LatencyKind::Service], all.to_base64());
    let of = |summary: hopbench_model::Latency| {
        [summary.count, summary.p50, summary.p90, summary.p99, summary.p999, summary.p9999]
    };
    let read = Histogram::from_base64(&merged.latency[&LatencyKind::Service]).unwrap();
    assert_eq!(of(read.summary()), of(all.summary()));
    assert_eq!(read.summary().count, 10 * (1..=100).sum::<u64>());
}
