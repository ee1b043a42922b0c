//! Figures of one trial: distributions of latencies, sequences of datagrams, and drift.

mod histogram;
mod jitter;
mod sequence;
mod steady;

pub use histogram::{Bucket, Histogram, HistogramError};
pub use jitter::Jitter;
pub use sequence::{Observation, SequenceTracker};
pub use steady::{Drift, drift};
pub(crate) use steady::{mann_kendall, relative, theil_sen};
