//! A pair of a round: a figure and that of its baseline, measured in it.

/// A figure of one round, and that of its baseline, which may have been measured twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundPair {
    /// The figure.
    pub value: f64,
    /// The baseline's.
    pub baseline: f64,
    /// The baseline's once more; `None` where it was measured once.
    pub twin: Option<f64>,
}

impl RoundPair {
    /// Whether all of it has a logarithm.
    pub(super) fn is_usable(self) -> bool {
        let usable = |value: f64| value.is_finite() && value > 0.0;
        usable(self.value) && usable(self.baseline) && self.twin.is_none_or(usable)
    }
}

impl From<(f64, f64)> for RoundPair {
    /// Of (figure, baseline).
    fn from((value, baseline): (f64, f64)) -> Self {
        Self { value, baseline, twin: None }
    }
}
