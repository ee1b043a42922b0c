//! Results of other tools as records. This crate does no I/O and reads no clock.
//!
//! ```text
//!   text of a file ─► formats ─► Stated ─► output ─► plan, records
//! ```
//!
//! - [`import`]: files to a plan and its records, or to all that is wrong with them;
//! - [`stated`]: what a tool printed of one test, for runs that start tools themselves;
//! - [`tools`]: the names of the tools whose files are read.
//!
//! A record has what its file states, and nothing else. It has no proof, and the kind of its
//! workload begins with `imported-` (`hopbench_model::WorkloadKind::is_imported`).
//!
//! To add a tool: one file in `formats/json/` or `formats/text/`, and one line in `FORMATS`
//! (`formats/json.rs` or `formats/text.rs`). Modules use those below them only: `output`;
//! `formats`; `stated`; `kinds`, `reading`.

mod formats;
mod kinds;
mod output;
mod reading;
mod stated;

pub use formats::tools;
pub use output::{Given, Imported, import, stated};
