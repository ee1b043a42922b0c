//! A runtime: the program that stands between a pod's processes and the kernel.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hopbench_model::Point;

/// A sandboxed runtime. A pod without one runs its processes on the kernel as they are.
///
/// To add one: a file in `processes/runtimes/` and a line in [`RUNTIMES`](crate::RUNTIMES).
pub trait Runtime: fmt::Debug + Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// A line about it.
    fn summary(&self) -> &'static str;

    /// Its program, where it is installed.
    fn find(&self) -> Option<PathBuf>;

    /// How to get it.
    fn remedy(&self) -> &'static str;

    /// The reason why a point cannot be measured with an agent in it, although it is installed.
    fn unsupported(&self, point: &Point) -> Option<String>;

    /// Writes its files into the bundle's folder, and returns the arguments of its program. With
    /// these, it runs the bundle's command line in the network namespace that it is started in. It
    /// stays in the foreground and ends with the command. The command gets its standard input and
    /// standard error.
    ///
    /// # Errors
    /// Files that cannot be written.
    fn configure(&self, bundle: &Bundle<'_>) -> io::Result<Vec<OsString>>;
}

/// The command that a runtime runs, and its files.
#[derive(Debug, Clone, Copy)]
pub struct Bundle<'a> {
    /// A folder of its own, which goes with it; its name is unique in the lab.
    pub folder: &'a Path,
    /// The root folder of the command: it has the program, and nothing in it may be changed.
    pub root: &'a Path,
    /// Program and arguments, the program as a path in `root`.
    pub command: &'a [String],
}
