//! Return values of C calls as results.

use std::io;

/// Turns a C return value into a result: negative means `errno` says why.
pub(crate) fn check(value: libc::c_int) -> io::Result<libc::c_int> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

/// Like [`check`] for calls that return a count.
pub(crate) fn check_len(value: isize) -> io::Result<usize> {
    usize::try_from(value).map_err(|_| io::Error::last_os_error())
}
