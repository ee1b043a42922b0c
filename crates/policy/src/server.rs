//! A service on a port: connections come in, each with its calls.

mod admin;
mod budget;
mod call;
mod connection_table;

use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use hopbench_model::{Fault, IpFamily, Source};
use hopbench_sys::Listener;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use crate::service::{Count, Service};
use admin::Admin;
use budget::Budget;
use call::CallFailure;
use connection_table::ConnectionTable;

/// How one of the services is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Where proxies connect to, plaintext HTTP/2. The wildcard of IPv6 stands for both families,
    /// and on a machine without IPv6 for that of IPv4.
    pub listen: SocketAddr,
    /// What answers every connection with the totals as one JSON object in one line. It is a Unix
    /// socket, by a name in the network namespace that begins with `@`. Or it is a TCP port of the
    /// loopback, like `127.0.0.1:9000`. Absent: nothing.
    pub admin: Option<String>,
    /// Threads that serve connections, at least 1.
    pub threads: usize,
}

/// What a server lets its peers do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerLimits {
    /// Connections at once; one more takes the place of the one that has been idle longest, of the
    /// source that has the most. A proxy opens one for each of its worker threads.
    pub(crate) connections: usize,
    /// Calls at once on a connection.
    pub(crate) calls: u32,
    /// Bytes of messages that are not whole yet, over all connections.
    pub(crate) pending_bytes: usize,
    /// How long a peer may take for what it began: its side of HTTP/2, or a message.
    pub(crate) patience: Duration,
    /// How long a connection may have no call. A proxy makes another when it has something to ask:
    /// that must not fall into a trial, between which a run lets less time pass.
    pub(crate) idle: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 512,
            calls: 256,
            pending_bytes: 64 << 20,
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(600),
        }
    }
}

/// The largest header block that is taken, bytes.
const MOST_HEADER_BYTES: u32 = 16 << 10;
/// Bytes that a peer may send ahead of being read, on one call and on all of a connection.
const CALL_WINDOW_BYTES: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
/// Connections that wait to be taken.
const BACKLOG: i32 = 128;
/// The kernel's list of addresses of IPv6, which is there if it knows IPv6.
const IF_INET6: &str = "/proc/net/if_inet6";
/// How long to wait where no connection can be taken: no descriptors left.
const BREATH: Duration = Duration::from_millis(20);

/// A service that is being served.
#[derive(Debug)]
pub(crate) struct Server<S> {
    service: S,
    limits: ServerLimits,
    connections: Arc<ConnectionTable>,
    pending: Budget,
    accepted: Count,
    dropped: Count,
    failed: Count,
}

/// Serves until `SIGTERM`.
pub(crate) fn run<S: Service>(options: &ServiceOptions, service: S) -> Result<(), Fault> {
    let listener = listen(options)?;
    let admin = options.admin.as_deref().map(admin::listen).transpose()?;
    let runtime = runtime(options.threads)
        .map_err(|e| Fault::environment(format!("cannot start threads: {e}")))?;
    let server = Arc::new(Server::new(service, ServerLimits::default()));
    let result = runtime.block_on(async {
        let mut terminated = signal(SignalKind::terminate())?;
        until(server, listener, admin, async { terminated.recv().await.unwrap_or_default() }).await
    });
    runtime.shutdown_background();
    result.map_err(|e| Fault::environment(format!("cannot serve {}: {e}", options.listen)))
}

/// Serves until the end.
pub(crate) async fn until<S: Service>(
    server: Arc<Server<S>>,
    listener: TcpListener,
    admin: Option<Admin>,
    end: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    if let Some(admin) = admin {
        let server = Arc::clone(&server);
        tokio::spawn(admin.serve(move || server.totals()));
    }
    let accepting = tokio::spawn(accept(server, listener));
    end.await;
    accepting.abort();
    Ok(())
}

fn listen(options: &ServiceOptions) -> Result<TcpListener, Fault> {
    let listener = bind(options.listen).or_else(|error| match by_ipv4(options.listen) {
        Some(address) if !Path::new(IF_INET6).exists() => bind(address),
        _ => Err(error),
    });
    listener.map_err(|error| {
        Fault::environment(format!(
            "cannot listen on {}: {error}. Give `--listen` an address of this machine and a port \
             that nobody has",
            options.listen
        ))
    })
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    Ok(TcpListener::from(OwnedFd::from(Listener::bind(address, BACKLOG)?)))
}

