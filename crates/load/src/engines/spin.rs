//! Non-blocking sockets, polled without ever sleeping.

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::{Socket, cpu};

use crate::engine::{Attempt, Engine, EngineSetup, IoOp, perform};
use crate::flow::Event;

/// Tries every waiting operation again and again: no wake-up is ever paid, at the price of a CPU.
#[derive(Debug)]
pub struct SpinEngine {
    slots: Vec<Option<Arc<Socket>>>,
    filler: Arc<[u8]>,
    buffer: Box<[u8]>,
}

impl Engine for SpinEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        Ok(Self {
            slots: Vec::with_capacity(setup.slots),
            filler: Arc::clone(&setup.filler),
            buffer: vec![0; setup.receive_bytes.max(1)].into_boxed_slice(),
        })
    }

    fn prepare(&mut self, _socket: &Socket) -> io::Result<()> {
        Ok(())
    }

    fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some(Arc::clone(socket));
        Ok(())
    }

    fn forget(&mut self, slot: usize) {
        self.slots[slot] = None;
    }

    #[inline]
    fn attempt(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        match &self.slots[slot] {
            Some(socket) => perform(socket, op, &self.filler, &mut self.buffer),
            None => Attempt::Now(Event::Failed(io::ErrorKind::NotConnected.into())),
        }
    }

    fn cancel(&mut self, _slot: usize) {}

    fn wait(&mut self, _timeout_ns: Option<Nanos>, ready: &mut Vec<usize>) -> io::Result<()> {
        cpu::relax();
        ready.extend(self.slots.iter().enumerate().filter(|(_, socket)| socket.is_some()).map(|(slot, _)| slot));
        Ok(())
    }
}
