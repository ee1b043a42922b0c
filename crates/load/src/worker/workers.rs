//! The worker threads of one end of a trial.

mod each;
mod setup;
mod visits;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hopbench_model::{Counts, EngineKind, Fault, Job, Nanos};
use hopbench_sys::{Socket, Waker, cpu};
use rustls::ServerConfig;
use rustls::sign::SingleCertAndKey;

pub use self::setup::WorkersSetup;
use crate::admission::throttle::Throttle;
use crate::engine::{Engine, EngineSetup};
use crate::engines::with_engine;
use crate::flow::Flow;
use crate::flow::handshake::HandshakeCodec;
use crate::http::Credential;
use crate::measure::recorder::{Live, Recorder};
use crate::measure::socket_set::SocketSet;
use crate::measure::window::Window;
use crate::schedule::{Arrivals, ClientNumber, seed_of};
use crate::worker::accepted::{Accepted, Acceptor};
use crate::worker::dial::{Dial, SocketOptions, Transport};
use crate::worker::event_loop::{EventLoop, EventLoopSetup};
use crate::worker::filler::{MOST_FILLER, filler};
use crate::worker::hand_over::HandOver;
use crate::worker::inbox::{AcceptedFlow, Inbox};
use crate::worker::readiness::Readiness;
use crate::worker::thread_pool::Pool;

/// The facts that a workload needs of the trial it serves.
#[derive(Clone)]
pub struct Context {
    /// The trial.
    pub job: Job,
    /// When load runs.
    pub window: Arc<Window>,
    /// Where sockets are shown.
    pub sockets: Arc<SocketSet>,
    /// The agent's ceiling, if it has one.
    pub throttle: Option<Arc<Throttle>>,
    /// Woken when the workers are ready, done or broken.
    pub notify: Arc<Waker>,
    /// The target of a client; not used by a server.
    pub target: std::net::SocketAddr,
    /// How flows identify themselves; absent where the server is not an agent.
    pub handshake: Option<Arc<dyn HandshakeCodec>>,
    /// What every HTTP request of the trial shows; `None` where a stranger is asked, and at a
    /// target for everybody.
    pub credential: Option<Credential>,
    /// What a server shows whoever opens a connection with a handshake of TLS; `None`: nothing.
    pub tls: Option<Arc<ServerConfig>>,
    /// What a client shows a server that asks for a certificate of its agent; `None`: nothing.
    pub certificate: Option<Arc<SingleCertAndKey>>,
    /// How long a server of `rr` or `http` spins before each answer, ns; 0: not at all.
    pub server_work_ns: Nanos,
    /// What to add to this end's clock to get the other end's, ns.
    pub peer_clock_offset_ns: i64,
    /// Whether that is exact: both ends read one clock.
    pub shared_clock: bool,
    /// Whether flows stay for another visit: see [`Workers::visit_is_over`].
    pub stays: bool,
    /// The number of this client in the trial.
    pub client: ClientNumber,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("job", &self.job)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// The running worker threads of one end.
pub struct Workers {
    shared: Arc<WorkerGroup>,
    readiness: Arc<Readiness>,
    close: Box<dyn Fn() + Send + Sync>,
    window: Arc<Window>,
    hand_over: Option<Arc<HandOver>>,
    sockets: Arc<SocketSet>,
    /// Whether a worker has several flows.
    shares_flows: bool,
    /// The option of each socket.
    receive_low_water: Option<usize>,
}

struct WorkerGroup {
    threads: Mutex<Vec<JoinHandle<Option<Recorder>>>>,
    lives: Mutex<Vec<Arc<Live>>>,
    wakers: Mutex<Vec<Arc<Waker>>>,
    running: AtomicUsize,
    fault: Mutex<Option<Fault>>,
    notify: Arc<Waker>,
    /// What all workers send from.
    filler: Arc<[u8]>,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("running", &self.running()).finish_non_exhaustive()
    }
}

impl Workers {
    fn of(
        context: &Context,
        setup: &WorkersSetup,
        shared: Arc<WorkerGroup>,
        readiness: Arc<Readiness>,
        (close, hand_over): (Box<dyn Fn() + Send + Sync>, Option<Arc<HandOver>>),
    ) -> Self {
        Self {
            shared,
            readiness,
            close,
            window: Arc::clone(&context.window),
            hand_over,
            sockets: Arc::clone(&context.sockets),
            shares_flows: context.job.engine != EngineKind::Threads,
            receive_low_water: setup.options.receive_low_water,
        }
    }

