//! A process tree, from outside.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use crate::{check, check_len};

/// Signals that are kept for [`Tree::wait`] while a tree runs, and the mask that was in force
/// before.
#[derive(Debug)]
pub(super) struct HeldSignals {
    set: libc::sigset_t,
    before: libc::sigset_t,
}

impl HeldSignals {
    /// From now on the calling thread holds these signals back.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: all-zero sets are valid and are only written to by these calls. SIGCHLD gets its
        // default back, because while it is ignored a child leaves no exit status.
        unsafe {
            let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
                (std::mem::zeroed(), std::mem::zeroed());
            for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            check(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before))?;
            Ok(Self { set, before })
        }
    }

    pub(super) fn mask(&self) -> libc::sigset_t {
        self.before
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: a mask that this thread had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

/// A process tree that [`start`](super::start) made.
#[derive(Debug)]
pub struct Tree {
    pid: libc::pid_t,
    watched: HeldSignals,
    /// Closed with this process, however that ends.
    _alive: OwnedFd,
}

impl Tree {
    pub(super) fn new(pid: libc::pid_t, alive: OwnedFd, watched: HeldSignals) -> Self {
        Self { pid, watched, _alive: alive }
    }

    /// Process 1 of the tree, as this process knows it.
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Waits until the tree is gone and returns the exit code of its program, 128 + N when signal N
    /// ended it. Must be called by the thread that started the tree.
    ///
    /// SIGTERM and SIGHUP are passed on. SIGINT and SIGQUIT are dropped: a terminal sends them to
    /// the program, too.
    ///
    /// # Errors
    /// What the kernel said when asked to wait.
    pub fn wait(self) -> io::Result<i32> {
        // Not SIGCHLD: another thread, which does not hold it back, could be given it instead.
        // SAFETY: integers; the process is our child and has not been waited for.
        let process = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) })?;
        // SAFETY: a valid set; a new descriptor or an error comes back.
        let signals = unsafe { libc::signalfd(-1, &raw const self.watched.set, libc::SFD_CLOEXEC) };
        let signals = owned(libc::c_long::from(signals))?;
        let wait_for =
            |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        loop {
            let mut ready = [wait_for(&process), wait_for(&signals)];
            // SAFETY: two valid elements; no end of time.
            match check(unsafe { libc::poll(ready.as_mut_ptr(), 2, -1) }) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            if ready[1].revents != 0 {
                self.pass_on(&signals)?;
            }
            if ready[0].revents != 0 {
                return self.status();
            }
        }
    }

    fn pass_on(&self, signals: &OwnedFd) -> io::Result<()> {
        // SAFETY: an all-zero signalfd_siginfo is valid.
        let mut said: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        // SAFETY: `said` is writable and its size is passed with it.
        check_len(unsafe {
            libc::read(signals.as_raw_fd(), (&raw mut said).cast(), size_of_val(&said))
        })?;
        let signal = said.ssi_signo.cast_signed();
        if signal == libc::SIGTERM || signal == libc::SIGHUP {
            // SAFETY: a plain signal to a child that has not been waited for.
            unsafe { libc::kill(self.pid, signal) };
        }
        Ok(())
    }

    fn status(&self) -> io::Result<i32> {
        let mut status = 0;
        // SAFETY: `status` is writable.
        check(unsafe { libc::waitpid(self.pid, &raw mut status, 0) })?;
        let signal = libc::WIFSIGNALED(status).then(|| 128 + libc::WTERMSIG(status));
        Ok(signal.unwrap_or_else(|| libc::WEXITSTATUS(status)))
    }
}

/// Takes over a descriptor that a system call just made.
fn owned(fd: libc::c_long) -> io::Result<OwnedFd> {
    let fd = check(fd as libc::c_int)?;
    // SAFETY: it is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
