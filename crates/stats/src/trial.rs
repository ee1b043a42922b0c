//! Statistics of one trial: loss and order of datagrams, jitter, and drift inside the window.

mod jitter;
mod sequence;
pub(crate) mod steady;

pub use self::jitter::Jitter;
pub use self::sequence::{Observation, SequenceTracker};
pub use self::steady::{Drift, drift};