    /// Worker threads that have not ended.
    pub fn running(&self) -> usize {
        self.shared.running.load(Ordering::Acquire)
    }

    /// The first failure of a worker.
    pub fn fault(&self) -> Option<Fault> {
        lock(&self.shared.fault).clone()
    }

    /// Totals of all workers since the trial began.
    pub fn counts(&self) -> Counts {
        self.counts_handle()()
    }

    /// Reads the totals also after [`Workers::join`], when they no longer change.
    pub fn counts_handle(&self) -> impl Fn() -> Counts + use<> {
        let (shared, hand_over) = (Arc::clone(&self.shared), self.hand_over.clone());
        move || {
            let mut counts = shared.counts();
            // Of a visit that other workers have not ended.
            hand_over.iter().for_each(|hand_over| counts.add(&hand_over.counts()));
            counts
        }
    }

    /// Makes every worker look at the window.
    pub fn wake(&self) {
        for waker in lock(&self.shared.wakers).iter() {
            waker.wake();
        }
    }

    /// A server takes no more flows; its workers end with the last one.
    pub fn close(&self) {
        (self.close)();
        self.wake();
    }

    /// Waits for every worker to end and merges what they wrote down.
    pub fn join(self) -> (Recorder, Option<Fault>) {
        (self.close)();
        let mut merged = Recorder::new(Arc::clone(&self.window), Arc::default(), true);
        let next = || lock(&self.shared.threads).pop();
        while let Some(thread) = next() {
            self.wake();
            match thread.join() {
                Ok(Some(recorder)) => merged.merge(&recorder),
                Ok(None) => {}
                Err(_) => {
                    lock(&self.shared.fault)
                        .get_or_insert_with(|| Fault::measuring("a worker thread panicked"));
                }
            }
        }
        // A visit that did not end everywhere: some may have handed over before.
        self.hand_over.iter().for_each(|hand_over| hand_over.merge_into(&mut merged));
        (merged, self.fault())
    }
}

/// Starts the workers of a client: `make` gives flow `i`.
pub(crate) fn client<F: Flow + 'static>(
    context: &Context,
    setup: &WorkersSetup,
    make: impl Fn(u32) -> F,
) -> Result<Workers, Fault> {
    let job = &context.job;
    let workers = match job.engine {
        EngineKind::Threads => job.connections,
        _ => job.threads.min(job.connections),
    };
    let dial = Dial {
        transport: setup.transport,
        peer: context.target,
        local: job.local_addresses.clone(),
        options: setup.options.clone(),
    };
    dial.try_local()?;
    let readiness = Arc::new(Readiness::new(job.connections, Arc::clone(&context.notify)));
    let shared = Arc::new(WorkerGroup::new(context, setup));
    let hand_over = hand_over(context);
    for worker in 0..workers {
        let flows: Vec<_> =
            (worker..job.connections).step_by(workers as usize).map(|i| (i, make(i))).collect();
        let (schedule, burst, seed, number) = (job.schedule, job.burst, job.seed, context.client);
        let mut visits = 0;
        let arrivals = schedule.per_s().map(|_| -> Box<dyn FnMut(Nanos) -> Arrivals + Send> {
            Box::new(move |start| {
                // Visits do not repeat each other.
                let seed = seed_of(seed, visits);
                visits += 1;
                Arrivals::new(schedule, burst, number, (worker, workers), start, seed)
                    .unwrap_or_else(|| unreachable!("it has a rate"))
            })
        });
        let loop_setup = EventLoopSetup {
            dial: Some(dial.clone()),
            arrivals,
            ..event_loop_setup(context, setup, hand_over.as_ref())
        };
        let cpu = pick(job.client_cpus.as_ref().map(|c| &c.0), worker);
        shared.start(context, setup, cpu, flows, loop_setup, &readiness, None)?;
    }
    Ok(Workers::of(context, setup, shared, readiness, (Box::new(|| {}), hand_over)))
}

