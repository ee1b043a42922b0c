//! The vocabulary of hopbench: what goes into a measurement and what comes out of it.
//!
//! Everything here is data. This crate does no I/O and reads no clock, so that every other crate,
//! and every test, can use it freely.
//!
//! - [`units`]: sizes, bit rates and durations as people write them (`128KiB`, `1Gbit`, `5ms`);
//! - [`number`]: figures as people read them (`17.4 kB`, `1.23 ms`);
//! - [`Sweep`]: one parameter that takes several values (`1:256KiB:*64`);
//! - [`Job`]: one trial as both ends must understand it;
//! - [`Plan`]: a scenario as it was resolved: [`Path`]s, points, cells; [`RunFile`]: what a results
//!   folder is about;
//! - [`Permit`]: what the agents of a run may do;
//! - [`Profiles`]: call stacks of cells, as [`Folded`] stacks;
//! - [`EndReport`]: what one end saw; [`Record`]: the result of a trial;
//! - [`Problem`]: an input that cannot be used, and what to do about it;
//! - [`printable`]: texts of others, as they may be shown; [`secret`]: values that are never shown;
//! - [`Source`]: where a connection comes from, as far as its room is bounded;
//! - [`Warning`]: a result that needs a caveat;
//! - [`fixture`]: small plans, jobs and records for tests.

mod access;
mod end_report;
mod fault;
pub mod fixture;
mod job;
pub mod moment;
mod plan;
mod record;
mod run_file;
pub mod secret;
mod values;

pub use access::{Bounds, Permit, SignedPermit, Source, makes_room};
pub use end_report::{
    CPU_QUOTA_SETTING, CPUS_SETTING, EndReport, FlowReport, LINK_RATE_SETTING, LatencyKind,
    MAX_RATE_SETTING, Reading, Tick, WorkerCounts, is_refused_call,
};
pub use end_report::{Counter, Counts, TcpTotals};
pub use fault::{Fault, FaultKind, Problem, with_causes};
pub use job::{CpuSet, EngineKind, Job, LATE_NS, Pacing, SCHEDULE_KEPT, Schedule, Timing};
pub use job::{Params, Pattern, Transport, Unit, WorkloadKind};
pub use plan::{
    Affinity, BYPASSES_PROXY, FLAGS_HEADER, Gateways, HttpVersion, IpFamily, MeshMode, NODE_PROXY,
    Path, Place, Variant, Via, nodes_text, proxy_role,
};
pub use plan::{BY_PEER, Peer};
pub use plan::{BrokenBound, CpuOf, EQUAL_LOAD, RateRange, SCAN, SearchBound, SearchGoal};
pub use plan::{COMMON_METRICS, StopRule, StopWhy, Stopped};
pub use plan::{Cell, PLAN_SCHEMA, Plan, Point, ROUNDS, ServerSpec, point_label};
pub use plan::{
    ClusterNode, ClusterSpec, GatewaySpec, MeshProvider, MeshSpec, ParentGateway, PeerImage,
    PodNetwork, PrometheusSpec, ServerImage,
};
pub use plan::{Host, HostsSpec, LabNode, LabSpec, MOST_SERVER_WORK, TestbedSpec};
pub use plan::{NodeSettings, OFFLOADS, PodSettings, Subject, SubjectChanges, SubjectCommand};
pub use plan::{Reference, References};
pub use plan::{SearchOutcome, SearchSpec, SearchStep, ShortTrials};
pub use record::{
    Cost, Environment, Interval, Invariant, Latency, Member, MeteredCost, NodeCost, Proof,
    ProxyCost, RECORD_SCHEMA, RECORD_SCHEMAS, Record, SHORTEST_OF_MACHINE_S, TrialOutcome,
};
pub use record::{LineError, RecordLines, SharedParts, record_of_line};
pub use record::{Warning, WarningKind};
pub use run_file::{Failure, RUN_SCHEMA, RunFile, RunStatus, Skipped};
pub use run_file::{Folded, KERNEL_MARK};
pub use run_file::{PROFILE_SCHEMA, PROFILES, ProfileFile, ProfiledCell, ProfiledCount, Profiles};
pub use values::{Nanos, Rate, SECOND, Scale, Sweep, is_default, number, printable, units};
