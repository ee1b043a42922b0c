//! The state of a lab that stands, as its state file has it.

use std::fmt::Display;
use std::net::Ipv4Addr;

use hopbench_model::Fault;
use hopbench_sys::process::Process;
use serde::{Deserialize, Serialize};

use crate::processes::process_table::{self, ProcessId};

/// A lab that stands in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingLab {
    /// Its name.
    pub name: String,
    /// The process that it lives and dies with.
    pub holder: ProcessId,
    /// The process that has its namespaces open.
    pub keeper: ProcessId,
    /// Nodes and pods.
    pub places: Vec<StandingPlace>,
}

/// A place in a lab that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingPlace {
    /// `a`, `bridge@a`, `bridge@a#2`.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// The keeper's descriptor of its network namespace.
    pub fd: i32,
}

impl StandingLab {
    pub(super) fn is_alive(&self) -> bool {
        self.holder.is_alive() && self.keeper.is_alive()
    }

    /// The keeper, held: its number is its own for as long as it has not ended.
    pub(super) fn hold_keeper(&self) -> Result<Process, Fault> {
        let (pid, name) = (self.keeper.pid, &self.name);
        let refused = |why: &dyn Display| {
            Fault::environment(format!("lab `{name}`: its process {pid}: {why}"))
        };
        let held = Process::open(pid).map_err(|error| refused(&error))?;
        // After it is held: what is true of the number now is true of the process.
        if !self.is_alive() {
            return Err(refused(
                &"it has ended, and its number may be another's; `hopbench lab up` makes a new lab",
            ));
        }
        if !process_table::beneath(self.holder.pid).contains(&pid) {
            return Err(refused(
                &"it is none of the lab's; remove the lab with `hopbench lab down`",
            ));
        }
        Ok(held)
    }
}
