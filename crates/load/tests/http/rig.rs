//! Runs the workload as an agent would, in this process.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload::{Figures, TrialReports};
use hopbench_load::{Context, SocketSet, Window, workload};
use hopbench_model::{
    Counter, EndReport, EngineKind, Fault, Job, LatencyKind, Nanos, Params, SECOND, Tick, Timing,
    fixture,
};
use hopbench_stats::Histogram;
use hopbench_sys::{Waker, clock};
use serde_json::{Value, json};

pub(crate) const MS: Nanos = 1_000_000;

/// One load at a time: a client that spins in another test would show in the latencies of this one.
static MACHINE: Mutex<()> = Mutex::new(());

/// A closed loop of 4 connections for 150 ms.
pub(crate) fn job(params: impl Into<Params>) -> Job {
    let timing =
        Timing { interval_ns: 100 * MS, timeout_ns: 2 * SECOND, ..fixture::timing(150 * MS) };
    Job { connections: 4, timing, seed: 7, ..fixture::job("http", params) }
}

/// The same once with every engine.
pub(crate) fn engines(job: &Job) -> impl Iterator<Item = Job> + '_ {
    EngineKind::ALL.iter().map(|engine| Job { engine: *engine, ..job.clone() })
}

pub(crate) fn context(job: &Job, target: SocketAddr) -> Context {
    Context {
        job: job.clone(),
        window: Arc::new(Window::default()),
        sockets: Arc::new(SocketSet::default()),
        throttle: None,
        notify: Arc::new(Waker::new().unwrap()),
        target,
        handshake: None,
        credential: None,
        server_work_ns: 0,
        peer_clock_offset_ns: 0,
        shared_clock: true,
        stays: false,
        client: ClientNumber::ALONE,
    }
}

/// What a client saw.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) job: Job,
    pub(crate) report: EndReport,
}

pub(crate) fn run(job: &Job, target: SocketAddr) -> Measured {
    run_and(job, target, || {}).unwrap()
}

/// Runs a job; `meanwhile` is called when the workers have been started.
pub(crate) fn run_and(
    job: &Job,
    target: SocketAddr,
    meanwhile: impl FnOnce(),
) -> Result<Measured, Fault> {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let http = workload("http").unwrap();
    assert_eq!(http.problems(job), []);
    let context = context(job, target);
    let window = Arc::clone(&context.window);
    let workers = http.client(&context)?;
    meanwhile();
    wait("the connections to stand", 5 * SECOND, || workers.ready() || workers.fault().is_some());
    let load_start = clock::now();
    let start = load_start + job.timing.warmup_ns;
    let end = start + job.timing.window_ns;
    window.open(load_start, start, end);
    workers.wake();
    clock::sleep_until(start);
    let first = Tick { counts: workers.counts(), ..Tick::default() };
    clock::sleep_until(end);
    let last = Tick { counts: workers.counts(), ..Tick::default() };
    wait("the workers to end", job.timing.timeout_ns + 5 * SECOND, || workers.running() == 0);
    let drained = workers.counts();
    let (recorder, fault) = workers.join();
    if let Some(fault) = fault {
        return Err(fault);
    }
    let (statuses, errors, extra) = recorder.tallies();
    let report = EndReport {
        start: first,
        end: last,
        drained,
        latency: recorder
            .histograms()
            .map(|(kind, histogram)| (kind, histogram.to_base64()))
            .collect(),
        statuses: statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect(),
        errors: errors.iter().map(|(reason, n)| (reason.to_string(), *n)).collect(),
        extra: extra.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        window_ns: job.timing.window_ns,
        ..EndReport::default()
    };
    Ok(Measured { job: job.clone(), report })
}

pub(crate) fn wait(what: &str, limit: Nanos, done: impl Fn() -> bool) {
    let until = clock::now() + limit;
    while !done() {
        assert!(clock::now() < until, "waited too long for {what}");
        clock::sleep_until(clock::now() + MS);
    }
}

impl Measured {
    /// A total after everything has ended.
    pub(crate) fn count(&self, counter: Counter) -> u64 {
        self.report.drained.of(counter)
    }

    pub(crate) fn latency(&self, kind: LatencyKind) -> Histogram {
        self.report
            .latency
            .get(&kind)
            .map_or_else(Histogram::new, |text| Histogram::from_base64(text).unwrap())
    }

    /// Failures of the window by reason.
    pub(crate) fn errors(&self) -> Value {
        json!(self.report.errors)
    }

    /// Answers of the window by status.
    pub(crate) fn statuses(&self) -> Value {
        json!(self.report.statuses)
    }

    /// The figures, all of whose invariants hold.
    pub(crate) fn figures(&self) -> Figures {
        let trial = TrialReports {
            job: &self.job,
            client: &self.report,
            server: None,
            shared_clock: true,
            proxied: false,
        };
        let figures = workload("http").unwrap().figures(&trial);
        for invariant in &figures.invariants {
            assert!(invariant.ok, "{invariant:?} with {}", self.job.engine);
        }
        figures
    }
}
