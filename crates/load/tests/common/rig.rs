//! A trial in this process, over the loopback interface: its client, and its server where the
//! workload has one.

#![allow(dead_code, reason = "each test binary uses a part of this")]

mod acceptor;
pub(crate) mod handshake;
pub(crate) mod tls;

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload::{Figures, TrialReports, points};
use hopbench_load::{
    Accepted, Context, Encryption, FlowLimit, HandshakeCodec, SocketSet, Window, Workers, workload,
};
use hopbench_model::{
    Counter, Counts, EndReport, EngineKind, Fault, Job, LatencyKind, Nanos, Params, SECOND, Tick,
    Timing, Transport, fixture,
};
use hopbench_stats::Histogram;
use hopbench_sys::{Waker, clock, limits};

use acceptor::FlowAcceptor;
use handshake::Plain;

pub(crate) const MS: Nanos = 1_000_000;
/// What must happen within this time on any machine.
const LONG: Nanos = 30 * SECOND;

/// A closed loop of one connection for 150 ms, without a warm-up.
pub(crate) fn job(workload: &str, engine: EngineKind, params: impl Into<Params>) -> Job {
    let timing =
        Timing { interval_ns: SECOND, timeout_ns: 2 * SECOND, ..fixture::timing(150 * MS) };
    Job { engine, timing, seed: 7, ..fixture::job(workload, params) }
}

/// The parameters that these flags of the command line make.
pub(crate) fn flags(name: &str, flags: &[&str]) -> Params {
    let workload = workload(name).unwrap();
    let command = workload.arguments(clap::Command::new("test").no_binary_name(true));
    workload.params(&command.try_get_matches_from(flags).unwrap()).unwrap()
}

/// What the product makes of a job before it runs.
fn settled(job: &Job) -> Job {
    let (mut job, workload) = (job.clone(), workload(&job.workload).unwrap());
    workload.settle(&mut job);
    assert_eq!([job.problems(), workload.problems(&job)].concat(), [], "{job:?}");
    points(&job).remove(0).1
}

/// The turn of a thread; whoever has it may take it again.
pub(crate) struct Alone(Option<MutexGuard<'static, ()>>);

thread_local!(static IS_ALONE: Cell<bool> = const { Cell::new(false) });

/// Trials come one after the other: they count files and CPU time of the process. One that spins
/// would show in the latencies of another. A test that opens files takes its turn before.
pub(crate) fn alone() -> Alone {
    static TURN: Mutex<()> = Mutex::new(());
    let take = || TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Alone((!IS_ALONE.replace(true)).then(take))
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.0.is_some() {
            IS_ALONE.set(false);
        }
    }
}

pub(crate) fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Waits for something that must come.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = clock::now() + LONG;
    while !holds() {
        assert!(clock::now() < give_up, "not within {} s: {what}", LONG / SECOND);
        clock::sleep_until(clock::now() + MS);
    }
}

/// What either end is started with.
pub(crate) fn context(job: &Job, target: SocketAddr) -> Context {
    let needs_agent = workload(&job.workload).unwrap().needs_agent();
    Context {
        job: job.clone(),
        window: Arc::new(Window::default()),
        sockets: Arc::new(SocketSet::default()),
        throttle: None,
        notify: Arc::new(Waker::new().unwrap()),
        target,
        handshake: needs_agent.then(|| -> Arc<dyn HandshakeCodec> { Arc::new(Plain) }),
        credential: None,
        server_work_ns: 0,
        tls: job.is_over_tls().then(tls::server_config),
        certificate: job.is_over_tls().then(tls::shown),
        peer_clock_offset_ns: 0,
        shared_clock: true,
        stays: false,
        client: ClientNumber::ALONE,
    }
}

/// The start and the end of a window.
type Edges = [Nanos; 2];

/// A trial with both ends.
pub(crate) struct Trial {
    pub(crate) job: Job,
    pub(crate) shared_clock: bool,
    /// The server lets flows in and then never says a word.
    pub(crate) silent: bool,
    /// The server's port; 0: any.
    pub(crate) port: u16,
}

/// Runs both ends of a job.
pub(crate) fn run(job: &Job) -> Measured {
    Trial::of(job).run()
}

/// Runs a client, if it can start.
pub(crate) fn run_client(job: &Job, target: SocketAddr) -> Result<Measured, Fault> {
    let client = Running::client(job, target)?;
    client.open();
    Ok(client.end().clean())
}

impl Trial {
    pub(crate) fn of(job: &Job) -> Self {
        Self { job: job.clone(), shared_clock: true, silent: false, port: 0 }
    }

    /// Starts both ends and waits until all flows are up.
    pub(crate) fn start(&self) -> Running {
        let alone = alone();
        limits::raise_open_files(8192).unwrap();
        let files = open_files();
        let server = Server::start(self);
        let context = Context {
            shared_clock: self.shared_clock,
            ..context(&server.end.context.job, server.address())
        };
        let client = End::client(context).unwrap();
        let edges = Cell::default();
        let running = Running { client, server: Some((server, files)), edges, _alone: alone };
        running.wait_for_flows();
        running
    }

