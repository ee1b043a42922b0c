//! What a figure was over the rounds.

use hopbench_stats::{median_interval, summary::median};

/// A median with its interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    /// The median.
    pub(crate) median: f64,
    /// Lower end of its interval; absent with one round.
    pub(crate) low: Option<f64>,
    /// Upper end.
    pub(crate) high: Option<f64>,
    /// Rounds behind it.
    pub(crate) rounds: usize,
}

impl Spread {
    /// Of the values that are numbers; `None` where there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let interval = median_interval(&values);
        Some(Self {
            median: median(&values)?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            rounds: values.len(),
        })
    }
}