/// Starts the workers of a server: `make` gives the flow for an accepted socket. With the engine
/// `threads` each flow gets a thread of its own when it comes.
pub(crate) fn server<F: Flow + 'static>(
    context: &Context,
    setup: &WorkersSetup,
    make: impl Fn(&Accepted) -> F + Send + Sync + 'static,
) -> Result<(Workers, Acceptor), Fault> {
    let job = &context.job;
    let readiness = Arc::new(Readiness::new(0, Arc::clone(&context.notify)));
    let shared = Arc::new(WorkerGroup::new(context, setup));
    let hand_over = hand_over(context);
    let cpus = job.server_cpus.clone();
    let (acceptor, close): (Acceptor, Box<dyn Fn() + Send + Sync>) = if job.engine
        == EngineKind::Threads
    {
        let pool = Arc::new(Pool::new());
        let to_close = Arc::clone(&pool);
        let (context, setup, shared) = (context.clone(), setup.clone(), Arc::clone(&shared));
        let (readiness, hand_over) = (Arc::clone(&readiness), hand_over.clone());
        let acceptor: Acceptor = Arc::new(move |accepted: Accepted| {
            apply_options(&context, &setup, &accepted.socket);
            let flow = make(&accepted);
            let seated = pool.put(arrival(accepted, flow), |seat, inbox| {
                let cpu = pick(cpus.as_ref().map(|c| &c.0), seat as u32);
                let loop_setup = event_loop_setup(&context, &setup, hand_over.as_ref());
                shared.start(&context, &setup, cpu, Vec::new(), loop_setup, &readiness, Some(inbox))
            });
            if let Err(fault) = seated {
                shared.fail(fault);
            }
        });
        (acceptor, Box::new(move || to_close.close()))
    } else {
        let mut inboxes = Vec::new();
        for worker in 0..job.threads {
            let waker = Arc::new(Waker::new().map_err(|e| no_thread(&e))?);
            let inbox = Arc::new(Inbox::new(waker));
            let cpu = pick(cpus.as_ref().map(|c| &c.0), worker);
            let loop_setup = event_loop_setup(context, setup, hand_over.as_ref());
            shared.start(
                context,
                setup,
                cpu,
                Vec::new(),
                loop_setup,
                &readiness,
                Some(Arc::clone(&inbox)),
            )?;
            inboxes.push(inbox);
        }
        let inboxes: Arc<[Arc<Inbox<F>>]> = inboxes.into();
        let to_close = Arc::clone(&inboxes);
        let (context, setup) = (context.clone(), setup.clone());
        let acceptor: Acceptor = Arc::new(move |accepted: Accepted| {
            apply_options(&context, &setup, &accepted.socket);
            let flow = make(&accepted);
            inboxes[accepted.flow as usize % inboxes.len()].put(arrival(accepted, flow));
        });
        (acceptor, Box::new(move || to_close.iter().for_each(|inbox| inbox.close())))
    };
    Ok((Workers::of(context, setup, shared, readiness, (close, hand_over)), acceptor))
}

fn arrival<F>(accepted: Accepted, flow: F) -> AcceptedFlow<F> {
    AcceptedFlow {
        number: accepted.flow,
        socket: accepted.socket,
        flow,
        flow_guard: accepted.flow_guard,
    }
}

fn hand_over(context: &Context) -> Option<Arc<HandOver>> {
    context.stays.then(|| Arc::new(HandOver::new(Arc::clone(&context.notify))))
}

fn apply_options(context: &Context, setup: &WorkersSetup, socket: &Socket) {
    let options = &setup.options;
    // The client's datagrams are cut by its own kernel.
    let after = SocketOptions { segment: None, ..options.clone() };
    let applied = options
        .apply(socket, setup.transport, &context.sockets)
        .and_then(|()| after.apply_accepted(socket, &context.sockets));
    if let Err(error) = applied {
        context.sockets.note_setting("refused", || error.to_string());
    }
}

/// The setup of a worker's loop, which is a server's as long as it has no dial.
fn event_loop_setup(
    context: &Context,
    setup: &WorkersSetup,
    hand_over: Option<&Arc<HandOver>>,
) -> EventLoopSetup {
    EventLoopSetup {
        dial: None,
        sockets: Arc::clone(&context.sockets),
        watch_sockets: setup.watch_sockets,
        arrivals: None,
        pacing: context.job.pacing,
        throttle: context.throttle.clone(),
        coalesce_ns: setup.coalesce_ns,
        grace: setup.grace,
        hand_over: hand_over.cloned(),
        cpus: Vec::new(),
    }
}

fn pick(cpus: Option<&Vec<usize>>, worker: u32) -> Option<usize> {
    cpus.filter(|c| !c.is_empty()).map(|c| c[worker as usize % c.len()])
}

