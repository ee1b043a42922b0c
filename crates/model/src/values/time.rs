//! Times in nanoseconds.

/// Nanoseconds on the monotonic clock of one machine, or a length of time in nanoseconds.
pub type Nanos = u64;

/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;
