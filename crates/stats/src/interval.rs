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

/// Why two figures have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// No round has both.
    NoPairs,
    /// A figure of this pair, counted from 0, is not finite or not above 0.
    Pair(usize),
}