    /// Runs it from start to end: nothing goes wrong, and all invariants hold.
    #[track_caller]
    pub(crate) fn run(&self) -> Measured {
        let running = self.start();
        running.open();
        let outcome = running.end().clean();
        outcome.figures();
        outcome
    }
}

/// One end: its workers, and what they were started with.
pub(crate) struct End {
    pub(crate) workers: Workers,
    context: Context,
}

impl End {
    fn client(context: Context) -> Result<Self, Fault> {
        let workers = workload(&context.job.workload).unwrap().client(&context)?;
        Ok(Self { workers, context })
    }

    /// Fixes the times of a trial whose load begins at `load`; the edges of the window.
    pub(crate) fn open(&self, load: Nanos) -> Edges {
        let timing = self.context.job.timing;
        let start = load + timing.warmup_ns;
        let end = start + timing.window_ns;
        self.context.window.open(load, start, end);
        self.workers.wake();
        [start, end]
    }

    /// What was counted so far. It has no time, so rates are those of the whole window: on a busy
    /// machine the edges are read late.
    fn tick(&self) -> Tick {
        Tick { counts: self.workers.counts(), ..Tick::default() }
    }

    fn stop(&self) {
        self.context.window.stop();
        self.workers.wake();
    }

    /// Waits for the workers to end by themselves, and says what they saw. `edges` were read at the
    /// window's edges; where nobody read them, all that was counted stands in the window.
    fn report(self, edges: Option<[Tick; 2]>) -> (EndReport, Option<Fault>) {
        until("the workers have ended", || self.workers.running() == 0);
        let counts = self.workers.counts_handle();
        let (recorder, fault) = self.workers.join();
        let (drained, (statuses, errors, extra)) = (counts(), recorder.tallies());
        let [start, end] = edges.unwrap_or_else(|| {
            [Counts::default(), drained].map(|counts| Tick { counts, ..Tick::default() })
        });
        let report = EndReport {
            start,
            end,
            drained,
            latency: recorder
                .histograms()
                .map(|(kind, histogram)| (kind, histogram.to_base64()))
                .collect(),
            statuses: statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect(),
            errors: errors.iter().map(|(reason, n)| (reason.to_string(), *n)).collect(),
            extra: extra.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            settings: self.context.sockets.settings(),
            window_ns: self.context.job.timing.window_ns,
            ..EndReport::default()
        };
        (report, fault)
    }
}

/// A server and its port.
pub(crate) struct Server {
    pub(crate) end: End,
    port: FlowAcceptor,
    flow_limit: Arc<FlowLimit>,
}

impl Server {
    pub(crate) fn start(trial: &Trial) -> Self {
        let (job, silent) = (settled(&trial.job), trial.silent);
        let workload = workload(&job.workload).unwrap();
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        let context = Context { shared_clock: trial.shared_clock, ..context(&job, nobody) };
        let (workers, acceptor) = workload.server(&context).unwrap();
        // Not one more than there are connections: each must be given back before the next one
        // comes.
        let flow_limit = FlowLimit::new(Some(job.connections as usize));
        let (places, mut kept) = (Arc::clone(&flow_limit), Vec::new());
        let take = move |flow, socket| {
            if silent {
                kept.push(socket);
            } else if let Some(flow_guard) = places.take() {
                let (socket, from_server) = (Arc::new(socket), workload.server_sends(&job, flow));
                acceptor(Accepted {
                    flow,
                    encryption: Encryption::None,
                    from_server,
                    socket,
                    registration: None,
                    flow_guard,
                });
            }
        };
        // Short-lived flows save themselves the wait for the answer.
        let port = FlowAcceptor::open(trial.port, !workload.kind().connects_for_each(), take);
        Self { end: End { workers, context }, port, flow_limit }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// Waits for the flows to end, and says what the server saw.
    pub(crate) fn finish(self, edges: Option<[Tick; 2]>) -> (EndReport, Option<Fault>) {
        self.end.workers.close();
        let job = &self.end.context.job;
        let is_of_exchanges = workload(&job.workload).unwrap().kind().is_of_exchanges();
        if is_of_exchanges && job.transport() == Transport::Udp {
            // Nothing tells this server that a datagram was the last one: the conductor does.
            clock::sleep_until(clock::now() + 20 * MS);
            self.end.stop();
        }
        let report = self.end.report(edges);
        self.port.shut();
        // One too many was closed; who counts it wrong misses it.
        let flows = (self.flow_limit.open(), self.flow_limit.refused());
        assert_eq!(flows, (0, 0), "places of flows that ended, and flows too many");
        report
    }
}

/// The ends of a trial that has begun.
pub(crate) struct Running {
    pub(crate) client: End,
    /// With the files that were open before it.
    server: Option<(Server, usize)>,
    /// The edges of the window, once it is open.
    edges: Cell<Option<Edges>>,
    _alone: Alone,
}

impl Running {
    /// A client alone, which has begun to open its flows.
    pub(crate) fn client(job: &Job, target: SocketAddr) -> Result<Self, Fault> {
        let alone = alone();
        let client = End::client(context(&settled(job), target))?;
        Ok(Self { client, server: None, edges: Cell::default(), _alone: alone })
    }

