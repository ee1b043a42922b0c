//! The size of a terminal.

use std::mem::MaybeUninit;

use crate::check;

/// Columns and lines of the terminal that standard output is; `None` where it is none, or does not
/// say.
pub fn size() -> Option<(usize, usize)> {
    size_of(libc::STDOUT_FILENO)
}

/// The same of standard error.
pub fn stderr_size() -> Option<(usize, usize)> {
    size_of(libc::STDERR_FILENO)
}

fn size_of(file: libc::c_int) -> Option<(usize, usize)> {
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: the request writes one `winsize` to the pointer.
    check(unsafe { libc::ioctl(file, libc::TIOCGWINSZ, size.as_mut_ptr()) }).ok()?;
    // SAFETY: it was zeroed, and a `winsize` is valid for every bit pattern.
    let size = unsafe { size.assume_init() };
    let known = (usize::from(size.ws_col), usize::from(size.ws_row));
    if known.0 == 0 || known.1 == 0 { None } else { Some(known) }
}
