//! The changes of subjects in a lab.
//!
//! - `settings`: the settings of nodes and of the pods there, and their proof;
//! - `commands`: the environment of the commands around trials;
//! - `interruption`: the end of such a command when the run is to stop.

mod commands;
mod interruption;
mod settings;

pub(super) use commands::variables;
pub(super) use settings::{Envoys, apply, out_of_reach, proof};
