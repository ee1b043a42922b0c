//! The mark by which a program knows that it is inside.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::check;

/// The variable that says which pipe the program of a tree was given; useless to anyone who does
/// not have that pipe.
pub const MARK: &str = "HOPBENCH_SANDBOX";

/// The value of [`MARK`] for the reading end of a pipe: `FD:INODE`.
pub(super) fn mark_of(pipe: &OwnedFd) -> io::Result<String> {
    let file = File::from(pipe.try_clone()?);
    Ok(format!("{MARK}={}:{}", pipe.as_raw_fd(), file.metadata()?.ino()))
}

/// Whether [`start`](super::start) started this very process.
///
/// A program that this process starts is not taken for it: the variable goes on to it, the pipe
/// does not.
pub fn is_started() -> bool {
    let Some(fd) = std::env::var(MARK).ok().as_deref().and_then(held) else {
        return false;
    };
    // SAFETY: the number and the inode of the pipe were chosen by `start` in the parent, before
    // this process executed anything, and `held` just saw that pipe under that number. An anonymous
    // pipe comes into a process by inheritance only, and nothing in this process but this module
    // knows of it, so nothing closes it. It is open to the end.
    let pipe = unsafe { BorrowedFd::borrow_raw(fd) };
    keep(pipe).is_ok()
}

/// The number of the descriptor that a mark names, if the pipe that it names is open there. It is
/// looked at by its name in `/proc`: a number that is not ours is not touched.
fn held(mark: &str) -> Option<RawFd> {
    let (fd, inode) = mark.split_once(':')?;
    let (fd, inode) = (fd.parse::<RawFd>().ok().filter(|fd| *fd > 2)?, inode.parse::<u64>().ok()?);
    let found = std::fs::metadata(format!("/proc/self/fd/{fd}")).ok()?;
    (found.file_type().is_fifo() && found.ino() == inode).then_some(fd)
}

/// From now on children do not get it.
fn keep(pipe: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: F_SETFD takes an integer and touches no memory; the descriptor is borrowed, so it is
    // open.
    check(unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (OwnedFd, OwnedFd) {
        let (ours, theirs) = io::pipe().unwrap();
        (ours.into(), theirs.into())
    }

    fn mark(fd: &OwnedFd) -> String {
        mark_of(fd).unwrap().split_once('=').unwrap().1.to_owned()
    }

    /// A mark that names a descriptor of somebody else leaves that alone.
    #[test]
    fn only_the_pipe_that_a_mark_names_is_held() {
        let (ours, _theirs) = pipe();
        assert_eq!(held(&mark(&ours)), Some(ours.as_raw_fd()));
        let file: OwnedFd = File::open("/dev/null").unwrap().into();
        assert_eq!(held(&mark(&file)), None, "no pipe");
        let (_, inode) = mark(&ours)
            .split_once(':')
            .map(|(fd, inode)| (fd.to_owned(), inode.to_owned()))
            .unwrap();
        for wrong in [
            format!("{}:{}", ours.as_raw_fd(), 1),
            format!("{}:{inode}", file.as_raw_fd()),
            format!("1000000:{inode}"),
            format!("-1:{inode}"),
            format!("0:{inode}"),
            "x".to_owned(),
        ] {
            assert_eq!(held(&wrong), None, "{wrong}");
        }
    }
}
