//! The users that run the binary: the caller, or somebody without any right.

use std::fmt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::run;

/// Nobody, on every Linux.
const NOBODY: u32 = 65534;

/// A user of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Caller,
    /// User 65534, without a group, a home or a capability.
    Nobody,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => write!(f, "user {}", own_id()),
            Self::Nobody => write!(f, "user {NOBODY}"),
        }
    }
}

impl User {
    /// The caller, and where that is root, nobody too.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Caller, Self::Nobody] } else { vec![Self::Caller] }
    }

    /// A new folder that the user may write to, gone when dropped.
    pub(crate) fn folder(self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        if self == Self::Nobody {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("another owner");
        }
        folder
    }

    /// The binary, where the user can reach it: inside `folder`, which [`User::folder`] made.
    pub(crate) fn binary(self, binary: &Path, folder: &Path) -> PathBuf {
        if self == Self::Caller {
            return binary.to_owned();
        }
        // The build folder may be out of nobody's reach. Not by this process: another thread's
        // child could have the file open for writing for a moment, and nobody can run it meanwhile.
        let copy = folder.join("hopbench");
        let copied = run(Command::new("cp").arg(binary).arg(&copy));
        assert_eq!(copied.code, Some(0), "{}", copied.story());
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755))
            .expect("permissions");
        copy
    }

    /// A program as this user.
    pub(crate) fn command(self, program: &Path) -> Command {
        if self == Self::Caller {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        let id = NOBODY.to_string();
        command.args([
            "--reuid",
            &id,
            "--regid",
            &id,
            "--clear-groups",
            "--inh-caps=-all",
            "--bounding-set=-all",
        ]);
        command.arg(program);
        command
    }
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    own_id() == 0
}

fn own_id() -> u32 {
    // A process owns its own directory in /proc.
    std::fs::metadata("/proc/self").expect("/proc").uid()
}
