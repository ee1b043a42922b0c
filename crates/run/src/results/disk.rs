//! Files that are either the old or the new one, and sentences for what a disk can refuse.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use hopbench_model::Fault;
use hopbench_sys::file;

/// Replaces a file as a whole: after a crash at any moment it holds all of the old contents or all
/// of the new.
pub(super) fn replace(dir: &Path, name: &str, contents: &[u8]) -> Result<(), Fault> {
    let temporary = dir.join(format!("{name}.tmp"));
    let written =
        write_whole(&temporary, contents).and_then(|()| fs::rename(&temporary, dir.join(name)));
    if let Err(error) = written {
        // What is left of it would only take room.
        let _ = fs::remove_file(&temporary);
        return Err(refused("write", &dir.join(name), &error));
    }
    sync_dir(dir)
}

fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = file::fresh(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// Makes the names in a folder last.
pub(super) fn sync_dir(dir: &Path) -> Result<(), Fault> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|error| refused("sync", dir, &error))
}

/// Why a file of a results folder cannot be read: it may be none, or hold what no run leaves.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Fault::input(format!(
            "{}: {error}; take a folder as `hopbench run` left it",
            path.display()
        )),
        _ => refused("read", path, error),
    }
}

/// A failure of the file system, with what to do about it.
pub(super) fn refused(what: &str, path: &Path, error: &io::Error) -> Fault {
    use io::ErrorKind as K;
    let next = match error.kind() {
        K::StorageFull | K::QuotaExceeded => "make room on that disk, then go on with --resume",
        K::PermissionDenied => "take a folder that you may write to, with --output",
        K::ReadOnlyFilesystem => "that file system is read-only: take another folder with --output",
        K::NotFound => "check the path",
        _ => "check that folder, or take another with --output",
    };
    Fault::environment(format!("cannot {what} {}: {error} ({next})", path.display()))
}
