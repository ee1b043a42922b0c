//! A program that a lab can start as the server of a path.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use hopbench_model::ServerSpec;

/// A program that a lab can start as the server of a path.
///
/// To add one: a file in `processes/servers/` and a line in [`SERVERS`](crate::SERVERS).
pub trait ServerProgram: fmt::Debug + Sync {
    /// Its name in scenarios, and the name of the program.
    fn name(&self) -> &'static str;

    /// A line about it.
    fn summary(&self) -> &'static str;

    /// How to get it.
    fn remedy(&self) -> &'static str;

    /// The argument with which it prints its version.
    fn version(&self) -> &'static str;

    /// Writes its files into `folder`, which is its own and goes with it, and returns its
    /// arguments. With these, it stays in the foreground and answers `/bytes/N` at `listen` for
    /// each N of `sizes`, bytes. The wildcard of IPv6 stands for both families.
    ///
    /// # Errors
    /// Files that cannot be written.
    fn configure(
        &self,
        folder: &Path,
        listen: SocketAddr,
        sizes: &BTreeSet<u64>,
    ) -> io::Result<Vec<OsString>>;
}

/// Sizes of the answers that these specifications ask for, bytes.
pub(crate) fn sizes<'a>(specs: impl Iterator<Item = &'a ServerSpec>) -> BTreeSet<u64> {
    specs
        .flat_map(|spec| {
            let in_path = spec.request.strip_prefix("/bytes/").and_then(|size| size.parse().ok());
            [spec.response_bytes, in_path]
        })
        .flatten()
        .collect()
}
