//! An agent behind a port.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use hopbench_control::secret::{Secret, random_bytes};
use hopbench_control::{Channel, tls};
use hopbench_load::{TargetContext, target};
use hopbench_model::Fault;
use hopbench_sys::{DatagramPort, Listener, Waker, limits};
use hopbench_wire::udp::CookieJar;

use crate::limits::Limits;
use crate::port::Port;
use crate::runs::Runs;
use crate::session;
use crate::sessions::Sessions;
use crate::trial::Shared;

/// How an agent serves.
#[derive(Debug)]
pub struct Options {
    /// The address and port, TCP and UDP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What control sessions must know.
    pub secret: Secret,
    /// What anybody may ask for.
    pub limits: Limits,
    /// Whether HTTP requests on the port are answered by the HTTP target.
    pub http: bool,
}

/// A running agent; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// Connections waiting to be accepted; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 4096;
/// Open files that strangers cannot use up.
const OPEN_FILES: u64 = 4096;

impl Server {
    /// Binds the port and starts to serve.
    ///
    /// # Errors
    /// A port in use, an address that this machine does not have, no right to either.
    pub fn start(options: &Options) -> Result<Self, Fault> {
        // The usual 1024 would be used up by connections that say nothing before their number is bounded. Where
        // there are no more to be had, those who wait in the backlog are served when the silent ones are cut.
        let _ = limits::raise_open_files(OPEN_FILES);
        let cannot = |what: &str, error: &std::io::Error| bind_fault(what, options.listen, error);
        let listener = Listener::bind(options.listen, BACKLOG).map_err(|e| cannot("TCP", &e))?;
        let address = listener.local().map_err(|e| cannot("TCP", &e))?;
        let mut udp = options.listen;
        udp.set_port(address.port());
        let datagrams = DatagramPort::bind(udp).map_err(|e| cannot("UDP", &e))?;
        let other = |error: &dyn std::fmt::Display| Fault::environment(format!("cannot start the agent: {error}"));
        let jar = CookieJar::new(random_bytes().map_err(|e| other(&e))?);
        let config = tls::server_config(&options.secret).map_err(|e| other(&e))?;
        let runs = Arc::new(Runs::default());
        let shared = Arc::new(Shared {
            runs: Arc::clone(&runs),
            throttle: options.limits.throttle().map(Arc::new),
            limits: options.limits,
            may_be_client: false,
            trials: AtomicUsize::new(0),
        });
        let (stop, waker) = (Arc::new(AtomicBool::new(false)), Arc::new(Waker::new().map_err(|e| other(&e))?));
        let http = TargetContext { throttle: shared.throttle.clone(), ..TargetContext::new(Arc::clone(&waker)) };
        let target = if options.http { Some(target(&http)?) } else { None };
        let sessions = Arc::new(Sessions::default());
        let session = move |stream: TcpStream| {
            let Some(number) = sessions.enter(&stream) else { return };
            let (shared, config, sessions_here) = (Arc::clone(&shared), Arc::clone(&config), Arc::clone(&sessions));
            let body = move || {
                let mut known = false;
                // Who breaks the protocol, or has no token, is told by TLS and by the closed connection.
                if let Ok(channel) = Channel::accept(stream, config) {
                    let _ = session::serve(channel, &shared, || {
                        known = sessions_here.welcome(number);
                        known
                    });
                }
                sessions_here.leave(number, known);
            };
            if std::thread::Builder::new().name("hb-control".to_owned()).stack_size(512 * 1024).spawn(body).is_err() {
                sessions.leave(number, false);
            }
        };
        let port = Port {
            listener,
            datagrams,
            jar,
            runs,
            http: target.as_ref().map(|(_, acceptor)| Arc::clone(acceptor)),
            session: Box::new(session),
            stop: Arc::clone(&stop),
            waker: Arc::clone(&waker),
        };
        let thread = std::thread::Builder::new()
            .name("hb-port".to_owned())
            .spawn(move || {
                let served = port.run();
                if let Some((crew, _)) = target {
                    http.window.stop();
                    drop(crew.join());
                }
                served
            })
            .map_err(|e| other(&e))?;
        Ok(Self { address, stop, waker, thread: Some(thread) })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until another thread, or the process, ends it.
    ///
    /// # Errors
    /// What made the port's thread give up.
    pub fn wait(mut self) -> Result<(), Fault> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Fault> {
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(Fault::measuring(format!("the agent's port failed: {error}"))),
            Some(Err(_)) => Err(Fault::measuring("the agent's port thread panicked")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        let _ = self.join();
    }
}

fn bind_fault(what: &str, listen: SocketAddr, error: &std::io::Error) -> Fault {
    use std::io::ErrorKind as K;
    match error.kind() {
        K::AddrInUse => Fault::input(format!(
            "--port: {what} port {} is in use on {}; another agent may run there, or take another --port",
            listen.port(),
            listen.ip()
        )),
        K::AddrNotAvailable => Fault::input(format!("--bind: this machine has no address {}", listen.ip())),
        K::PermissionDenied => Fault::environment(format!(
            "--port: no right to listen on {what} port {}; ports below 1024 need CAP_NET_BIND_SERVICE",
            listen.port()
        )),
        _ => Fault::environment(format!("cannot listen on {what} {listen}: {error}")),
    }
}
