//! The demultiplexer of the one port: it tells what every new connection and datagram is.

pub(crate) mod fair_queue;
pub(crate) mod flow_handshake;
pub(crate) mod flow_router;
pub(crate) mod listening;
pub(crate) mod pending;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_model::{Nanos, SECOND, Source};
use hopbench_sys::{DatagramPort, Epoll, Events, Listener, Socket, Waker, clock, errno};
use hopbench_wire::udp::CookieJar;
use hopbench_wire::{ClientHello, FLOW_HEADER_BYTES, First, classify};

use crate::http_acceptor::HttpAcceptor;
use crate::port::flow_router::FlowRouter;
use crate::port::pending::{Newcomer, Pending};

/// Takes a connection that began like a control session.
pub(crate) type NewSession = Box<dyn Fn(Newcomer) + Send>;

/// Everything the port's thread works with.
pub(crate) struct Port {
    pub(crate) listener: Listener,
    pub(crate) datagrams: DatagramPort,
    pub(crate) jar: CookieJar,
    pub(crate) flow_router: Arc<FlowRouter>,
    /// The acceptor of HTTP connections.
    pub(crate) http_acceptor: Arc<HttpAcceptor>,
    /// Takes control sessions, where the port does.
    pub(crate) session: Option<NewSession>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) waker: Arc<Waker>,
}

const LISTENER: u64 = 0;
const DATAGRAMS: u64 = 1;
const WAKER: u64 = 2;
const FIRST_PENDING: u64 = 16;

/// Datagrams and connections that are looked at before the others get their turn.
const TURN: usize = 256;
/// Bytes before the content of a TLS record, the last two of them its length.
const RECORD_HEADER: usize = 5;
/// The most bytes that follow them in a record that is not encrypted.
const MOST_RECORD: usize = 1 << 14;
/// Bytes that are read of a connection before it is dropped.
const DROPPED: usize = 4 * 1024;
/// How long to wait for a file descriptor when none can be had.
const NO_FILES_PAUSE: Nanos = 10_000_000;

impl Port {
    /// Serves until told to stop.
    pub(crate) fn run(self) -> std::io::Result<()> {
        let epoll = Epoll::new()?;
        epoll.add_for_reading(&self.listener, LISTENER)?;
        epoll.add_for_reading(&self.datagrams, DATAGRAMS)?;
        epoll.add_for_reading(&*self.waker, WAKER)?;
        let mut events = Events::with_capacity(TURN);
        let mut pending = Pending::new(FIRST_PENDING);
        // What edge-triggered readiness said and was not used up yet.
        let (mut accepts, mut reads) = (true, true);
        let mut retry_at = None;
        while !self.stop.load(Ordering::Relaxed) {
            let now = clock::now();
            let expiry = pending.expire(now, self.flow_router.may_rest());
            let until =
                [expiry, retry_at].into_iter().flatten().min().unwrap_or(now + 3600 * SECOND);
            let busy = reads || (accepts && retry_at.is_none());
            epoll.wait(&mut events, Some(if busy { 0 } else { until.saturating_sub(now) }))?;
            let ready: Vec<u64> = events.iter().filter(|e| e.readable).map(|e| e.token).collect();
            for token in ready {
                match token {
                    LISTENER => accepts = true,
                    DATAGRAMS => reads = true,
                    WAKER => self.waker.reset(),
                    token => match pending.socket(token).map(|socket| self.look(socket)) {
                        Some(FirstLook::Is(kind)) => {
                            if let Some(newcomer) = pending.take(token)
                                // Else every byte of it would wake this thread, too.
                                && epoll.remove(&newcomer.socket).is_ok()
                            {
                                self.hand_over(kind, newcomer);
                            }
                        }
                        Some(FirstLook::Begun) => pending.has_begun(token),
                        Some(FirstLook::Silent) | None => {}
                    },
                }
            }
            if retry_at.is_some_and(|at| at <= clock::now()) {
                retry_at = None;
            }
            if accepts && retry_at.is_none() {
                match self.accept(&epoll, &mut pending) {
                    Ok(more) => accepts = more,
                    // Too few files, or memory: who has said nothing gives up one, and those who
                    // wait in the backlog are not lost.
                    Err(_) if pending.displace() => {}
                    Err(_) => retry_at = Some(clock::now() + NO_FILES_PAUSE),
                }
            }
            if reads {
                reads = self.read();
            }
        }
        Ok(())
    }

