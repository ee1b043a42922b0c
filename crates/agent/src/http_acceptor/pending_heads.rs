//! The HTTP connections whose first head is not all there, and strangers that are refused.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hopbench_load::http::{RequestError, refuse};
use hopbench_load::{Encryption, Timeouts};
use hopbench_model::{Nanos, SECOND, Source, makes_room};
use hopbench_sys::{Epoll, Events, Socket, Waker, clock};

use super::routes::{Destination, Routes};

/// A thread that waits for heads; dropping this ends it, and closes who waits. What they send stays
/// in the kernel until somebody takes the connection: to wait costs a socket and nothing else.
#[derive(Debug)]
pub(super) struct PendingHeads {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// How many may wait, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PendingLimits {
    /// Connections at once; one more takes the place of the one that has been idle longest, of the
    /// source that has the most.
    pub(crate) most: usize,
    /// For all of a head, from when its connection came here, ns.
    pub(crate) head_ns: Nanos,
    /// How long what a refused stranger still sends is dropped, so that the refusal arrives, ns.
    pub(crate) leave_ns: Nanos,
}

impl Default for PendingLimits {
    fn default() -> Self {
        Self { most: 1024, head_ns: Timeouts::STRANGERS.head_ns, leave_ns: 2 * SECOND }
    }
}

#[derive(Debug)]
struct Shared {
    arrivals: Mutex<Vec<Arrival>>,
    /// How many of them there may be.
    most: usize,
    stop: AtomicBool,
    waker: Waker,
}

#[derive(Debug)]
struct Arrival {
    socket: Socket,
    source: Source,
    /// When it came.
    at: Nanos,
    refused: bool,
}

/// One that waits.
struct PendingHead {
    socket: Socket,
    source: Source,
    /// When it goes, whatever it does.
    until: Nanos,
    /// When it last sent something.
    heard: Nanos,
    /// Bytes of its head that were looked at.
    seen: usize,
    /// It was told to go.
    leaving: bool,
}

const WAKER: u64 = 0;
const FIRST: u64 = 1;
const EVENTS: usize = 256;
/// A longer head is not waited for.
const MOST_HEAD_BYTES: usize = 16 * 1024;
/// The longest sleep, which nothing depends on.
const LONGEST_WAIT: Nanos = 3600 * SECOND;

impl PendingHeads {
    /// Starts the thread; it asks `routes` whose a connection is.
    pub(super) fn start(routes: Arc<Routes>, pending_limits: PendingLimits) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            arrivals: Mutex::default(),
            most: pending_limits.most.max(1),
            stop: AtomicBool::new(false),
            waker: Waker::new()?,
        });
        let epoll = Epoll::new()?;
        epoll.add_for_reading(&shared.waker, WAKER)?;
        let waiting =
            Waiting { routes, pending_limits, epoll, heads: BTreeMap::new(), next: FIRST };
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hb-http-heads".to_owned())
            .spawn(move || waiting.run(&theirs))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The head of its first request is not all there.
    pub(super) fn wait(&self, socket: Socket) {
        self.shared.add(socket, false);
    }

    /// It has nothing to ask for here.
    pub(super) fn refuse(&self, socket: Socket) {
        self.shared.add(socket, true);
    }
}

impl Drop for PendingHeads {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.waker.wake();
        if let Some(thread) = self.thread.take() {
            // One that panicked has closed its connections.
            drop(thread.join());
        }
    }
}

impl Shared {
    /// Leaves a connection for the thread. If it does not keep up, one of the source that has the
    /// most makes way.
    fn add(&self, socket: Socket, refused: bool) {
        let source = Source::of_any(socket.peer().ok());
        let arrival = Arrival { socket, source, at: clock::now(), refused };
        let mut arrivals = self.arrivals();
        if arrivals.len() >= self.most {
            let one = makes_room(arrivals.iter().map(|arrival| (arrival.source, arrival.at)));
            if let Some(one) = one {
                arrivals.swap_remove(one);
            }
        }
        arrivals.push(arrival);
        drop(arrivals);
        self.waker.wake();
    }

