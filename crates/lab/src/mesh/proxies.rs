//! The running processes of a mesh: proxies, and the services that they ask.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use hopbench_mesh::{STATS, untold};
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::Gauges;

use crate::network::stack::Stack;
use crate::processes::tools;

mod admin;
mod running;
mod task;
mod totals;

pub(crate) use task::{MeshProgram, MeshTask};

use running::RunningMeshProcess;

/// A process that is not ready by then will not be.
const MOST_START_NS: Nanos = 10 * SECOND;
/// How often it is looked whether it is.
const LOOK_NS: Nanos = 3_000_000;
/// A proxy that has not told of all connections after so many questions never will.
const MOST_QUESTIONS: usize = 10;
/// Files that a process of a mesh may have open, where the system allows as many.
const OPEN_FILES: u64 = 1 << 20;

/// The processes of a mesh. Dropping this ends them.
#[derive(Debug)]
pub(crate) struct Proxies {
    program: PathBuf,
    log: Option<File>,
    running: BTreeMap<String, RunningMeshProcess>,
}

impl Proxies {
    /// None yet. `program` is this very program, which has the services as subcommands; what the
    /// processes write to their standard error goes to `log`.
    pub(crate) fn new(program: PathBuf, log: Option<File>) -> Self {
        Self { program, log, running: BTreeMap::new() }
    }

    /// Starts those that do not run, all at the same time; all are ready when this returns. Where
    /// one fails, the others go on.
    pub(crate) fn start(&mut self, tasks: Vec<MeshTask<'_>>) -> Result<(), Fault> {
        self.start_within(tasks, MOST_START_NS)
    }

    fn start_within(&mut self, tasks: Vec<MeshTask<'_>>, within: Nanos) -> Result<(), Fault> {
        // A connection through a proxy takes two of them, and a proxy has the limit of who starts
        // it. Less is no harm to few connections, and to many the proxy says it itself.
        let _ = hopbench_sys::limits::raise_open_files(OPEN_FILES);
        let mut waiting: Vec<(String, &Stack)> = Vec::new();
        for task in tasks {
            waiting.push((task.name.clone(), task.stack));
            if !self.is_alive(&task.name) {
                // The old one must be gone before the new one can have its ports.
                self.running.remove(&task.name);
                let running = RunningMeshProcess::start(task, &self.program, self.log.as_ref())?;
                self.running.insert(running.name().to_owned(), running);
            }
        }
        let end = clock::now() + within;
        loop {
            let mut late = Vec::new();
            for (name, stack) in waiting {
                match self.running.get_mut(&name).map(|running| running.is_ready(stack)) {
                    Some(Ok(true)) => {}
                    Some(Ok(false)) => late.push((name, stack)),
                    Some(Err(fault)) => {
                        self.running.remove(&name);
                        return Err(fault);
                    }
                    None => return Err(unknown(&name)),
                }
            }
            if late.is_empty() {
                return Ok(());
            }
            if clock::now() > end {
                let faults = late.iter().filter_map(|(name, _)| self.running.remove(name));
                let faults: Vec<Fault> = faults.map(|running| running.late(within)).collect();
                return faults.into_iter().next().map_or(Ok(()), Err);
            }
            waiting = late;
            clock::sleep_until(clock::now() + LOOK_NS);
        }
    }

    /// Whether it was started and has not ended.
    pub(crate) fn is_alive(&mut self, name: &str) -> bool {
        self.running.get(name).is_some_and(RunningMeshProcess::is_alive)
    }

    /// Its process, in this process' own `/proc`.
    pub(crate) fn pid(&self, name: &str) -> Option<u32> {
        self.running.get(name).map(RunningMeshProcess::pid)
    }

    /// The counters of a process since its start, by the names of [`hopbench_testbed::of_proxy`]. A
    /// service has its own: `checks`, `denied`, `reports`, `failed_calls` ... It has to answer
    /// within 2 s.
    pub(crate) fn counters(&mut self, name: &str) -> Result<BTreeMap<String, u64>, Fault> {
        let running = self.running.get_mut(name).ok_or_else(|| unknown(name))?;
        if let Some(totals) = running.totals()? {
            return Ok(totals);
        }
        let mut counters = self.read(name, hopbench_mesh::counters)?;
        // Times of connecting are as of an earlier question, each of which makes it bring them up
        // to date. One that was given up while it came about is never told of: as many as were
        // missing last time are not waited for again.
        let given_up = self.running.get(name).map_or(0, |running| running.untold);
        for _ in 1..MOST_QUESTIONS {
            if untold(&counters) <= given_up {
                break;
            }
            clock::sleep_until(clock::now() + LOOK_NS);
            counters = self.read(name, hopbench_mesh::counters)?;
        }
        if let Some(running) = self.running.get_mut(name) {
            running.untold = untold(&counters);
        }
        Ok(counters)
    }

    /// The gauges of a process, as of the last question for anything: ask for its counters first. A
    /// service has none.
    pub(crate) fn gauges(&mut self, name: &str) -> Result<Gauges, Fault> {
        self.read(name, hopbench_mesh::gauges)
    }

    fn read<T: Default>(
        &mut self,
        name: &str,
        read: fn(&[u8]) -> Result<T, String>,
    ) -> Result<T, Fault> {
        let running = self.running.get_mut(name).ok_or_else(|| unknown(name))?;
        let Some(body) = running.ask(STATS)? else { return Ok(T::default()) };
        read(&body).map_err(|why| Fault::measuring(format!("{name}: {why}")))
    }

    /// Makes its access log empty.
    pub(crate) fn fresh(&mut self, name: &str) {
        if let Some(running) = self.running.get(name) {
            running.forget();
        }
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        // All at once; then each is waited for.
        self.running.values().for_each(RunningMeshProcess::kill);
        self.running.clear();
    }
}

fn unknown(name: &str) -> Fault {
    Fault::input(format!("{name} is not part of the lab"))
}

/// Why no proxy can be started here, and what to do about it.
pub(crate) fn missing() -> Option<(String, String)> {
    tools::envoy().err().map(|absent| (absent.why, absent.remedy.to_owned()))
}

#[cfg(test)]
mod tests;
