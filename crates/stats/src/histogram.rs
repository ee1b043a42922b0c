//! The distribution of a latency.

mod encoding;

use std::fmt;

use hopbench_model::Latency;

pub use encoding::HistogramError;
use encoding::{Counts, HIGHEST_NS};

/// A latency distribution in ns: 3 significant digits from 1 ns to 1 hour.
///
/// The counts are an HDR histogram of fixed size, 264 KiB, so recording allocates nothing and costs
/// the same for every value. Below 2048 ns every value has a
/// count of its own; above, values that share a count differ by less than 0.1 %.
///
/// Zero is recorded as zero: a lateness of nothing is a measurement. Values above 1 hour are
/// recorded as 1 hour and counted by [`clamped`](Self::clamped).
///
/// [`min`](Self::min) and [`max`](Self::max) are exact. The serialised form has no room for them.
/// After [`from_base64`](Self::from_base64) they are the limits of the lowest and highest count in
/// use, right to 3 digits.
#[derive(Clone, PartialEq)]
pub struct Histogram {
    counts: Counts,
    /// `u64::MAX` while empty, so that recording needs no case of its own.
    min_ns: u64,
    max_ns: u64,
    clamped: u64,
}

/// Samples that share a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value that it stands for, ns.
    pub low: u64,
    /// The largest, ns; less than 0.1 % above `low`.
    pub high: u64,
    /// Samples.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: encoding::empty(), min_ns: u64::MAX, max_ns: 0, clamped: 0 }
    }

    /// Counts one value, ns; above 1 hour it counts as 1 hour.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let value = if ns <= HIGHEST_NS {
            ns
        } else {
            self.clamped += 1;
            HIGHEST_NS
        };
        self.counts.saturating_record(value);
        self.min_ns = self.min_ns.min(value);
        self.max_ns = self.max_ns.max(value);
    }

    /// Adds all that another histogram counted: the result is the histogram of all samples.
    pub fn merge(&mut self, other: &Self) {
        let merged = self.counts.add(&other.counts);
        // Refused only where the ranges differ, and no constructor makes another range.
        debug_assert!(merged.is_ok(), "histograms of one range do not merge: {merged:?}");
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.clamped += other.clamped;
    }

    /// Samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Samples above 1 hour that were recorded as 1 hour, by this histogram or one merged into it.
    ///
    /// Not part of the serialised form: 0 after [`from_base64`](Self::from_base64).
    #[must_use]
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The smallest value, ns; 0 when empty.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.is_empty() { 0 } else { self.min_ns }
    }

    /// The largest value, ns; 0 when empty.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max_ns
    }

    /// The mean, ns, within 0.05 %; 0 when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        // The mean of the counts' middles can leave the range of what was recorded.
        self.counts.mean().clamp(self.min() as f64, self.max() as f64)
    }

    /// The population standard deviation, ns; 0 when empty.
    ///
    /// Values are taken at the middle of their count: a spread far below 0.1 % of the mean shows as
    /// 0.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        self.counts.stdev()
    }

    /// The value that `p` percent of the samples do not exceed, ns; 0 when empty.
    ///
    /// Nearest rank: of n samples in ascending order, number ⌈n·p/100⌉; no interpolation, so it
    /// is never a value between two clusters. Never below that sample, above it by less than
    /// 0.1 %, and always between [`min`](Self::min) (which is what `p` = 0 gives) and
    /// [`max`](Self::max). `p` outside 0..=100 counts as the nearer end, NaN as the lower one.
    #[must_use]
    pub fn percentile(&self, p: f64) -> u64 {
        let total = self.count() as f64;
        // 0.07 is not exact in binary, and 0.07 % of 10 000 comes out just above 7. Without the
        // allowance for rounding its rank would be 8.
        let exact_rank = p.clamp(0.0, 100.0) * total / 100.0;
        let rank = (exact_rank * (1.0 - 4.0 * f64::EPSILON)).ceil();
        if rank < 1.0 || rank.is_nan() || self.is_empty() {
            return self.min();
        }
        // Half a sample below the rank: rounding cannot then reach a neighbouring rank.
        self.counts.value_at_quantile((rank - 0.5) / total).clamp(self.min(), self.max())
    }

    /// The counts that are in use, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter_recorded().map(|step| {
            let value = step.value_iterated_to();
            Bucket {
                low: self.counts.lowest_equivalent(value),
                high: value,
                count: step.count_at_value(),
            }
        })
    }

    /// The figures that a record shows, with the whole distribution as text.
    #[must_use]
    pub fn summary(&self) -> Latency {
        Latency {
            count: self.count(),
            mean: self.mean(),
            stddev: self.stddev(),
            min: self.min(),
            p50: self.percentile(50.0),
            p90: self.percentile(90.0),
            p99: self.percentile(99.0),
            p999: self.percentile(99.9),
            p9999: self.percentile(99.99),
            max: self.max(),
            hdr: encoding::shorter(&self.counts),
        }
    }

    /// The whole distribution as text: HdrHistogram V2 (not compressed), standard base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        encoding::encode(&self.counts)
    }

    /// Reads what [`to_base64`](Self::to_base64) wrote, and the compressed form that a
    /// [`summary`](Self::summary) has.
    ///
    /// The text may come from anywhere: what it needs in memory is bounded by the size of one
    /// histogram, whatever it claims.
    ///
    /// # Errors
    /// When the text is too long, not base64, not HdrHistogram V2, or of another range or precision
    /// than 1 ns to 1 hour in 3 digits. Or when its counts do not fit that range.
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let mut read = Self::new();
        read.merge_base64(text)?;
        Ok(read)
    }

    /// Adds all that the histogram of a text counted, as [`from_base64`](Self::from_base64) and
    /// [`merge`](Self::merge) would, without another histogram in memory.
    ///
    /// # Errors
    /// As [`from_base64`](Self::from_base64). Nothing is added then.
    pub fn merge_base64(&mut self, text: &str) -> Result<(), HistogramError> {
        if let Some((low, high)) = encoding::add(&mut self.counts, text)? {
            self.min_ns = self.min_ns.min(low);
            self.max_ns = self.max_ns.max(high);
        }
        Ok(())
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// A line of figures: the counts themselves would fill pages.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("p50", &self.percentile(50.0))
            .field("max", &self.max())
            .field("clamped", &self.clamped)
            .finish()
    }
}

#[cfg(test)]
mod tests;
