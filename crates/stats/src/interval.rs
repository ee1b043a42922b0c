//! Intervals: their confidence and type.

/// The confidence that every interval here aims at.
pub const CONFIDENCE: f64 = 0.95;

/// A range that holds the true value with the confidence that its maker says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end; not below `low`.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The smallest interval that holds both.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// Wilson's interval, 95 %, of the share that `hits` of `of` independent trials show; `None`
/// without trials, or with more hits than trials.
pub fn share_interval(hits: usize, of: usize) -> Option<Interval> {
    const Z: f64 = 1.959_964;
    if of == 0 || hits > of {
        return None;
    }
    let (n, share) = (of as f64, hits as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let end = |value: f64| (value / (1.0 + Z * Z / n)).clamp(0.0, 1.0);
    Some(Interval { low: end(middle - half), high: end(middle + half) })
}

/// Why two figures have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// No round has both.
    NoPairs,
    /// A figure of this pair, counted from 0, is not finite or not above 0.
    Pair(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_share_is_wilsons() {
        let close = |hits, of, low: f64, high: f64| {
            let found = share_interval(hits, of).unwrap();
            assert!(
                (found.low - low).abs() < 5e-4 && (found.high - high).abs() < 5e-4,
                "{found:?}"
            );
        };
        close(0, 20, 0.0, 0.1611);
        close(20, 20, 0.8389, 1.0);
        close(5, 10, 0.2366, 0.7634);
        assert_eq!((share_interval(0, 0), share_interval(3, 2)), (None, None));
    }
}