/// The wildcard of IPv4 in place of that of IPv6; `None`: the address is another one.
fn by_ipv4(address: SocketAddr) -> Option<SocketAddr> {
    let is_wildcard = address.ip() == IpFamily::Ipv6.wildcard();
    is_wildcard.then(|| SocketAddr::new(IpFamily::Ipv4.wildcard(), address.port()))
}

fn runtime(threads: usize) -> std::io::Result<Runtime> {
    let mut builder = match threads {
        0 | 1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(threads);
    }
    builder.enable_all().build()
}

/// What comes next on a connection.
enum Next<T> {
    Call(T),
    /// It had no call for long.
    Idle,
    /// It ended, or its place was given to another.
    Over,
}

async fn accept<S: Service>(server: Arc<Server<S>>, listener: tokio::net::TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(connection(Arc::clone(&server), stream, Source::of(peer)));
            }
            Err(_) => sleep(BREATH).await,
        }
    }
}

async fn connection<S: Service>(server: Arc<Server<S>>, stream: TcpStream, source: Source) {
    let (guard, instead) = server.connections.take(source);
    server.accepted.one();
    if instead {
        server.dropped.one();
    }
    // Without it answers wait for acknowledgements; where it cannot be had, they come later.
    let _ = stream.set_nodelay(true);
    let mut protocol = h2::server::Builder::new();
    protocol
        .max_concurrent_streams(server.limits.calls)
        .max_header_list_size(MOST_HEADER_BYTES)
        .initial_window_size(CALL_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
    let mut given_away = pin!(guard.given_away());
    let mut handshake =
        pin!(timeout(server.limits.patience, protocol.handshake::<_, Bytes>(stream)));
    let begun = poll_fn(|context| match given_away.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => handshake.as_mut().poll(context).map(Some),
    });
    let Some(Ok(Ok(mut connection))) = begun.await else { return };
    guard.active();
    let mut idle = pin!(guard.idle_for(server.limits.idle));
    loop {
        let next = poll_fn(|context| {
            if given_away.as_mut().poll(context).is_ready() {
                return Poll::Ready(Next::Over);
            }
            match connection.poll_accept(context) {
                // A connection that breaks the rules of HTTP/2 was told so, and ends.
                Poll::Ready(call) => {
                    Poll::Ready(call.and_then(Result::ok).map_or(Next::Over, Next::Call))
                }
                Poll::Pending => idle.as_mut().poll(context).map(|()| Next::Idle),
            }
        });
        let (request, respond) = match next.await {
            Next::Call(call) => call,
            Next::Idle => break,
            Next::Over => return,
        };
        let (server, call) = (Arc::clone(&server), guard.call());
        tokio::spawn(async move {
            let Server { service, pending, limits, failed, .. } = &*server;
            match call::serve(service, pending, limits.patience, &call, request, respond).await {
                Ok(()) | Err(CallFailure::Gone) => {}
                Err(CallFailure::Status(_) | CallFailure::Http(_)) => failed.one(),
            }
        });
    }
    // The peer is told that no call is taken any more, so that it opens none that would be lost.
    connection.graceful_shutdown();
    let end = async { while let Some(Ok(_)) = connection.accept().await {} };
    let _ = timeout(server.limits.patience, end).await;
}

impl<S: Service> Server<S> {
    pub(crate) fn new(service: S, limits: ServerLimits) -> Self {
        Self {
            service,
            limits,
            connections: ConnectionTable::new(limits.connections),
            pending: Budget::new(limits.pending_bytes),
            accepted: Count::default(),
            dropped: Count::default(),
            failed: Count::default(),
        }
    }

    /// The totals of the service and of its port.
    pub(crate) fn totals(&self) -> Map<String, Value> {
        let mut totals = self.service.totals();
        totals.insert("connections".to_owned(), json!(self.accepted.get()));
        totals.insert("dropped_connections".to_owned(), json!(self.dropped.get()));
        totals.insert("failed_calls".to_owned(), json!(self.failed.get()));
        totals
    }
}

#[cfg(test)]
mod tests;
