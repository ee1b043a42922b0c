//! A program with a thread that keeps it, and files that nobody else sees.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::processes::Process;

/// Covered, for one program alone, by a file system in memory that goes with it.
pub(crate) const COVERED: &str = "/tmp";

const NOTHING: Option<&str> = None;

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
        self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished()) && Process::now(self.pid).is_some()
    }

    /// How it ended; waits until it has. Absent: nobody knows.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if let Some(keeper) = self.keeper.take() {
            self.end = keeper.join().ok().flatten();
        }
        self.end
    }

    /// Sends it a signal, unless it has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.is_alive() {
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
/// is returned, and for `program`, should that lie there.
pub(crate) fn room(name: &str, program: &Path) -> io::Result<PathBuf> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let covered = program.starts_with(COVERED).then(|| File::open(program)).transpose()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), COVERED, Some("tmpfs"), flags, Some("mode=0755"))?;
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

    #[test]
    fn how_a_program_ended_is_known() {
        let started = |script: &'static str| Kept::start(|| Command::new("sh").args(["-c", script]).spawn()).unwrap().0;
        assert_eq!(started("exit 3").end().and_then(|status| status.code()), Some(3));
        let mut sleeping = started("exec sleep 60");
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
