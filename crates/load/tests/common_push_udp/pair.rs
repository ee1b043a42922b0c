//! Both ends of a trial in one process, over 127.0.0.1, with the simplest handshake that there can
//! be.

#![allow(dead_code, reason = "each workload's tests use a part of it")]
#![allow(clippy::unwrap_used, reason = "all of this runs inside tests")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload::{Figures, TrialReports, Workload};
use hopbench_load::{
    Accepted, Acceptor, Context, FlowGuard, FlowLimit, HandshakeAnswer, HandshakeCodec, SocketSet,
    Window, Workers, workload,
};
use hopbench_model::{Counter, EndReport, Job, LatencyKind, Nanos, SECOND, Tick, Timing, fixture};
use hopbench_stats::Histogram;
use hopbench_sys::{DatagramPort, Listener, Waker, clock};

pub(crate) const MS: Nanos = 1_000_000;
/// No step of a test takes longer, on whatever machine.
const PATIENCE: Nanos = 30 * SECOND;
/// The answer to a registration.
pub(crate) const ACCEPTED: [u8; 8] = *b"welcome!";

/// A trial with these flags, as the command line would make it.
pub(crate) fn job(
    name: &str,
    flags: &[&str],
    connections: u32,
    warmup_ms: u64,
    window_ms: u64,
) -> Job {
    let workload = workload(name).unwrap();
    let command = workload.arguments(clap::Command::new("test").no_binary_name(true));
    let params = workload.params(&command.try_get_matches_from(flags).unwrap()).unwrap();
    let timing = Timing {
        warmup_ns: warmup_ms * MS,
        window_ns: window_ms * MS,
        interval_ns: SECOND,
        timeout_ns: 10 * SECOND,
    };
    let mut job = Job { connections, timing, ..fixture::job(name, params) };
    workload.settle(&mut job);
    assert_eq!(workload.problems(&job), []);
    assert_eq!(job.problems(), []);
    job
}

/// What came of a trial.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) client: EndReport,
    pub(crate) server: EndReport,
    pub(crate) figures: Figures,
}

/// Runs both ends of a trial.
pub(crate) fn run(job: &Job, shared_clock: bool) -> Measured {
    let server = Server::start(job, shared_clock);
    let client = End::new(job, server.target, shared_clock);
    let workers = client.workload.client(&client.context).unwrap();
    wait_for("every flow is up", || workers.ready() || workers.fault().is_some());
    assert_eq!(workers.fault(), None);
    let start = open(job, &[&client.context.window, &server.end.context.window]);
    workers.wake();
    server.workers.wake();
    let edges = |at| {
        clock::sleep_until(at);
        (workers.counts(), server.workers.counts())
    };
    let (first, last) = (edges(start), edges(start + job.timing.window_ns));
    wait_for("the client is done", || workers.running() == 0);
    let client = client.report(workers, [first.0, last.0]);
    let server = server.finish([first.1, last.1]);
    let figures = figures(job, &client, &server, shared_clock);
    Measured { client, server, figures }
}

/// The figures of a trial, whose invariants must hold.
pub(crate) fn figures(
    job: &Job,
    client: &EndReport,
    server: &EndReport,
    shared_clock: bool,
) -> Figures {
    let figures = workload(&job.workload).unwrap().figures(&TrialReports {
        job,
        client,
        server: Some(server),
        shared_clock,
        proxied: false,
    });
    for invariant in &figures.invariants {
        assert!(invariant.ok, "{}: {}", invariant.name, invariant.detail);
    }
    figures
}

/// Fixes the times of a trial that begins shortly; the window's start.
pub(crate) fn open(job: &Job, windows: &[&Window]) -> Nanos {
    let load_start = clock::now() + 20 * MS;
    let start = load_start + job.timing.warmup_ns;
    for window in windows {
        window.open(load_start, start, start + job.timing.window_ns);
    }
    start
}

/// Samples of a latency.
pub(crate) fn samples(report: &EndReport, kind: LatencyKind) -> u64 {
    report.latency.get(&kind).map_or(0, |text| Histogram::from_base64(text).unwrap().count())
}

pub(crate) fn wait_for(what: &str, done: impl Fn() -> bool) {
    let until = clock::now() + PATIENCE;
    while !done() {
        assert!(clock::now() < until, "in vain: {what}");
        clock::sleep_until(clock::now() + MS);
    }
}

/// What either end needs.
struct End {
    workload: &'static dyn Workload,
    context: Context,
}

impl End {
    fn new(job: &Job, target: SocketAddr, shared_clock: bool) -> Self {
        let context = Context {
            job: job.clone(),
            window: Arc::default(),
            sockets: Arc::new(SocketSet::default()),
            throttle: None,
            notify: Arc::new(Waker::new().unwrap()),
            target,
            handshake: Some(Arc::new(Plain)),
            credential: None,
            server_work_ns: 0,
            peer_clock_offset_ns: 0,
            shared_clock,
            stays: false,
            client: ClientNumber::ALONE,
        };
        Self { workload: workload(&job.workload).unwrap(), context }
    }

