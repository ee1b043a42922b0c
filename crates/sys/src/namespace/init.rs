//! Process 1 of a tree. It runs in a copy of the caller's memory and never executes anything else,
//! so it makes system calls only.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::prepared::{NamespaceStep, Prepared, fork};
use crate::check;

/// What a shell adds to the number of the signal that ended a program.
const BY_SIGNAL: libc::c_int = 128;

/// Becomes process 1.
pub(super) fn run(prepared: &Prepared<'_>) -> ! {
    let code = match live(prepared) {
        Ok(code) => code,
        Err((step, error)) => tell(prepared, step, &error),
    };
    // SAFETY: ends this process at once; nothing of the caller's runs in it.
    unsafe { libc::_exit(code) }
}

fn live(prepared: &Prepared<'_>) -> Result<libc::c_int, (NamespaceStep, io::Error)> {
    let failed = |step| move |error| (step, error);
    die_with_parent(prepared).map_err(failed(NamespaceStep::Prepare))?;
    // SAFETY: an all-zero sigset_t is valid, and both calls only write to it.
    let signals = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut()))
            .map_err(failed(NamespaceStep::Prepare))?;
        all
    };
    for (path, text) in prepared.maps.iter().flatten() {
        write_file(path, text).map_err(failed(NamespaceStep::MapUser))?;
    }
    // SAFETY: the copy either becomes the program or ends.
    let program = match unsafe { fork(0) }.map_err(failed(NamespaceStep::Execute))? {
        0 => return Err((NamespaceStep::Execute, execute(prepared))),
        program => program,
    };
    // SAFETY: a valid string. Then everything is closed, because this process needs nothing, and
    // whoever waits for the end of a pipe should not wait for us. First goes the report, which must
    // go even where the kernel has no close_range.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"init".as_ptr(), 0, 0, 0);
        libc::close(prepared.report[1].as_raw_fd());
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
    }
    Ok(look_after(program, &signals))
}

/// Asks to be killed when the caller is, and looks whether that has already been.
fn die_with_parent(prepared: &Prepared<'_>) -> io::Result<()> {
    let [alive, theirs] = &prepared.alive;
    let mut look = libc::pollfd { fd: alive.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: prctl takes integers. Our copy of the caller's end is closed once, here: this process
    // never drops `prepared`. `look` is one valid pollfd.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        libc::close(theirs.as_raw_fd());
        check(libc::poll(&raw mut look, 1, 0))?;
    }
    if look.revents & libc::POLLHUP == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

fn write_file(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: a valid path and a valid buffer; the descriptor is new and closed here.
    unsafe {
        let file = check(libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC))?;
        let written = libc::write(file, text.as_ptr().cast(), text.len());
        let written = crate::check_len(written);
        libc::close(file);
        written.map(drop)
    }
}

/// Becomes the program; comes back only if that failed.
fn execute(prepared: &Prepared<'_>) -> io::Error {
    // SAFETY: the arrays end with a null pointer, and what they point to lives as long as the
    // caller waits. The mask is the one that the caller's thread had. Default for SIGPIPE is what
    // any program expects to start with.
    unsafe {
        libc::fcntl(prepared.alive[0].as_raw_fd(), libc::F_SETFD, 0);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const prepared.mask, std::ptr::null_mut());
        libc::execve(
            prepared.program.as_ptr(),
            prepared.arguments.as_ptr(),
            prepared.environment.as_ptr(),
        );
    }
    io::Error::last_os_error()
}

/// Passes signals on to the program and takes over orphans until the program has ended; its exit
/// code.
fn look_after(program: libc::pid_t, signals: &libc::sigset_t) -> libc::c_int {
    loop {
        let mut status = 0;
        // SAFETY: `status` is writable.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended == program {
            return if libc::WIFEXITED(status) {
                libc::WEXITSTATUS(status)
            } else {
                BY_SIGNAL + libc::WTERMSIG(status)
            };
        }
        if ended > 0 {
            continue;
        }
        // SAFETY: a valid set; no information is asked for.
        let signal = unsafe { libc::sigwaitinfo(signals, std::ptr::null_mut()) };
        if signal == libc::SIGTERM || signal == libc::SIGHUP {
            // SAFETY: a plain signal to a child that has not been waited for.
            unsafe { libc::kill(program, signal) };
        }
    }
}

/// Says what went wrong to the caller; the exit code to end with.
fn tell(prepared: &Prepared<'_>, step: NamespaceStep, error: &io::Error) -> libc::c_int {
    let mut said = [step as u8, 0, 0, 0, 0];
    said[1..].copy_from_slice(&error.raw_os_error().unwrap_or(libc::EIO).to_ne_bytes());
    let to: RawFd = prepared.report[1].as_raw_fd();
    // SAFETY: a valid buffer; the write of a few bytes to a pipe is never cut short.
    unsafe { libc::write(to, said.as_ptr().cast(), said.len()) };
    1
}
