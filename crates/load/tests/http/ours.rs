//! Our target behind a listener, as an agent would have it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hopbench_load::{Encryption, StrangerBounds, TargetContext, Window, Workers, target};
use hopbench_model::{Counts, Nanos, SECOND};
use hopbench_sys::{Socket, Waker, clock};
use rustls::ServerConfig;

use crate::rig::tls::server_config;

/// A running target.
pub(crate) struct Ours {
    pub(crate) address: SocketAddr,
    workers: Workers,
    window: Arc<Window>,
    over: Arc<AtomicBool>,
    accepting: JoinHandle<()>,
}

impl Ours {
    pub(crate) fn start() -> Self {
        Self::with(StrangerBounds::default())
    }

    /// A target whose strangers may do so much.
    pub(crate) fn with(bounds: StrangerBounds) -> Self {
        Self::watched(bounds, |_| ())
    }

    /// A target over TLS, with a certificate of its own.
    pub(crate) fn over_tls() -> Self {
        Self::with_tls(server_config())
    }

    /// The same with a configuration of TLS of its own.
    pub(crate) fn with_tls(config: Arc<ServerConfig>) -> Self {
        Self::start_as(StrangerBounds::default(), Some(config), 0, |_| ())
    }

    /// A target that works for so long before each answer, ns.
    pub(crate) fn working(bounds: StrangerBounds, work_ns: Nanos) -> Self {
        Self::start_as(bounds, None, work_ns, |_| ())
    }

    /// The same, with a look at every connection before the target has it.
    pub(crate) fn watched(
        bounds: StrangerBounds,
        look: impl Fn(&TcpStream) + Send + 'static,
    ) -> Self {
        Self::start_as(bounds, None, 0, look)
    }

    fn start_as(
        bounds: StrangerBounds,
        tls: Option<Arc<ServerConfig>>,
        server_work_ns: Nanos,
        look: impl Fn(&TcpStream) + Send + 'static,
    ) -> Self {
        let encryption = if tls.is_some() { Encryption::Tls } else { Encryption::None };
        let context = TargetContext {
            bounds,
            tls,
            server_work_ns,
            ..TargetContext::new(Arc::new(Waker::new().unwrap()))
        };
        let window = Arc::clone(&context.window);
        let (workers, acceptor) = target(&context).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let accepting = std::thread::spawn(move || {
            loop {
                let stream = match listener.accept() {
                    Ok((stream, _)) => stream,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{error}"),
                };
                if seen.load(Ordering::Acquire) {
                    // Those that wait are still served.
                    listener.set_nonblocking(true).unwrap();
                }
                look(&stream);
                stream.set_nonblocking(true).unwrap();
                acceptor(Socket::from(OwnedFd::from(stream)), encryption);
            }
        });
        Self { address, workers, window, over, accepting }
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    /// Ends it, whoever is still connected.
    pub(crate) fn cut(self) {
        self.over.store(true, Ordering::Release);
        // Refused where the last connections were accepted after that.
        drop(TcpStream::connect(self.address));
        self.accepting.join().unwrap();
        self.window.stop();
        self.workers.wake();
        let (_, fault) = self.workers.join();
        assert_eq!(fault, None);
    }

    /// Waits until every connection was closed by its client, and gives the totals.
    pub(crate) fn stop(self) -> Counts {
        self.over.store(true, Ordering::Release);
        // As above.
        drop(TcpStream::connect(self.address));
        self.accepting.join().unwrap();
        self.workers.close();
        let limit = clock::now() + 5 * SECOND;
        while self.workers.running() > 0 && clock::now() < limit {
            clock::sleep_until(clock::now() + 1_000_000);
        }
        assert_eq!(self.workers.running(), 0, "the target ends with its last connection");
        self.window.stop();
        let counts = self.workers.counts();
        let (_, fault) = self.workers.join();
        assert_eq!(fault, None);
        counts
    }
}
