//! Non-blocking sockets and edge-triggered epoll.

mod alarm;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::{Epoll, Events, Socket, Timer, Waker, clock};

use crate::engine::{Attempt, Calls, Engine, EngineSetup, IoOp};
use crate::flow::Event;
use alarm::{Alarm, WaitEnd};

/// Tries each operation only when the kernel has said that it may succeed.
#[derive(Debug)]
pub struct EpollEngine {
    epoll: Epoll,
    /// Only tells of the ends of connections, where a worker may sleep through what it receives.
    ends: Option<Epoll>,
    events: Events,
    waker: Arc<Waker>,
    timer: Timer,
    alarm: Alarm,
    slots: Vec<Watched>,
    calls: Calls,
}

/// A slot's socket, and what the kernel said of it and has not taken back.
#[derive(Debug, Default)]
struct Watched {
    socket: Option<Arc<Socket>>,
    readable: bool,
    writable: bool,
    /// The other end sends no more: there is always something to read, the end if nothing else.
    closed: bool,
    /// Datagrams: whether the kernel is asked to tell when there is room.
    tells_room: bool,
}

const WAKER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const EVENTS_A_WAIT: usize = 256;

impl Engine for EpollEngine {
    fn new(setup: &EngineSetup) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        epoll.add_for_reading(&*setup.waker, WAKER)?;
        let timer = Timer::new()?;
        epoll.add_for_reading(&timer, TIMER)?;
        Ok(Self {
            epoll,
            ends: setup.receive_timestamps.then(Epoll::new).transpose()?,
            events: Events::with_capacity(EVENTS_A_WAIT),
            waker: Arc::clone(&setup.waker),
            timer,
            alarm: Alarm::new(),
            slots: Vec::with_capacity(setup.slots),
            calls: Calls::new(setup),
        })
    }

    fn adopt(&mut self, slot: usize, socket: &Arc<Socket>) -> io::Result<()> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Watched::default);
        }
        let datagrams = self.calls.datagrams();
        if datagrams {
            // Each datagram that leaves makes room, and would end a wait: there mostly is room.
            self.epoll.add_for_reading(&**socket, slot as u64)?;
        } else {
            self.epoll.add(&**socket, slot as u64)?;
        }
        if let Some(ends) = &self.ends {
            ends.add_for_end(&**socket, slot as u64)?;
        }
        // Nothing else is known yet; the first wait reports the state at registration.
        self.slots[slot] =
            Watched { socket: Some(Arc::clone(socket)), writable: datagrams, ..Watched::default() };
        Ok(())
    }

    fn forget(&mut self, slot: usize) {
        // Closing the descriptor takes it out of the epoll set; the event loop drops the last
        // owner.
        self.slots[slot] = Watched::default();
    }

    #[inline]
    fn attempt(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        let watched = &mut self.slots[slot];
        let Some(socket) = &watched.socket else {
            return Attempt::Now(Event::Failed(io::ErrorKind::NotConnected.into()));
        };
        let receives = matches!(op, IoOp::Recv(_) | IoOp::Discard(_));
        if !(if receives { watched.readable } else { watched.writable }) {
            return Attempt::Later;
        }
        let datagrams = self.calls.datagrams();
        // Of a stream, less than was asked for means that the queue is empty, or full (epoll(7)):
        // the next edge will tell. Trying at once would not only be a call that says EAGAIN: a send
        // would squeeze in the few bytes that the last acknowledgement made room for, and so on,
        // segment by segment. A stream that ended has no next edge, and a datagram is always less.
        let wanted = match op {
            _ if datagrams => 0,
            IoOp::Recv(n) if !watched.closed => (*n).min(self.calls.most()),
            IoOp::Discard(n) if !watched.closed => *n,
            IoOp::Send(bytes) | IoOp::SendEach(bytes, _) => bytes.len(),
            IoOp::SendFill(n) => self.calls.filler_part(*n),
            _ => 0,
        };
        let attempt = self.calls.perform(socket, op);
        match &attempt {
            Attempt::Later if receives => watched.readable = false,
            Attempt::Later => {
                watched.writable = false;
                if datagrams && !watched.tells_room {
                    watched.tells_room = true;
                    if let Err(error) = self.epoll.watch_writing(&**socket, slot as u64) {
                        return Attempt::Now(Event::Failed(error));
                    }
                }
            }
            Attempt::Now(Event::Received(bytes)) | Attempt::At(Event::Received(bytes), _)
                if bytes.len() < wanted =>
            {
                watched.readable = false;
            }
            Attempt::Now(Event::Discarded(n)) if *n < wanted => watched.readable = false,
            Attempt::Now(Event::Sent(n)) if *n < wanted => watched.writable = false,
            Attempt::Now(_) | Attempt::At(..) => {}
        }
        attempt
    }

    fn cancel(&mut self, _slot: usize) -> bool {
        true
    }

    fn rest(&mut self, until: Nanos) -> io::Result<()> {
        match &self.ends {
            // Which connection ended, the next look tells, too.
            Some(ends) => ends.wait(&mut self.events, Some(until.saturating_sub(clock::now()))),
            None => {
                clock::sleep_until(until);
                Ok(())
            }
        }
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        let timeout = if until == 0 {
            Some(0)
        } else {
            match self.alarm.end(until, self.epoll.is_precise(), clock::now) {
                WaitEnd::Timeout(ns) => Some(ns),
                WaitEnd::Timer => None,
                WaitEnd::NewTimer => {
                    self.timer.set(until)?;
                    None
                }
            }
        };
        self.epoll.wait(&mut self.events, timeout)?;
        for event in self.events.iter() {
            if event.token == WAKER {
                self.waker.reset();
                continue;
            }
            if event.token == TIMER {
                self.alarm.rang();
                continue;
            }
            let slot = event.token as usize;
            if let Some(watched) = self.slots.get_mut(slot) {
                watched.readable |= event.readable;
                watched.writable |= event.writable;
                watched.closed |= event.closed;
                ready.push(slot);
            }
        }
        Ok(())
    }
}
