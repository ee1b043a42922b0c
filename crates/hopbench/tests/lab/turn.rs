//! The turns of tests on this machine: one that measures is alone, others share a turn.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;

/// Held while a test runs; tests of any test binary and any user wait for theirs.
#[derive(Debug)]
pub(crate) struct Turn {
    // Closing the file gives the lock back, also when the process dies.
    _file: File,
}

impl Turn {
    /// Of a test that measures: nobody else has a turn.
    pub(crate) fn alone() -> Self {
        let (file, path) = lock_file();
        file.lock().unwrap_or_else(|e| panic!("cannot lock {path}: {e}"));
        Self { _file: file }
    }

    /// Of a test that waits and counts: all of these may have theirs at once.
    pub(crate) fn shared() -> Self {
        let (file, path) = lock_file();
        file.lock_shared().unwrap_or_else(|e| panic!("cannot lock {path}: {e}"));
        Self { _file: file }
    }
}

fn lock_file() -> (File, String) {
    let path = std::env::temp_dir().join("hopbench-measuring.lock");
    // Another user's file can be locked but not written to, and in a sticky directory not even
    // opened for it.
    let file = match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).open(&path)
        }
        opened => opened,
    };
    let path = path.display().to_string();
    (file.unwrap_or_else(|e| panic!("cannot open {path}: {e}")), path)
}
