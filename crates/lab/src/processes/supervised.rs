//! A program with a thread that keeps it, and files that nobody else sees.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::processes::has_ended;

/// Covered, for one program alone, by a file system in memory that goes with it.
pub(crate) const COVERED: &str = "/tmp";

const NOTHING: Option<&str> = None;
/// Who was killed has ended by then; one that the kernel does not let go is left to its keeper.
const MOST_END_NS: Nanos = 10 * SECOND;
const LOOK_NS: Nanos = 500_000;

/// A program that lives and dies with the thread that started it, which waits for its end. Dropping this kills it.
#[derive(Debug)]
pub(crate) struct Kept {
    pid: u32,
    keeper: Option<JoinHandle<Option<ExitStatus>>>,
    end: Option<ExitStatus>,
}

impl Kept {
    /// Starts what `spawn` starts, on a thread of its own; also what the program has to say, if that is piped.
    pub(crate) fn start(
        spawn: impl FnOnce() -> io::Result<Child> + Send + 'static,
    ) -> io::Result<(Self, Option<ChildStderr>)> {
        let (said, heard) = mpsc::channel();
        let keeper = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || match spawn() {
            Ok(mut child) => {
                // Mounts of this thread live as long as somebody is in their namespace; the program is.
                said.send(Ok((child.id(), child.stderr.take()))).ok().and_then(|()| child.wait().ok())
            }
            Err(error) => {
                let _ = said.send(Err(error));
                None
            }
        })?;
        let (pid, words) = heard.recv().map_err(|_| io::Error::other("its keeper died"))??;
        Ok((Self { pid, keeper: Some(keeper), end: None }, words))
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.is_kept() && !has_ended(self.pid)
    }

    /// Whether its keeper still waits for its end.
    fn is_kept(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished())
    }

    /// How it ended; waits until it has, for some seconds. Absent: nobody knows.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        self.end_within(MOST_END_NS)
    }

    fn end_within(&mut self, most_ns: Nanos) -> Option<ExitStatus> {
        let last = clock::now() + most_ns;
        while self.is_kept() && clock::now() < last {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if let Some(keeper) = self.keeper.take_if(|keeper| keeper.is_finished()) {
            self.end = keeper.join().ok().flatten();
        }
        self.end
    }

    /// Sends it a signal, unless its end is known: its number is nobody else's until then.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.is_kept() {
            // It may end in between; then there is nothing left to do.
            let _ = kill(Pid::from_raw(self.pid as i32), signal);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        self.end();
    }
}

/// Gives the calling thread, and what it starts, its own view of [`COVERED`]: empty but for a folder of this name, which
/// is returned, and for `program`, should that lie there. No more than `most_bytes` fit in.
pub(crate) fn room(name: &str, program: &Path, most_bytes: u64) -> io::Result<PathBuf> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let covered = program.starts_with(COVERED).then(|| File::open(program)).transpose()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = format!("mode=0755,size={most_bytes}");
    mount(Some("tmpfs"), COVERED, Some("tmpfs"), flags, Some(options.as_str()))?;
    if let Some(file) = covered {
        fs::create_dir_all(program.parent().unwrap_or(program))?;
        File::create(program)?;
        let hidden = format!("/proc/self/fd/{}", file.as_raw_fd());
        mount(Some(hidden.as_str()), program, NOTHING, MsFlags::MS_BIND, NOTHING)?;
    }
    let folder = Path::new(COVERED).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;
    use crate::processes::Process;

    #[test]
    fn how_a_program_ended_is_known() {
        let started = |script: &'static str| Kept::start(|| Command::new("sh").args(["-c", script]).spawn()).unwrap().0;
        assert_eq!(started("exit 3").end().and_then(|status| status.code()), Some(3));
        let mut sleeping = started("exec sleep 60");
        assert!(sleeping.is_alive());
        assert_eq!(sleeping.end_within(20_000_000), None, "it lives, and nobody waits for it for good");
        assert!(sleeping.is_alive());
        sleeping.signal(Signal::SIGKILL);
        assert_eq!(sleeping.end().and_then(|status| status.signal()), Some(9));
        assert!(!sleeping.is_alive() && sleeping.end().is_some());
        let dropped = started("exec sleep 60");
        let process = Process::now(dropped.pid()).unwrap();
        drop(dropped);
        assert!(!process.is_alive());
        assert!(Kept::start(|| Command::new("/no/such/program").spawn()).is_err());
    }
}
