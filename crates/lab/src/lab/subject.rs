//! The changes of subjects in a lab.
//!
//! - `settings`: the settings of nodes and of the pods there, and their proof;
//! - `commands`: the environment of the commands around trials;
//! - `interruption`: the end of such a command when the run is to stop;
//! - `look`: a lab that starts no program of theirs.

mod commands;
mod interruption;
mod look;
mod settings;

pub(super) use commands::variables;
pub(super) use settings::{Envoys, apply, out_of_reach, proof};
