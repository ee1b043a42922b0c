//! The agents: a process in every pod, and on every node for each seat there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hopbench_control::conductor::RunKey;
use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::AgentId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::network::netlink::Layout;
use crate::network::refused;
use crate::network::stack::Stack;
use crate::processes::affinity;
use crate::processes::process_table;
use crate::processes::runtimes::Bundles;
use crate::processes::runtimes::Runtime;
use crate::processes::stderr_log::StderrLog;

/// How long the processes of a sandbox may take to go when they are killed.
const MOST_END_NS: Nanos = 2 * SECOND;
const LOOK_NS: Nanos = 1_000_000;

/// The agents of a lab.
#[derive(Debug)]
pub(crate) struct Agents {
    program: PathBuf,
    log: Option<File>,
    /// The key of the run whose permits they need.
    run: Option<RunKey>,
    running: BTreeMap<AgentId, Agent>,
    /// Made with the first agent in a runtime; after the agents, so that it goes after them.
    bundles: Option<Bundles>,
}

/// The place in which an agent runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) stack: &'a Stack,
    /// The port on which it listens.
    pub(crate) port: u16,
    pub(crate) cpus: Option<&'a [usize]>,
    /// How long its servers spin before each answer.
    pub(crate) server_work: Option<Span>,
    pub(crate) around: Option<Around<'a>>,
}

/// The runtime that an agent is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) runtime: &'static dyn Runtime,
    /// The addresses and routes that the pod's link gets before each start: a runtime takes them.
    pub(crate) layout: &'a Layout,
}

#[derive(Debug)]
struct Agent {
    /// The agent itself, or the runtime that it is in.
    child: Child,
    in_runtime: bool,
    /// Processes of the runtime that were killed.
    killed: Vec<u32>,
    /// Our end of its control socket, until it is taken.
    control: Option<UnixStream>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
        // A sandbox that is not quite gone would go on answering for the pod's address.
        let end = clock::now() + MOST_END_NS;
        while self.killed.iter().any(|pid| process_table::is_alive(*pid)) && clock::now() < end {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
    }
}

impl Agent {
    /// Kills it, with the processes of its runtime.
    fn kill(&mut self) {
        // Those whose parent is dead already die with it: runtimes that stay in the foreground see
        // to that.
        let beneath = self.beneath();
        // It may have ended by itself; then there is nothing left to kill, only to collect.
        let _ = self.child.kill();
        for pid in &beneath {
            let _ = kill(Pid::from_raw(*pid as i32), Signal::SIGKILL);
        }
        self.killed.extend(beneath);
    }

    /// The processes of its runtime.
    fn beneath(&self) -> Vec<u32> {
        if self.in_runtime { process_table::beneath(self.child.id()) } else { Vec::new() }
    }
}

impl Agents {
    /// None yet.
    pub(crate) fn new(program: PathBuf, log: Option<File>) -> Self {
        Self { program, log, run: None, running: BTreeMap::new(), bundles: None }
    }

    /// Their program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Those that are started from now on do nothing without a permit of this run.
    pub(crate) fn are_of(&mut self, run: RunKey) {
        self.run = Some(run);
    }

    /// Starts an agent; what it writes to its standard error goes to the log.
    fn start(&mut self, id: &AgentId, seat: Seat<'_>) -> Result<(), Fault> {
        let agent = self.spawn(id, seat).map_err(refused(format!("cannot start agent {id}")))?;
        self.running.insert(id.clone(), agent);
        Ok(())
    }

    fn spawn(&mut self, id: &AgentId, seat: Seat<'_>) -> io::Result<Agent> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = self.command(seat)?;
        // Standard input is the one descriptor that a child gets without further ado.
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        command.stderr(if self.log.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = affinity::on(seat.cpus, || command.spawn())?;
        if let (Some(log), Some(stderr)) = (&self.log, child.stderr.take()) {
            StderrLog::follow(&id.to_string(), stderr, Some(log.try_clone()?))?;
        }
        Ok(Agent {
            child,
            in_runtime: seat.around.is_some(),
            killed: Vec::new(),
            control: Some(ours),
        })
    }

    /// The command to start: the agent, or the runtime that it is in.
    fn command(&mut self, seat: Seat<'_>) -> io::Result<Command> {
        let namespace = &seat.stack.namespace;
        let listen = SocketAddr::new(seat.stack.wildcard(), seat.port).to_string();
        let mut arguments =
            ["agent", "--control-fd", "0", "--listen", &listen].map(str::to_owned).to_vec();
        arguments.extend(self.run.iter().flat_map(|run| ["--run-key".to_owned(), run.to_string()]));
        let work = seat.server_work.map(|work| ["--work".to_owned(), work.to_string()]);
        arguments.extend(work.into_iter().flatten());
        let Some(around) = seat.around else {
            let mut command = namespace.command(self.program.as_os_str())?;
            command.args(arguments);
            return Ok(command);
        };
        let name = around.runtime.name();
        let program = around
            .runtime
            .find()
            .ok_or_else(|| io::Error::other(format!("{name} is not installed")))?;
        let bundles = match &mut self.bundles {
            Some(bundles) => bundles,
            none => none.insert(Bundles::new(&self.program)?),
        };
        namespace.netlink()?.restore(around.layout)?;
        let mut command = namespace.command(program)?;
        command.args(bundles.add(around.runtime, arguments.into_iter())?);
        Ok(command)
    }

    /// The conductor's end of a new control session. The socket of an agent serves one session: an
    /// agent whose socket was given away, or that died, is started again.
    pub(crate) fn control(&mut self, id: &AgentId, seat: Seat<'_>) -> Result<UnixStream, Fault> {
        let fresh = self.running.get_mut(id).is_some_and(|agent| {
            agent.control.is_some() && matches!(agent.child.try_wait(), Ok(None))
        });
        if !fresh {
            // The old one must be gone before the new one can have its port.
            self.running.remove(id);
            self.start(id, seat)?;
        }
        let control = self.running.get_mut(id).and_then(|agent| agent.control.take());
        control.ok_or_else(|| Fault::environment(format!("agent {id} has no control socket")))
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        for agent in self.running.values_mut() {
            // All at once; then each is waited for.
            agent.kill();
        }
        self.running.clear();
        self.bundles = None;
    }

    /// The processes of the runtime that an agent is in; none: it is in none.
    pub(crate) fn beneath(&self, id: &AgentId) -> Vec<u32> {
        self.running.get(id).map(Agent::beneath).unwrap_or_default()
    }

    /// The process of an agent.
    pub(crate) fn pid(&self, id: &AgentId) -> Option<u32> {
        self.running.get(id).map(|agent| agent.child.id())
    }
}