    fn wait_for_flows(&self) {
        let client = &self.client.workers;
        until("all flows are up", || client.ready() || client.fault().is_some());
    }

    fn ends(&self) -> impl Iterator<Item = &End> {
        [&self.client].into_iter().chain(self.server.iter().map(|(server, _)| &server.end))
    }

    /// Opens the window of both ends, once all flows are up.
    pub(crate) fn open(&self) {
        self.wait_for_flows();
        let load = clock::now() + 5 * MS;
        self.ends().for_each(|end| self.edges.set(Some(end.open(load))));
    }

    /// Shuts the window of both ends.
    pub(crate) fn finish(&self) {
        let now = clock::now();
        for end in self.ends() {
            end.context.window.finish(now);
            end.workers.wake();
        }
    }

    /// Ends everything at once.
    pub(crate) fn stop(&self) {
        self.ends().for_each(End::stop);
    }

    /// What each worker of the server counted so far.
    pub(crate) fn server_workers(&self) -> Vec<Counts> {
        self.server.as_ref().map_or_else(Vec::new, |(server, _)| server.end.workers.each())
    }

    /// Workers of both ends that have not ended.
    pub(crate) fn workers(&self) -> usize {
        self.ends().map(|end| end.workers.running()).sum()
    }

    /// The counts of the client and of the server at the edges of the window, if both are ahead and
    /// the trial gets there.
    fn ticks(&self) -> [Option<[Tick; 2]>; 2] {
        let ahead = self.edges.get().filter(|[start, _]| clock::now() < *start);
        let Some([start, end]) = ahead else { return [None, None] };
        let read = |at| {
            while clock::now() < at && self.client.workers.running() > 0 {
                clock::sleep_until(at.min(clock::now() + MS));
            }
            let server = self.server.as_ref().map(|(server, _)| server.end.tick());
            (clock::now() >= at).then(|| (self.client.tick(), server))
        };
        let both = read(start).and_then(|first| Some((first, read(end)?)));
        let Some(((client, server), (later, last))) = both else { return [None, None] };
        [Some([client, later]), server.zip(last).map(|(first, last)| [first, last])]
    }

    /// Waits for both ends to end by themselves, and looks whether they left files open.
    pub(crate) fn end(self) -> Measured {
        let (job, shared_clock) =
            (self.client.context.job.clone(), self.client.context.shared_clock);
        let [client, server] = self.ticks();
        let (client, client_fault) = self.client.report(client);
        let server = self.server.map(|(running, files)| {
            let seen = running.finish(server);
            assert_eq!(open_files(), files, "files were left open");
            seen
        });
        let has_server = server.is_some();
        let (server, server_fault) = server.unwrap_or_default();
        let faults = [client_fault, server_fault];
        Measured { job, client, server, faults, has_server, shared_clock }
    }
}

/// What both ends saw.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) job: Job,
    pub(crate) client: EndReport,
    pub(crate) server: EndReport,
    /// Of the client, and of the server.
    pub(crate) faults: [Option<Fault>; 2],
    has_server: bool,
    shared_clock: bool,
}

/// A count of a whole trial.
pub(crate) fn total(end: &EndReport, counter: Counter) -> u64 {
    end.drained.of(counter)
}

/// What an end saw of a latency.
pub(crate) fn latency(end: &EndReport, kind: LatencyKind) -> Histogram {
    let text = end.latency.get(&kind);
    text.map_or_else(Histogram::new, |text| Histogram::from_base64(text).unwrap())
}

impl Measured {
    /// A count of the client.
    pub(crate) fn client(&self, counter: Counter) -> u64 {
        total(&self.client, counter)
    }

    /// A count of the server.
    pub(crate) fn server(&self, counter: Counter) -> u64 {
        total(&self.server, counter)
    }

    /// A latency that the client saw.
    pub(crate) fn latency(&self, kind: LatencyKind) -> Histogram {
        latency(&self.client, kind)
    }

    /// Nothing went wrong at either end.
    #[track_caller]
    pub(crate) fn clean(self) -> Self {
        assert_eq!(self.faults, [None, None], "{:?}", self.job);
        self
    }

    /// The figures, all of whose invariants hold.
    #[track_caller]
    pub(crate) fn figures(&self) -> Figures {
        let server = self.has_server.then_some(&self.server);
        figures(&self.job, &self.client, server, self.shared_clock)
    }
}

/// The figures of these reports, all of whose invariants hold.
#[track_caller]
pub(crate) fn figures(
    job: &Job,
    client: &EndReport,
    server: Option<&EndReport>,
    shared_clock: bool,
) -> Figures {
    let trial = TrialReports { job, client, server, shared_clock, proxied: false };
    let figures = workload(&job.workload).unwrap().figures(&trial);
    for invariant in &figures.invariants {
        assert!(invariant.ok, "{invariant:?}: {job:?}");
    }
    figures
}
