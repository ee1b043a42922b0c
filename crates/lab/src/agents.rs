//! The agents: a process in every pod, and on every node for each seat there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use hopbench_model::Fault;
use hopbench_testbed::AgentId;

use crate::built::refused;
use crate::cpus;
use crate::stack::Stack;

/// Lines of one agent are cut after this many bytes: a log is for people.
const MOST_LINE_BYTES: u64 = 4096;

/// The agents of a lab.
#[derive(Debug)]
pub(crate) struct Agents {
    program: PathBuf,
    log: Option<File>,
    running: BTreeMap<AgentId, Agent>,
}

/// Where an agent runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) stack: &'a Stack,
    /// The port on which it listens.
    pub(crate) port: u16,
    pub(crate) cpus: Option<&'a [usize]>,
}

#[derive(Debug)]
struct Agent {
    child: Child,
    /// Our end of its control socket, until somebody asks for it.
    control: Option<UnixStream>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to kill, only to collect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Agents {
    /// None yet.
    pub(crate) fn new(program: PathBuf, log: Option<File>) -> Self {
        Self { program, log, running: BTreeMap::new() }
    }

    /// Starts an agent; what it writes to its standard error goes to the log.
    fn start(&mut self, id: &AgentId, seat: Seat<'_>) -> Result<(), Fault> {
        let agent = self.spawn(id, seat).map_err(refused(format!("cannot start agent {id}")))?;
        self.running.insert(id.clone(), agent);
        Ok(())
    }

    fn spawn(&self, id: &AgentId, seat: Seat<'_>) -> io::Result<Agent> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = seat.stack.namespace.command(self.program.as_os_str())?;
        command.args(["agent", "--control-fd", "0", "--listen"]).arg(format!("0.0.0.0:{}", seat.port));
        // Standard input is the one descriptor that a child gets without further ado.
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        command.stderr(if self.log.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = cpus::on(seat.cpus, || command.spawn())?;
        if let (Some(log), Some(words)) = (&self.log, child.stderr.take()) {
            let (log, name) = (log.try_clone()?, id.to_string());
            // Ends with the agent, whose end of the pipe is the only one.
            std::thread::Builder::new().name("log".to_owned()).spawn(move || keep(&name, words, log))?;
        }
        Ok(Agent { child, control: Some(ours) })
    }

    /// The conductor's end of a new control session. The socket of an agent serves one session: an agent whose socket
    /// was given away, or that died, is started again.
    pub(crate) fn control(&mut self, id: &AgentId, seat: Seat<'_>) -> Result<UnixStream, Fault> {
        let fresh = self
            .running
            .get_mut(id)
            .is_some_and(|agent| agent.control.is_some() && matches!(agent.child.try_wait(), Ok(None)));
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
            let _ = agent.child.kill();
        }
        self.running.clear();
    }

    /// The process of an agent.
    pub(crate) fn pid(&self, id: &AgentId) -> Option<u32> {
        self.running.get(id).map(|agent| agent.child.id())
    }
}

/// Copies lines to the log with the agent's name before them.
fn keep(name: &str, words: impl Read, mut log: File) {
    let mut words = BufReader::new(words);
    let mut line = Vec::new();
    while matches!((&mut words).take(MOST_LINE_BYTES).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        // One write: lines of several agents do not mix. A log that cannot be written must not end a measurement.
        let _ = log.write_all(format!("{name}: {}\n", text.trim_end()).as_bytes());
        line.clear();
    }
}
