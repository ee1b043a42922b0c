//! The one port: what every new connection and datagram is.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::{DatagramPort, Epoll, Events, Listener, Socket, Waker, clock, errno};
use hopbench_wire::udp::CookieJar;
use hopbench_wire::{FLOW_HEADER_BYTES, First, classify};

use crate::gate::Gate;
use crate::listening::NewSession;
use crate::pending::Pending;
use crate::runs::Runs;

/// Everything the port's thread works with.
pub(crate) struct Port {
    pub(crate) listener: Listener,
    pub(crate) datagrams: DatagramPort,
    pub(crate) jar: CookieJar,
    pub(crate) runs: Arc<Runs>,
    /// Where HTTP connections go.
    pub(crate) gate: Arc<Gate>,
    /// Starts a control session, where the port takes any.
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
            let expiry = pending.expire(now);
            let until = [expiry, retry_at].into_iter().flatten().min().unwrap_or(now + 3600 * SECOND);
            let busy = reads || (accepts && retry_at.is_none());
            epoll.wait(&mut events, Some(if busy { 0 } else { until.saturating_sub(now) }))?;
            let ready: Vec<u64> = events.iter().filter(|e| e.readable).map(|e| e.token).collect();
            for token in ready {
                match token {
                    LISTENER => accepts = true,
                    DATAGRAMS => reads = true,
                    WAKER => self.waker.reset(),
                    token => {
                        if let Some(verdict) = pending.socket(token).and_then(look)
                            && let Some(socket) = pending.take(token)
                            // Else every byte of it would wake this thread, too.
                            && epoll.remove(&socket).is_ok()
                        {
                            self.hand_over(verdict, socket);
                        }
                    }
                }
            }
            if retry_at.is_some_and(|at| at <= clock::now()) {
                retry_at = None;
            }
            if accepts && retry_at.is_none() {
                match self.accept(&epoll, &mut pending) {
                    Ok(more) => accepts = more,
                    // Too few files, or memory: those who wait in the backlog are not lost.
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
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if errno::too_many_files(&error) || errno::no_memory(&error) => return Err(error),
                // ECONNABORTED and the like concern one connection, which is gone.
                Err(_) => continue,
            };
            // Clients speak first, and mostly have: no need to wait for what is there already.
            match look(&socket) {
                Some(verdict) => self.hand_over(verdict, socket),
                None => {
                    if epoll.add_for_reading(&socket, pending.next_token()).is_ok() {
                        pending.add(socket, clock::now());
                    }
                }
            }
        }
        Ok(true)
    }

    fn hand_over(&self, verdict: Verdict, socket: Socket) {
        match verdict {
            Verdict::Control => {
                if let Some(session) = &self.session {
                    session(TcpStream::from(OwnedFd::from(socket)));
                }
            }
            Verdict::Flow(header) => self.runs.tcp_flow(&header, socket),
            Verdict::Http => self.gate.enter(socket),
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

/// Looks at the first bytes of a connection; `None`: not enough of them yet.
fn look(socket: &Socket) -> Option<Verdict> {
    let mut bytes = [0; FLOW_HEADER_BYTES];
    let got = match socket.peek(&mut bytes) {
        Ok(0) => return Some(Verdict::Drop),
        Ok(got) => got,
        Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
        Err(_) => return Some(Verdict::Drop),
    };
    match classify(&bytes[..got]) {
        First::NeedMore => None,
        First::Tls => Some(Verdict::Control),
        First::Http => Some(Verdict::Http),
        First::Flow if got < FLOW_HEADER_BYTES => None,
        First::Flow => match socket.recv(&mut bytes) {
            Ok(FLOW_HEADER_BYTES) => Some(Verdict::Flow(bytes)),
            _ => Some(Verdict::Drop),
        },
        First::Unknown => Some(Verdict::Drop),
    }
}
