//! What subjects change in a lab.
//!
//! - `settings`: of nodes and the pods there; `commands`: around trials.

mod commands;
mod settings;

pub(super) use commands::Commands;
pub(super) use settings::{Envoys, apply, out_of_reach, proof};