fn no_thread(error: &std::io::Error) -> Fault {
    Fault::environment(format!("cannot start a worker thread: {error}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these mutexes guard is right after every single statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WorkerGroup {
    fn new(context: &Context, setup: &WorkersSetup) -> Self {
        Self {
            threads: Mutex::default(),
            lives: Mutex::default(),
            wakers: Mutex::default(),
            running: AtomicUsize::new(0),
            fault: Mutex::default(),
            notify: Arc::clone(&context.notify),
            filler: filler(setup.fill_bytes.min(MOST_FILLER)),
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for live in lock(&self.lives).iter() {
            counts.add(&live.counts());
        }
        counts
    }

    fn fail(&self, fault: Fault) {
        lock(&self.fault).get_or_insert(fault);
        self.notify.wake();
    }

    #[allow(clippy::too_many_arguments)]
    fn start<F: Flow + 'static>(
        self: &Arc<Self>,
        context: &Context,
        setup: &WorkersSetup,
        cpu: Option<usize>,
        flows: Vec<(u32, F)>,
        mut loop_setup: EventLoopSetup,
        readiness: &Arc<Readiness>,
        inbox: Option<Arc<Inbox<F>>>,
    ) -> Result<(), Fault> {
        let live = Arc::new(Live::default());
        let waker = match &inbox {
            Some(inbox) => inbox.waker(),
            None => Arc::new(Waker::new().map_err(|e| no_thread(&e))?),
        };
        lock(&self.lives).push(Arc::clone(&live));
        lock(&self.wakers).push(Arc::clone(&waker));
        let engine = EngineSetup {
            waker,
            window: Arc::clone(&context.window),
            receive_bytes: setup.receive_bytes,
            filler: Arc::clone(&self.filler),
            slots: flows.len(),
            datagrams: setup.transport != Transport::Tcp,
            receive_timestamps: setup.options.receive_timestamps,
        };
        let (this, readiness, kind) = (Arc::clone(self), Arc::clone(readiness), context.job.engine);
        let open_loop = context.job.schedule.per_s().is_some() && loop_setup.dial.is_some();
        let (window, sockets) = (Arc::clone(&context.window), Arc::clone(&context.sockets));
        self.running.fetch_add(1, Ordering::AcqRel);
        let running = RunningGuard(Arc::clone(self));
        let body = move || {
            // Dropped last, however the thread ends.
            let running = running;
            settle(cpu, &sockets);
            if cpu.is_none() && loop_setup.hand_over.is_some() {
                loop_setup.cpus = cpu::allowed().unwrap_or_default();
            }
            let recorder = Recorder::new(window, live, open_loop);
            let event_loop = EventLoop::new(flows, recorder, readiness, loop_setup);
            let (recorder, fault) = with_engine!(kind, E => match <E as Engine>::new(&engine) {
                Ok(mut engine) => {
                    let (recorder, fault) = event_loop.run(&mut engine, inbox.as_deref());
                    (Some(recorder), fault)
                }
                Err(error) => {
                    let why = format!("engine {kind} cannot be used here: {error}");
                    (None, Some(Fault::environment(why)))
                }
            });
            if let Some(fault) = fault {
                lock(&this.fault).get_or_insert(fault);
            }
            drop(running);
            recorder
        };
        self.spawn(kind, Box::new(body))
    }

    /// Starts a thread. All kinds of flows share this code.
    fn spawn(&self, kind: EngineKind, body: ThreadBody) -> Result<(), Fault> {
        let thread = std::thread::Builder::new()
            .name(format!("hb-{kind}"))
            // Workers recurse nowhere; the default of 2 MiB would make thousands of threads dear.
            .stack_size(256 * 1024)
            .spawn(body)
            .map_err(|e| no_thread(&e))?;
        lock(&self.threads).push(thread);
        Ok(())
    }
}

/// What a worker's thread does: its flows, to what they recorded.
type ThreadBody = Box<dyn FnOnce() -> Option<Recorder> + Send>;

/// Puts this thread on its CPU, if it has one. Its sleeps end on time, not up to 50 us later.
fn settle(cpu: Option<usize>, sockets: &SocketSet) {
    if let Some(cpu) = cpu {
        let got = cpu::pin_thread(&[cpu]);
        sockets.note_setting("cpu", || match got {
            Ok(got) => format!("asked {cpu}, got {got:?}"),
            Err(error) => format!("asked {cpu}, refused: {error}"),
        });
    }
    cpu::set_timer_slack(1);
}

/// A thread that has not ended; a panic ends it too, and must not be waited for in vain.
struct RunningGuard(Arc<WorkerGroup>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.fault).get_or_insert_with(|| Fault::measuring("a worker thread panicked"));
        }
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        self.0.notify.wake();
    }
}
