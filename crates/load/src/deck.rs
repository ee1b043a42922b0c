//! One worker's loop: flows, their timers, the pool of resting flows, and an engine.

mod slot;
#[cfg(test)]
mod tests;
mod timers;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use hopbench_model::{Counter, Fault, Nanos, Pacing};
use hopbench_sys::{Progress, clock};

use crate::dial::Dial;
use crate::engine::{Attempt, Engine, IoOp};
use crate::flow::{Event, Flow, Op};
use crate::inbox::Inbox;
use crate::readiness::Readiness;
use crate::recorder::Recorder;
use crate::schedule::Arrivals;
use crate::sockets::SocketSet;
use crate::throttle::Throttle;
use slot::{Slot, SlotState};
use timers::{NEVER, Timer};

/// Operations that one flow may do in a row before the others get their turn.
const TURN: u32 = 16;
/// Connection attempts of one worker under way at once: below every sane backlog.
const OPENING_AT_ONCE: usize = 256;
/// How much later than its deadline an exchange may be given up, so that what was sent last still is.
const LATENESS: Nanos = 100_000_000;
/// How much longer a server waits for its clients to go.
const SERVER_LATENESS: Nanos = 1_000_000_000;
/// The longest sleep: how late a worker may see that it should stop, if a wake-up is lost.
const LONGEST_WAIT: Nanos = 100_000_000;

/// Everything one worker needs besides its flows.
pub(crate) struct DeckSetup {
    pub dial: Option<Dial>,
    pub sockets: Arc<SocketSet>,
    /// Whether sockets live long enough to be worth watching.
    pub watch_sockets: bool,
    pub arrivals: Option<Box<dyn FnOnce(Nanos) -> Arrivals + Send>>,
    pub pacing: Pacing,
    pub throttle: Option<Arc<Throttle>>,
    /// How long exchanges that are under way at the window's end may still take.
    pub grace: Nanos,
}

pub(crate) struct Deck<F> {
    slots: Vec<Slot<F>>,
    free: Vec<usize>,
    unopened: VecDeque<usize>,
    opening: usize,
    live: usize,
    readiness: Arc<Readiness>,
    resting: VecDeque<usize>,
    backlog: VecDeque<Nanos>,
    timers: BinaryHeap<Timer>,
    /// At most one that counts per slot: the one that the slot knows of.
    deadlines: BinaryHeap<Timer>,
    /// Slots that had their turn and could go on at once.
    turns: Vec<usize>,
    arrivals: Option<Arrivals>,
    started: bool,
    finished: bool,
    recorder: Recorder,
    fault: Option<Fault>,
    setup: DeckSetup,
}

impl<F: Flow> Deck<F> {
    pub(crate) fn new(
        flows: impl IntoIterator<Item = (u32, F)>,
        recorder: Recorder,
        readiness: Arc<Readiness>,
        setup: DeckSetup,
    ) -> Self {
        let slots: Vec<_> = flows.into_iter().map(|(number, flow)| Slot::new(number, flow, None)).collect();
        Self {
            unopened: (0..slots.len()).collect(),
            live: slots.len(),
            slots,
            free: Vec::new(),
            opening: 0,
            readiness,
            resting: VecDeque::new(),
            backlog: VecDeque::new(),
            timers: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            turns: Vec::new(),
            arrivals: None,
            started: false,
            finished: false,
            recorder,
            fault: None,
            setup,
        }
    }

    /// Runs until every flow has ended (and the inbox is closed), or the window says stop, or a flow aborts.
    pub(crate) fn run<E: Engine>(mut self, engine: &mut E, inbox: Option<&Inbox<F>>) -> (Recorder, Option<Fault>) {
        if let Err(error) = self.turn_until_done(engine, inbox) {
            self.fault.get_or_insert_with(|| Fault::measuring(format!("the engine failed: {error}")));
        }
        self.recorder.count(Counter::Unsent, self.backlog.len() as u64);
        self.cut(engine);
        (self.recorder, self.fault)
    }

