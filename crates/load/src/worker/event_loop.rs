//! The event loop of one worker: flows, their timers, the pool of resting flows, and an engine.

mod dispatch;
mod gather;
mod late_reads;
mod setup;
mod slot;
mod stalls;
#[cfg(test)]
mod tests;
mod timers;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use hopbench_model::{Counter, Fault, Nanos};
use hopbench_sys::{Progress, clock};

use crate::engine::{Attempt, Engine, IoOp};
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::schedule::Arrivals;
use crate::worker::dial::Transport;
use crate::worker::inbox::{AcceptedFlow, Inbox};
use crate::worker::readiness::Readiness;
use gather::Gather;
use late_reads::LateReads;
pub(crate) use setup::EventLoopSetup;
use slot::{NEVER, Slot, SlotState, Timer};
use stalls::Stalls;

/// Operations that one flow may do in a row before the others get their turn.
const TURN: u32 = 16;
/// A turn is over sooner when so many bytes were moved for each of its operations: bulk goes round
/// after every write, so that what one flow sent is still in the caches when it is received.
const TURN_BYTES: usize = 4096;
/// Up to so many flows ([`FEW`]) a turn is longer: with four writes of 128 KiB in a row four
/// connections moved 1.8 times as much as with one (27 against 15 Gbit/s over veth, each end on a
/// CPU), eight moved less.
const LONG_TURN_BYTES: usize = 4 * TURN_BYTES;
/// See [`LONG_TURN_BYTES`].
const FEW: usize = 4;
/// Connection attempts of one worker under way at once: below every sane backlog.
const OPENING_AT_ONCE: usize = 256;
/// The longest sleep: how late a worker may see that it should stop, if a wake-up is lost.
const LONGEST_WAIT: Nanos = 100_000_000;
/// The same between two visits: hundreds of workers that rest must cost nothing.
const LONGEST_REST: Nanos = 10_000_000_000;

pub(crate) struct EventLoop<F> {
    slots: Vec<Slot<F>>,
    free: Vec<usize>,
    unopened: VecDeque<usize>,
    opening: usize,
    live: usize,
    readiness: Arc<Readiness>,
    /// Slots that rest and since when, the one that rests the longest first.
    resting: VecDeque<(usize, Nanos)>,
    /// Slots that receive and could begin another exchange, since when, and their generation. Those
    /// that do so no longer stay here until they come to the front.
    awaiting: VecDeque<(usize, Nanos)>,
    /// How many of them still do.
    awaiting_now: usize,
    backlog: VecDeque<Nanos>,
    timers: BinaryHeap<Timer>,
    /// At most one that counts per slot: the one that the slot knows of.
    deadlines: BinaryHeap<Timer>,
    /// Slots that had their turn and could go on at once.
    turns: Vec<usize>,
    arrivals: Option<Arrivals>,
    /// Of the answers, where arrivals have a schedule.
    stalls: Stalls,
    late_reads: LateReads,
    started: bool,
    finished: bool,
    /// Visits that are over.
    visits: u32,
    recorder: Recorder,
    fault: Option<Fault>,
    setup: EventLoopSetup,
}

impl<F: Flow> EventLoop<F> {
    pub(crate) fn new(
        flows: impl IntoIterator<Item = (u32, F)>,
        recorder: Recorder,
        readiness: Arc<Readiness>,
        setup: EventLoopSetup,
    ) -> Self {
        let slots: Vec<_> =
            flows.into_iter().map(|(number, flow)| Slot::new(number, flow, None)).collect();
        Self {
            unopened: (0..slots.len()).collect(),
            live: slots.len(),
            slots,
            free: Vec::new(),
            opening: 0,
            readiness,
            resting: VecDeque::new(),
            awaiting: VecDeque::new(),
            awaiting_now: 0,
            backlog: VecDeque::new(),
            timers: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            turns: Vec::new(),
            arrivals: None,
            stalls: Stalls::default(),
            late_reads: LateReads::new(setup.has_receive_timestamps(), Arc::clone(&setup.sockets)),
            started: false,
            finished: false,
            // A thread that starts in a later visit has nothing to hand over of earlier ones.
            visits: recorder.window().closed_visits(),
            recorder,
            fault: None,
            setup,
        }
    }

