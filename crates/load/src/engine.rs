//! The contract of an engine: operations are tried, and what would wait is tried again.

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::{Socket, Waker, clock};

use crate::flow::{Event, Op};
use crate::measure::window::Window;

/// Moves bytes for the flows of one worker.
///
/// An event loop tries each operation once; when the engine answers `Later`, it tries the same
/// operation again after `wait` named the slot. Slots are small numbers that are used again after
/// `forget`.
pub trait Engine: Sized {
    /// A new engine for one worker thread.
    ///
    /// # Errors
    /// What the kernel refused.
    fn new(setup: &EngineSetup) -> io::Result<Self>;

    /// Takes in the socket of a slot, once its connection attempt has begun or it was accepted.
    ///
    /// # Errors
    /// What the kernel refused.
    fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) -> io::Result<()>;

    /// Forgets a slot's socket; nothing of it may be under way.
    fn forget(&mut self, slot: usize);

    /// Tries an operation.
    fn attempt(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_>;

    /// Gives up the operation of a slot that answered `Later`. `false`: it was done already, and
    /// trying it once more tells how.
    fn cancel(&mut self, slot: usize) -> bool;

    /// Waits until something may be worth another try, or `until` (monotonic ns; 0 only looks) has
    /// passed, and appends the slots to `ready`. It may return early with none.
    ///
    /// # Errors
    /// What the kernel refused.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()>;

    /// Sleeps until `until` (monotonic ns), whatever is received meanwhile. It may return early,
    /// and does when a connection ends, if the engine knows of that.
    ///
    /// # Errors
    /// What the kernel refused.
    fn rest(&mut self, until: Nanos) -> io::Result<()> {
        clock::sleep_until(until);
        Ok(())
    }
}

/// What an engine needs to know before it starts.
#[derive(Debug)]
pub struct EngineSetup {
    /// Wakes `wait`.
    pub waker: Arc<Waker>,
    /// When load runs.
    pub window: Arc<Window>,
    /// Largest receive, bytes.
    pub receive_bytes: usize,
    /// What `SendFill` sends from; at least as long as any.
    pub filler: Arc<[u8]>,
    /// Slots that are expected; more may come.
    pub slots: usize,
    /// Whether sockets carry datagrams: then a short read says nothing of what else waits, and an
    /// empty one is not the end.
    pub datagrams: bool,
    /// Whether the sockets have receive timestamps, which say when something came.
    pub receive_timestamps: bool,
}

/// An operation on a socket.
#[derive(Debug)]
pub enum IoOp<'a> {
    /// Wait for a connection attempt to end.
    Connect,
    /// Send a part of these bytes.
    Send(&'a [u8]),
    /// Send some of these bytes, in sends of so many.
    SendEach(&'a [u8], usize),
    /// Send up to so many bytes of filler.
    SendFill(usize),
    /// Receive up to so many bytes.
    Recv(usize),
    /// Drop up to so many received bytes.
    Discard(usize),
}

impl<'a> IoOp<'a> {
    /// The operation of `op`, where it is one.
    #[inline]
    pub(crate) fn of(op: &Op, outgoing: impl FnOnce() -> &'a [u8]) -> Option<Self> {
        Some(match op {
            Op::Connect => Self::Connect,
            Op::Send => Self::Send(outgoing()),
            Op::SendEach(each) => Self::SendEach(outgoing(), *each),
            Op::SendFill(n) => Self::SendFill(*n),
            Op::Recv(n) | Op::Await(n) => Self::Recv(*n),
            Op::Discard(n) => Self::Discard(*n),
            _ => return None,
        })
    }
}

/// How a try ended.
#[derive(Debug)]
pub enum Attempt<'a> {
    /// Done, or failed: this happened.
    Now(Event<'a>),
    /// This was received, at this time by the kernel's timestamp (monotonic ns).
    At(Event<'a>, Nanos),
    /// It has to wait.
    Later,
}

/// What the plain system calls of an engine work with.
#[derive(Debug)]
pub(crate) struct Calls {
    filler: Arc<[u8]>,
    buffer: Box<[u8]>,
    datagrams: bool,
    receive_timestamps: bool,
}

impl Calls {
    pub(crate) fn new(setup: &EngineSetup) -> Self {
        Self {
            filler: Arc::clone(&setup.filler),
            buffer: vec![0; setup.receive_bytes.max(1)].into_boxed_slice(),
            datagrams: setup.datagrams,
            receive_timestamps: setup.receive_timestamps,
        }
    }

    /// The most that one receive can bring, bytes.
    #[inline]
    pub(crate) fn most(&self) -> usize {
        self.buffer.len()
    }

    /// How much of `n` bytes of filler one send tries, bytes.
    #[inline]
    pub(crate) fn filler_part(&self, n: usize) -> usize {
        n.min(self.filler.len())
    }

    /// Whether sockets carry datagrams.
    #[inline]
    pub(crate) fn datagrams(&self) -> bool {
        self.datagrams
    }

    /// Does `op` on a socket.
    #[inline]
    pub(crate) fn perform(&mut self, socket: &Socket, op: &IoOp<'_>) -> Attempt<'_> {
        let mut came = None;
        let result = loop {
            let result = match op {
                IoOp::Connect => return connected(socket),
                IoOp::Send(bytes) => socket.send(bytes),
                IoOp::SendEach(bytes, each) => socket.send_each(bytes, *each),
                IoOp::SendFill(n) => socket.send(&self.filler[..self.filler_part(*n)]),
                IoOp::Recv(n) => {
                    let most = (*n).min(self.buffer.len());
                    let buffer = &mut self.buffer[..most];
                    if self.receive_timestamps {
                        socket.recv_with_timestamp(buffer).map(|(bytes, at)| {
                            came = at;
                            bytes
                        })
                    } else {
                        socket.recv(buffer)
                    }
                }
                IoOp::Discard(n) => socket.discard(*n),
            };
            // A signal ends a blocking call that has a timeout, whatever its handler asked for.
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                break result;
            }
        };
        match result {
            Ok(moved) => {
                let event = match op {
                    IoOp::Recv(_) => received(&self.buffer[..moved], self.datagrams),
                    IoOp::Discard(_) => discarded(moved),
                    _ => Event::Sent(moved),
                };
                match came {
                    Some(at) => Attempt::At(event, at),
                    None => Attempt::Now(event),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Attempt::Later,
            Err(error) => Attempt::Now(Event::Failed(error)),
        }
    }
}

/// An empty read of a stream is its end; a datagram may be empty.
#[inline]
pub(crate) fn received(bytes: &[u8], datagrams: bool) -> Event<'_> {
    if bytes.is_empty() && !datagrams { Event::Closed } else { Event::Received(bytes) }
}

#[inline]
pub(crate) fn discarded<'a>(bytes: usize) -> Event<'a> {
    if bytes == 0 { Event::Closed } else { Event::Discarded(bytes) }
}

/// How far a connection attempt is.
pub(crate) fn connected<'a>(socket: &Socket) -> Attempt<'a> {
    match socket.connected() {
        // No error and no peer: the answer is still under way.
        Ok(()) if socket.peer().is_err() => Attempt::Later,
        Ok(()) => Attempt::Now(Event::Connected),
        Err(error) => Attempt::Now(Event::Failed(error)),
    }
}