    fn turn_until_done<E: Engine>(
        &mut self,
        engine: &mut E,
        inbox: Option<&Inbox<F>>,
    ) -> io::Result<()> {
        let (mut ready, mut turns) = (Vec::new(), Vec::new());
        loop {
            let now = clock::now();
            if self.recorder.window().stopped() || self.fault.is_some() {
                return Ok(());
            }
            if let Some(inbox) = inbox {
                self.take_in(engine, inbox, now)?;
            }
            self.follow_window(engine, now)?;
            self.open_some(engine, now)?;
            self.assign_arrivals(engine, now)?;
            self.fire_timers(engine, now)?;
            if self.live == 0 && inbox.is_none_or(Inbox::closed) {
                return Ok(());
            }
            let timeout = self.timeout();
            engine.wait(timeout, &mut ready)?;
            std::mem::swap(&mut self.turns, &mut turns);
            for slot in ready.drain(..) {
                // One turn each: a slot that was named while it is queued gets it below.
                if !self.slots.get(slot).is_none_or(|s| s.queued) {
                    self.resume(engine, slot)?;
                }
            }
            for slot in turns.drain(..) {
                self.slots[slot].queued = false;
                self.resume(engine, slot)?;
            }
        }
    }

    /// Starts and ends load when the window says so.
    fn follow_window<E: Engine>(&mut self, engine: &mut E, now: Nanos) -> io::Result<()> {
        if !self.started {
            let load_start = self.recorder.window().load_start();
            if now >= load_start {
                self.started = true;
                match self.setup.arrivals.take() {
                    Some(make) => self.arrivals = Some(make(load_start)),
                    None => self.release_all(engine, now)?,
                }
            }
        }
        if self.started && !self.finished && now >= self.recorder.window().end() {
            // Arrivals up to the end are due even when this worker comes late.
            self.assign_arrivals(engine, now)?;
            self.arrivals = None;
            self.finished = true;
            let resting = std::mem::take(&mut self.resting);
            for slot in resting {
                self.slots[slot].state = SlotState::Active;
                self.tell(engine, slot, Event::Finish, now)?;
            }
        }
        if self.finished && self.live > 0 && now >= self.cut_at() {
            self.cut(engine);
        }
        Ok(())
    }

    /// When what is still under way is not waited for any longer.
    fn cut_at(&self) -> Nanos {
        // A server goes last: where it closed a connection first, the client would call that a failure.
        let lateness = if self.setup.dial.is_some() { LATENESS } else { SERVER_LATENESS };
        self.recorder.window().end().saturating_add(self.setup.grace).saturating_add(lateness)
    }

    /// Ends every flow where it stands.
    fn cut<E: Engine>(&mut self, engine: &mut E) {
        self.unopened.clear();
        for slot in 0..self.slots.len() {
            let Slot { pending, flow, state, .. } = &mut self.slots[slot];
            if let Some(op) = pending.take()
                && !engine.cancel(slot)
                && let Some(io) = IoOp::of(&op, || flow.outgoing())
                && let Attempt::Now(event) = engine.attempt(slot, &io)
            {
                // It was done and only not looked at: its bytes count.
                flow.on(event, clock::now(), &mut self.recorder);
            }
            if *state != SlotState::Ended {
                self.end(engine, slot);
            }
        }
    }

    fn release_all<E: Engine>(&mut self, engine: &mut E, now: Nanos) -> io::Result<()> {
        for slot in std::mem::take(&mut self.resting) {
            self.slots[slot].state = SlotState::Active;
            self.tell(engine, slot, Event::Go { intended: now }, now)?;
        }
        Ok(())
    }

    /// Opens flows, not too many at once.
    fn open_some<E: Engine>(&mut self, engine: &mut E, now: Nanos) -> io::Result<()> {
        while self.opening < OPENING_AT_ONCE
            && let Some(slot) = self.unopened.pop_front()
        {
            self.opening += 1;
            self.slots[slot].state = SlotState::Opening;
            let op = self.slots[slot].flow.start(now);
            self.advance(engine, slot, op)?;
        }
        Ok(())
    }

