//! Errors that `std::io::ErrorKind` has no word for.

use std::io::Error;

/// `ENOBUFS`: the kernel has no room for what was to be sent, or for one more socket.
pub const ENOBUFS: i32 = libc::ENOBUFS;

/// Whether no more files can be opened, by this process (`EMFILE`) or by anybody (`ENFILE`).
pub fn too_many_files(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Whether the kernel has no memory for it (`ENOMEM`, `ENOBUFS`).
pub fn no_memory(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOMEM | libc::ENOBUFS))
}

/// Whether a datagram is longer than its way allows (`EMSGSIZE`).
pub fn too_long(error: &Error) -> bool {
    error.raw_os_error() == Some(libc::EMSGSIZE)
}
