//! A command that runs in another network namespace.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, parent_id};
use std::process::Command;

use super::sys::{fresh_sys, keep_mounts_private};
use crate::check;

/// Makes `command` run in the network namespace `network`. It gets a mount namespace of its own, in
/// which `/sys` shows that namespace. It ends with the *thread* that starts it, so start it from a
/// thread that stays.
///
/// What fails on the way in is the error of `spawn`.
pub fn enter_on_exec(command: &mut Command, network: OwnedFd) {
    let parent = std::process::id();
    let enter = move || {
        // SAFETY: prctl with integer arguments; it touches no memory of ours.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) })?;
        if parent_id() != parent {
            // It died before we asked to die with it.
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        // SAFETY: setns and unshare take a descriptor that the closure owns, and flags.
        unsafe {
            check(libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET))?;
            check(libc::unshare(libc::CLONE_NEWNS))?;
        }
        keep_mounts_private()?;
        fresh_sys()
    };
    // SAFETY: between fork and exec the closure makes system calls only: it allocates nothing,
    // takes no lock, and its errors are plain numbers.
    unsafe { command.pre_exec(enter) };
}