    /// Takes in flows whose sockets were accepted elsewhere.
    fn take_in<E: Engine>(&mut self, engine: &mut E, inbox: &Inbox<F>, now: Nanos) -> io::Result<()> {
        while let Some((number, socket, flow)) = inbox.take() {
            let socket = Arc::new(socket);
            let fresh = Slot::new(number, flow, Some(Arc::clone(&socket)));
            let slot = match self.free.pop() {
                Some(slot) => {
                    let generation = self.slots[slot].generation;
                    let queued = self.slots[slot].queued;
                    self.slots[slot] = Slot { generation, queued, ..fresh };
                    slot
                }
                None => {
                    self.slots.push(fresh);
                    self.slots.len() - 1
                }
            };
            self.live += 1;
            self.opening += 1;
            self.slots[slot].state = SlotState::Opening;
            engine.prepare(&socket)?;
            engine.adopt(slot, &socket)?;
            if self.setup.watch_sockets {
                self.setup.sockets.add(number, &socket);
            }
            let op = self.slots[slot].flow.start(now);
            self.advance(engine, slot, op)?;
        }
        Ok(())
    }

    /// Gives every arrival that is due to a resting flow, or leaves it in the backlog.
    fn assign_arrivals<E: Engine>(&mut self, engine: &mut E, now: Nanos) -> io::Result<()> {
        let end = self.recorder.window().end();
        if let Some(arrivals) = &mut self.arrivals {
            while arrivals.next() <= now && arrivals.next() < end {
                let intended = arrivals.next();
                arrivals.advance();
                if self.recorder.window().holds(intended) {
                    self.recorder.count(Counter::Intended, 1);
                }
                if self.backlog.len() >= self.resting.len() {
                    self.recorder.count(Counter::Queued, 1);
                }
                self.backlog.push_back(intended);
            }
        }
        // All of them are dealt out before any is sent: a flow whose exchange is over at once goes on with the
        // backlog, for a turn. Were it to rest in between, it could serve them all here and nothing else would
        // ever be done.
        while !self.resting.is_empty()
            && let Some(intended) = self.backlog.pop_front()
            && let Some(slot) = self.resting.pop_front()
        {
            self.slots[slot].state = SlotState::Active;
            self.tell(engine, slot, Event::Go { intended }, clock::now())?;
        }
        Ok(())
    }

    fn resume<E: Engine>(&mut self, engine: &mut E, slot: usize) -> io::Result<()> {
        match self.slots.get_mut(slot).filter(|s| !s.held).and_then(|s| s.pending.take()) {
            Some(op) => self.advance(engine, slot, op),
            None => Ok(()),
        }
    }

    fn tell<E: Engine>(&mut self, engine: &mut E, slot: usize, event: Event<'_>, now: Nanos) -> io::Result<()> {
        let op = self.slots[slot].flow.on(event, now, &mut self.recorder);
        self.advance(engine, slot, op)
    }

    /// Does what a flow wants, and what it wants next, until it has to wait.
    fn advance<E: Engine>(&mut self, engine: &mut E, slot: usize, mut op: Op) -> io::Result<()> {
        let mut turn = TURN;
        loop {
            // Counted here and not at the end: an attempt that fails at once is one too.
            if turn == 0 && IoOp::of(&op, || &[]).is_some() {
                let entry = &mut self.slots[slot];
                entry.pending = Some(op);
                if !std::mem::replace(&mut entry.queued, true) {
                    self.turns.push(slot);
                }
                return Ok(());
            }
            turn = turn.saturating_sub(1);
            let entry = &mut self.slots[slot];
            // The first try of a connection makes the socket; later ones ask the engine how far it is.
            if matches!(op, Op::Connect)
                && entry.socket.is_none()
                && let Err(error) = self.connect(engine, slot)
            {
                op = self.slots[slot].flow.on(Event::Failed(error), clock::now(), &mut self.recorder);
                continue;
            }
            let entry = &mut self.slots[slot];
            let Slot { flow, .. } = entry;
            if let Some(io) = IoOp::of(&op, || flow.outgoing()) {
                match engine.attempt(slot, &io) {
                    Attempt::Later => {
                        entry.pending = Some(op);
                        if let Some(deadline) = entry.flow.deadline() {
                            self.watch(slot, deadline);
                        }
                        return Ok(());
                    }
                    Attempt::Now(event) => {
                        let moved = match &event {
                            Event::Sent(n) | Event::Discarded(n) => *n,
                            Event::Received(bytes) => bytes.len(),
                            _ => 0,
                        };
                        let now = clock::now();
                        if matches!(event, Event::Connected) && self.setup.watch_sockets
                            && let Some(socket) = &entry.socket
                        {
                            self.setup.sockets.add(entry.number, socket);
                        }
                        op = entry.flow.on(event, now, &mut self.recorder);
                        if let Some(throttle) = &self.setup.throttle
                            && let Some(until) = throttle.charge(moved, now)
                            && IoOp::of(&op, || &[]).is_some()
                        {
                            entry.pending = Some(op);
                            entry.held = true;
                            self.timers.push(Reverse((until, slot, entry.generation)));
                            return Ok(());
                        }
                    }
                }
                continue;
            }
            let now = clock::now();
            let event = match op {
                Op::FinishSending => {
                    if let Some(socket) = &self.slots[slot].socket {
                        socket.shutdown(Shutdown::Write);
                    }
                    Event::FinishedSending
                }
                Op::Disconnect => {
                    self.close(engine, slot);
                    Event::Disconnected
                }
                Op::Wait(until) => {
                    self.timers.push(Reverse((until, slot, self.slots[slot].generation)));
                    return Ok(());
                }
                Op::Rest => match self.next_assignment(slot, now) {
                    Some(event) => event,
                    None => return Ok(()),
                },
                Op::End => {
                    self.end(engine, slot);
                    return Ok(());
                }
                Op::Abort(fault) => {
                    self.fault.get_or_insert(*fault);
                    return Ok(());
                }
                Op::Connect | Op::Send | Op::SendFill(_) | Op::Recv(_) | Op::Discard(_) => unreachable!("done above"),
            };
            op = self.slots[slot].flow.on(event, now, &mut self.recorder);
        }
    }

