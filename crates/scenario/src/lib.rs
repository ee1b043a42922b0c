//! Scenario files: YAML in, a plan or all that is wrong with it out.
//!
//! ```text
//! text ─ document ─► nodes with positions ─ testbed, paths ─► paths, one for each variant ┐
//!                                         └ workload, search ─► points ───────────────────┤
//!                                           plan ◄─ twin, only ◄─ plan ◄─ resolve ────────┘
//! ```
//!
//! A workload's keys are the flags of its command
//! ([`hopbench_load::workload::Workload::arguments`], [`hopbench_load::JobArguments`]): there is no
//! second list of them. Which network kinds, runtimes and servers there are, the caller says with a
//! [`Vocabulary`] for each testbed. Nothing stops at the first problem.

mod document;
mod http;
mod paths;
mod resolve;
mod schema;
mod shipped;
mod subjects;
mod testbed;
mod vocabulary;
mod workload;

pub use document::problem::ScenarioProblem;
pub use document::yaml::MOST_BYTES;
pub use paths::place::VIAS;
pub use resolve::{Overrides, Resolved, TestbedChoice, read, read_testbed};
pub use schema::schema;
pub use shipped::{SHIPPED, Shipped, shipped};
pub use testbed::reach::ClusterOverrides;
pub use vocabulary::{Network, PeerWord, Server, Vocabularies, Vocabulary};
pub use workload::MOST_CELLS;
