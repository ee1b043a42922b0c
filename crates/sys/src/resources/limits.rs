//! The resource limits of this process.

use std::io;

use crate::check;

fn nofile() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid, writable rlimit.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    Ok(limit)
}

/// Raises the number of files this process may have open to `wanted`, or as far as the hard limit
/// goes; never lowers it. Returns the limit in force.
///
/// # Errors
/// What the kernel said when asked for the limits.
pub fn raise_open_files(wanted: u64) -> io::Result<u64> {
    let limit = nofile()?;
    if limit.rlim_cur >= wanted {
        return Ok(limit.rlim_cur);
    }
    // Root may lift the hard limit too; where that fails the hard limit is what can be had.
    for (cur, max) in
        [(wanted, limit.rlim_max.max(wanted)), (limit.rlim_max.min(wanted), limit.rlim_max)]
    {
        let asked = libc::rlimit { rlim_cur: cur, rlim_max: max };
        // SAFETY: `asked` is a valid rlimit.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const asked) } == 0 {
            break;
        }
    }
    Ok(nofile()?.rlim_cur)
}
