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
    /// The baseline's figures, one or two.
    pub(super) fn baselines(self) -> impl Iterator<Item = f64> {
        [Some(self.baseline), self.twin].into_iter().flatten()
    }

    /// All figures, the path's first.
    pub(super) fn figures(self) -> impl Iterator<Item = f64> {
        std::iter::once(self.value).chain(self.baselines())
    }

    /// Whether all of it has a logarithm.
    pub(super) fn is_usable(self) -> bool {
        self.figures().all(|figure| figure.is_finite() && figure > 0.0)
    }

    /// Whether all of it can be a rate, which may be 0.
    pub(super) fn is_of_rates(self) -> bool {
        self.figures().all(|figure| figure.is_finite() && figure >= 0.0)
    }

    /// Whether all of it is 0.
    pub(super) fn is_nothing(self) -> bool {
        self.figures().all(|figure| figure == 0.0)
    }
}

impl From<(f64, f64)> for RoundPair {
    /// Of (figure, baseline).
    fn from((value, baseline): (f64, f64)) -> Self {
        Self { value, baseline, twin: None }
    }
}
