//! The processes of a lab: its sandbox, and the programs that run in it.
//!
//! - [`sandbox`]: the tree that holds them all;
//! - `agents`, `servers`: the ends of paths; `peers`: tools of others at these;
//! - `runtimes`: what an agent may run in;
//! - `supervised`: a program with a thread that waits for its end; `stderr_log`: its last words;
//! - `affinity`: the CPUs that a program is held to; `process_table`: what `/proc` says of it;
//! - `tools`: the search for programs of this machine.

pub(crate) mod affinity;
pub(crate) mod agents;
pub(crate) mod peers;
pub(crate) mod private_folder;
pub(crate) mod process_table;
pub(crate) mod runtimes;
pub mod sandbox;
pub(crate) mod servers;
pub(crate) mod stderr_log;
pub(crate) mod supervised;
pub(crate) mod tools;
