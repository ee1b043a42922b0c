//! The results of a run as plain values: what the other modules compute, and what reports print.

mod cell;
mod curve;
mod load;
mod path;
mod peer;
mod run;
mod search;
mod spread;
mod stop;
mod verdict;
mod waterfall;
mod workload;

pub use self::cell::{
    CONNECTING_ENDS, CellSummary, ComponentSummary, Estimate, Limit, MeteredNodeSummary,
    NodeSummary, RatioSummary,
};
pub use self::curve::{CurvePoint, CurveSummary, LineSummary, Resource};
pub(crate) use self::load::Bracket;
pub use self::load::{
    EqualLoad, EqualLoadPath, FoundFigure, LoadComparison, UNDECIDED_MARK, Undecided,
    undecided_text,
};
pub use self::path::{PathSummary, ProofSummary};
pub use self::peer::{PeerComparison, PeerSummary};
pub use self::run::{FailureSummary, Run, SUMMARY_SCHEMA, SkippedSummary, Summary, WarningSummary};
pub use self::run::{
    FrameGrowth, ProfileDifference, ProfileOwner, ProfileSummary, ProfileUnit, ProfilesSummary,
};
pub use self::search::{SearchSummary, SearchedPath, TraceStep};
pub use self::spread::Spread;
pub use self::stop::StopSummary;
pub use self::verdict::{Better, BoundSummary, Case, CaseState, Outcome, SubjectSummary, Verdict};
pub(crate) use self::waterfall::WHOLE;
pub use self::waterfall::{Added, ProxyShare, WaterfallStep, WaterfallSummary};
pub use self::workload::{
    DistributionSummary, FigureSummary, Finding, PooledSummary, WorkloadSummary,
};
