//! The meters beside the traffic: CPU, memory, interfaces, protocol counters.
//!
//! - [`Meter`] says what it can read and opens an [`OpenMeter`]; [`METERS`] lists all of them;
//! - [`MeterSet`] opens every meter once and reads them all at the edges of a window;
//! - [`delta`] turns two readings into the figures of the window between them;
//! - [`ProgramMeter`] reads what the processes of a server program spend together;
//! - [`CpuQuota`] reads for how long CPU quotas stopped a process;
//! - [`container`] finds the processes of a container beside this one;
//! - [`profile`] takes call stacks of processes and of the kernel that serves them;
//! - [`environment`] tells the facts of the machine that belong in every record.
//!
//! A source opens its files once and reads them again from the start into a buffer that it keeps.
//! So a reading costs the system calls and the parsing, nothing else. A source that is absent is
//! [`Unavailable`] with a reason, and a read that fails gives no row: missing beats wrong.
//!
//! This crate reads no clock and starts no thread.

#![forbid(unsafe_code)]

mod cgroup;
mod clock_tick;
pub mod delta;
pub mod environment;
mod labelled;
mod meter;
mod meters;
mod procfile;
pub mod profile;
mod program_meter;
mod set;

pub use cgroup::{CpuQuota, container};
pub use meter::{Meter, MeteredProcess, OpenMeter, Unavailable, ValueDef, ValueKind};
pub use meters::METERS;
pub use program_meter::ProgramMeter;
pub use set::{MeterSet, ReadCost};

#[cfg(test)]
mod made_up {
    use std::fs;

    /// Lays the files under a new folder.
    pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }
}
