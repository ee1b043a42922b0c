//! Histograms in records and in messages of agents.
#![no_main]

use hopbench_stats::Histogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(histogram) = Histogram::from_base64(text) else { return };
    let latency = histogram.summary();
    assert_eq!(latency.count, histogram.count());
    if !histogram.is_empty() {
        assert!(histogram.min() <= histogram.max());
        assert!(histogram.percentile(50.0) <= histogram.percentile(99.9));
        assert!(histogram.mean().is_finite() && histogram.stddev().is_finite());
    }
    let counted: u64 = histogram.buckets().map(|bucket| bucket.count).fold(0, u64::saturating_add);
    assert_eq!(counted, histogram.count());
    let again = Histogram::from_base64(&histogram.to_base64()).expect("what we wrote");
    assert_eq!(again.to_base64(), histogram.to_base64());
    let mut twice = again;
    twice.merge(&histogram);
    assert_eq!(twice.count(), histogram.count().saturating_mul(2));
});
