//! The files of runtimes around agents, in the lab's own `/run`, which is memory and goes with the
//! lab.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::runtime::{Bundle, Runtime};

/// The agent's program as those in a sandbox see it.
const PROGRAM: &str = "hopbench";

/// A root with the agent's program for all sandboxes, and a folder for each.
#[derive(Debug)]
pub(crate) struct Bundles {
    folder: PathBuf,
    made: u32,
}

impl Bundles {
    /// With a copy of `program`, which must need no libraries.
    pub(crate) fn new(program: &Path) -> io::Result<Self> {
        let folder = PathBuf::from(format!("/run/hopbench-runtimes-{}", std::process::id()));
        let bundles = Self { folder, made: 0 };
        for mount_point in ["proc", "sys", "dev"] {
            fs::create_dir_all(bundles.root().join(mount_point))?;
        }
        fs::copy(program, bundles.root().join(PROGRAM))?;
        Ok(bundles)
    }

    fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The arguments with which `runtime` runs the agent's program with these arguments.
    pub(crate) fn add(
        &mut self,
        runtime: &dyn Runtime,
        arguments: impl Iterator<Item = String>,
    ) -> io::Result<Vec<std::ffi::OsString>> {
        self.made += 1;
        let folder = self.folder.join(format!("agent-{}", self.made));
        fs::create_dir(&folder)?;
        let command: Vec<String> =
            std::iter::once(format!("/{PROGRAM}")).chain(arguments).collect();
        runtime.configure(&Bundle { folder: &folder, root: &self.root(), command: &command })
    }
}

impl Drop for Bundles {
    fn drop(&mut self) {
        // Outside of a sandbox of our own `/run` is the machine's.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
