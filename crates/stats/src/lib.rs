//! Numbers from measurements: distributions, intervals, comparisons, searches, lines.
//!
//! Everything here is arithmetic on values that are passed in. This crate does no I/O and reads no
//! clock, so its results depend on its arguments only and every rule is tested without a network.
//! What is random follows from a seed that is passed in. What the methods say of themselves
//! (coverage, power, what a search finds) is simulated in `tests/simulate`.
//!
//! Of a trial:
//!
//! - [`Histogram`]: a latency distribution, ns, 3 significant digits; merged, never averaged;
//! - [`SequenceTracker`]: loss, reordering and duplicates of one-way datagrams;
//! - [`Jitter`]: interarrival jitter as RFC 3550 defines it;
//! - [`drift`]: whether the rate changed systematically inside one window;
//!
//! Of rounds:
//!
//! - [`rounds_interval`]: how sure the median of a cell's rounds is, from 3 rounds on;
//!   [`difference_interval`]: the same of what may lie around 0;
//! - [`PooledRounds`]: the same for a percentile of all rounds together, from their
//!   histograms; [`pooled_mean`]: of their mean;
//! - [`Stop`]: whether a cell needs another round, with all looks accounted for;
//! - [`paired`], [`unpaired`], [`judge`]: whether two figures differ, over many comparisons at
//!   once; [`paired_rates`]: of rates, which may be 0 in some rounds; [`judge_shift`]: of losses and
//!   errors, which have no ratio; [`is_settled`]: whether more rounds are worth little;
//! - [`welch`]: the t test of a handful of runs, for what people do by hand; [`share_interval`]:
//!   how sure a count is;
//! - [`outliers`], [`trend`], [`persistence`]: which rounds are far from the others, and what moves
//!   over them;
//! - [`summary`]: median, quantiles, mean and spread of a handful of figures.
//!
//! Of loads:
//!
//! - [`Search`]: a search for a load, with [`Knee`], [`Highest`] (a percentile or a loss within a
//!   limit) and [`Ceiling`];
//! - [`fit`]: the line that a cost follows over a rate.
//!
//! ```
//! use hopbench_stats::{Histogram, drift, summary};
//!
//! // Each thread records on its own; what they saw is merged.
//! let mut total = Histogram::new();
//! for thread in 0..2 {
//!     let mut own = Histogram::new();
//!     for exchange in 1..=500 {
//!         own.record(1_000 * (500 * thread + exchange));
//!     }
//!     total.merge(&own);
//! }
//! assert_eq!(total.count(), 1_000);
//! assert_eq!((total.min(), total.max()), (1_000, 1_000_000));
//! let p99 = total.percentile(99.0);
//! assert!((990_000..=990_990).contains(&p99), "within 3 digits of 990 us, got {p99}");
//!
//! // The text in a record holds the whole distribution.
//! let read = Histogram::from_base64(&total.to_base64())?;
//! assert_eq!(read.percentile(50.0), total.percentile(50.0));
//!
//! // Rates of the intervals of one window, bits/s.
//! let rates = [9.4e9, 9.3e9, 9.5e9, 9.4e9, 9.4e9, 9.3e9];
//! assert_eq!(summary::median(&rates), Some(9.4e9));
//! assert!(drift(&rates).is_some_and(|drift| !drift.drifted));
//! # Ok::<(), hopbench_stats::HistogramError>(())
//! ```

mod compare;
mod histogram;
mod interval;
mod line;
mod random;
mod rounds;
mod search;
mod student;
pub mod summary;
mod trial;

pub use compare::{
    Comparison, Evidence, FEWEST_TO_JUDGE, Judgement, Permuted, Question, RoundPair, SAME, Shift,
    ShiftQuestion, Test, Zeros, is_look, is_settled, judge, judge_shift, noise_floor, paired,
    paired_rates, permuted, q_values, sure_floor, unpaired,
};
pub use histogram::{Bucket, Histogram, HistogramError};
pub use interval::{CONFIDENCE, Interval, NoRatio, share_interval};
pub use line::{FEWEST_PLACES, Line, fit};
pub use random::Random;
pub use rounds::{
    FEWEST_TO_STOP, Look, Outlier, Persistence, Pooled, PooledRounds, Stop, Trend,
    difference_interval, outliers, persistence, pooled_mean, round_effects, rounds_interval, trend,
};
pub use search::{Ceiling, Growth, Highest, Knee, Measurement, Outcome, Search, Step, Why};
pub use student::welch;
pub use trial::{Drift, Jitter, Observation, SequenceTracker, drift};
