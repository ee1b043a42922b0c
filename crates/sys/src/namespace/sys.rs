//! `/sys` of a network namespace.

use std::ffi::CStr;
use std::io;
use std::ptr;

use crate::check;

const SYS: &CStr = c"/sys";
const CGROUP: &CStr = c"/sys/fs/cgroup";
const NICS: &CStr = c"/sys/class/net";

/// From `linux/mount.h`; not every libc has it.
const OPEN_TREE_CLONE: libc::c_int = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_int = 4;

/// Mounts a `/sys` that shows the devices of the caller's network namespace, with the control
/// groups that were there.
///
/// In a container that hides parts of its own `/sys`, the kernel lets none be mounted.
/// `/sys/class/net` becomes empty there: no figures are better than the figures of another
/// namespace.
///
/// The mount namespace must be the caller's own. Allocates nothing, so that it may be called
/// between fork and exec.
///
/// # Errors
/// What the kernel says to the second attempt.
pub fn fresh_sys() -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // A new /sys hides what is mounted below the old one.
    // SAFETY: a valid path; a new descriptor or an error comes back.
    let groups = unsafe {
        let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
        libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, CGROUP.as_ptr(), flags)
    };
    let mounted = mount(c"sysfs", SYS, flags);
    if groups >= 0 {
        if mounted.is_ok() {
            // SAFETY: valid paths and a descriptor of our own. That it fails where there are no
            // control groups is fine.
            unsafe {
                let (here, empty) = (libc::AT_FDCWD, c"");
                let flags = MOVE_MOUNT_F_EMPTY_PATH;
                libc::syscall(
                    libc::SYS_move_mount,
                    groups,
                    empty.as_ptr(),
                    here,
                    CGROUP.as_ptr(),
                    flags,
                );
            }
        }
        // SAFETY: the descriptor came from open_tree above and is used no more.
        unsafe { libc::close(groups as libc::c_int) };
    }
    mounted.or_else(|_| mount(c"tmpfs", NICS, flags | libc::MS_RDONLY))
}

/// Mounts a new file system of this type.
pub(super) fn mount(kind: &CStr, at: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    // SAFETY: three valid strings and no data.
    check(unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, ptr::null()) })
        .map(drop)
}

/// Keeps every mount and unmount from here on to this mount namespace.
pub(super) fn keep_mounts_private() -> io::Result<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: valid strings; a change of propagation takes neither type nor data.
    check(unsafe { libc::mount(c"none".as_ptr(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) })
        .map(drop)
}
