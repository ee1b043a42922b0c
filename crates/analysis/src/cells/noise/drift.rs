//! Drift over the rounds of a noise run.

use hopbench_stats::{Persistence, persistence, trend};
use serde::Serialize;

/// A p-value up to which a movement over the rounds is told.
pub const NOISE_P: f64 = 0.05;

/// The drift of the rounds: how much slower each was than usual, over the workloads' main figures
/// of both paths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseDrift {
    /// By how much slower the last round was than the first, along the trend, as a share of the
    /// speed. 0.5 is half as fast, -1 twice as fast.
    pub slower: f64,
    /// The p-value of the trend (Mann-Kendall).
    pub slower_p: f64,
    /// Rank correlation of neighbouring rounds, -1 to 1; absent where all are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
    /// The p-value of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_p: Option<f64>,
}

/// Of effects as logarithms.
pub(crate) fn drift(effects: &[f64], seed: u64) -> Option<NoiseDrift> {
    // Told by the speed, as in a report: what takes twice as long is slower by 50 %.
    let speeds: Vec<f64> = effects.iter().map(|effect| (-effect).exp()).collect();
    let moved = trend(&speeds)?;
    let persistence: Option<Persistence> = persistence(&speeds, seed);
    Some(NoiseDrift {
        slower: -moved.relative_change,
        slower_p: moved.p,
        correlation: persistence.map(|found| found.correlation),
        correlation_p: persistence.map(|found| found.p),
    })
}
