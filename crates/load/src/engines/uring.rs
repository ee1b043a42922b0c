//! io_uring completions.

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::uring::Ring;
use hopbench_sys::{Socket, Waker, clock};

use crate::engine::{Attempt, Engine, EngineSetup, IoOp, connected, discarded, received};
use crate::flow::Event;

/// Hands each operation to the kernel and hears when it is done: one system call a turn, whatever
/// the number of sockets.
///
/// Memory: the kernel writes into buffers while others are in use, so that each slot has its own. A
/// slot costs as many bytes as the largest receive it was asked for (at most
/// [`EngineSetup::receive_bytes`], so 64 KiB for UDP) and as the largest message it sent; filler is
/// shared. The other engines have one buffer a thread.
#[derive(Debug)]
pub struct UringEngine {
    ring: Ring,
    receive_bytes: usize,
    datagrams: bool,
}

impl Engine for UringEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let waker: Arc<Waker> = Arc::clone(&setup.waker);
        Ok(Self {
            ring: Ring::new(setup.slots, Arc::clone(&setup.filler), waker)?,
            receive_bytes: setup.receive_bytes.max(1),
            datagrams: setup.datagrams,
        })
    }

    fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        self.ring.adopt(slot, socket);
        Ok(())
    }

    fn forget(&mut self, slot: usize) {
        self.ring.release(slot);
    }

    fn attempt(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        let Some(result) = self.ring.result(slot) else {
            return self.submit(slot, op);
        };
        let moved = match result {
            Ok(moved) => moved,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                return self.submit(slot, op);
            }
            Err(error) => return Attempt::Now(Event::Failed(error)),
        };
        Attempt::Now(match op {
            IoOp::Connect => match self.ring.socket(slot).map(|socket| connected(socket)) {
                Some(Attempt::Now(event)) => event,
                _ => return self.submit(slot, op),
            },
            IoOp::Send(_) | IoOp::SendEach(..) | IoOp::SendFill(_) => Event::Sent(moved),
            IoOp::Recv(_) => received(self.ring.received(slot, moved), self.datagrams),
            IoOp::Discard(_) => discarded(moved),
        })
    }

    fn cancel(&mut self, slot: usize) -> bool {
        self.ring.cancel(slot)
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        let left = if until == 0 { 0 } else { until.saturating_sub(clock::now()) };
        self.ring.wait(Some(left), ready)
    }
}

impl UringEngine {
    /// Starts an operation, unless it is under way.
    fn submit(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        if self.ring.busy(slot) {
            return Attempt::Later;
        }
        let submitted = match op {
            IoOp::Connect => self.ring.connected(slot),
            IoOp::Send(bytes) => self.ring.send(slot, bytes),
            // A submission is one send.
            IoOp::SendEach(bytes, each) => self.ring.send(slot, &bytes[..bytes.len().min(*each)]),
            IoOp::SendFill(most) => self.ring.send_filler(slot, *most),
            IoOp::Recv(most) => self.ring.recv(slot, (*most).min(self.receive_bytes)),
            IoOp::Discard(most) => self.ring.discard(slot, *most),
        };
        match submitted {
            Ok(()) => Attempt::Later,
            Err(error) => Attempt::Now(Event::Failed(error)),
        }
    }
}
