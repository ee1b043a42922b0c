//! Searches for a load: each asks for one load after another and is told what was seen there.
//!
//! They are state machines without a clock and without measurements of their own; whoever drives
//! them does that:
//!
//! ```
//! use hopbench_stats::{Highest, Measurement, Outcome, Search};
//!
//! // The highest rate at which a percentile stays below 1 ms; this system does so up to 5000 a
//! // second.
//! let mut search = Highest::slo(1e6, 100.0, 100_000.0, 0.02, 1);
//! while let Some(rate) = search.next_load() {
//!     let p99_ns = if rate < 5000.0 { 3e5 } else { 9e6 };
//!     search.observe(rate, Measurement { value: p99_ns, within: true });
//! }
//! let Outcome::Found { load, .. } = search.outcome() else { panic!("nothing found") };
//! assert!((4900.0..=5000.0).contains(&load));
//! assert!(search.trace().len() < 30);
//! ```

mod ceiling;
mod highest;
mod knee;

pub use ceiling::Ceiling;
pub use highest::Highest;
pub use knee::{Growth, Knee};

/// What a trial at a load showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// The figure that is searched by: a percentile in ns, a share of CPU, a share of loss, a
    /// throughput. Not finite where the trial has none.
    pub value: f64,
    /// Whether all else was within bounds: errors, the rate that was to be reached. Where it was
    /// not, the load was too high.
    pub within: bool,
}

/// One trial of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The load that was measured.
    pub load: f64,
    /// What was seen.
    pub seen: Measurement,
    /// Why it was measured.
    pub why: Why,
}

/// Why a load was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// To see about where the limit lies, by a trial that may be short.
    Scan,
    /// To find a load that is too high, or one that is not.
    Raise,
    /// To narrow what lies between.
    Narrow,
    /// Because one trial left it open.
    Again,
    /// To confirm what was found.
    Confirm,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// It goes on.
    Searching,
    /// Found.
    Found {
        /// The load.
        load: f64,
        /// A load at least as high as it can be: it lies between this...
        low: f64,
        /// ... and this.
        high: f64,
    },
    /// Even the highest load that may be asked for is not too high.
    AboveHighest,
    /// Even the lowest load is too high.
    BelowLowest,
    /// The trials that a search may take are used up; what lies between is still this wide.
    GaveUp {
        /// The highest load that was not too high; 0 where there is none.
        low: f64,
        /// The lowest that was; infinite where there is none.
        high: f64,
    },
}

/// A search for a load.
pub trait Search {
    /// The load to measure next; `None` when the search has ended. The same until something was
    /// observed.
    fn next_load(&self) -> Option<f64>;
    /// Whether the next trial may be short: it only shows about where the limit lies.
    fn is_scanning(&self) -> bool {
        false
    }
    /// What was seen at the load that was asked for.
    fn observe(&mut self, load: f64, seen: Measurement);
    /// What it came to.
    fn outcome(&self) -> Outcome;
    /// Every trial so far, in order.
    fn trace(&self) -> &[Step];
    /// The load that each repetition came to, in order; empty of a search that is not repeated.
    fn found(&self) -> &[f64] {
        &[]
    }
}
