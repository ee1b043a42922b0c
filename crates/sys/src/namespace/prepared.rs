//! The fork of a child, and all that the child needs.

use std::ffi::{CStr, c_char};
use std::io;
use std::os::fd::OwnedFd;

/// What could not be done on the way into new namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum NamespaceStep {
    /// Something before that needs no rights: a pipe, a string.
    Prepare,
    /// Making the namespaces.
    Clone,
    /// Saying who the caller is in the new user namespace.
    MapUser,
    /// Starting the program.
    Execute,
}

impl NamespaceStep {
    pub(super) fn of(code: u8) -> Self {
        [Self::Clone, Self::MapUser, Self::Execute]
            .into_iter()
            .find(|s| *s as u8 == code)
            .unwrap_or(Self::Prepare)
    }
}

/// What the child needs, made beforehand: after the fork it must not allocate.
pub(super) struct Prepared<'a> {
    pub(super) program: &'a CStr,
    pub(super) arguments: Vec<*const c_char>,
    pub(super) environment: Vec<*const c_char>,
    pub(super) maps: Option<[(&'static CStr, Vec<u8>); 3]>,
    pub(super) mask: libc::sigset_t,
    /// Ends when the caller dies.
    pub(super) alive: [OwnedFd; 2],
    /// Where to say what went wrong; ends when the program was started.
    pub(super) report: [OwnedFd; 2],
}

/// A copy of this process; 0 in the copy. Without the C library's own handlers, which could take
/// locks.
///
/// # Safety
/// Other threads do not exist in the copy, whatever they hold stays held: it must make system calls
/// only.
pub(super) unsafe fn fork(flags: libc::c_int) -> io::Result<libc::pid_t> {
    // SAFETY: without CLONE_VM and with no stack this is a fork. The order of the other arguments,
    // which differs between architectures, does not matter when all are zero.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, i64::from(flags | libc::SIGCHLD), 0_i64, 0_i64, 0_i64, 0_i64)
    };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid as libc::pid_t) }
}
