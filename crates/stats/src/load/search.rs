//! Searches for a load: each asks for one load after another and is told what was seen there.
//!
//! They are state machines without a clock and without measurements of their own; whoever drives
//! them does that:
//!
//! ```
//! use hopbench_stats::{Highest, Outcome, Search, Seen};
//!
//! // The highest rate at which a percentile stays below 1 ms. This system does so up to 5000 a
//! // second.
//! let mut search = Highest::slo(1e6, 100.0, 100_000.0, 0.02, 1);
//! while let Some(rate) = search.next_load() {
//!     let p99_ns = if rate < 5000.0 { 3e5 } else { 9e6 };
//!     search.observe(rate, Seen { value: p99_ns, within: true });
//! }
//! let Outcome::Found { load, .. } = search.outcome() else { panic!("there is such a rate") };
//! assert!((4900.0..=5000.0).contains(&load));
//! assert!(search.trace().len() < 30);
//! ```

mod ceiling;
mod highest;
mod interface;
mod knee;

pub use ceiling::Ceiling;
pub use highest::Highest;
pub use interface::{Outcome, Search, Seen, Step, Why};
pub use knee::{Growth, Knee};
