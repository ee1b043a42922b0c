//! Other processes: one that is held, so that its number cannot come to mean a different one, and
//! the end of a child.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, ExitStatus};

use crate::{check, clock};

/// A process, by a descriptor of it: a number that was given to another process meanwhile does not
/// mislead.
#[derive(Debug)]
pub struct Process(OwnedFd);

impl Process {
    /// The process that has this number now.
    ///
    /// # Errors
    /// `ESRCH` when there is none, `EINVAL` for a number that no process can have.
    pub fn open(pid: u32) -> io::Result<Self> {
        let pid =
            libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        // SAFETY: integers only; a new descriptor or an error comes back.
        let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as libc::c_int)?;
        // SAFETY: the kernel just made this descriptor for us; nobody else knows of it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Whether it has ended. While it has not, its number is its own.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn has_ended(&self) -> io::Result<bool> {
        let mut look = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid element; it does not wait.
        check(unsafe { libc::poll(&raw mut look, 1, 0) })?;
        Ok(look.revents != 0)
    }

    /// Sends a signal to it, and never to another process.
    ///
    /// # Errors
    /// `ESRCH` when it has ended, `EPERM` when it is not ours.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let none = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a descriptor that we own and integers; without a `siginfo` the kernel fills it in
        // as kill(2) does.
        let sent = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, none, 0)
        };
        check(sent as libc::c_int).map(drop)
    }
}

/// Waits for the end of a child, at most `most_ns`, with a look every `look_ns`. `None`: it goes
/// on.
///
/// # Errors
/// What the kernel said.
pub fn end_of(child: &mut Child, most_ns: u64, look_ns: u64) -> io::Result<Option<ExitStatus>> {
    let end = clock::now() + most_ns;
    let mut status = child.try_wait()?;
    while status.is_none() && clock::now() < end {
        clock::sleep_until(clock::now() + look_ns);
        status = child.try_wait()?;
    }
    Ok(status)
}

/// Kills a child that leads a group of processes, and all of that group.
pub fn kill_group(child: &Child) {
    signal_group(child, libc::SIGKILL);
}

/// Tells a child that leads a group of processes, and all of that group, to end. When the child has
/// ended, at most `most_ns` later, what is left of the group is killed.
///
/// # Errors
/// What the kernel said.
pub fn end_group(child: &mut Child, most_ns: u64, look_ns: u64) -> io::Result<ExitStatus> {
    signal_group(child, libc::SIGTERM);
    // It is not collected before the group is killed: until then its number is its own.
    let leader = Process::open(child.id());
    let has_ended = || leader.as_ref().map_or(true, |leader| leader.has_ended().unwrap_or(true));
    let end = clock::now() + most_ns;
    while !has_ended() && clock::now() < end {
        clock::sleep_until(clock::now() + look_ns);
    }
    kill_group(child);
    child.wait()
}

fn signal_group(child: &Child, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: integers only.
        unsafe { libc::killpg(group, signal) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_held_beyond_its_end() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let held = Process::open(child.id()).unwrap();
        assert!(!held.has_ended().unwrap());
        held.signal(libc::SIGKILL).unwrap();
        assert!(!child.wait().unwrap().success());
        assert!(held.has_ended().unwrap());
        assert_eq!(held.signal(libc::SIGTERM).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn a_group_goes_with_its_leader() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 60; true"]).process_group(0).spawn().unwrap();
        assert_eq!(end_of(&mut child, 20_000_000, 1_000_000).unwrap(), None);
        kill_group(&child);
        let status = end_of(&mut child, 10_000_000_000, 1_000_000).unwrap().unwrap();
        assert!(!status.success(), "{status}");
    }

    #[test]
    fn a_group_is_told_to_end_and_killed_if_it_does_not() {
        let stubborn = "trap '' TERM; echo; sleep 60; sleep 60";
        let heedful = "trap 'echo bye; exit 3' TERM; echo; sleep 60 & wait";
        for (script, most_ns, code, signal, said) in [
            (stubborn, 50_000_000, None, Some(libc::SIGKILL), ""),
            (heedful, 10_000_000_000, Some(3), None, "bye\n"),
        ] {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).stdout(Stdio::piped()).process_group(0);
            let mut child = shell.spawn().unwrap();
            let mut output = child.stdout.take().unwrap();
            // It has set its trap.
            output.read_exact(&mut [0]).unwrap();
            let start = clock::now();
            let status = end_group(&mut child, most_ns, 1_000_000).unwrap();
            assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
            assert!(clock::now() - start < 5_000_000_000, "{script}");
            // Its end comes when nobody of the group is left.
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, said);
        }
    }

    #[test]
    fn no_process_is_an_error() {
        assert_eq!(Process::open(u32::MAX).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(
            Process::open(i32::MAX.unsigned_abs()).unwrap_err().raw_os_error(),
            Some(libc::ESRCH)
        );
    }
}
