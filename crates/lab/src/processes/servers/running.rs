//! A running server program, with files that no other program sees.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::mpsc;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::environment::{Environment, environment};
use super::server::ServerProgram;
use crate::network::stack::Stack;
use crate::processes::affinity;
use crate::processes::private_folder::private_folder;
use crate::processes::process_table::{ProcessId, children};
use crate::processes::stderr_log::StderrLog;
use crate::processes::supervised::Supervised;
use crate::processes::tools;

/// A program that does not listen by then will not.
const MOST_START_NS: Nanos = 5 * SECOND;
/// A program that was told to end and has not by then is killed; a master without a worker by then
/// is broken.
const MOST_END_NS: Nanos = 2 * SECOND;
/// How often it is looked whether it listens, or has ended.
const LOOK_NS: Nanos = 2_000_000;

/// How often a program is started for its environment, which it may write over before it is read.
const MOST_STARTS: usize = 3;

/// The most that a program may write beside the files that it serves.
const MOST_MORE_BYTES: u64 = 256 << 20;

/// A server program. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct RunningServer {
    master: Supervised,
    /// The workers, as they were seen last: a master that was killed leaves them behind.
    workers: Vec<ProcessId>,
    /// What the master was started with, as the kernel showed it; absent: it cannot be told.
    environment: Option<Environment>,
}

/// The task of a server program.
#[derive(Debug)]
pub(crate) struct ServerTask<'a> {
    pub(crate) server: &'static dyn ServerProgram,
    pub(crate) port: u16,
    pub(crate) sizes: &'a BTreeSet<u64>,
    pub(crate) cpus: Option<&'a [usize]>,
    /// Variables for its environment.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Whether a proof tells its environment.
    pub(crate) is_told: bool,
}

impl RunningServer {
    /// Starts a program in a namespace; it listens when this returns.
    pub(crate) fn start(stack: &Stack, task: &ServerTask<'_>) -> io::Result<Self> {
        let mut running = Self::once(stack, task)?;
        for _ in 1..MOST_STARTS {
            if running.environment.is_some() || !task.is_told {
                break;
            }
            // The old one must be gone before the new one can have its port.
            drop(running);
            running = Self::once(stack, task)?;
        }
        Ok(running)
    }

    fn once(stack: &Stack, task: &ServerTask<'_>) -> io::Result<Self> {
        let program = tools::find(task.server.name())
            .ok_or_else(|| {
                io::Error::other(format!("no program `{}` in PATH", task.server.name()))
            })?
            .canonicalize()?;
        let mut command = stack.namespace.command(&program)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A Ctrl-C at the terminal is for the conductor, which ends the trial first.
        command.process_group(0);
        command.envs(task.env);
        let (server, port, sizes) = (task.server, task.port, task.sizes.clone());
        let listen = SocketAddr::new(stack.wildcard(), port);
        let cpus = task.cpus.map(<[usize]>::to_vec);
        let (tell, told) = mpsc::channel();
        let (master, stderr) = Supervised::start(move || {
            let files: u64 = sizes.iter().sum();
            let folder =
                private_folder(server.name(), &program, MOST_MORE_BYTES.saturating_add(files))?;
            command.args(server.configure(&folder, listen, &sizes)?);
            let child = affinity::on(cpus.as_deref(), || command.spawn())?;
            // Nobody waits for it where the start fails.
            let _ = tell.send(environment(child.id(), &program));
            Ok(child)
        })?;
        let log =
            stderr.map(|stderr| StderrLog::follow(server.name(), stderr, None)).transpose()?;
        let environment = told.try_recv().ok().flatten();
        let mut running = Self { master, workers: Vec::new(), environment };
        running.wait_for(stack, port, log.as_ref())?;
        Ok(running)
    }