    /// Takes new connections; returns whether there may be more.
    fn accept(&self, epoll: &Epoll, pending: &mut Pending) -> std::io::Result<bool> {
        for _ in 0..TURN {
            let (socket, peer) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if errno::too_many_files(&error) || errno::no_memory(&error) => {
                    return Err(error);
                }
                // ECONNABORTED and the like concern one connection, which is gone.
                Err(_) => continue,
            };
            // Clients speak first, and mostly have: no need to wait for what is there already.
            let look = self.look(&socket);
            let origin = pending.origin(Source::of(peer), clock::now());
            let newcomer = Newcomer { origin, socket };
            if let FirstLook::Is(kind) = look {
                self.hand_over(kind, newcomer);
            } else if epoll.add_for_reading(&newcomer.socket, origin.number).is_ok() {
                pending.add(newcomer, self.flow_router.expected());
                if let FirstLook::Begun = look {
                    pending.has_begun(origin.number);
                }
            }
        }
        Ok(true)
    }

    fn hand_over(&self, kind: ConnectionKind, newcomer: Newcomer) {
        match kind {
            ConnectionKind::Control => {
                if let Some(session) = &self.session {
                    session(newcomer);
                }
            }
            ConnectionKind::Flow(header) => self.flow_router.tcp_flow(&header, newcomer.socket),
            ConnectionKind::Http => self.http_acceptor.enter(newcomer.socket),
            ConnectionKind::Https => self.http_acceptor.enter_encrypted(newcomer.socket),
            // Says nothing: whoever guesses learns nothing. A close with unread input would be a
            // reset.
            ConnectionKind::Drop => {
                let _ = newcomer.socket.recv(&mut [0; DROPPED]);
            }
        }
    }

    /// Reads datagrams; returns whether there may be more.
    fn read(&self) -> bool {
        let mut buffer = [0; 128];
        for _ in 0..TURN {
            match self.datagrams.receive(&mut buffer) {
                Ok(arrival) => {
                    self.flow_router.datagram(
                        &self.datagrams,
                        &self.jar,
                        &buffer[..arrival.len],
                        arrival.peer,
                        arrival.local,
                    );
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // An ICMP error for an earlier answer; the next call goes on.
                Err(_) => {}
            }
        }
        true
    }
}

/// The kind of a connection.
#[derive(Clone, Copy)]
enum ConnectionKind {
    Control,
    Flow([u8; FLOW_HEADER_BYTES]),
    Http,
    Https,
    Drop,
}

/// The meaning of the first bytes of a connection.
#[derive(Clone, Copy)]
enum FirstLook {
    /// There are none.
    Silent,
    /// Not enough.
    Begun,
    Is(ConnectionKind),
}

impl Port {
    fn look(&self, socket: &Socket) -> FirstLook {
        let mut bytes = [0; FLOW_HEADER_BYTES];
        let got = match socket.peek(&mut bytes) {
            Ok(0) => return FirstLook::Is(ConnectionKind::Drop),
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return FirstLook::Silent,
            Err(_) => return FirstLook::Is(ConnectionKind::Drop),
        };
        match classify(&bytes[..got]) {
            First::NeedMore => FirstLook::Begun,
            First::Tls => match look_at_record(socket, &bytes[..got]) {
                FirstLook::Is(ConnectionKind::Control) if self.session.is_none() => {
                    FirstLook::Is(ConnectionKind::Drop)
                }
                look => look,
            },
            First::Http => FirstLook::Is(ConnectionKind::Http),
            First::Flow if got < FLOW_HEADER_BYTES => FirstLook::Begun,
            First::Flow => match socket.recv(&mut bytes) {
                Ok(FLOW_HEADER_BYTES) => FirstLook::Is(ConnectionKind::Flow(bytes)),
                _ => FirstLook::Is(ConnectionKind::Drop),
            },
            First::Unknown => FirstLook::Is(ConnectionKind::Drop),
        }
    }
}

/// Whose handshake the first TLS record of a connection begins, once it is all there. Until then it
/// costs no more than any other.
fn look_at_record(socket: &Socket, bytes: &[u8]) -> FirstLook {
    let &[_, _, _, high, low, ..] = bytes else { return FirstLook::Begun };
    let length = RECORD_HEADER + usize::from(u16::from_be_bytes([high, low]));
    let mut record = [0; RECORD_HEADER + MOST_RECORD];
    match record.get_mut(..length).map(|record| socket.peek(record)) {
        // No TLS record is that long.
        None => FirstLook::Is(ConnectionKind::Drop),
        Some(Ok(got)) if got < length => FirstLook::Begun,
        Some(Ok(_)) if ClientHello::read(&record[..length]).is_some_and(|h| h.names_somebody()) => {
            FirstLook::Is(ConnectionKind::Https)
        }
        Some(_) => FirstLook::Is(ConnectionKind::Control),
    }
}
