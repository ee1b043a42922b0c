//! An agent behind a port.

use std::net::SocketAddr;
use std::sync::Arc;

use hopbench_control::credentials::Credentials;
use hopbench_control::{Channel, tls};
use hopbench_load::{TargetContext, Window, Workers, target};
use hopbench_model::Fault;
use hopbench_sys::Waker;
use hopbench_wire::ToAgent;

use crate::http_acceptor::routes::RouteGuard;
use crate::limits::Limits;
use crate::port::listening::{Bound, ListenFlags, Listening};
use crate::session::handshakes::Handshakes;
use crate::session::table::SessionTable;
use crate::session::{self, Admitted, Over};
use crate::shared::Shared;

/// The setup of an agent that serves.
#[derive(Debug)]
pub struct Options {
    /// The address and port, TCP and UDP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What the agent proves itself with, and whose control sessions it takes.
    pub credentials: Credentials,
    /// The bounds on what anybody may ask for.
    pub limits: Limits,
    /// Whether HTTP requests on the port are answered by the HTTP target.
    pub http: bool,
    /// Whether a session may make the agent a client, too, which sends load to wherever the session
    /// says. Otherwise it only serves.
    pub both_ends: bool,
}

/// A running agent; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    port: Listening,
    /// Ports that answer like the first one, but for control sessions.
    _also: Vec<Listening>,
    /// Ended after the port, which hands connections to it, as to the next.
    _handshakes: Handshakes,
    _http: Option<Http>,
}

/// The HTTP target for everybody, for as long as the agent runs.
struct Http {
    workers: Option<Workers>,
    window: Arc<Window>,
    _route: RouteGuard,
}

const FLAGS: ListenFlags = ListenFlags { address: "--bind", port: "--port" };

impl Server {
    /// Binds the port and starts to serve.
    ///
    /// # Errors
    /// A port in use, an address that this machine does not have, no right to either.
    pub fn start(options: &Options) -> Result<Self, Fault> {
        Self::start_on(options, &[])
    }

    /// The same, with these ports beside: they take data flows, and no control sessions. Meshes
    /// tell by the port what their proxies take, and for what.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_on(options: &Options, also: &[u16]) -> Result<Self, Fault> {
        let bound = Bound::to(options.listen, FLAGS)?;
        let beside = |port: &u16| Bound::to(SocketAddr::new(options.listen.ip(), *port), FLAGS);
        let also: Vec<Bound> = also.iter().map(beside).collect::<Result<_, _>>()?;
        let other = |error: &dyn std::fmt::Display| {
            Fault::environment(format!("cannot start the agent: {error}"))
        };
        let config = tls::server_config(&options.credentials).map_err(|e| other(&e))?;
        let shared = Shared::of_run(options.limits, options.both_ends, options.credentials.run());
        let http =
            if options.http { Some(Http::open(&shared).map_err(|e| other(&e))?) } else { None };
        let (flow_router, http_acceptor) =
            (Arc::clone(&shared.flow_router), Arc::clone(&shared.http_acceptor));
        let also = also
            .into_iter()
            .map(|bound| bound.serve(Arc::clone(&flow_router), Arc::clone(&http_acceptor), None));
        let also = also.collect::<Result<_, _>>()?;
        let sessions = Arc::new(SessionTable::default());
        let known = move |channel: Channel, hello: ToAgent| {
            let Some(guard) = sessions.enter() else { return };
            let shared = Arc::clone(&shared);
            // Who breaks the protocol is told by the closed connection.
            let body = move || {
                drop(session::serve(channel, &shared, Over::Tls, Some(Admitted { guard, hello })));
            };
            // Without a thread the connection is closed, and its place is free again.
            let _ = std::thread::Builder::new()
                .name("hb-control".to_owned())
                .stack_size(512 * 1024)
                .spawn(body);
        };
        let accept = move |stream| Channel::accept(stream, Arc::clone(&config));
        let handshakes = Handshakes::start(Box::new(accept), Box::new(known))?;
        let queue = handshakes.queue();
        let port = bound.serve(
            flow_router,
            http_acceptor,
            Some(Box::new(move |newcomer| queue.enter(newcomer))),
        )?;
        Ok(Self { port, _also: also, _handshakes: handshakes, _http: http })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// Serves until another thread, or the process, ends it.
    ///
    /// # Errors
    /// The reason why the port's thread gave up.
    pub fn wait(mut self) -> Result<(), Fault> {
        self.port.join()
    }
}

impl Http {
    fn open(shared: &Shared) -> Result<Self, Fault> {
        let waker = Waker::new().map_err(|e| Fault::environment(e.to_string()))?;
        let context = TargetContext {
            throttle: shared.throttle.clone(),
            server_work_ns: shared.limits.server_work_ns.unwrap_or(0),
            bounds: shared.limits.strangers(),
            tls: shared.server_tls(),
            ..TargetContext::new(Arc::new(waker))
        };
        let (workers, acceptor) = target(&context)?;
        Ok(Self {
            workers: Some(workers),
            window: context.window,
            _route: shared.http_acceptor.open(acceptor),
        })
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.window.stop();
        if let Some(workers) = self.workers.take() {
            drop(workers.join());
        }
    }
}
