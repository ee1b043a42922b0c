//! A whole run as pages, tables and data: its summary in a format.
//!
//! The figures, comparisons and sentences come from `hopbench_analysis`. The parts of pages are in
//! `topics/`, which make one document of them. The formats are in `formats/`: one file and one
//! line each.

mod answer;
mod details;
mod format;
mod formats;
mod layout;
mod noise_page;
mod page_text;
mod plot;
mod point;
mod search_table;
mod table_model;
mod topics;

pub use hopbench_analysis::text::{RateUnit, broken_text, load_text, rate_text};
pub use hopbench_analysis::{
    Added, CellSummary, ComponentSummary, CurvePoint, CurveSummary, DistributionSummary, EqualLoad,
    EqualLoadPath, Estimate, FailureSummary, FigureSummary, Finding, FoundFigure, FrameGrowth,
    Limit, LineSummary, LoadComparison, MeteredNodeSummary, NOISE_SCHEMA, NodeSummary, Noise,
    NoiseDrift, NoiseFigure, NoiseMachine, Outcome, PathSummary, PooledSummary, ProfileDifference,
    ProfileOwner, ProfileSide, ProfileSummary, ProfileUnit, ProfilesSummary, ProofSummary,
    ProxyShare, RatioSummary, Resource, Run, RunData, SUMMARY_SCHEMA, SearchSummary, SearchedPath,
    SkippedSummary, Spread, StopSummary, SubjectSummary, Summary, TraceStep, Undecided, Verdict,
    WarningSummary, WaterfallStep, WaterfallSummary, WorkloadSummary, main_latency,
    profile_difference, unknown_bound,
};

pub use self::answer::{LiveScreen, Screen};
pub use self::details::Details;
pub use self::format::SummaryFormat;
pub use self::formats::{SUMMARY_FORMATS, summary_format};
pub use self::noise_page::noise_page;
