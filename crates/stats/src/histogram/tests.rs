use proptest::prelude::*;

use super::*;

fn histogram_of(samples: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    samples.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

/// Values of every magnitude, each as likely.
fn samples(size: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
    let value = (0u32..=41, any::<u64>())
        .prop_map(|(bits, random)| (random & ((2u64 << bits) - 1)).min(HIGHEST_NS));
    prop::collection::vec(value, size)
}

#[test]
fn an_empty_histogram_is_all_zero() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    let hdr = empty.to_base64();
    assert_eq!(empty.summary(), Latency { hdr: hdr.clone(), ..Latency::default() });
    assert_eq!(Histogram::from_base64(&hdr), Ok(empty));
}

#[test]
fn one_sample_is_every_figure() {
    let summary = histogram_of(&[1_000_001]).summary();
    assert_eq!((summary.count, summary.min, summary.max), (1, 1_000_001, 1_000_001));
    assert_eq!((summary.p50, summary.p90, summary.p9999), (1_000_001, 1_000_001, 1_000_001));
    assert_eq!((summary.mean, summary.stddev), (1_000_001.0, 0.0));
}

#[test]
fn values_beyond_an_hour_are_clamped_and_counted() {
    let mut histogram = histogram_of(&[0, HIGHEST_NS, HIGHEST_NS + 1]);
    histogram.merge(&histogram_of(&[u64::MAX]));
    assert_eq!((histogram.count(), histogram.clamped()), (4, 2));
    assert_eq!((histogram.min(), histogram.max()), (0, HIGHEST_NS));
    assert_eq!(histogram.percentile(100.0), HIGHEST_NS);
    let read = Histogram::from_base64(&histogram.to_base64()).unwrap();
    assert_eq!((read.min(), read.max()), (0, HIGHEST_NS));
}

#[test]
fn a_percentile_is_the_nearest_rank_in_spite_of_binary_fractions() {
    let thousand: Vec<u64> = (1..=1000).collect();
    let histogram = histogram_of(&thousand);
    for (p, rank) in [(50.0, 500), (90.0, 900), (99.0, 990), (99.9, 999), (99.99, 1000), (0.1, 1)] {
        assert_eq!(histogram.percentile(p), rank, "p{p}");
    }
    assert_eq!(histogram.percentile(50.01), 501);
    let ten_thousand: Vec<u64> = (1..=7).chain([2000; 9_993]).collect();
    assert_eq!(histogram_of(&ten_thousand).percentile(0.07), 7);
    assert_eq!(histogram.percentile(f64::NAN), 1);
    assert_eq!((histogram.percentile(-1.0), histogram.percentile(101.0)), (1, 1000));
}

#[test]
fn spread_is_that_of_the_population() {
    let histogram = histogram_of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((histogram.mean(), histogram.stddev()), (5.0, 2.0));
}

#[test]
fn the_text_is_the_published_format() {
    // The cookie of V2, then 3 counts bytes, 3 digits, 1 to 3.6e12, ratio 1.0; then the counts:
    // 1 zero, one 1, one 2, zig-zag encoded.
    let bytes = [
        0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
        0x03, 0x46, 0x30, 0xb8, 0xa0, 0x00, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 2, 4,
    ];
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    assert_eq!(histogram_of(&[1, 2, 2]).to_base64(), text);
    assert_eq!(Histogram::from_base64(&text), Ok(histogram_of(&[1, 2, 2])));
}