    /// Runs until every flow has ended (and the inbox is closed), or the window says stop, or a
    /// flow aborts.
    pub(crate) fn run<E: Engine>(
        mut self,
        engine: &mut E,
        inbox: Option<&Inbox<F>>,
    ) -> (Recorder, Option<Fault>) {
        if let Err(error) = self.turn_until_done(engine, inbox) {
            self.fault
                .get_or_insert_with(|| Fault::measuring(format!("the engine failed: {error}")));
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
        let mut gather = Gather::new(self.setup.coalesce_ns);
        loop {
            let now = clock::now();
            if self.recorder.window().stopped() || self.fault.is_some() {
                return Ok(());
            }
            if let Some(inbox) = inbox {
                self.take_in(engine, inbox, now)?;
            }
            if self.arrivals.is_some() {
                self.stalls.look(now, self.live > self.resting.len());
            }
            self.follow_window(engine, now)?;
            self.open_some(engine, now)?;
            self.assign_arrivals(engine, now, usize::MAX)?;
            self.fire_timers(engine, now)?;
            self.end_visit();
            if self.live == 0 && inbox.is_none_or(Inbox::closed) {
                return Ok(());
            }
            let until = self.next_work(now);
            if self.arrivals.is_some() {
                self.stalls.sleep(clock::now(), until);
            }
            self.wait(engine, until, &mut gather, &mut ready)?;
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
    fn take_in<E: Engine>(
        &mut self,
        engine: &mut E,
        inbox: &Inbox<F>,
        now: Nanos,
    ) -> io::Result<()> {
        while let Some(AcceptedFlow { number, socket, flow, flow_guard }) = inbox.take() {
            let fresh = Slot {
                flow_guard: Some(flow_guard),
                ..Slot::new(number, flow, Some(Arc::clone(&socket)))
            };
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
            self.recorder.count(Counter::Accepted, 1);
            self.opening += 1;
            self.slots[slot].state = SlotState::Opening;
            engine.adopt(slot, &socket)?;
            self.setup.show(number, &socket);
            // A server's receiver does not rest before it begins.
            self.fit_packets(slot);
            let op = self.slots[slot].flow.start(now);
            self.advance(engine, slot, op)?;
        }
        Ok(())
    }

    fn resume<E: Engine>(&mut self, engine: &mut E, slot: usize) -> io::Result<()> {
        let Some(entry) = self.slots.get_mut(slot).filter(|entry| !entry.held) else {
            return Ok(());
        };
        match entry.pending.take() {
            Some(op) => self.advance(engine, slot, op),
            None => {
                if entry.state != SlotState::Ended && entry.flow.is_displaced() {
                    self.end(engine, slot);
                }
                Ok(())
            }
        }
    }

    fn tell<E: Engine>(
        &mut self,
        engine: &mut E,
        slot: usize,
        event: Event<'_>,
        now: Nanos,
    ) -> io::Result<()> {
        let op = self.slots[slot].flow.on(event, now, &mut self.recorder);
        self.advance(engine, slot, op)
    }

    /// Does what a flow wants, and what it wants next, until it has to wait.
    fn advance<E: Engine>(&mut self, engine: &mut E, slot: usize, mut op: Op) -> io::Result<()> {
        self.awaits_no_more(slot);
        self.late_reads.goes_on(&mut self.slots[slot].is_urgent);
        let mut turn = TURN;
        // Of an answer that it receives below: the bytes, and when the last of them came.
        let (mut heard_bytes, mut heard_at) = (0, None);
        let turn_bytes = if self.live <= FEW { LONG_TURN_BYTES } else { TURN_BYTES };
        loop {
            // Whatever the flow did in between, a timer of its own for one: its next byte has to
            // wait.
            if let Some(until) = self.throttled_until(slot, &op) {
                let entry = &mut self.slots[slot];
                entry.pending = Some(op);
                entry.held = true;
                self.timers.push(Reverse((until, slot, entry.generation)));
                return Ok(());
            }
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
            // The first try of a connection makes the socket; later ones ask the engine how far it
            // is.
            if matches!(op, Op::Connect)
                && entry.socket.is_none()
                && let Err(error) = self.connect(engine, slot)
            {
                op = self.slots[slot].flow.on(
                    Event::Failed(error),
                    clock::now(),
                    &mut self.recorder,
                );
                continue;
            }
            let entry = &mut self.slots[slot];
            let Slot { flow, .. } = entry;
            if let Some(io) = IoOp::of(&op, || flow.outgoing()) {
                let (event, stamp) = match engine.attempt(slot, &io) {
                    Attempt::Later => {
                        let may_read_late = entry.flow.may_read_late();
                        self.late_reads.waits(&mut entry.is_urgent, may_read_late);
                        // In a closed loop one that has room has asked for more.
                        if matches!(op, Op::Await(_)) && self.arrivals.is_some() {
                            let since = clock::now();
                            entry.awaits = Some(since);
                            self.awaiting_now += 1;
                            self.awaiting.push_back((slot, since));
                        }
                        entry.pending = Some(op);
                        if let Some(deadline) = entry.flow.deadline() {
                            self.watch(slot, deadline);
                        }
                        return Ok(());
                    }
                    Attempt::Now(event) => (event, None),
                    Attempt::At(event, stamp) => (event, Some(stamp)),
                };
                let moved = match &event {
                    Event::Sent(n) | Event::Discarded(n) => *n,
                    Event::Received(bytes) => bytes.len(),
                    _ => 0,
                };
                turn = turn.saturating_sub((moved / turn_bytes) as u32);
                let now = clock::now();
                let mut at = now;
                if matches!(event, Event::Connected)
                    && let Some(socket) = &entry.socket
                {
                    self.setup.show(entry.number, socket);
                    self.late_reads.connected(socket);
                }
                if matches!(event, Event::Received(_)) {
                    if self.arrivals.is_some() {
                        self.stalls.hear(now);
                    }
                    // What a handshake hears is no answer, and what belongs to one that was heard
                    // before is timed as it is read.
                    if heard_bytes > 0 || entry.flow.may_read_late() {
                        heard_bytes += moved;
                        match self.late_reads.time(heard_bytes, stamp, now) {
                            Ok(time) => at = time,
                            Err(fault) => drop(self.fault.get_or_insert(fault)),
                        }
                        heard_at = stamp.map(|_| at);
                    }
                }
                op = entry.flow.on(event, at, &mut self.recorder);
                if let Some(throttle) = &self.setup.throttle
                    && let Some(until) = throttle.charge(moved, now)
                {
                    entry.held_until = until;
                }
                continue;
            }
            let now = clock::now();
            let mut since = now;
            if matches!(op, Op::Rest) {
                (heard_bytes, since) = (0, heard_at.take().unwrap_or(now));
            }
            let Some(event) = self.without_io(engine, slot, op, now, since) else {
                return Ok(());
            };
            op = self.slots[slot].flow.on(event, now, &mut self.recorder);
        }
    }

    /// Does what a flow wants where that moves no bytes; `None` where it waits or has ended. What
    /// it received last came at `since`.
    #[inline]
    fn without_io<E: Engine>(
        &mut self,
        engine: &mut E,
        slot: usize,
        op: Op,
        now: Nanos,
        since: Nanos,
    ) -> Option<Event<'static>> {
        match op {
            Op::FinishSending => {
                if let Some(socket) = &self.slots[slot].socket {
                    socket.shutdown(Shutdown::Write);
                }
                Some(Event::FinishedSending)
            }
            Op::Disconnect => {
                self.close(engine, slot);
                Some(Event::Disconnected)
            }
            Op::Wait(until) => {
                self.timers.push(Reverse((until, slot, self.slots[slot].generation)));
                None
            }
            Op::Spin(until) => {
                while clock::now() < until {
                    std::hint::spin_loop();
                }
                Some(Event::Timer)
            }
            Op::Rest => self.next_assignment(slot, now, since),
            Op::More => Some(self.more(now)),
            Op::End => {
                self.end(engine, slot);
                None
            }
            Op::Abort(fault) => {
                self.fault.get_or_insert(*fault);
                None
            }
            Op::Connect
            | Op::Send
            | Op::SendEach(_)
            | Op::SendFill(_)
            | Op::Recv(_)
            | Op::Await(_)
            | Op::Discard(_) => {
                unreachable!("they move bytes")
            }
        }
    }

    /// Until when the throttle holds an operation that moves bytes, if it does.
    #[inline]
    fn throttled_until(&self, slot: usize, op: &Op) -> Option<Nanos> {
        let throttle = self.setup.throttle.as_ref()?;
        let moves_bytes = matches!(
            op,
            Op::Send
                | Op::SendEach(_)
                | Op::SendFill(_)
                | Op::Recv(_)
                | Op::Await(_)
                | Op::Discard(_)
        );
        if !moves_bytes {
            return None;
        }
        let now = clock::now();
        let until = self.slots[slot].held_until.max(throttle.full_until(now).unwrap_or(0));
        (until > now).then_some(until)
    }

    fn connect<E: Engine>(&mut self, engine: &mut E, slot: usize) -> io::Result<()> {
        let dial = self.setup.dial.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let socket = dial.open(self.slots[slot].number, &self.setup.sockets)?;
        // An unconnected socket must not be watched yet: epoll reports it as writable. One for
        // echoes is connected already, and gVisor refuses to do it again.
        if dial.transport != Transport::Icmp {
            let _: Progress = socket.connect(dial.peer)?;
        }
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
        // Before the socket: who sees its end may open the next flow at once, and finds a place.
        self.slots[slot].flow_guard = None;
        self.close(engine, slot);
        let entry = &mut self.slots[slot];
        entry.flow.closing(&mut self.recorder);
        if entry.state == SlotState::Opening {
            self.opening -= 1;
        }
        entry.state = SlotState::Ended;
        self.awaiting_now -= usize::from(entry.awaits.take().is_some());
        self.late_reads.goes_on(&mut entry.is_urgent);
        entry.generation = entry.generation.wrapping_add(1);
        entry.watched = NEVER;
        self.live -= 1;
        if self.setup.dial.is_none() {
            self.recorder.count(Counter::Ended, 1);
        }
        self.free.push(slot);
    }
}
