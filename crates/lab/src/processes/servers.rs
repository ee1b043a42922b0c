//! The server programs other than the agent: one file each.

mod environment;
mod nginx;
mod running;
mod server;

pub(crate) use environment::Environment;
pub(crate) use running::{RunningServer, ServerTask};
pub use server::ServerProgram;
pub(crate) use server::sizes;

/// Every server program. To add one: a file here and a line there.
pub const SERVERS: &[&dyn ServerProgram] = &[&nginx::Nginx];

/// The server program of this name.
pub fn server(name: &str) -> Option<&'static dyn ServerProgram> {
    SERVERS.iter().copied().find(|server| server.name() == name)
}
