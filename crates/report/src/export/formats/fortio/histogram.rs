//! A distribution as fortio writes it: seconds or bytes.

use hopbench_stats::Histogram;
use serde::Serialize;
use serde_json::Number;

/// The percentiles that fortio prints where it is asked for no others.
const PERCENTILES: [f64; 5] = [50.0, 75.0, 90.0, 99.0, 99.9];

const NS_A_SECOND: f64 = 1e9;

/// A distribution.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HistogramData {
    count: u64,
    min: f64,
    max: f64,
    sum: f64,
    avg: f64,
    std_dev: f64,
    data: Option<Vec<Bucket>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    percentiles: Vec<Percentile>,
}

/// A distribution of which only the number of samples is known. Its readers take what is missing
/// for 0 or for nothing; no field with a time is written, since every value would be invented.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CountOnly {
    count: u64,
    data: Option<Vec<Bucket>>,
}

impl CountOnly {
    pub(super) fn of(count: u64) -> Self {
        Self { count, data: None }
    }
}

/// Samples from `start` to `end`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Bucket {
    start: f64,
    end: f64,
    /// Of all samples, those in this bucket and before it.
    percent: f64,
    count: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Percentile {
    percentile: Number,
    value: f64,
}

impl HistogramData {
    /// A distribution of times, ns, in seconds.
    pub(super) fn of(histogram: &Histogram) -> Self {
        let seconds = |ns: u64| ns as f64 / NS_A_SECOND;
        let count = histogram.count();
        let mut before = 0;
        let bucket = |bucket: hopbench_stats::Bucket| {
            before += bucket.count;
            Bucket {
                // The first begins with the smallest sample, the last ends with the largest.
                start: seconds(bucket.low.max(histogram.min())),
                end: seconds(bucket.high.min(histogram.max())),
                percent: 100.0 * before as f64 / count as f64,
                count: bucket.count,
            }
        };
        let percentile =
            |p: f64| Percentile { percentile: whole(p), value: seconds(histogram.percentile(p)) };
        let avg = histogram.mean() / NS_A_SECOND;
        Self {
            count,
            min: seconds(histogram.min()),
            max: seconds(histogram.max()),
            sum: avg * count as f64,
            avg,
            std_dev: histogram.stddev() / NS_A_SECOND,
            data: Some(histogram.buckets().map(bucket).collect()),
            percentiles: PERCENTILES.map(percentile).into(),
        }
    }

    /// Of so many values only the mean is known.
    pub(super) fn of_mean(count: u64, mean: f64) -> Self {
        Self { count, min: mean, max: mean, sum: mean * count as f64, avg: mean, ..Self::default() }
    }
}

/// A percentile as its readers name columns by: 50 and not 50.0, which would become `p500`.
fn whole(p: f64) -> Number {
    let fraction = || Number::from_f64(p).unwrap_or_else(|| Number::from(0));
    if p.fract() == 0.0 { Number::from(p as u64) } else { fraction() }
}
