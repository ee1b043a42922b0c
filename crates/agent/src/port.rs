//! The one port: what every new connection and datagram is.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_model::{Nanos, SECOND, Source};
use hopbench_sys::{DatagramPort, Epoll, Events, Listener, Socket, Waker, clock, errno};
use hopbench_wire::udp::CookieJar;
use hopbench_wire::{FLOW_HEADER_BYTES, First, classify};

use crate::gate::Gate;
use crate::listening::NewSession;
use crate::pending::{Newcomer, Pending};
use crate::runs::Runs;

/// Everything the port's thread works with.
pub(crate) struct Port {
    pub(crate) listener: Listener,
    pub(crate) datagrams: DatagramPort,
    pub(crate) jar: CookieJar,
    pub(crate) runs: Arc<Runs>,
    /// Where HTTP connections go.
    pub(crate) gate: Arc<Gate>,
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
            let expiry = pending.expire(now, self.runs.may_rest());
            let until = [expiry, retry_at].into_iter().flatten().min().unwrap_or(now + 3600 * SECOND);
            let busy = reads || (accepts && retry_at.is_none());
            epoll.wait(&mut events, Some(if busy { 0 } else { until.saturating_sub(now) }))?;
            let ready: Vec<u64> = events.iter().filter(|e| e.readable).map(|e| e.token).collect();
            for token in ready {
                match token {
                    LISTENER => accepts = true,
                    DATAGRAMS => reads = true,
                    WAKER => self.waker.reset(),
                    token => match pending.socket(token).map(|socket| self.look(socket)) {
                        Some(Look::Is(verdict)) => {
                            if let Some(newcomer) = pending.take(token)
                                // Else every byte of it would wake this thread, too.
                                && epoll.remove(&newcomer.socket).is_ok()
                            {
                                self.hand_over(verdict, newcomer);
                            }
                        }
                        Some(Look::Begun) => pending.has_begun(token),
                        Some(Look::Silent) | None => {}
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
                Err(error) if errno::too_many_files(&error) || errno::no_memory(&error) => return Err(error),
                // ECONNABORTED and the like concern one connection, which is gone.
                Err(_) => continue,
            };
            // Clients speak first, and mostly have: no need to wait for what is there already.
            let look = self.look(&socket);
            let origin = pending.origin(Source::of(peer), clock::now());
            let newcomer = Newcomer { origin, socket };
            if let Look::Is(verdict) = look {
                self.hand_over(verdict, newcomer);
            } else if epoll.add_for_reading(&newcomer.socket, origin.number).is_ok() {
                pending.add(newcomer, self.runs.expected());
                if let Look::Begun = look {
                    pending.has_begun(origin.number);
                }
            }
        }
        Ok(true)
    }

    fn hand_over(&self, verdict: Verdict, newcomer: Newcomer) {
        match verdict {
            Verdict::Control => {
                if let Some(session) = &self.session {
                    session(newcomer);
                }
            }
            Verdict::Flow(header) => self.runs.tcp_flow(&header, newcomer.socket),
            Verdict::Http => self.gate.enter(newcomer.socket),
            // Says nothing: whoever guesses learns nothing.
            Verdict::Drop => {}
        }
    }

    /// Reads datagrams; returns whether there may be more.
    fn read(&self) -> bool {
        let mut buffer = [0; 128];
        for _ in 0..TURN {
            match self.datagrams.receive(&mut buffer) {
                Ok(arrival) => {
                    self.runs.datagram(&self.datagrams, &self.jar, &buffer[..arrival.len], arrival.peer, arrival.local);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // An ICMP error for an earlier answer; the next call goes on.
                Err(_) => {}
            }
        }
        true
    }
}

/// What a connection turned out to be.
#[derive(Clone, Copy)]
enum Verdict {
    Control,
    Flow([u8; FLOW_HEADER_BYTES]),
    Http,
    Drop,
}

/// What the first bytes of a connection say.
#[derive(Clone, Copy)]
enum Look {
    /// There are none.
    Silent,
    /// Not enough.
    Begun,
    Is(Verdict),
}

impl Port {
    fn look(&self, socket: &Socket) -> Look {
        let mut bytes = [0; FLOW_HEADER_BYTES];
        let got = match socket.peek(&mut bytes) {
            Ok(0) => return Look::Is(Verdict::Drop),
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Look::Silent,
            Err(_) => return Look::Is(Verdict::Drop),
        };
        match classify(&bytes[..got]) {
            First::NeedMore => Look::Begun,
            First::Tls if self.session.is_none() => Look::Is(Verdict::Drop),
            First::Tls => look_at_record(socket, &bytes[..got]),
            First::Http => Look::Is(Verdict::Http),
            First::Flow if got < FLOW_HEADER_BYTES => Look::Begun,
            First::Flow => match socket.recv(&mut bytes) {
                Ok(FLOW_HEADER_BYTES) => Look::Is(Verdict::Flow(bytes)),
                _ => Look::Is(Verdict::Drop),
            },
            First::Unknown => Look::Is(Verdict::Drop),
        }
    }
}

/// Whether the first TLS record of a connection is all there: until then it costs no more than any
/// other.
fn look_at_record(socket: &Socket, bytes: &[u8]) -> Look {
    let &[_, _, _, high, low, ..] = bytes else { return Look::Begun };
    let length = RECORD_HEADER + usize::from(u16::from_be_bytes([high, low]));
    let mut record = [0; RECORD_HEADER + MOST_RECORD];
    match record.get_mut(..length).map(|record| socket.peek(record)) {
        // No TLS record is that long.
        None => Look::Is(Verdict::Drop),
        Some(Ok(got)) if got < length => Look::Begun,
        Some(_) => Look::Is(Verdict::Control),
    }
}