    fn arrivals(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread works with.
struct Waiting {
    routes: Arc<Routes>,
    pending_limits: PendingLimits,
    epoll: Epoll,
    heads: BTreeMap<u64, PendingHead>,
    next: u64,
}

impl Waiting {
    fn run(mut self, shared: &Shared) {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; MOST_HEAD_BYTES];
        while !shared.stop.load(Ordering::Acquire) {
            for arrival in std::mem::take(&mut *shared.arrivals()) {
                self.take_in(arrival, &mut buffer);
            }
            let now = clock::now();
            let until = self.expire(now).unwrap_or(now + LONGEST_WAIT);
            // Nothing that could be waited for: a broken epoll closes everybody rather than spin.
            if self.epoll.wait(&mut events, Some(until.saturating_sub(now))).is_err() {
                return;
            }
            let ready: Vec<(u64, bool)> = events
                .iter()
                .filter(|event| event.readable)
                .map(|event| (event.token, event.closed))
                .collect();
            for (token, closed) in ready {
                match token {
                    WAKER => shared.waker.reset(),
                    token => self.look(token, closed, &mut buffer),
                }
            }
        }
    }

    fn take_in(&mut self, arrival: Arrival, buffer: &mut [u8]) {
        let Arrival { socket, source, refused, .. } = arrival;
        while self.heads.len() >= self.pending_limits.most.max(1) {
            let idle = makes_room(self.heads.values().map(|head| (head.source, head.heard)));
            let Some(token) = idle.and_then(|at| self.heads.keys().nth(at).copied()) else { break };
            self.heads.remove(&token);
        }
        let token = self.next;
        if self.epoll.add_for_reading(&socket, token).is_err() {
            return;
        }
        self.next += 1;
        let now = clock::now();
        let until = now + self.pending_limits.head_ns;
        let head = PendingHead { socket, source, until, heard: now, seen: 0, leaving: false };
        self.heads.insert(token, head);
        if refused {
            self.show_out(token, buffer);
        } else {
            // What came before it was watched makes no edge, and the rest of a head may be there by
            // now.
            self.look(token, false, buffer);
        }
    }

    /// Something came, or the other end closed.
    fn look(&mut self, token: u64, closed: bool, buffer: &mut [u8]) {
        let Some(head) = self.heads.get_mut(&token) else { return };
        head.heard = clock::now();
        if head.leaving {
            if !drain(&head.socket, buffer) || closed {
                self.heads.remove(&token);
            }
            return;
        }
        match self.routes.judge(&head.socket, buffer, head.seen) {
            // A head that the other end will not finish.
            Destination::Wait(_) if closed => drop(self.heads.remove(&token)),
            Destination::Wait(seen) => head.seen = seen,
            Destination::Close => drop(self.heads.remove(&token)),
            Destination::Refuse => self.show_out(token, buffer),
            Destination::To(acceptor) => {
                if let Some(head) = self.heads.remove(&token)
                    // Else every byte of it would wake this thread, too.
                    && self.epoll.remove(&head.socket).is_ok()
                {
                    acceptor(head.socket, Encryption::None);
                }
            }
        }
    }

    /// Answers 401 and closes, once what the stranger sends has come: a close with unread input
    /// resets the connection, and a reset may overtake the answer.
    fn show_out(&mut self, token: u64, buffer: &mut [u8]) {
        let Some(head) = self.heads.get_mut(&token) else { return };
        let mut answer = Vec::new();
        refuse(&RequestError::Unauthorized, &mut answer);
        let told = head.socket.send(&answer).is_ok();
        head.socket.shutdown(Shutdown::Write);
        head.leaving = true;
        head.until = clock::now() + self.pending_limits.leave_ns;
        if !told || !drain(&head.socket, buffer) {
            self.heads.remove(&token);
        }
    }

    /// Closes those whose time is over; when the next one's is.
    fn expire(&mut self, now: Nanos) -> Option<Nanos> {
        self.heads.retain(|_, head| head.until > now);
        self.heads.values().map(|head| head.until).min()
    }
}

/// Drops what came, as far as `buffer` goes round four times; whether more may come.
fn drain(socket: &Socket, buffer: &mut [u8]) -> bool {
    for _ in 0..4 {
        match socket.recv(buffer) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
    // Whoever sends that much unasked is not read to the end.
    false
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn connections_that_the_thread_has_not_taken_are_bounded_by_source() {
        let shared = Shared {
            arrivals: Mutex::default(),
            most: 3,
            stop: AtomicBool::new(false),
            waker: Waker::new().unwrap(),
        };
        let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut theirs = Vec::new();
        let mut come = |from: [u8; 4]| {
            let socket = Socket::tcp((from, port).into()).unwrap();
            socket.bind((from, 0).into()).unwrap();
            socket.connect((from, port).into()).unwrap();
            theirs.push(socket);
            shared.add(Socket::from(OwnedFd::from(listener.accept().unwrap().0)), false);
        };
        come([127, 0, 0, 2]);
        (0..8).for_each(|_| come([127, 0, 0, 1]));
        let arrivals = shared.arrivals();
        let first = Source::of(([127, 0, 0, 2], 0).into());
        let of_first = arrivals.iter().filter(|arrival| arrival.source == first).count();
        assert_eq!((arrivals.len(), of_first), (3, 1));
    }
}
