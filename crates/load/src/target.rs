//! The HTTP target: workers that answer what [`Responder`](crate::http::Responder) can answer.
//!
//! There is one for each trial of `http` against the agent itself, which ends with the trial. That of `serve --http`
//! belongs to no trial: no job comes over the wire, load never starts and never ends; it serves until it is closed and
//! the last connection is gone, or until its window says stop.

mod flow;
mod guests;
mod patience;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_model::{CpuSet, EngineKind, Fault, Job, Nanos, Pacing, SECOND, Schedule, Source, Timing};
use hopbench_sys::{Socket, Waker, clock};

use self::flow::{House, TargetFlow};
use self::guests::Guests;
pub use self::patience::Patience;
use crate::crew::{self, Accepted, Acceptor, Context, Crew, CrewSetup};
use crate::dial::{SocketOptions, Transport};
use crate::room::Room;
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
    /// What strangers may do here.
    pub bounds: StrangerBounds,
}

/// What the kernel keeps of an answer that it cannot send to a stranger yet, bytes: who reads fast
/// and then not at all would have megabytes wait.
const STRANGERS_NOT_SENT_BYTES: usize = 64 << 10;

/// What all strangers at a target may do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrangerBounds {
    /// Connections at once; one more takes the place of the one that has been idle longest, of the
    /// source that has the most.
    pub connections: usize,
    /// Bytes of heads and bodies that are held at once; a request that needs more gets 503.
    pub memory_bytes: usize,
    /// How long each is waited for.
    pub patience: Patience,
}

impl Default for StrangerBounds {
    fn default() -> Self {
        Self { connections: 1024, memory_bytes: 64 << 20, patience: Patience::STRANGERS }
    }
}

impl TargetContext {
    /// One thread, no ceiling, flows of nobody else.
    pub fn new(notify: Arc<Waker>) -> Self {
        Self {
            threads: 1,
            cpus: None,
            throttle: None,
            tickets: Arc::default(),
            window: Arc::default(),
            notify,
            bounds: StrangerBounds::default(),
        }
    }
}

/// Takes a connection that was accepted elsewhere and began with an HTTP request.
pub type TargetAcceptor = Arc<dyn Fn(Socket) + Send + Sync>;

/// Starts the workers of a target for everybody and says where accepted connections go. A flow
/// reads its request from the socket itself: whoever looked at the first bytes must only have
/// peeked. One more connection than the bound ends the one that has been idle longest, of the
/// source that has the most; where the agent's flows are used up, one more is closed without a
/// word.
///
/// Counts: `Completed` is requests that were answered, `Errors` requests that could not be read.
///
/// # Errors
/// Threads that could not be started.
pub fn target(context: &TargetContext) -> Result<(Crew, TargetAcceptor), Fault> {
    context.window.open(clock::now(), 0, Nanos::MAX);
    // Connections come and go for as long as the agent runs; nobody reads their figures.
    let bounds = context.bounds;
    let house = House {
        inline: crew::filler(flow::INLINE_BYTES),
        credential: None,
        room: Some(Room::new(bounds.memory_bytes)),
        patience: bounds.patience,
    };
    let (crew, acceptor) = serve(&trial(context), false, house, Some(Guests::new(bounds.connections)))?;
    // As many again may have been cut off and not been closed by their worker yet.
    let tickets = context.tickets.part(Some(2 * bounds.connections));
    Ok((crew, door(acceptor, tickets)))
}

/// The target's workers as the server's end of a trial, which answer nobody without the trial's
/// credential, where it has one. What came before the window's end is answered as long as the
/// trial's timeout allows.
///
/// # Errors
/// Threads that could not be started.
pub(crate) fn workers(context: &Context, watch_sockets: bool) -> Result<(Crew, Acceptor), Fault> {
    let house = House {
        inline: crew::filler(flow::INLINE_BYTES),
        credential: context.credential.clone(),
        room: None,
        patience: Patience::PARTICIPANTS,
    };
    serve(context, watch_sockets, house, None)
}

fn serve(
    context: &Context,
    watch_sockets: bool,
    house: House,
    guests: Option<Arc<Guests>>,
) -> Result<(Crew, Acceptor), Fault> {
    let setup = CrewSetup {
        receive_bytes: flow::RECEIVE_BYTES,
        fill_bytes: flow::FILL_BYTES,
        options: SocketOptions {
            not_sent_low_water: guests.as_ref().map(|_| STRANGERS_NOT_SENT_BYTES),
            ..SocketOptions::default()
        },
        transport: Transport::Tcp,
        watch_sockets,
        grace: context.job.timing.timeout_ns,
    };
    let house = Arc::new(house);
    crew::server(context, &setup, move |accepted| {
        let guest = guests.as_ref().map(|guests| {
            // One that has ended by now is of no source.
            let nobody = |_| SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
            let peer = accepted.socket.peer().unwrap_or_else(nobody);
            guests.enter(&accepted.socket, Source::of(peer), clock::now())
        });
        TargetFlow::new(Arc::clone(&house), guest)
    })
}

/// Numbers the connections that somebody accepted, and hands on those that get one of the `tickets`.
pub fn door(acceptor: Acceptor, tickets: Arc<Tickets>) -> TargetAcceptor {
    let next = AtomicU32::new(0);
    Arc::new(move |socket| {
        if let Some(ticket) = tickets.take() {
            let flow = next.fetch_add(1, Ordering::Relaxed);
            acceptor(Accepted { flow, from_server: false, socket: Arc::new(socket), again: None, ticket });
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
        credential: None,
        peer_clock_offset_ns: 0,
        shared_clock: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that docs/by-hand.md promises; `patience` has the times.
    #[test]
    fn strangers_get_so_much_and_no_more() {
        let patience = Patience::STRANGERS;
        assert_eq!(
            StrangerBounds::default(),
            StrangerBounds { connections: 1024, memory_bytes: 64 * 1024 * 1024, patience }
        );
    }
}
