//! The HTTP target: workers that answer what [`Responder`](crate::http::Responder) can answer.
//!
//! There is one for each trial of `http` against the agent itself, which ends with the trial. That of `serve --http`
//! belongs to no trial: no job comes over the wire, load never starts and never ends; it serves until it is closed and
//! the last connection is gone, or until its window says stop.

mod flow;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_model::{CpuSet, EngineKind, Fault, Job, Nanos, Pacing, SECOND, Schedule, Timing};
use hopbench_sys::{Socket, Waker, clock};

use self::flow::TargetFlow;
use crate::crew::{self, Accepted, Acceptor, Context, Crew, CrewSetup};
use crate::dial::{SocketOptions, Transport};
use crate::sockets::SocketSet;
use crate::throttle::Throttle;
use crate::tickets::Tickets;
use crate::window::Window;

/// What a target needs of whoever serves it.
#[derive(Debug, Clone)]
pub struct TargetContext {
    /// Worker threads, at least 1.
    pub threads: u32,
    /// Their CPUs; `None` leaves placement to the scheduler.
    pub cpus: Option<CpuSet>,
    /// The agent's ceiling, if it has one.
    pub throttle: Option<Arc<Throttle>>,
    /// The agent's open flows; connections count among them.
    pub tickets: Arc<Tickets>,
    /// [`Window::stop`] on it, and then [`Crew::wake`], ends the target without waiting for its connections.
    pub window: Arc<Window>,
    /// Woken when a worker ends.
    pub notify: Arc<Waker>,
}

impl TargetContext {
    /// One thread, no ceiling, flows of nobody else.
    pub fn new(notify: Arc<Waker>) -> Self {
        Self { threads: 1, cpus: None, throttle: None, tickets: Arc::default(), window: Arc::default(), notify }
    }
}

/// Takes a connection that was accepted elsewhere and began with an HTTP request.
pub type TargetAcceptor = Arc<dyn Fn(Socket) + Send + Sync>;

/// Connections that a target serves at once.
const MOST_CONNECTIONS: usize = 1024;

/// Starts the target's workers and says where accepted connections go. A flow reads its request from the socket
/// itself: whoever looked at the first bytes must only have peeked. Anybody may connect here: beyond 1024 connections at
/// once, or where the agent's flows are used up, one more is closed without a word.
///
/// Counts: `Completed` is requests that were answered, `Errors` requests that could not be read.
///
/// # Errors
/// Threads that could not be started.
pub fn target(context: &TargetContext) -> Result<(Crew, TargetAcceptor), Fault> {
    context.window.open(clock::now(), 0, Nanos::MAX);
    // Connections come and go for as long as the agent runs; nobody reads their figures.
    let (crew, acceptor) = workers(&trial(context), false)?;
    let tickets = context.tickets.part(Some(MOST_CONNECTIONS));
    Ok((crew, door(acceptor, tickets)))
}

/// The target's workers as the server's end of a trial. What came before the window's end is answered as long as the
/// trial's timeout allows.
///
/// # Errors
/// Threads that could not be started.
pub(crate) fn workers(context: &Context, watch_sockets: bool) -> Result<(Crew, Acceptor), Fault> {
    let setup = CrewSetup {
        receive_bytes: flow::RECEIVE_BYTES,
        fill_bytes: flow::FILL_BYTES,
        options: SocketOptions::default(),
        transport: Transport::Tcp,
        watch_sockets,
        grace: context.job.timing.timeout_ns,
    };
    let inline: Arc<[u8]> = crew::filler(flow::INLINE_BYTES);
    crew::server(context, &setup, move |_| TargetFlow::new(Arc::clone(&inline)))
}

/// Numbers the connections that somebody accepted, and hands on those that get one of the `tickets`.
pub fn door(acceptor: Acceptor, tickets: Arc<Tickets>) -> TargetAcceptor {
    let next = AtomicU32::new(0);
    Arc::new(move |socket| {
        if let Some(ticket) = tickets.take() {
            let flow = next.fetch_add(1, Ordering::Relaxed);
            acceptor(Accepted { flow, from_server: false, socket, again: None, ticket });
        }
    })
}

/// The trial that crews are made for, as far as a server that belongs to none needs it.
fn trial(context: &TargetContext) -> Context {
    let job = Job {
        workload: "target".to_owned(),
        params: serde_json::Value::Null,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: context.threads.max(1),
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: context.cpus.clone(),
        timing: Timing { warmup_ns: 0, window_ns: Nanos::MAX, interval_ns: SECOND, timeout_ns: SECOND },
        seed: 0,
    };
    Context {
        job,
        window: Arc::clone(&context.window),
        sockets: Arc::new(SocketSet::default()),
        throttle: context.throttle.clone(),
        notify: Arc::clone(&context.notify),
        target: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        greeter: None,
        peer_clock_offset_ns: 0,
        shared_clock: true,
    }
}
