//! Processes in namespaces of their own.
//!
//! - [`start`]: a program in a new process tree with new namespaces, which dies as a whole;
//! - [`Tree`]: that tree, from outside;
//! - [`is_started`]: whether this process is a program that [`start`] started;
//! - [`enter_on_exec`]: a command that runs in another network namespace;
//! - [`fresh_sys`]: a `/sys` that shows the network namespace of who looks.

mod init;
mod mark;
mod on_exec;
mod prepared;
mod start;
mod sys;
mod tree;

pub use mark::{MARK, is_started};
pub use on_exec::enter_on_exec;
pub use prepared::NamespaceStep;
pub use start::{StartError, start};
pub use sys::fresh_sys;
pub use tree::Tree;