    fn report(self, workers: Workers, edges: [hopbench_model::Counts; 2]) -> EndReport {
        workers.close();
        wait_for("the workers end by themselves", || workers.running() == 0);
        let drained = workers.counts();
        let (recorder, fault) = workers.join();
        assert_eq!(fault, None);
        let [start, end] = edges.map(|counts| Tick { counts, ..Tick::default() });
        let (_, errors, extra) = recorder.tallies();
        EndReport {
            start,
            end,
            drained,
            latency: recorder
                .histograms()
                .map(|(kind, histogram)| (kind, histogram.to_base64()))
                .collect(),
            errors: errors.iter().map(|(name, n)| (name.to_string(), *n)).collect(),
            extra: extra.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            settings: self.context.sockets.settings(),
            window_ns: self.context.job.timing.window_ns,
            ..EndReport::default()
        }
    }
}

/// A server and the thread that accepts its flows.
pub(crate) struct Server {
    pub(crate) target: SocketAddr,
    pub(crate) workers: Workers,
    end: End,
    stop: Arc<AtomicBool>,
    accepting: JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(job: &Job, shared_clock: bool) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let end = End::new(job, any, shared_clock);
        let (workers, acceptor) = end.workload.server(&end.context).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (target, accepting) = if job.transport() == hopbench_model::Transport::Udp {
            // A port number that is free for the datagram port: the kernel chooses, the arrival
            // tells.
            let probe = std::net::UdpSocket::bind(any).unwrap();
            let target = probe.local_addr().unwrap();
            drop(probe);
            let port = DatagramPort::bind(target).unwrap();
            (target, std::thread::spawn(move || register(&port, &acceptor, &stopped)))
        } else {
            let listener = Listener::bind(any, 64).unwrap();
            let target = listener.local().unwrap();
            (target, std::thread::spawn(move || accept(&listener, &acceptor, &stopped)))
        };
        Self { target, workers, end, stop, accepting }
    }

    pub(crate) fn window(&self) -> &Window {
        &self.end.context.window
    }

    /// Waits for the flows to end, and says what the server saw.
    pub(crate) fn finish(self, edges: [hopbench_model::Counts; 2]) -> EndReport {
        self.stop.store(true, Ordering::Relaxed);
        self.accepting.join().unwrap();
        self.end.report(self.workers, edges)
    }
}

/// Flows are not limited here.
fn flow_guard() -> FlowGuard {
    FlowLimit::new(None).take().unwrap()
}

fn accept(listener: &Listener, acceptor: &Acceptor, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((socket, _)) = listener.accept() else {
            clock::sleep_until(clock::now() + MS);
            continue;
        };
        let mut header = [0; 32];
        wait_for("a flow's header", || socket.peek(&mut [0; 32]).is_ok_and(|n| n == 32));
        assert_eq!(socket.recv(&mut header).unwrap(), 32);
        let flow = u32::from_le_bytes(header[..4].try_into().unwrap());
        socket.send(&ACCEPTED).unwrap();
        acceptor(Accepted {
            flow,
            from_server: true,
            socket: Arc::new(socket),
            registration: None,
            flow_guard: flow_guard(),
        });
    }
}

fn register(port: &DatagramPort, acceptor: &Acceptor, stop: &AtomicBool) {
    let mut known = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        let mut datagram = [0; 128];
        let Ok(arrival) = port.receive(&mut datagram) else {
            clock::sleep_until(clock::now() + MS);
            continue;
        };
        assert_eq!(arrival.len, 64, "a registration must arrive in one piece");
        let flow = u32::from_le_bytes(datagram[..4].try_into().unwrap());
        if known.insert(flow) {
            let socket = Arc::new(DatagramPort::connected(arrival.local, arrival.peer).unwrap());
            acceptor(Accepted {
                flow,
                from_server: false,
                socket,
                registration: None,
                flow_guard: flow_guard(),
            });
        }
        port.send_from(&ACCEPTED, arrival.local.ip(), arrival.peer).unwrap();
    }
}

/// A handshake that says no more than the flow's number.
struct Plain;

impl HandshakeCodec for Plain {
    fn tcp(&self, flow: u32) -> [u8; 32] {
        let mut out = [0; 32];
        out[..4].copy_from_slice(&flow.to_le_bytes());
        out
    }

    fn udp(&self, flow: u32, _cookie: Option<[u8; 16]>) -> [u8; 64] {
        registration(flow)
    }

    fn read(&self, _flow: u32, answer: &[u8]) -> HandshakeAnswer {
        if answer == ACCEPTED { HandshakeAnswer::Accepted } else { HandshakeAnswer::Unknown }
    }
}

/// The datagram that registers flow `flow`.
pub(crate) fn registration(flow: u32) -> [u8; 64] {
    let mut out = [0xA5; 64];
    out[..4].copy_from_slice(&flow.to_le_bytes());
    out
}

/// A count of a whole trial.
pub(crate) fn total(report: &EndReport, counter: Counter) -> u64 {
    report.drained.of(counter)
}
