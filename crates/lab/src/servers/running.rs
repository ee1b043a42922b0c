//! A server program that runs in a pod, with files that nobody else sees.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
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
use crate::processes::children;
use crate::stack::Stack;
use crate::tools;

/// A program that does not listen by then will not.
const MOST_START_NS: Nanos = 5 * SECOND;
/// How often it is looked whether it listens.
const LOOK_NS: Nanos = 2_000_000;
/// Covered, for the program alone, by a file system in memory that goes with it.
const COVERED: &str = "/tmp";
/// A program's last words are cut after this many bytes.
const MOST_WORDS: u64 = 2048;

/// A server program. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Running {
    /// The master, then its workers.
    pub(crate) pids: Vec<u32>,
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
        let mut running = Self { pids: vec![master], keeper: Some(keeper) };
        running.wait_for(stack, port, words)?;
        Ok(running)
    }

    fn wait_for(&mut self, stack: &Stack, port: u16, words: Option<ChildStderr>) -> io::Result<()> {
        let master = self.pids[0];
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
            let workers = children(master);
            if listens.is_ok() && !workers.is_empty() {
                self.pids.extend(workers);
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

    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_alive() {
            // The master ends its workers when it is told to end.
            for pid in self.pids.iter().take(1) {
                let _ = kill(Pid::from_raw(*pid as i32), Signal::SIGTERM);
            }
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
