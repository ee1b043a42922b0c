//! Server programs other than the agent: one file each.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;

mod nginx;
mod running;

pub(crate) use running::{Running, Task};

/// A program that a lab can start as the server of a path.
///
/// To add one: a file in `servers/` and a line in [`SERVERS`].
pub trait Server: fmt::Debug + Sync {
    /// Its name in scenarios, and the name of the program.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn summary(&self) -> &'static str;

    /// How to get it.
    fn remedy(&self) -> &'static str;

    /// The argument with which it prints its version.
    fn version(&self) -> &'static str;

    /// Writes what it needs into `folder`, which is its own and goes with it, and says the arguments with which it
    /// stays in the foreground and answers `/bytes/N` on `port` for each N of `sizes`, bytes.
    ///
    /// # Errors
    /// Files that cannot be written.
    fn configure(&self, folder: &Path, port: u16, sizes: &BTreeSet<u64>) -> io::Result<Vec<OsString>>;
}

/// Every server program. To add one: a file here and a line there.
pub const SERVERS: &[&dyn Server] = &[&nginx::Nginx];

/// The server program of this name.
pub fn server(name: &str) -> Option<&'static dyn Server> {
    SERVERS.iter().copied().find(|server| server.name() == name)
}

/// Sizes of the answers that these specifications ask for, bytes.
pub(crate) fn sizes<'a>(specs: impl Iterator<Item = &'a hopbench_model::ServerSpec>) -> BTreeSet<u64> {
    specs
        .flat_map(|spec| {
            let in_path = spec.request.strip_prefix("/bytes/").and_then(|size| size.parse().ok());
            [spec.response_bytes, in_path]
        })
        .flatten()
        .collect()
}
