//! The HTTP target: workers that answer what [`Responder`](crate::http::Responder) can answer.
//!
//! Each trial over HTTP against the agent itself has one, which ends with the trial. The target of
//! `serve --http` belongs to no trial, so it has no job, and its load never starts or ends. It
//! serves until it is closed and the last connection is gone, or until its window says stop.

mod connection;
mod connection_table;
mod flow;
mod multiplexed;
mod timeouts;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_model::{
    CpuSet, EngineKind, Fault, Job, Nanos, Pacing, Params, SECOND, Schedule, Source, Timing,
};
use hopbench_sys::{Socket, Waker, clock};
use rustls::ServerConfig;

use self::connection::TargetConnection;
use self::connection_table::ConnectionTable;
use self::flow::TargetSettings;
pub use self::timeouts::Timeouts;
use crate::admission::flow_limit::{FlowGuard, FlowLimit, SourcePlaces};
use crate::admission::memory::SourceLimits;
use crate::admission::throttle::Throttle;
use crate::http::MOST_BODY_BYTES;
use crate::http::h2::ServingBounds;
use crate::measure::socket_set::SocketSet;
use crate::measure::window::Window;
use crate::schedule::ClientNumber;
use crate::worker::accepted::{Accepted, Acceptor, Encryption};
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::filler::filler;
use crate::worker::secured::{self, Layer, TlsServer};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};

/// What a target needs of whoever serves it.
#[derive(Debug, Clone)]
pub struct TargetContext {
    /// Worker threads, at least 1.
    pub threads: u32,
    /// Their CPUs; `None` leaves placement to the scheduler.
    pub cpus: Option<CpuSet>,
    /// The agent's ceiling, if it has one.
    pub throttle: Option<Arc<Throttle>>,
    /// [`Window::stop`] on it, and then [`Workers::wake`], ends the target without waiting for its
    /// connections.
    pub window: Arc<Window>,
    /// Woken when a worker ends.
    pub notify: Arc<Waker>,
    /// What strangers may do here.
    pub bounds: StrangerBounds,
    /// As [`Context::server_work_ns`].
    pub server_work_ns: Nanos,
    /// As [`Context::tls`].
    pub tls: Option<Arc<ServerConfig>>,
}

/// What the kernel keeps of an answer that it cannot send to a stranger yet, bytes. Who reads fast
/// and then not at all would have megabytes wait. The kernel takes a whole segment, 64 KiB at most,
/// as long as less than this waits.
const STRANGERS_NOT_SENT_BYTES: usize = 64 << 10;

/// The windows of HTTP/2 in a trial, bytes: no limit of what is measured.
const PARTICIPANTS_WINDOW_BYTES: u32 = 1 << 24;

/// What all strangers at a target may do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrangerBounds {
    /// Connections at once; one more takes the place of the one that has been idle longest, of the
    /// source that has the most.
    pub connections: usize,
    /// Bytes of heads and bodies that are held at once, of which one source gets a third; a request
    /// that needs more gets 503.
    pub memory_bytes: usize,
    /// How long each is waited for.
    pub timeouts: Timeouts,
}

impl Default for StrangerBounds {
    fn default() -> Self {
        Self { connections: 1024, memory_bytes: 64 << 20, timeouts: Timeouts::STRANGERS }
    }
}

impl TargetContext {
    /// One thread, no ceiling.
    pub fn new(notify: Arc<Waker>) -> Self {
        Self {
            threads: 1,
            cpus: None,
            throttle: None,
            window: Arc::default(),
            notify,
            bounds: StrangerBounds::default(),
            server_work_ns: 0,
            tls: None,
        }
    }
}

/// Takes a connection that was accepted elsewhere and began with an HTTP request, or with a
/// handshake of TLS.
pub type TargetAcceptor = Arc<dyn Fn(Socket, Encryption) + Send + Sync>;

/// Starts the workers of a target for everybody and says where accepted connections go. A flow
/// reads its request from the socket itself: whoever looked at the first bytes must only have
/// peeked. One more connection than the bound ends the one that has been idle longest, of the
/// source that has the most. None of them counts among the flows of trials.
///
/// Counts: `Completed` is requests that were answered, `Errors` requests that could not be read.
///
/// # Errors
/// Threads that could not be started.
pub fn target(context: &TargetContext) -> Result<(Workers, TargetAcceptor), Fault> {
    context.window.open(clock::now(), 0, Nanos::MAX);
    // Connections come and go for as long as the agent runs; nobody reads their figures.
    let bounds = context.bounds;
    let settings = TargetSettings {
        filler: filler(flow::FILLER_BYTES),
        credential: None,
        timeouts: bounds.timeouts,
        most_body_bytes: MOST_BODY_BYTES,
        multiplexed: ServingBounds::of_strangers(MOST_BODY_BYTES),
        work_ns: context.server_work_ns,
    };
    let strangers = Strangers {
        connections: ConnectionTable::new(bounds.connections),
        memory: SourceLimits::new(bounds.memory_bytes),
    };
    let (workers, acceptor) = serve(&trial(context), false, settings, Some(strangers))?;
    // As many again may have been cut off and not been closed by their worker yet. It is a limit of
    // its own: strangers take no place of a flow that showed a token.
    let places = SourcePlaces::new(2 * bounds.connections);
    let take = move |socket: &Socket| places.take(Source::of_any(socket.peer().ok()));
    Ok((workers, let_in(acceptor, take)))
}

