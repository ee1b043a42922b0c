//! The vocabulary of hopbench: what goes into a measurement and what comes out of it.
//!
//! Everything here is data. This crate does no I/O and reads no clock, so that every other crate,
//! and every test, can use it freely.
//!
//! - [`units`]: sizes, bit rates and durations as people write them (`128KiB`, `1Gbit`, `5ms`);
//! - [`number`]: figures as people read them (`17.4 kB`, `1.23 ms`);
//! - [`Sweep`]: one parameter that takes several values (`1:256KiB:*64`);
//! - [`Job`]: one trial as both ends must understand it;
//! - [`Plan`]: a scenario as it was resolved: [`Path`]s, points, cells; [`RunFile`]: what a results folder is about;
//! - [`Permit`]: what the agents of a run may do;
//! - [`EndReport`]: what one end saw; [`Record`]: the result of a trial;
//! - [`Problem`]: an input that cannot be used, and what to do about it;
//! - [`printable`]: texts of others, as they may be shown; [`secret`]: values that are never shown;
//! - [`Source`]: where a connection comes from, as far as its room is bounded;
//! - [`Warning`]: a result that needs a caveat.

mod cluster;
mod counter;
mod end_report;
mod fault;
mod job;
mod mesh;
pub mod number;
mod path;
mod permit;
mod plan;
pub mod printable;
mod problem;
mod record;
mod run_file;
mod search;
pub mod secret;
mod source;
mod stop;
mod sweep;
mod tcp;
mod testbed;
pub mod units;
mod warning;

pub use cluster::{
    ClusterNode, ClusterSpec, GatewaySpec, MeshProvider, MeshSpec, PodNetwork, PrometheusSpec, ServerImage,
};
pub use counter::{Counter, Counts};
pub use end_report::{CPUS_SETTING, EndReport, FlowReport, LatencyKind, MAX_RATE_SETTING, Reading, Tick};
pub use fault::{Fault, FaultKind};
pub use job::{CpuSet, EngineKind, Job, LATE_NS, Pacing, SCHEDULE_KEPT, Schedule, Timing, is_of_exchanges};
pub use mesh::{BYPASSES_PROXY, FLAGS_HEADER, HttpVersion, MeshMode, Variant, proxy_role};
pub use path::{Path, Place, Via};
pub use permit::{Bounds, Permit, SignedPermit};
pub use plan::{Cell, PLAN_SCHEMA, Plan, Point, ROUNDS, ServerSpec, point_label};
pub use problem::Problem;
pub use record::{
    Cost, DISTURBED_SETTING, Environment, Interval, Invariant, Latency, MeteredCost, NodeCost, Proof, ProxyCost,
    RECORD_SCHEMA, Record, SHORTEST_OF_MACHINE_S,
};
pub use run_file::{Failure, RUN_SCHEMA, RunFile, RunStatus, Skipped};
pub use search::{CpuOf, EQUAL_LOAD, RateRange, SearchGoal, SearchOutcome, SearchSpec, SearchStep};
pub use source::{Source, makes_room};
pub use stop::{COMMON_METRICS, StopRule, StopWhy, Stopped};
pub use sweep::{Scale, Sweep};
pub use tcp::TcpTotals;
pub use testbed::{Host, HostsSpec, LabNode, LabSpec, TestbedSpec};
pub use warning::{Warning, WarningKind};

/// Nanoseconds on the monotonic clock of one machine, or a length of time in nanoseconds.
pub type Nanos = u64;

/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;
