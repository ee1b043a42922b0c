//! The listening port: bound to TCP and UDP, and served by a thread of its own.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hopbench_control::secret::random_bytes;
use hopbench_model::Fault;
use hopbench_sys::{DatagramPort, Listener, Waker, limits};
use hopbench_wire::udp::CookieJar;

use crate::http_acceptor::HttpAcceptor;
use crate::limits::OPEN_FILES;
use crate::port::flow_router::FlowRouter;
use crate::port::{NewSession, Port};

/// The bound port, before anybody serves it.
pub(crate) struct Bound {
    pub(crate) address: SocketAddr,
    listener: Listener,
    datagrams: DatagramPort,
}

/// The port's thread; dropping this ends it.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// Which flags set the address and the port, for what is said when they cannot be had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListenFlags {
    pub(crate) address: &'static str,
    pub(crate) port: &'static str,
}

/// Connections waiting to be accepted; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 4096;
/// How many ports are tried where any will do: one that is free for TCP can be taken for UDP.
const FREE_TRIES: u32 = 16;

impl Bound {
    /// Binds TCP and UDP in the network namespace of the calling thread; port 0 takes a free one.
    pub(crate) fn to(listen: SocketAddr, flags: ListenFlags) -> Result<Self, Fault> {
        // The usual 1024 would be used up by connections that say nothing before their number is
        // bounded. Where there are no more to be had, those who wait in the backlog are served when
        // the silent ones are cut.
        let _ = limits::raise_open_files(OPEN_FILES);
        let mut tries = if listen.port() == 0 { FREE_TRIES } else { 1 };
        loop {
            let cannot = |error: &std::io::Error| explain("TCP", listen, flags, error);
            let listener = Listener::bind(listen, BACKLOG).map_err(|e| cannot(&e))?;
            let address = listener.local().map_err(|e| cannot(&e))?;
            let mut udp = listen;
            udp.set_port(address.port());
            tries -= 1;
            match DatagramPort::bind(udp) {
                Ok(datagrams) => return Ok(Self { address, listener, datagrams }),
                Err(error) if tries > 0 && error.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(explain("UDP", udp, flags, &error)),
            }
        }
    }

    /// Serves the flows of `flow_router`, HTTP while `http_acceptor` has a route, and control
    /// sessions where there is a `session` for them.
    pub(crate) fn serve(
        self,
        flow_router: Arc<FlowRouter>,
        http_acceptor: Arc<HttpAcceptor>,
        session: Option<NewSession>,
    ) -> Result<Listening, Fault> {
        let other = |error: &dyn std::fmt::Display| {
            Fault::environment(format!("cannot start the agent: {error}"))
        };
        let (stop, waker) =
            (Arc::new(AtomicBool::new(false)), Arc::new(Waker::new().map_err(|e| other(&e))?));
        let port = Port {
            listener: self.listener,
            datagrams: self.datagrams,
            jar: CookieJar::new(random_bytes().map_err(|e| other(&e))?),
            flow_router,
            http_acceptor,
            session,
            stop: Arc::clone(&stop),
            waker: Arc::clone(&waker),
        };
        let thread = std::thread::Builder::new()
            .name("hb-port".to_owned())
            .spawn(move || port.run())
            .map_err(|e| other(&e))?;
        Ok(Listening { address: self.address, stop, waker, thread: Some(thread) })
    }
}

impl Listening {
    /// Waits until the thread ends.
    pub(crate) fn join(&mut self) -> Result<(), Fault> {
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => {
                Err(Fault::measuring(format!("the agent's port failed: {error}")))
            }
            Some(Err(_)) => Err(Fault::measuring("the agent's port thread panicked")),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        let _ = self.join();
    }
}

fn explain(what: &str, listen: SocketAddr, flags: ListenFlags, error: &std::io::Error) -> Fault {
    use std::io::ErrorKind as K;
    let ListenFlags { address, port } = flags;
    match error.kind() {
        K::AddrInUse => Fault::input(format!(
            "{port}: {what} port {} is in use on {}; another agent may run there, or take another \
             {port}",
            listen.port(),
            listen.ip()
        )),
        K::AddrNotAvailable => {
            Fault::input(format!("{address}: this machine has no address {}", listen.ip()))
        }
        K::PermissionDenied => Fault::environment(format!(
            "{port}: no right to listen on {what} port {}; ports below 1024 need \
             CAP_NET_BIND_SERVICE",
            listen.port()
        )),
        _ => Fault::environment(format!("cannot listen on {what} {listen}: {error}")),
    }
}
