//! One client's trial in this process.

use std::net::SocketAddr;
use std::sync::Arc;

use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload::{Figures, TrialReports};
use hopbench_load::{
    Context, HandshakeAnswer, HandshakeCodec, SocketSet, Window, Workers, workload,
};
use hopbench_model::{EndReport, EngineKind, Fault, Job, SECOND, Tick, Timing, fixture};
use hopbench_sys::{Epoll, Events, Waker, clock};

/// A job of 200 ms with one thread and no warm-up.
pub(crate) fn job(workload: &str, engine: EngineKind, params: serde_json::Value) -> Job {
    let timing =
        Timing { interval_ns: SECOND, timeout_ns: 2 * SECOND, ..fixture::timing(SECOND / 5) };
    Job { engine, timing, ..fixture::job(workload, params) }
}

/// What a client and, where there was one, a server saw.
pub(crate) struct Measured {
    pub(crate) client: EndReport,
    pub(crate) server: Option<EndReport>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) job: Job,
}

impl Measured {
    pub(crate) fn figures(&self) -> Figures {
        let trial = TrialReports {
            job: &self.job,
            client: &self.client,
            server: self.server.as_ref(),
            shared_clock: true,
            proxied: false,
        };
        workload(&self.job.workload).unwrap().figures(&trial)
    }

    pub(crate) fn histogram_count(&self, kind: hopbench_model::LatencyKind) -> u64 {
        self.client
            .latency
            .get(&kind)
            .map_or(0, |text| hopbench_stats::Histogram::from_base64(text).unwrap().count())
    }
}

/// Runs a client alone.
pub(crate) fn run_client(job: &Job, target: SocketAddr) -> Result<Measured, Fault> {
    let context = context(job, target);
    let workers = workload(&job.workload).unwrap().client(&context)?;
    let (client, fault) = drive(&context, workers);
    Ok(Measured { client, server: None, faults: fault.into_iter().collect(), job: job.clone() })
}

pub(crate) fn context(job: &Job, target: SocketAddr) -> Context {
    Context {
        job: job.clone(),
        window: Arc::new(Window::default()),
        sockets: Arc::new(SocketSet::default()),
        throttle: None,
        notify: Arc::new(Waker::new().unwrap()),
        target,
        handshake: Some(Arc::new(PlainHandshake)),
        credential: None,
        server_work_ns: 0,
        peer_clock_offset_ns: 0,
        shared_clock: true,
        stays: false,
        client: ClientNumber::ALONE,
    }
}

/// Opens the window once the workers are ready and waits until it is done.
pub(crate) fn drive(context: &Context, workers: Workers) -> (EndReport, Option<Fault>) {
    let timing = context.job.timing;
    let give_up =
        clock::now() + timing.warmup_ns + timing.window_ns + timing.timeout_ns + 10 * SECOND;
    let notified = Epoll::new().unwrap();
    notified.add(&*context.notify, 0).unwrap();
    let mut events = Events::with_capacity(1);
    let mut wait_for = |done: &dyn Fn() -> bool| {
        while !done() {
            assert!(clock::now() < give_up, "the trial hangs");
            notified.wait(&mut events, Some(SECOND / 20)).unwrap();
            context.notify.reset();
        }
    };
    wait_for(&|| workers.ready() || workers.running() == 0);
    let start = clock::now() + timing.warmup_ns;
    context.window.open(start - timing.warmup_ns, start, start + timing.window_ns);
    workers.wake();
    wait_for(&|| workers.running() == 0);
    let counts = workers.counts();
    let (recorder, fault) = workers.join();
    let mut report = report(&recorder, counts);
    report.window_ns = timing.window_ns;
    report.settings = context.sockets.settings();
    (report, fault)
}

pub(crate) fn report(
    recorder: &hopbench_load::Recorder,
    counts: hopbench_model::Counts,
) -> EndReport {
    let (_, errors, extra) = recorder.tallies();
    EndReport {
        end: Tick { counts, ..Tick::default() },
        drained: counts,
        latency: recorder
            .histograms()
            .map(|(kind, histogram)| (kind, histogram.to_base64()))
            .collect(),
        errors: errors.iter().map(|(reason, n)| (reason.to_string(), *n)).collect(),
        extra: extra.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        ..EndReport::default()
    }
}

/// A header of a fixed word and the flow's number.
struct PlainHandshake;

impl HandshakeCodec for PlainHandshake {
    fn tcp(&self, flow: u32) -> [u8; 32] {
        let mut header = [b'h'; 32];
        header[..4].copy_from_slice(&flow.to_le_bytes());
        header
    }

    fn udp(&self, _flow: u32, _cookie: Option<[u8; 16]>) -> [u8; 64] {
        [0; 64]
    }

    fn read(&self, _flow: u32, _answer: &[u8]) -> HandshakeAnswer {
        HandshakeAnswer::Unknown
    }
}
