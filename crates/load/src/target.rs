//! The HTTP target of `serve --http`: workers that answer what [`Responder`](crate::http::Responder) can answer.
//!
//! It belongs to no trial: no job comes over the wire, load never starts and never ends; it serves until it is
//! closed and the last connection is gone, or until its window says stop.

mod flow;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hopbench_model::{CpuSet, EngineKind, Fault, Job, Nanos, Pacing, SECOND, Schedule, Timing};
use hopbench_sys::{Waker, clock};

use self::flow::TargetFlow;
use crate::crew::{self, Acceptor, Context, Crew, CrewSetup};
use crate::dial::{SocketOptions, Transport};
use crate::sockets::SocketSet;
use crate::throttle::Throttle;
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
    /// [`Window::stop`] on it, and then [`Crew::wake`], ends the target without waiting for its connections.
    pub window: Arc<Window>,
    /// Woken when a worker ends.
    pub notify: Arc<Waker>,
}

impl TargetContext {
    /// One thread, no ceiling.
    pub fn new(notify: Arc<Waker>) -> Self {
        Self { threads: 1, cpus: None, throttle: None, window: Arc::default(), notify }
    }
}

/// Connections that a target serves at once.
const MOST_CONNECTIONS: usize = 1024;

/// Starts the target's workers and says where accepted connections go. A flow reads its request from the socket
/// itself: whoever looked at the first bytes must only have peeked. Beyond 1024 connections at once more are closed.
///
/// Counts: `Completed` is requests that were answered, `Errors` requests that could not be read.
///
/// # Errors
/// Threads that could not be started.
pub fn target(context: &TargetContext) -> Result<(Crew, Acceptor), Fault> {
    context.window.open(clock::now(), 0, Nanos::MAX);
    let setup = CrewSetup {
        receive_bytes: flow::RECEIVE_BYTES,
        fill_bytes: flow::FILL_BYTES,
        options: SocketOptions::default(),
        transport: Transport::Tcp,
        // Connections come and go for as long as the agent runs; nobody reads their figures.
        watch_sockets: false,
        grace: 0,
    };
    let inline: Arc<[u8]> = crew::filler(flow::INLINE_BYTES);
    let (crew, acceptor) = crew::server(&trial(context), &setup, move |_| TargetFlow::new(Arc::clone(&inline)))?;
    let live = crew.live_handle();
    let bounded: Acceptor = Arc::new(move |accepted| {
        // Anybody may connect here: one too many is closed without a word.
        if live() < MOST_CONNECTIONS {
            acceptor(accepted);
        }
    });
    Ok((crew, bounded))
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