/// The target's workers as the server's end of a trial, which answer nobody without the trial's
/// credential, where it has one. What came before the window's end is answered as long as the
/// trial's timeout allows. Bodies are at most `most_body_bytes` long, and a connection of HTTP/2
/// has at most `most_streams`: a proxy may put those of the whole trial into one. So whoever
/// overheard the credential can make the agent hold as much for each connection as the whole trial.
pub(crate) fn workers(
    context: &Context,
    watch_sockets: bool,
    most_body_bytes: u64,
    most_streams: u32,
) -> Result<(Workers, Acceptor), Fault> {
    let settings = TargetSettings {
        filler: filler(flow::FILLER_BYTES),
        credential: context.credential.clone(),
        timeouts: Timeouts::PARTICIPANTS,
        most_body_bytes,
        multiplexed: ServingBounds {
            credential: context.credential.clone(),
            most_body_bytes,
            most_streams: most_streams as usize,
            window_bytes: PARTICIPANTS_WINDOW_BYTES,
        },
        work_ns: context.server_work_ns,
    };
    serve(context, watch_sockets, settings, None)
}

/// The bounds on strangers that their connections share.
struct Strangers {
    connections: Arc<ConnectionTable>,
    memory: SourceLimits,
}

fn serve(
    context: &Context,
    watch_sockets: bool,
    settings: TargetSettings,
    strangers: Option<Strangers>,
) -> Result<(Workers, Acceptor), Fault> {
    let setup = WorkersSetup {
        receive_bytes: flow::RECEIVE_BYTES.max(secured::RECEIVE_BYTES),
        fill_bytes: flow::FILL_BYTES,
        options: SocketOptions {
            not_sent_low_water: strangers.as_ref().map(|_| STRANGERS_NOT_SENT_BYTES),
            ..SocketOptions::default()
        },
        transport: Transport::Tcp,
        watch_sockets,
        coalesce_ns: 0,
        grace: context.job.timing.timeout_ns,
    };
    let tls = context.tls.clone().map(|config| {
        let handshake_ns = settings.timeouts.head_ns;
        // Strangers are told to read so much in a time, and hold what they do not.
        let most_plain_bytes =
            if strangers.is_some() { secured::RECORD_BYTES } else { secured::MOST_PLAIN };
        TlsServer { config, handshake_ns, most_plain_bytes }
    });
    let settings = Arc::new(settings);
    workers::server(context, &setup, move |accepted| {
        let settings = Arc::clone(&settings);
        let flow = match &strangers {
            None => TargetConnection::new(settings, None, None),
            Some(Strangers { connections, memory }) => {
                let source = Source::of_any(accepted.socket.peer().ok());
                let shakes = accepted.encryption == Encryption::Tls;
                let activity = connections.enter(&accepted.socket, source, clock::now(), shakes);
                TargetConnection::new(settings, Some(activity), Some(memory.of(source)))
            }
        };
        let tls = tls.as_ref().filter(|_| accepted.encryption == Encryption::Tls);
        Layer::accepted(tls, flow)
    })
}

/// Numbers the connections that somebody accepted, and hands on those that `flow_limit` lets in.
pub fn admit(acceptor: Acceptor, flow_limit: Arc<FlowLimit>) -> TargetAcceptor {
    let_in(acceptor, move |_| flow_limit.take())
}

/// Numbers the connections that somebody accepted, and hands on those that get a place.
fn let_in(
    acceptor: Acceptor,
    take: impl Fn(&Socket) -> Option<FlowGuard> + Send + Sync + 'static,
) -> TargetAcceptor {
    let next = AtomicU32::new(0);
    Arc::new(move |socket, encryption| {
        if let Some(flow_guard) = take(&socket) {
            let flow = next.fetch_add(1, Ordering::Relaxed);
            acceptor(Accepted {
                flow,
                encryption,
                from_server: false,
                socket: Arc::new(socket),
                registration: None,
                flow_guard,
            });
        }
    })
}

/// The trial that workers are made for, as far as a server that belongs to none needs it.
fn trial(context: &TargetContext) -> Context {
    let job = Job {
        workload: "target".to_owned(),
        kind: None,
        params: Params::default(),
        schedule: Schedule::Closed,
        burst: 1,
        engine: EngineKind::Epoll,
        connections: 1,
        local_addresses: Vec::new(),
        threads: context.threads.max(1),
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: context.cpus.clone(),
        timing: Timing {
            warmup_ns: 0,
            window_ns: Nanos::MAX,
            interval_ns: SECOND,
            timeout_ns: SECOND,
        },
        seed: 0,
    };
    Context {
        job,
        window: Arc::clone(&context.window),
        sockets: Arc::new(SocketSet::default()),
        throttle: context.throttle.clone(),
        notify: Arc::clone(&context.notify),
        target: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        handshake: None,
        credential: None,
        server_work_ns: context.server_work_ns,
        tls: context.tls.clone(),
        certificate: None,
        peer_clock_offset_ns: 0,
        shared_clock: true,
        stays: false,
        client: ClientNumber::ALONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that docs/by-hand.md promises; `timeouts` has the times.
    #[test]
    fn strangers_get_so_much_and_no_more() {
        let timeouts = Timeouts::STRANGERS;
        assert_eq!(
            StrangerBounds::default(),
            StrangerBounds { connections: 1024, memory_bytes: 64 * 1024 * 1024, timeouts }
        );
    }
}
