//! Blocking sockets, a thread a connection: what a simple client or server program does.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::Nanos;
use hopbench_sys::{Epoll, Events, Socket, Waker, clock};

use crate::engine::{Attempt, Engine, EngineSetup, IoOp, perform};
use crate::flow::Event;

/// Blocks in the operation itself. A call that waits longer than [`PATIENCE`] returns, so that the thread can
/// look whether it should end.
#[derive(Debug)]
pub struct ThreadsEngine {
    socket: Option<Arc<Socket>>,
    /// An operation gave up waiting; it is tried again at once.
    again: bool,
    idle: Epoll,
    events: Events,
    waker: Arc<Waker>,
    filler: Arc<[u8]>,
    buffer: Box<[u8]>,
}

/// The longest that a blocking call waits.
const PATIENCE: Duration = Duration::from_millis(20);

impl Engine for ThreadsEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let idle = Epoll::new()?;
        idle.add(&*setup.waker, 0)?;
        Ok(Self {
            socket: None,
            again: false,
            idle,
            events: Events::with_capacity(1),
            waker: Arc::clone(&setup.waker),
            filler: Arc::clone(&setup.filler),
            buffer: vec![0; setup.receive_bytes.max(1)].into_boxed_slice(),
        })
    }

    fn prepare(&mut self, _socket: &Socket) -> io::Result<()> {
        Ok(())
    }

    fn adopt(&mut self, _slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        self.socket = Some(Arc::clone(socket));
        // Only from here on: the connection attempt itself does not block, so that its deadline holds.
        socket.set_timeouts(PATIENCE)?;
        if socket.peer().is_ok() {
            socket.set_nonblocking(false)?;
        }
        Ok(())
    }

    fn forget(&mut self, _slot: usize) {
        self.socket = None;
        self.again = false;
    }

    #[inline]
    fn attempt(&mut self, _slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        let Some(socket) = &self.socket else {
            return Attempt::Now(Event::Failed(io::ErrorKind::NotConnected.into()));
        };
        let attempt = perform(socket, op, &self.filler, &mut self.buffer);
        match (op, &attempt) {
            (IoOp::Connect, Attempt::Now(Event::Connected)) => {
                if let Err(error) = socket.set_nonblocking(false) {
                    return Attempt::Now(Event::Failed(error));
                }
            }
            (IoOp::Connect, Attempt::Later) => clock::sleep_until(clock::now() + 50_000),
            _ => {}
        }
        self.again = matches!(attempt, Attempt::Later);
        attempt
    }

    fn cancel(&mut self, _slot: usize) {
        self.again = false;
    }

    fn wait(&mut self, timeout_ns: Option<Nanos>, ready: &mut Vec<usize>) -> io::Result<()> {
        if self.again {
            ready.push(0);
            return Ok(());
        }
        self.idle.wait(&mut self.events, timeout_ns)?;
        if self.events.iter().next().is_some() {
            self.waker.reset();
        }
        Ok(())
    }
}
