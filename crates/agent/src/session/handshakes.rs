//! The TLS handshakes of control sessions whose other end has not shown yet that it has the token.

use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use hopbench_control::{Channel, ChannelError};
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::{Epoll, Events, Waker, clock};
use hopbench_wire::{HANDSHAKE_LIMIT, MAX_ORDER, ToAgent};

use crate::port::fair_queue::FairQueue;
use crate::port::pending::Newcomer;

/// Handshakes under way, of all sources together. One takes a round trip once the client's first
/// record is here. So they displace each other only if they come faster than this thread answers.
const MOST: usize = 512;
/// Those of one source while others have some, too; alone it has up to [`MOST`].
const MOST_OF_SOURCE: usize = MOST / 2;
/// Newcomers whose handshake has not begun: they come faster than they are answered.
const MOST_WAITING: usize = 256;
/// Handshakes that begin before those under way get their turn.
const TURN: usize = 16;
/// The longest hello: whoever is not known yet can make this end keep no more.
const MOST_HELLO: usize = 64 << 10;
const WAKER: u64 = u64::MAX;

/// Begins a session over a connection.
pub(crate) type Accept = Box<dyn Fn(TcpStream) -> Result<Channel, ChannelError> + Send>;

/// Goes on with a session that has shown its token and said this.
pub(crate) type Known = Box<dyn Fn(Channel, ToAgent) + Send>;

/// One thread for all of them; dropping this ends it, and them.
#[derive(Debug)]
pub(crate) struct Handshakes {
    queue: Arc<HandshakeQueue>,
    thread: Option<JoinHandle<()>>,
}

/// The queue in which newcomers wait for the thread.
#[derive(Debug)]
pub(crate) struct HandshakeQueue {
    waiting: Mutex<FairQueue<Newcomer>>,
    stop: AtomicBool,
    waker: Waker,
}

struct HandshakeThread {
    queue: Arc<HandshakeQueue>,
    accept: Accept,
    known: Known,
    epoll: Epoll,
    channels: FairQueue<Channel>,
}

impl Handshakes {
    pub(crate) fn start(accept: Accept, known: Known) -> Result<Self, Fault> {
        let other =
            |error: std::io::Error| Fault::environment(format!("cannot start the agent: {error}"));
        let waker = Waker::new().map_err(other)?;
        let queue = Arc::new(HandshakeQueue {
            waiting: Mutex::new(FairQueue::new()),
            stop: AtomicBool::new(false),
            waker,
        });
        let epoll = Epoll::new().map_err(other)?;
        epoll.add_for_reading(&queue.waker, WAKER).map_err(other)?;
        let handshakes = HandshakeThread {
            queue: Arc::clone(&queue),
            accept,
            known,
            epoll,
            channels: FairQueue::new(),
        };
        let thread = std::thread::Builder::new()
            .name("hb-handshakes".to_owned())
            .spawn(move || handshakes.run())
            .map_err(other)?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// For whoever accepts connections.
    pub(crate) fn queue(&self) -> Arc<HandshakeQueue> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Handshakes {
    fn drop(&mut self) {
        self.queue.stop.store(true, Ordering::Relaxed);
        self.queue.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl HandshakeQueue {
    /// Takes a connection in whose client has sent its first record.
    pub(crate) fn enter(&self, newcomer: Newcomer) {
        let gone = self.lock().add(newcomer.origin, newcomer, MOST_WAITING);
        self.waker.wake();
        // Outside of the lock: closing takes its time.
        drop(gone);
    }

    /// The next one to begin with: a source that comes faster than it is answered does not keep
    /// others waiting.
    fn take(&self) -> Option<Newcomer> {
        self.lock().pop_turn().map(|(_, newcomer)| newcomer)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FairQueue<Newcomer>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HandshakeThread {
    fn run(mut self) {
        let mut events = Events::with_capacity(MOST);
        let mut more = false;
        while !self.queue.stop.load(Ordering::Relaxed) {
            let now = clock::now();
            let until = self.expire(now).unwrap_or(now + 3600 * SECOND);
            if self
                .epoll
                .wait(&mut events, Some(if more { 0 } else { until.saturating_sub(now) }))
                .is_err()
            {
                return;
            }
            // Those under way go first: the more they are, the fewer begin.
            for ready in events.iter() {
                if ready.token == WAKER {
                    self.queue.waker.reset();
                } else {
                    self.go_on(ready.token);
                }
            }
            more = self.begin_some();
        }
    }

    /// Ends those whose time is over, waiting or not; when to look again.
    fn expire(&mut self, now: Nanos) -> Option<Nanos> {
        loop {
            let until = self.channels.first_since()? + HANDSHAKE_LIMIT;
            if until > now {
                return Some(until);
            }
            self.channels.pop_first();
        }
    }

    /// Begins with newcomers; whether there may be more.
    fn begin_some(&mut self) -> bool {
        for _ in 0..TURN {
            let Some(Newcomer { origin, socket }) = self.queue.take() else { return false };
            let Ok(mut channel) = (self.accept)(TcpStream::from(OwnedFd::from(socket))) else {
                continue;
            };
            channel.set_most(MOST_HELLO);
            if self.epoll.add_for_reading(channel.readiness(), origin.number).is_ok() {
                drop(self.channels.add(origin, channel, MOST));
                drop(self.channels.displace_of(origin.source, MOST_OF_SOURCE));
                self.go_on(origin.number);
            }
        }
        true
    }

    /// Does what a handshake can do now. One that fails is told by TLS, or by the closed
    /// connection.
    fn go_on(&mut self, number: u64) {
        let Some(channel) = self.channels.get_mut(number) else { return };
        // Takes note of what is ready: the next edge is a new one.
        // A panic would be a defect of ours, and no reason to turn everybody else away.
        let step = catch_unwind(AssertUnwindSafe(|| {
            channel.wait(0, None)?;
            channel.receive::<ToAgent>()
        }));
        if matches!(step, Ok(Ok(None))) {
            return;
        }
        let Some((_, mut channel)) = self.channels.remove(number) else { return };
        // Its own thread looks after it from here on.
        if let Ok(Ok(Some(hello))) = step
            && self.epoll.remove(channel.readiness()).is_ok()
        {
            channel.set_most(MAX_ORDER);
            (self.known)(channel, hello);
        }
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::Source;
    use hopbench_sys::Socket;

    use super::*;
    use crate::port::fair_queue::Origin;

    #[test]
    fn a_source_that_floods_leaves_others_their_turn() {
        let queue = HandshakeQueue {
            waiting: Mutex::new(FairQueue::new()),
            stop: AtomicBool::new(false),
            waker: Waker::new().unwrap(),
        };
        let enter = |number: u64, source: u32| {
            let origin = Origin { number, source: Source::V4(source), since: number };
            let socket = Socket::tcp("127.0.0.1:1".parse().unwrap()).unwrap();
            queue.enter(Newcomer { origin, socket });
        };
        (0..200).for_each(|number| enter(number, 1));
        [200, 201].into_iter().for_each(|number| enter(number, 2));
        let began = std::iter::from_fn(|| queue.take()).map(|newcomer| newcomer.origin.number);
        assert_eq!(began.take(5).collect::<Vec<_>>(), [0, 200, 1, 201, 2]);
    }
}
