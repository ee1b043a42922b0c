//! Non-blocking sockets, polled without ever sleeping while load runs.

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::{Epoll, Events, Socket, Waker, clock, cpu};

use crate::engine::{Attempt, Calls, Engine, EngineSetup, IoOp};
use crate::flow::Event;
use crate::measure::window::Window;

/// Tries every waiting operation again and again: no wake-up is ever paid, at the price of a CPU.
/// Until the load begins it sleeps like others: nobody measures that, and an order to start may
/// never come.
#[derive(Debug)]
pub struct SpinEngine {
    slots: Vec<Option<Arc<Socket>>>,
    calls: Calls,
    /// Gone once the load began, and with it whatever it would cost the kernel.
    asleep: Option<Asleep>,
}

/// What an engine waits with before there is load.
#[derive(Debug)]
struct Asleep {
    epoll: Epoll,
    events: Events,
    waker: Arc<Waker>,
    window: Arc<Window>,
}

const WAKER: u64 = u64::MAX;
const EVENTS_A_WAIT: usize = 64;

impl Asleep {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        epoll.add_for_reading(&*setup.waker, WAKER)?;
        let (waker, window) = (Arc::clone(&setup.waker), Arc::clone(&setup.window));
        Ok(Self { epoll, events: Events::with_capacity(EVENTS_A_WAIT), waker, window })
    }

    /// Sleeps until something happens, `until`, or the load begins; whether it has not begun.
    fn wait(&mut self, until: Nanos) -> io::Result<bool> {
        let now = clock::now();
        let load_start = self.window.load_start();
        if now >= load_start {
            return Ok(false);
        }
        self.epoll.wait(&mut self.events, Some(until.min(load_start).saturating_sub(now)))?;
        if self.events.iter().any(|ready| ready.token == WAKER) {
            self.waker.reset();
        }
        Ok(true)
    }
}

impl Engine for SpinEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let asleep = Some(Asleep::new(setup)?);
        Ok(Self { slots: Vec::with_capacity(setup.slots), calls: Calls::new(setup), asleep })
    }

    fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        if let Some(asleep) = &self.asleep {
            asleep.epoll.add(&**socket, slot as u64)?;
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

    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        match self.asleep.as_mut().map(|asleep| asleep.wait(until)).transpose()? {
            Some(true) => {}
            Some(false) => self.asleep = None,
            None => cpu::relax(),
        }
        ready.extend(
            self.slots
                .iter()
                .enumerate()
                .filter(|(_, socket)| socket.is_some())
                .map(|(slot, _)| slot),
        );
        Ok(())
    }
}