    /// What a flow that has nothing to do should do; `None`: it rests.
    fn next_assignment<'a>(&mut self, slot: usize, now: Nanos) -> Option<Event<'a>> {
        if self.slots[slot].state == SlotState::Opening {
            self.opening -= 1;
            self.accepted(slot);
            self.readiness.one_more();
        }
        self.slots[slot].state = SlotState::Active;
        if self.started {
            if let Some(intended) = self.backlog.pop_front() {
                return Some(Event::Go { intended });
            }
            // In an open loop arrivals may be due that were not dealt out yet: not before the deck has
            // finished is there nothing more to do.
            if self.finished || (self.arrivals.is_none() && now >= self.recorder.window().end()) {
                return Some(Event::Finish);
            }
            if self.arrivals.is_none() {
                return Some(Event::Go { intended: now });
            }
        }
        self.slots[slot].state = SlotState::Resting;
        self.resting.push_back(slot);
        None
    }

    /// A flow came to rest for the first time: its greeting is over.
    fn accepted(&mut self, slot: usize) {
        let (Some(dial), Some(socket)) = (&self.setup.dial, &self.slots[slot].socket) else { return };
        if let Err(error) = dial.options.apply_segment(socket, &self.setup.sockets) {
            self.fault.get_or_insert_with(|| Fault::environment(format!("UDP segmentation offload: {error}")));
        }
    }

    fn connect<E: Engine>(&mut self, engine: &mut E, slot: usize) -> io::Result<()> {
        let dial = self.setup.dial.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let socket = dial.open(self.slots[slot].number, &self.setup.sockets)?;
        engine.prepare(&socket)?;
        // An unconnected socket must not be watched yet: epoll reports it as writable.
        let _: Progress = socket.connect(dial.peer)?;
        let socket = Arc::new(socket);
        engine.adopt(slot, &socket)?;
        self.slots[slot].socket = Some(socket);
        Ok(())
    }

    fn close<E: Engine>(&mut self, engine: &mut E, slot: usize) {
        let entry = &mut self.slots[slot];
        if let Some(socket) = entry.socket.take() {
            if self.setup.watch_sockets {
                self.setup.sockets.retire(entry.number, &socket);
            }
            engine.forget(slot);
        }
    }

    fn end<E: Engine>(&mut self, engine: &mut E, slot: usize) {
        self.close(engine, slot);
        let entry = &mut self.slots[slot];
        entry.flow.closing(&mut self.recorder);
        if entry.state == SlotState::Opening {
            self.opening -= 1;
        }
        entry.state = SlotState::Ended;
        entry.generation = entry.generation.wrapping_add(1);
        entry.watched = NEVER;
        self.live -= 1;
        self.free.push(slot);
    }
}
