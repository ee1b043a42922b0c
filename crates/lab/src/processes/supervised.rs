//! A program with a thread that waits for its end.

use std::io;
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_sys::process::Process;
use nix::sys::signal::Signal;

/// The longest wait for a killed process. One that the kernel does not let go is left to its
/// thread.
const MOST_END_NS: Nanos = 10 * SECOND;
const LOOK_NS: Nanos = 500_000;

/// A program whose thread started it and waits for its end. If the thread ends, the program is
/// killed. Dropping this kills it.
#[derive(Debug)]
pub(crate) struct Supervised {
    pid: u32,
    /// The process itself. Its number may be another's as soon as its thread has collected it.
    process: Process,
    supervisor: Option<JoinHandle<Option<ExitStatus>>>,
    end: Option<ExitStatus>,
}

impl Supervised {
    /// Starts what `spawn` starts, on a thread of its own. It returns also its standard error, if
    /// that is piped.
    pub(crate) fn start(
        spawn: impl FnOnce() -> io::Result<Child> + Send + 'static,
    ) -> io::Result<(Self, Option<ChildStderr>)> {
        let (start, started) = mpsc::channel();
        let supervisor = std::thread::Builder::new().name("supervisor".to_owned()).spawn(
            move || match spawn() {
                Ok(mut child) => {
                    // Only this thread collects the child. So until it waits, the number is the
                    // child's, even if that has ended already.
                    let process = Process::open(child.id());
                    if process.is_err() {
                        let _ = child.kill();
                    }
                    // Mounts of this thread live as long as somebody is in their namespace; the
                    // program is.
                    let started = process.map(|process| (child.id(), process, child.stderr.take()));
                    start.send(started).ok().and_then(|()| child.wait().ok())
                }
                Err(error) => {
                    let _ = start.send(Err(error));
                    None
                }
            },
        )?;
        let (pid, process, stderr) =
            started.recv().map_err(|_| io::Error::other("its supervisor died"))??;
        Ok((Self { pid, process, supervisor: Some(supervisor), end: None }, stderr))
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it is not known to have ended.
    pub(crate) fn is_alive(&self) -> bool {
        !self.process.has_ended().unwrap_or(false)
    }

    /// Whether its thread still waits for its end.
    fn is_supervised(&self) -> bool {
        self.supervisor.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Its exit status. This waits for its end for some seconds. Absent: not known.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        self.end_within(MOST_END_NS)
    }

    fn end_within(&mut self, most_ns: Nanos) -> Option<ExitStatus> {
        let last = clock::now() + most_ns;
        while self.is_supervised() && clock::now() < last {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if let Some(supervisor) = self.supervisor.take_if(|thread| thread.is_finished()) {
            self.end = supervisor.join().ok().flatten();
        }
        self.end
    }

    /// Sends it a signal. By its number the signal might reach another process: its thread may
    /// collect it at any time, and the kernel may give the number away.
    pub(crate) fn signal(&self, signal: Signal) {
        // If it has ended, there is nothing left to do.
        let _ = self.process.signal(signal as i32);
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;
    use crate::processes::process_table::ProcessId;

    #[test]
    fn how_a_program_ended_is_known() {
        let started = |script: &'static str| {
            Supervised::start(|| Command::new("sh").args(["-c", script]).spawn()).unwrap().0
        };
        assert_eq!(started("exit 3").end().and_then(|status| status.code()), Some(3));
        let mut sleeping = started("exec sleep 60");
        assert!(sleeping.is_alive());
        assert_eq!(
            sleeping.end_within(20_000_000),
            None,
            "it lives, and nobody waits for it for good"
        );
        assert!(sleeping.is_alive());
        sleeping.signal(Signal::SIGKILL);
        assert_eq!(sleeping.end().and_then(|status| status.signal()), Some(9));
        assert!(!sleeping.is_alive() && sleeping.end().is_some());
        let dropped = started("exec sleep 60");
        let process = ProcessId::now(dropped.pid()).unwrap();
        drop(dropped);
        assert!(!process.is_alive());
        assert!(Supervised::start(|| Command::new("/no/such/program").spawn()).is_err());
    }
}
