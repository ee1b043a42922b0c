//! The limits of an agent, whatever a conductor asks.

pub(crate) mod permits;
pub(crate) mod threads;

use std::sync::Arc;

use hopbench_load::{FlowLimit, StrangerBounds, Throttle};
use hopbench_model::units::{BitRate, Span};
use hopbench_model::{Fault, Job, Nanos, SECOND};
use hopbench_sys::{cpu, limits};

/// An agent's limits: its own, whatever a conductor asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Flows open at once, over all trials, as client and as server; one more is refused. The HTTP
    /// target for everybody has as many connections of its own, and no more than
    /// [`StrangerBounds`] says.
    pub flows: Option<u32>,
    /// Payload bits a second that all trials together may move here, in both directions.
    pub bits_per_s: Option<u64>,
    /// Longest trial, warm-up included, ns. Its timeout may be as long, or 10 s where that is more.
    pub duration_ns: Option<Nanos>,
    /// Worker threads at once, over all trials.
    pub threads: Option<u32>,
    /// How long its servers of `rr` and `http` spin before each answer, ns.
    pub server_work_ns: Option<Nanos>,
}

/// A timeout that is allowed however short trials have to be, ns: it is what a slow path may need.
const USUAL_TIMEOUT: Nanos = 10 * SECOND;

/// See [`Limits::usual_threads`].
const THREADS_A_CPU: u32 = 4;

impl Limits {
    /// Refuses a job that asks for more than the agent ever allows.
    pub(crate) fn refuse(&self, job: &Job) -> Result<(), Fault> {
        if let Some(most) = self.flows
            && job.connections > most
        {
            return Err(no_room(most as usize, 0, job.connections));
        }
        let length = job.timing.warmup_ns.saturating_add(job.timing.window_ns);
        if let Some(most) = self.duration_ns
            && length > most
        {
            return Err(Fault::environment(format!(
                "the agent allows trials of {}, {} was asked for (warm-up included); ask for less \
                 or raise its --max-duration",
                Span(most),
                Span(length)
            )));
        }
        // Its threads and flows are kept until the last exchange has had its time.
        let timeout = job.timing.timeout_ns;
        if let Some(most) = self.duration_ns.map(|most| most.max(USUAL_TIMEOUT))
            && timeout > most
        {
            return Err(Fault::environment(format!(
                "the agent allows timeouts of {}, {} was asked for; ask for less with --timeout or \
                 raise its --max-duration",
                Span(most),
                Span(timeout)
            )));
        }
        Ok(())
    }

    /// The bound on open flows.
    pub(crate) fn flow_limit(&self) -> Arc<FlowLimit> {
        FlowLimit::new(self.flows.map(|most| most as usize))
    }

    /// The bounds of strangers at the HTTP target for everybody. They take no place of a flow, and
    /// no more than a quarter of the open files. Otherwise they could keep out who has the token.
    pub(crate) fn strangers(&self) -> StrangerBounds {
        let usual = StrangerBounds::default();
        let flows = self.flows.map_or(usize::MAX, |flows| flows as usize);
        let files = limits::raise_open_files(OPEN_FILES)
            .map_or(usize::MAX, |files| (files / 4).max(1) as usize);
        StrangerBounds { connections: usual.connections.min(flows).min(files), ..usual }
    }

    /// Worker threads at once where nobody says otherwise: 4 for each CPU that this process may
    /// use. More would only take CPUs from each other.
    pub fn usual_threads() -> u32 {
        let cpus = cpu::allowed().map_or(1, |cpus| cpus.len());
        u32::try_from(cpus).unwrap_or(u32::MAX).saturating_mul(THREADS_A_CPU)
    }

    pub(crate) fn throttle(&self) -> Option<Throttle> {
        self.bits_per_s.map(Throttle::new)
    }

    /// The cuts below what a trial asked for, in words. `answers`: this end is the server of
    /// a workload of exchanges.
    pub(crate) fn cuts(&self, answers: bool) -> Vec<String> {
        let rate = self.bits_per_s.map(|rate| {
            format!("the agent moves at most {}/s over all trials (--max-rate)", BitRate(rate))
        });
        let work = self
            .server_work_ns
            .filter(|_| answers)
            .map(|work| format!("the server works {} before each answer (--work)", Span(work)));
        rate.into_iter().chain(work).collect()
    }
}

/// Why a run has no room, and what to do about it.
pub(crate) fn no_room(most: usize, taken: usize, asked: u32) -> Fault {
    Fault::environment(format!(
        "the agent allows {most} flows at once, {taken} are taken and {asked} were asked for; ask \
         for fewer or raise its --max-flows"
    ))
}

/// Open files that strangers cannot use up.
pub(crate) const OPEN_FILES: u64 = 4096;

/// Makes room for the sockets of a trial.
pub(crate) fn make_room(job: &Job) -> Result<(), Fault> {
    // Besides the sockets: an epoll and an eventfd a worker, and what the process has open anyway.
    let needed = u64::from(job.connections)
        * if job.engine == hopbench_model::EngineKind::Threads { 3 } else { 1 }
        + 2 * u64::from(job.threads)
        + 128;
    // Where there are more to be had, strangers at the port take none of them.
    let got = limits::raise_open_files(needed + OPEN_FILES)
        .map_err(|e| Fault::environment(format!("cannot read the limit of open files: {e}")))?;
    if got < needed {
        return Err(Fault::environment(format!(
            "{} connections need {needed} open files, the limit here is {got}; raise it with \
             `ulimit -n {needed}`",
            job.connections
        )));
    }
    Ok(())
}
