//! A server program that runs in a pod, with files that nobody else sees.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Server;
use crate::cpus;
use crate::processes::{Process, children};
use crate::stack::Stack;
use crate::tools;

/// A program that does not listen by then will not.
const MOST_START_NS: Nanos = 5 * SECOND;
/// A program that was told to end and has not by then is killed; a master without a worker by then is broken.
const MOST_END_NS: Nanos = 2 * SECOND;
/// How often it is looked whether it listens, or has ended.
const LOOK_NS: Nanos = 2_000_000;
/// Covered, for the program alone, by a file system in memory that goes with it.
const COVERED: &str = "/tmp";
/// A program's last words are cut after this many bytes.
const MOST_WORDS: u64 = 2048;

/// A server program. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Running {
    master: u32,
    /// As they were seen last: a master that was killed leaves them behind.
    workers: Vec<Process>,
    /// Holds the program's files and waits for its end.
    keeper: Option<JoinHandle<()>>,
}

/// What a program is to do.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) server: &'static dyn Server,
    pub(crate) port: u16,
    pub(crate) sizes: &'a BTreeSet<u64>,
    pub(crate) cpus: Option<&'a [usize]>,
}

impl Running {
    /// Starts a program in a namespace; it listens when this returns.
    pub(crate) fn start(stack: &Stack, task: &Task<'_>) -> io::Result<Self> {
        let program = tools::find(task.server.name())
            .ok_or_else(|| io::Error::other(format!("no program `{}` in PATH", task.server.name())))?;
        let mut command = stack.namespace.command(program.as_os_str())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A Ctrl-C at the terminal is for the conductor, which ends the trial first.
        command.process_group(0);
        let (server, port, sizes) = (task.server, task.port, task.sizes.clone());
        let cpus = task.cpus.map(<[usize]>::to_vec);
        let (said, heard) = mpsc::channel();
        let keeper = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            match spawn(command, server, port, &sizes, cpus.as_deref()) {
                Ok((mut child, words)) => {
                    if said.send(Ok((child.id(), words))).is_ok() {
                        // The mount lives as long as somebody is in its namespace; the program is.
                        let _ = child.wait();
                    }
                }
                Err(error) => {
                    let _ = said.send(Err(error));
                }
            }
        })?;
        let (master, words) = heard.recv().map_err(|_| io::Error::other("its keeper died"))??;
        let mut running = Self { master, workers: Vec::new(), keeper: Some(keeper) };
        running.wait_for(stack, port, words)?;
        Ok(running)
    }

    fn wait_for(&mut self, stack: &Stack, port: u16, words: Option<ChildStderr>) -> io::Result<()> {
        let end = clock::now() + MOST_START_NS;
        loop {
            if self.keeper.as_ref().is_some_and(JoinHandle::is_finished) {
                let mut text = String::new();
                if let Some(words) = words {
                    let _ = words.take(MOST_WORDS).read_to_string(&mut text);
                }
                return Err(io::Error::other(format!("it ended at once: {}", text.trim())));
            }
            let listens =
                stack.namespace.run(move || TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))?;
            self.look();
            if listens.is_ok() && !self.workers.is_empty() {
                break;
            }
            if clock::now() > end {
                return Err(io::Error::other(format!(
                    "it does not listen on port {port} after {} s",
                    MOST_START_NS / SECOND
                )));
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if let Some(mut words) = words {
            // A program whose words nobody reads would stop when the pipe is full.
            std::thread::Builder::new()
                .name("words".to_owned())
                .spawn(move || io::copy(&mut words, &mut io::sink()))?;
        }
        Ok(())
    }

    /// The master and its workers as they are now: a worker that crashed has a successor. `None`: it has ended, or gets
    /// no worker any more, and is to be started again.
    pub(crate) fn pids(&mut self) -> Option<Vec<u32>> {
        let end = clock::now() + MOST_END_NS;
        while self.is_alive() {
            self.look();
            if !self.workers.is_empty() {
                return Some([self.master].into_iter().chain(self.workers.iter().map(|worker| worker.pid)).collect());
            }
            if clock::now() > end {
                break;
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        None
    }

    /// Sees who the workers are; those of a master that is gone are nobody's children, and stay known.
    fn look(&mut self) {
        if self.is_alive() {
            let workers: Vec<Process> = children(self.master).into_iter().filter_map(Process::now).collect();
            // Once more: it may have ended in between.
            if self.is_alive() {
                self.workers = workers;
            }
        }
    }

    /// Whether it has not ended.
    fn is_alive(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished()) && Process::now(self.master).is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.look();
        // The master ends its workers when it is told to end.
        if self.is_alive() {
            let _ = kill(Pid::from_raw(self.master as i32), Signal::SIGTERM);
        }
        let end = clock::now() + MOST_END_NS;
        while self.is_alive() && clock::now() < end {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if self.is_alive() {
            let _ = kill(Pid::from_raw(self.master as i32), Signal::SIGKILL);
        }
        // What a master left behind would go on answering at its port.
        for worker in self.workers.iter().filter(|worker| worker.is_alive()) {
            let _ = kill(Pid::from_raw(worker.pid as i32), Signal::SIGKILL);
        }
        while self.workers.iter().any(|worker| worker.is_alive()) && clock::now() < end + MOST_END_NS {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// Starts the program with its own view of [`COVERED`], which is empty but for its files.
fn spawn(
    mut command: Command,
    server: &'static dyn Server,
    port: u16,
    sizes: &BTreeSet<u64>,
    cpus: Option<&[usize]>,
) -> io::Result<(Child, Option<ChildStderr>)> {
    const NOTHING: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), COVERED, Some("tmpfs"), flags, Some("mode=0755"))?;
    let folder = Path::new(COVERED).join(server.name());
    fs::create_dir(&folder)?;
    command.args(server.configure(&folder, port, sizes)?);
    let mut child = cpus::on(cpus, || command.spawn())?;
    let words = child.stderr.take();
    Ok((child, words))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    /// A master that a shell plays, with one child.
    fn running(script: &str) -> Running {
        let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let master = child.id();
        let keeper = std::thread::Builder::new().spawn(move || drop(child.wait())).unwrap();
        let mut running = Running { master, workers: Vec::new(), keeper: Some(keeper) };
        while running.workers.is_empty() {
            running.look();
        }
        running
    }

    #[test]
    fn a_program_that_does_not_want_to_end_is_killed_with_its_workers() {
        let stubborn = running("trap '' TERM; echo ready; sleep 60; sleep 60");
        let (master, workers) = (stubborn.master, stubborn.workers.clone());
        let start = clock::now();
        drop(stubborn);
        assert!(clock::now() - start < 2 * MOST_END_NS);
        assert!(Process::now(master).is_none() && workers.iter().all(|worker| !worker.is_alive()));
    }

    #[test]
    fn workers_are_those_of_now() {
        let mut restarting = running("echo ready; while true; do sleep 60; done");
        let before = restarting.pids().unwrap();
        assert_eq!((before.len(), before[0]), (2, restarting.master));
        kill(Pid::from_raw(before[1] as i32), Signal::SIGKILL).unwrap();
        while Process::now(before[1]).is_some() {}
        let after = restarting.pids().unwrap();
        assert!(after.len() == 2 && after[0] == before[0] && after[1] != before[1], "{before:?} {after:?}");
    }

    #[test]
    fn workers_of_a_master_that_was_killed_go_too() {
        let mut running = running("echo ready; sleep 60; sleep 60");
        let worker = running.workers[0];
        kill(Pid::from_raw(running.master as i32), Signal::SIGKILL).unwrap();
        while running.is_alive() {}
        assert!(worker.is_alive() && running.pids().is_none());
        drop(running);
        assert!(!worker.is_alive());
    }
}
