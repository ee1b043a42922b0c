//! The summary of a run and the comparison of two, from their records. This crate does no I/O,
//! knows no format and reads no clock.
//!
//! ```text
//!   run.json ─► RunData ◄─ records, one by one
//!                 └─► Summary
//! ```
//!
//! - [`RunData`] takes the records of a run, and makes its [`Summary`];
//! - [`compare`]: two runs, or several on each side;
//! - [`Noise`]: a run of one path that is measured twice in each round;
//! - [`text`]: intervals, columns and loads as texts.
//!
//! The method:
//!
//! - A cell's figure is the median over its rounds, with the interval of
//!   `hopbench_stats::rounds_interval`. A percentile is the median of the rounds' percentiles. A
//!   minimum or maximum is that of all rounds.
//! - A comparison is the ratio to the baseline path at the same point, round by round
//!   (`hopbench_stats::paired` and `paired_rates`). It uses the rounds that both measured in one
//!   session of the run.
//! - All comparisons are judged together (`hopbench_stats::judge`). The noise floor is what the
//!   baseline and its twin surely differ by.
//! - A record is in no figure if it is incomplete or in error, as the run decided. It is listed.
//! - `figures/kinds.rs` lists the figures of each kind of workload, a line each.
//!
//! Modules use those below them only: `summarize`; `compare`; `mesh`, `search`; `run_data`; `stop`;
//! `cells`; `verdict`; `figures`; `summary`; `text`.

mod cells;
pub mod compare;
mod figures;
mod mesh;
mod run_data;
mod search;
mod stop;
mod summarize;
mod summary;
pub mod text;
mod verdict;

pub use cells::noise::{
    NOISE_MINUTES, NOISE_P, NOISE_SCHEMA, Noise, NoiseDrift, NoiseFigure, NoiseMachine,
};
pub use cells::outliers::OUTLIER_MARK;
pub use figures::{RecordedJob, main_latency, spoken, unusable};
pub use run_data::RunData;
pub use summarize::{
    ComparisonState, ProfileSide, difference as profile_difference, unknown_bound,
};
pub use summary::{
    Added, Better, CONNECTING_ENDS, CellSummary, ComponentSummary, CurvePoint, CurveSummary,
    DistributionSummary, EqualLoad, EqualLoadPath, Estimate, FailureSummary, FigureSummary,
    Finding, FoundFigure, FrameGrowth, Limit, LineSummary, LoadComparison, MeteredNodeSummary,
    NodeSummary, Outcome, PathSummary, PeerComparison, PeerSummary, PooledSummary,
    ProfileDifference, ProfileOwner, ProfileSummary, ProfileUnit, ProfilesSummary, ProofSummary,
    ProxyShare, RatioSummary, Resource, Run, SUMMARY_SCHEMA, SearchSummary, SearchedPath,
    SkippedSummary, Spread, StopSummary, SubjectSummary, Summary, TraceStep, UNDECIDED_MARK,
    Undecided, Verdict, WarningSummary, WaterfallStep, WaterfallSummary, WorkloadSummary,
    undecided_text,
};
