//! How a program knows that it is inside.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

use crate::check;

/// The variable that says which pipe the program of a tree was given; useless to anyone who does not have that pipe.
pub const MARK: &str = "HOPBENCH_SANDBOX";

/// What [`MARK`] holds for the reading end of a pipe: `FD:INODE`.
pub(super) fn mark_of(pipe: &OwnedFd) -> io::Result<String> {
    let file = File::from(pipe.try_clone()?);
    Ok(format!("{MARK}={}:{}", pipe.as_raw_fd(), file.metadata()?.ino()))
}

/// Whether [`start`](super::start) started this very process.
///
/// A program that this process starts is not taken for it: the variable goes on to it, the pipe does not.
pub fn is_started() -> bool {
    std::env::var(MARK).is_ok_and(|mark| holds(&mark))
}

fn holds(mark: &str) -> bool {
    let Some((fd, inode)) = mark.split_once(':') else {
        return false;
    };
    let (Ok(fd), Ok(inode)) = (fd.parse::<RawFd>(), inode.parse::<u64>()) else {
        return false;
    };
    // SAFETY: an all-zero `stat` is valid.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `found` is writable; a descriptor that is not open is an error.
    let open = check(unsafe { libc::fstat(fd, &raw mut found) }).is_ok();
    if !open || found.st_mode & libc::S_IFMT != libc::S_IFIFO || found.st_ino != inode {
        return false;
    }
    // From now on children do not get it.
    // SAFETY: F_SETFD takes an integer and touches no memory; the descriptor is the one that `start` left for us.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }).is_ok()
}
