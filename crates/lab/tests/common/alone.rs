//! At most one measuring test at a time on this machine.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

/// Held while a test measures; others of any test binary and any user wait for it.
#[derive(Debug)]
pub(crate) struct Alone {
    // Closing the file gives the lock back, also when the process dies.
    _file: File,
}

impl Alone {
    /// Waits for its turn.
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join("hopbench-measuring.lock");
        // Another user's file can be locked but not written to.
        let file = File::open(&path)
            .or_else(|_| OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).open(&path));
        let file = file.unwrap_or_else(|e| panic!("cannot open {}: {e}", path.display()));
        file.lock().unwrap_or_else(|e| panic!("cannot lock {}: {e}", path.display()));
        Self { _file: file }
    }
}
