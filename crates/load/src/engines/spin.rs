//! Non-blocking sockets, polled without ever sleeping.

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::{Socket, cpu};

use crate::engine::{Attempt, Calls, Engine, EngineSetup, IoOp};
use crate::flow::Event;

/// Tries every waiting operation again and again: no wake-up is ever paid, at the price of a CPU.
#[derive(Debug)]
pub struct SpinEngine {
    slots: Vec<Option<Arc<Socket>>>,
    calls: Calls,
}

impl Engine for SpinEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        Ok(Self { slots: Vec::with_capacity(setup.slots), calls: Calls::new(setup) })
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
            Some(socket) => self.calls.perform(socket, op),
            None => Attempt::Now(Event::Failed(io::ErrorKind::NotConnected.into())),
        }
    }

    fn cancel(&mut self, _slot: usize) -> bool {
        true
    }

    fn wait(&mut self, _until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        cpu::relax();
        ready.extend(self.slots.iter().enumerate().filter(|(_, socket)| socket.is_some()).map(|(slot, _)| slot));
        Ok(())
    }
}
