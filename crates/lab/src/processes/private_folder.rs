//! A folder in memory that one program alone sees.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// The folder that a file system in memory covers, for one program alone. It goes with the program.
const COVERED: &str = "/tmp";

const NOTHING: Option<&str> = None;

/// Gives the calling thread, and what it starts, its own view of `/tmp`. It is empty but for a
/// folder of this name, which is returned, and for `program`, should that lie there. No more than
/// `most_bytes` fit in.
pub(crate) fn private_folder(name: &str, program: &Path, most_bytes: u64) -> io::Result<PathBuf> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let covered = if program.starts_with(COVERED) { Some(File::open(program)?) } else { None };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = format!("mode=0755,size={most_bytes}");
    mount(Some("tmpfs"), COVERED, Some("tmpfs"), flags, Some(options.as_str()))?;
    if let Some(file) = covered {
        fs::create_dir_all(program.parent().unwrap_or(program))?;
        File::create(program)?;
        let hidden = format!("/proc/self/fd/{}", file.as_raw_fd());
        mount(Some(hidden.as_str()), program, NOTHING, MsFlags::MS_BIND, NOTHING)?;
    }
    let folder = Path::new(COVERED).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