    fn wait_for(&mut self, stack: &Stack, port: u16, log: Option<&StderrLog>) -> io::Result<()> {
        let end = clock::now() + MOST_START_NS;
        loop {
            if !self.master.is_alive() {
                let text = log.map(StderrLog::last).unwrap_or_default();
                return Err(io::Error::other(format!("it ended at once: {}", text.trim())));
            }
            let listens = stack
                .namespace
                .run(move || TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))?;
            self.look();
            if listens.is_ok() && !self.workers.is_empty() {
                return Ok(());
            }
            if clock::now() > end {
                return Err(io::Error::other(format!(
                    "it does not listen on port {port} after {} s",
                    MOST_START_NS / SECOND
                )));
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
    }

    /// The master and its workers as they are now: a worker that crashed has a successor. `None`:
    /// it has ended, or gets no worker any more, and is to be started again.
    pub(crate) fn pids(&mut self) -> Option<Vec<u32>> {
        let end = clock::now() + MOST_END_NS;
        while self.master.is_alive() {
            self.look();
            if !self.workers.is_empty() {
                return Some(
                    [self.master.pid()]
                        .into_iter()
                        .chain(self.workers.iter().map(|worker| worker.pid))
                        .collect(),
                );
            }
            if clock::now() > end {
                break;
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        None
    }

    /// The environment of the program, if its master is one of these processes and it can be told.
    pub(crate) fn environment(&self, pids: &[u32]) -> Option<&Environment> {
        self.environment.as_ref().filter(|_| pids.contains(&self.master.pid()))
    }

    /// Reads the list of workers; those of a master that is gone are nobody's children, and stay
    /// known.
    fn look(&mut self) {
        if self.master.is_alive() {
            let workers: Vec<ProcessId> =
                children(self.master.pid()).into_iter().filter_map(ProcessId::now).collect();
            // Once more: it may have ended in between.
            if self.master.is_alive() {
                self.workers = workers;
            }
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.look();
        // The master ends its workers when it is told to end.
        self.master.signal(Signal::SIGTERM);
        let end = clock::now() + MOST_END_NS;
        while self.master.is_alive() && clock::now() < end {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        self.master.signal(Signal::SIGKILL);
        // What a master left behind would go on answering at its port.
        for worker in self.workers.iter().filter(|worker| worker.is_alive()) {
            let _ = kill(Pid::from_raw(worker.pid as i32), Signal::SIGKILL);
        }
        while self.workers.iter().any(|worker| worker.is_alive())
            && clock::now() < end + MOST_END_NS
        {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::Command;

    use super::*;

    /// A master that a shell plays, with one child.
    fn running(script: &'static str) -> RunningServer {
        let (master, _) = Supervised::start(move || {
            let mut child =
                Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn()?;
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)?;
            Ok(child)
        })
        .unwrap();
        let mut running = RunningServer { master, workers: Vec::new(), environment: None };
        while running.workers.is_empty() {
            running.look();
        }
        running
    }

    #[test]
    fn a_program_that_does_not_want_to_end_is_killed_with_its_workers() {
        let stubborn = running("trap '' TERM; echo ready; sleep 60; sleep 60");
        let (master, workers) = (stubborn.master.pid(), stubborn.workers.clone());
        let start = clock::now();
        drop(stubborn);
        assert!(clock::now() - start < 2 * MOST_END_NS);
        assert!(
            ProcessId::now(master).is_none() && workers.iter().all(|worker| !worker.is_alive())
        );
    }

    #[test]
    fn workers_are_those_of_now() {
        let mut restarting = running("echo ready; while true; do sleep 60; done");
        let before = restarting.pids().unwrap();
        assert_eq!((before.len(), before[0]), (2, restarting.master.pid()));
        kill(Pid::from_raw(before[1] as i32), Signal::SIGKILL).unwrap();
        while ProcessId::now(before[1]).is_some() {}
        let after = restarting.pids().unwrap();
        assert!(
            after.len() == 2 && after[0] == before[0] && after[1] != before[1],
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn workers_of_a_master_that_was_killed_go_too() {
        let mut running = running("echo ready; sleep 60; sleep 60");
        let worker = running.workers[0];
        running.master.signal(Signal::SIGKILL);
        while running.master.is_alive() {}
        assert!(worker.is_alive() && running.pids().is_none());
        drop(running);
        assert!(!worker.is_alive());
    }
}
