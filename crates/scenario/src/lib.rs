//! Scenario files: YAML in, a plan or all that is wrong with it out.
//!
//! ```text
//! text ─ yaml ─► nodes with positions ─ testbed, paths, matrix ─► paths ─ mesh: variants ┐
//!                                     └ workload: keys, search ─► points ────────────────┴ resolve ─► plan ─ twin, only ─► plan
//! ```
//!
//! A workload's keys are the flags of its command ([`hopbench_load::workload::Workload::arguments`],
//! [`hopbench_load::JobArguments`]): there is no second list of them. Which network kinds, runtimes and servers there
//! are, the caller says with a [`Vocabulary`] for each testbed. Nothing stops at the first problem.

mod fields;
mod flags;
mod http;
mod json;
mod keys;
mod matrix;
mod mesh;
mod node;
mod only;
mod paths;
mod place;
mod points;
mod problem;
mod resolve;
mod rounds;
mod schema;
mod search;
mod share;
mod shipped;
mod sidecars;
mod testbed;
mod twin;
mod values;
mod variants;
mod vocabulary;
mod workload;
mod yaml;

pub use place::VIAS;
pub use problem::ScenarioProblem;
pub use resolve::{Overrides, Resolved, TestbedChoice, read, read_testbed};
pub use schema::schema;
pub use shipped::{SHIPPED, Shipped, shipped};
pub use vocabulary::{Network, Server, Vocabularies, Vocabulary};
pub use workload::MOST_CELLS;
pub use yaml::MOST_BYTES;
