//! Blocking sockets, a thread a connection: what a simple client or server program does.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::Nanos;
use hopbench_sys::{Epoll, Events, Socket, Waker, clock};

use crate::engine::{Attempt, Calls, Engine, EngineSetup, IoOp};
use crate::flow::Event;

/// Blocks in the operation itself. A call that waits longer than 20 ms returns, so that the thread
/// can look whether it should end.
#[derive(Debug)]
pub struct ThreadsEngine {
    socket: Option<Arc<Socket>>,
    /// What gave up waiting and is tried again at once.
    retry: Option<Retry>,
    idle: Epoll,
    events: Events,
    waker: Arc<Waker>,
    calls: Calls,
}

/// What a thread goes on with.
#[derive(Debug, Clone, Copy)]
enum Retry {
    /// A call that blocks by itself.
    Call,
    /// A connection attempt, whose socket does not block.
    Connect,
}

/// The longest that a blocking call waits.
const LONGEST_BLOCK: Duration = Duration::from_millis(20);

impl Engine for ThreadsEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let idle = Epoll::new()?;
        idle.add_for_reading(&*setup.waker, 0)?;
        Ok(Self {
            socket: None,
            retry: None,
            idle,
            events: Events::with_capacity(1),
            waker: Arc::clone(&setup.waker),
            calls: Calls::new(setup),
        })
    }

    fn adopt(&mut self, _slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        self.socket = Some(Arc::clone(socket));
        // Only from here on: the connection attempt itself does not block, so that its deadline
        // holds.
        socket.set_timeouts(LONGEST_BLOCK)?;
        if socket.peer().is_ok() {
            socket.set_nonblocking(false)?;
        }
        Ok(())
    }

    fn forget(&mut self, _slot: usize) {
        self.socket = None;
        self.retry = None;
    }

    #[inline]
    fn attempt(&mut self, _slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        let Some(socket) = &self.socket else {
            return Attempt::Now(Event::Failed(io::ErrorKind::NotConnected.into()));
        };
        let attempt = self.calls.perform(socket, op);
        if let (IoOp::Connect, Attempt::Now(Event::Connected)) = (op, &attempt)
            && let Err(error) = socket.set_nonblocking(false)
        {
            return Attempt::Now(Event::Failed(error));
        }
        self.retry = match (op, &attempt) {
            (IoOp::Connect, Attempt::Later) => Some(Retry::Connect),
            (_, Attempt::Later) => Some(Retry::Call),
            _ => None,
        };
        attempt
    }

    fn cancel(&mut self, _slot: usize) -> bool {
        self.retry = None;
        true
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        if let Some(retry) = self.retry {
            if let (Retry::Connect, Some(socket)) = (retry, &self.socket) {
                socket.wait_connected(LONGEST_BLOCK.min(Duration::from_nanos(left(until))));
            }
            ready.push(0);
            return Ok(());
        }
        if until == 0 {
            // A wake-up only ends a sleep; whatever it was for is looked at in each turn.
            return Ok(());
        }
        self.idle.wait(&mut self.events, Some(left(until)))?;
        if self.events.iter().next().is_some() {
            self.waker.reset();
        }
        Ok(())
    }
}

/// Time until then, ns.
fn left(until: Nanos) -> Nanos {
    until.saturating_sub(clock::now())
}
