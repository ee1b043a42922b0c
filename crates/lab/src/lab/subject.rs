//! What subjects change in a lab.
//!
//! - `settings`: of nodes and the pods there; `commands`: what those around trials know;
//! - `interruption`: who ends them early.

mod commands;
mod interruption;
mod settings;

pub(super) use commands::variables;
pub(super) use settings::{Envoys, apply, out_of_reach, proof};