proptest! {
    #[test]
    fn percentiles_agree_with_a_sort(samples in samples(1..400), thousandths in 0usize..=100_000) {
        let histogram = histogram_of(&samples);
        let mut sorted = samples;
        sorted.sort_unstable();
        let usual = [0, 50_000, 90_000, 99_000, 99_900, 99_990, 100_000];
        for thousandths in usual.into_iter().chain([thousandths]) {
            let rank = (thousandths * sorted.len()).div_ceil(100_000).max(1);
            let exact = sorted[rank - 1];
            let shown = histogram.percentile(thousandths as f64 / 1000.0);
            // 3 digits: single values up to 2047, at most 1/1024 above.
            prop_assert!(
                exact <= shown && shown - exact <= exact / 1024,
                "p{} is {exact}, shown as {shown}", thousandths as f64 / 1000.0
            );
        }
        prop_assert_eq!(histogram.percentile(0.0), sorted[0]);
        prop_assert_eq!(histogram.percentile(100.0), sorted[sorted.len() - 1]);
        prop_assert_eq!((histogram.min(), histogram.max()), (sorted[0], sorted[sorted.len() - 1]));
    }

    #[test]
    fn mean_and_spread_agree_with_the_samples(samples in samples(1..400)) {
        let histogram = histogram_of(&samples);
        let values: Vec<f64> = samples.iter().map(|ns| *ns as f64).collect();
        let mean = crate::summary::mean(&values).unwrap();
        prop_assert!(
            (histogram.mean() - mean).abs() <= mean * 0.0005,
            "{} {mean}",
            histogram.mean(),
        );
        // Moving every value by at most 0.05 % moves the deviation by at most 0.05 % of the
        // root mean square.
        let stddev = crate::summary::stddev(&values).unwrap();
        let bound = 0.0005 * mean.hypot(stddev) + 1e-6;
        prop_assert!(
            (histogram.stddev() - stddev).abs() <= bound,
            "{} {stddev}",
            histogram.stddev(),
        );
    }

    #[test]
    fn merging_is_recording_everything_in_one(
        parts in prop::collection::vec(samples(0..60), 0..6),
    ) {
        let mut merged = Histogram::new();
        parts.iter().for_each(|part| merged.merge(&histogram_of(part)));
        prop_assert_eq!(merged, histogram_of(&parts.concat()));
    }

    #[test]
    fn base64_round_trips(samples in samples(0..200)) {
        let histogram = histogram_of(&samples);
        let read = Histogram::from_base64(&histogram.to_base64()).unwrap();
        prop_assert_eq!(read.to_base64(), histogram.to_base64());
        prop_assert_eq!(&read.counts, &histogram.counts);
        prop_assert!(
            read.min() <= histogram.min() && histogram.min() - read.min() <= histogram.min() / 1000
        );
        prop_assert!(
            read.max() >= histogram.max() && read.max() - histogram.max() <= histogram.max() / 1000
        );
        let p50 = (read.percentile(50.0), histogram.percentile(50.0));
        prop_assert!(p50.0 >= p50.1 && p50.0 - p50.1 <= p50.1 / 1000, "{p50:?}");
    }
}

#[test]
fn buckets_hold_every_sample_once_and_stay_narrow() {
    let mut histogram = Histogram::new();
    let values = [0, 1, 1, 2047, 2048, 99_999, 100_000, 1_234_567, 9_876_543_210];
    values.iter().for_each(|ns| histogram.record(*ns));
    let buckets: Vec<_> = histogram.buckets().collect();
    assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
    for value in values {
        let holds =
            buckets.iter().filter(|bucket| (bucket.low..=bucket.high).contains(&value)).count();
        assert_eq!(holds, 1, "{value}");
    }
    for pair in buckets.windows(2) {
        assert!(pair[0].high < pair[1].low, "{pair:?}");
    }
    for bucket in buckets {
        assert!(bucket.high - bucket.low <= bucket.low / 1000, "{bucket:?}");
    }
}

#[test]
fn a_hundred_agents_merged_are_the_histogram_of_all_samples() {
    let mut random = crate::Random::new(100);
    let (mut merged, mut all) = (Histogram::new(), Histogram::new());
    let mut of_texts = Histogram::new();
    for agent in 0..100 {
        // What came over the wire, of agents with speeds of their own.
        let mut own = Histogram::new();
        for _ in 0..200 {
            let ns = (1e4 * (1.0 + f64::from(agent)) * -random.unit().ln()) as u64;
            own.record(ns);
            all.record(ns);
        }
        merged.merge(&Histogram::from_base64(&own.to_base64()).unwrap());
        of_texts.merge_base64(&own.to_base64()).unwrap();
    }
    assert_eq!(of_texts, merged);
    assert!(of_texts.merge_base64("cut off").is_err());
    assert_eq!(of_texts, merged, "what is refused adds nothing");
    assert!(merged.buckets().eq(all.buckets()));
    for p in [0.1, 50.0, 90.0, 99.0, 99.9, 99.99] {
        // The text keeps 3 digits of the largest; all else is the same.
        assert!(
            merged.percentile(p).abs_diff(all.percentile(p)) * 1000 <= all.percentile(p),
            "{p}"
        );
    }
    assert_eq!(merged.count(), 20_000);
}
