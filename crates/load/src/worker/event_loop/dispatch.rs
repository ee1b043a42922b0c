//! The dispatch of load: it begins, goes to flows that rest, and ends.

use std::collections::VecDeque;
use std::io;

use hopbench_model::{Counter, Fault, LATE_NS, Nanos};
use hopbench_sys::{TcpInfo, clock, cpu};

use super::EventLoop;
use super::slot::{Slot, SlotState};
use crate::engine::{Attempt, Engine, IoOp};
use crate::flow::{Event, Flow};

/// How much later than its deadline an exchange may be given up, so that what was sent last still
/// is.
const LATENESS: Nanos = 100_000_000;
/// How much longer a server waits for its clients to go.
pub(super) const SERVER_LATENESS: Nanos = 1_000_000_000;

impl<F: Flow> EventLoop<F> {
    /// Starts and ends load when the window says so.
    pub(super) fn follow_window<E: Engine>(
        &mut self,
        engine: &mut E,
        now: Nanos,
    ) -> io::Result<()> {
        if !self.started {
            let load_start = self.load_start();
            if now >= load_start {
                self.started = true;
                self.find_cpu(now);
                self.recorder.window().begin(now);
                match &mut self.setup.arrivals {
                    Some(make) => self.arrivals = Some(make(load_start)),
                    None => self.release_all(engine, now)?,
                }
            }
        }
        if self.started && !self.finished && now >= self.recorder.window().end() {
            // Arrivals up to the end are due even when this worker comes late.
            self.assign_arrivals(engine, now, usize::MAX)?;
            self.arrivals = None;
            self.finished = true;
            if self.setup.hand_over.is_none() {
                let resting = std::mem::take(&mut self.resting);
                for (slot, _) in resting {
                    self.slots[slot].state = SlotState::Active;
                    self.tell(engine, slot, Event::Finish, now)?;
                }
            }
        }
        if self.finished && self.live > 0 && now >= self.cut_at() {
            self.cut(engine);
        }
        Ok(())
    }

    /// A thread that rested wakes where it ran last, for a whole run. A new one would be placed
    /// anew: where it happens to run must not be a property of its cell.
    fn find_cpu(&self, now: Nanos) {
        let cpus = &self.setup.cpus;
        if self.visits > 0 && cpus.len() > 1 {
            let at = (now / 1000) as usize % cpus.len();
            let _ = cpu::pin_thread(&cpus[at..=at]);
            let _ = cpu::pin_thread(cpus);
        }
    }

    /// When the load of the next visit starts; `Nanos::MAX` while that is not known.
    pub(super) fn load_start(&self) -> Nanos {
        let window = self.recorder.window();
        if window.visits() > self.visits { window.load_start() } else { Nanos::MAX }
    }

    /// Ends a visit after which flows stay as they are, when this worker is told so: a client's as
    /// soon as all of them rest, a server's when nothing is on its way. What was written down is
    /// handed over.
    pub(super) fn end_visit(&mut self) {
        let Some(hand_over) = self.setup.hand_over.clone() else { return };
        let is_there = |slot: &Slot<F>| slot.state != SlotState::Ended;
        if self.recorder.window().closed_visits() == self.visits {
            return;
        }
        let is_over = if self.setup.dial.is_none() {
            self.recorder.window().has_all_arrived()
                || self.slots.iter().all(|slot| !is_there(slot) || slot.flow.is_idle())
        } else {
            self.finished && self.live > 0 && self.resting.len() == self.live
        };
        if !is_over {
            return;
        }
        self.visits += 1;
        let there = self.slots.iter_mut().filter(|slot| is_there(slot));
        there.for_each(|slot| slot.flow.visited(&mut self.recorder));
        (self.started, self.finished, self.arrivals) = (false, false, None);
        hand_over.put(self.recorder.start_over());
        // Flows that stay are the next visit's, too.
        if self.setup.dial.is_none() {
            self.recorder.count(Counter::Accepted, self.live as u64);
        }
    }

    /// When what is still under way is not waited for any longer.
    pub(super) fn cut_at(&self) -> Nanos {
        // A server that stays prepared is told when the visit is over.
        if self.setup.dial.is_none() && self.setup.hand_over.is_some() {
            return Nanos::MAX;
        }
        if self.setup.dial.is_none() && self.recorder.window().has_all_arrived() {
            return 0;
        }
        // A server goes last: where it closed a connection first, the client would call that a
        // failure.
        let lateness = if self.setup.dial.is_some() { LATENESS } else { SERVER_LATENESS };
        self.recorder.window().end().saturating_add(self.setup.grace).saturating_add(lateness)
    }

    /// Ends every flow where it stands.
    pub(super) fn cut<E: Engine>(&mut self, engine: &mut E) {
        self.unopened.clear();
        for slot in 0..self.slots.len() {
            let Slot { pending, flow, state, .. } = &mut self.slots[slot];
            if let Some(op) = pending.take()
                && !engine.cancel(slot)
                && let Some(io) = IoOp::of(&op, || flow.outgoing())
                && let Attempt::Now(event) | Attempt::At(event, _) = engine.attempt(slot, &io)
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
        for (slot, _) in std::mem::take(&mut self.resting) {
            self.slots[slot].state = SlotState::Active;
            self.tell(engine, slot, Event::Go { intended: now }, now)?;
        }
        Ok(())
    }

    /// Gives every arrival that is due to a resting flow, or leaves it in the backlog, until that
    /// has `most`.
    pub(super) fn assign_arrivals<E: Engine>(
        &mut self,
        engine: &mut E,
        now: Nanos,
        most: usize,
    ) -> io::Result<()> {
        let end = self.recorder.window().end();
        // Since when a flow has been free. Where this worker comes late, all that came due
        // meanwhile waited for the worker, however few flows there are now for so many.
        let free_since = self.free_since();
        let is_behind = self.stalls.is_behind(now);
        if let Some(arrivals) = &mut self.arrivals {
            let late = arrivals.next().saturating_add(LATE_NS) < now;
            let free = self.resting.len() + self.awaiting_now;
            // Looked at only where more are due than flows are free, as in a burst.
            let mut room = None;
            while arrivals.next() <= now && arrivals.next() < end && self.backlog.len() < most {
                let intended = arrivals.next();
                arrivals.advance();
                let measured = self.recorder.window().holds(intended);
                if measured {
                    self.recorder.count(Counter::Intended, 1);
                }
                let busy = free_since.is_none_or(|since| since > intended);
                let is_beyond = !busy
                    && !late
                    && self.backlog.len() >= free
                    && self.backlog.len()
                        >= *room.get_or_insert_with(|| {
                            room_of(&self.slots, &self.resting, &self.awaiting)
                        });
                if measured && (busy || is_beyond) {
                    self.recorder.count(Counter::Queued, 1);
                } else if measured && late && is_behind {
                    self.recorder.count(Counter::BehindStall, 1);
                }
                self.backlog.push_back(intended);
            }
        }
        // All of them are assigned before any is sent: a flow whose exchange is over at once goes
        // on with the backlog, for a turn. Were it to rest in between, it could serve them all here
        // and nothing else would ever be done.
        while !self.backlog.is_empty()
            && let Some(slot) = self.next_free(engine)?
        {
            let Some(intended) = self.backlog.pop_front() else { break };
            self.slots[slot].state = SlotState::Active;
            self.tell(engine, slot, Event::Go { intended }, clock::now())?;
        }
        Ok(())
    }

    /// Since when a flow could have begun an exchange; `None`: none could.
    fn free_since(&mut self) -> Option<Nanos> {
        while let Some((slot, since)) = self.awaiting.front()
            && self.slots[*slot].awaits != Some(*since)
        {
            self.awaiting.pop_front();
        }
        // Those that are over lie behind one that is not, too.
        if self.awaiting.len() > 2 * self.slots.len() {
            let slots = &self.slots;
            self.awaiting.retain(|(slot, since)| slots[*slot].awaits == Some(*since));
        }
        let rests = self.resting.front().map(|(_, since)| *since);
        let awaits = self.awaiting.front().map(|(_, since)| *since);
        rests.into_iter().chain(awaits).min()
    }

    /// The flow that could have begun an exchange for the longest time, ready to do so.
    fn next_free<E: Engine>(&mut self, engine: &mut E) -> io::Result<Option<usize>> {
        // What a flow hears below may take the last of the backlog.
        while !self.backlog.is_empty()
            && let Some(since) = self.free_since()
        {
            if self.resting.front().is_some_and(|(_, rests)| *rests == since) {
                return Ok(self.resting.pop_front().map(|(slot, _)| slot));
            }
            let Some((slot, ..)) = self.awaiting.pop_front() else { break };
            self.awaits_no_more(slot);
            let Some(op) = self.slots[slot].pending.take() else { continue };
            if engine.cancel(slot) {
                return Ok(Some(slot));
            }
            // Something came: it hears that first.
            self.advance(engine, slot, op)?;
        }
        Ok(None)
    }

    /// A slot that received, and could have begun another exchange, goes on.
    pub(super) fn awaits_no_more(&mut self, slot: usize) {
        self.awaiting_now -= usize::from(self.slots[slot].awaits.take().is_some());
    }

    /// Another exchange for a flow that carries several at once.
    pub(super) fn more<'a>(&mut self, now: Nanos) -> Event<'a> {
        let is_on = self.started && !self.finished;
        match self.backlog.pop_front() {
            Some(intended) if self.started => Event::Go { intended },
            Some(intended) => {
                self.backlog.push_front(intended);
                Event::NoMore
            }
            None if is_on && self.arrivals.is_none() && now < self.recorder.window().end() => {
                Event::Go { intended: now }
            }
            None => Event::NoMore,
        }
    }

    /// What a flow that has had nothing to do since `since` should do; `None`: it rests.
    pub(super) fn next_assignment<'a>(
        &mut self,
        slot: usize,
        now: Nanos,
        since: Nanos,
    ) -> Option<Event<'a>> {
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
            // In an open loop arrivals may be due that were not assigned yet: not before the loop
            // has finished is there nothing more to do.
            let is_over =
                self.finished || (self.arrivals.is_none() && now >= self.recorder.window().end());
            if is_over && self.setup.hand_over.is_none() {
                return Some(Event::Finish);
            }
            if !is_over && self.arrivals.is_none() {
                return Some(Event::Go { intended: now });
            }
        }
        self.slots[slot].state = SlotState::Resting;
        // Where answers are read late, a flow that rests longer than another may be found later.
        let before = self.resting.iter().rposition(|(_, rests)| *rests <= since);
        self.resting.insert(before.map_or(0, |at| at + 1), (slot, since));
        None
    }

    /// A flow came to rest for the first time: its handshake is over.
    fn accepted(&mut self, slot: usize) {
        // A flow of a server was told when it was taken in.
        if self.setup.dial.is_some() {
            self.fit_packets(slot);
        }
        if let Some(bytes) = self.slots[slot].flow.bulk_bytes() {
            self.setup.sockets.note_setting("write_bytes", || bytes.to_string());
        }
        let (Some(dial), Some(socket)) = (&self.setup.dial, &self.slots[slot].socket) else {
            return;
        };
        if let Err(error) = dial.options.apply_accepted(socket, &self.setup.sockets) {
            self.fault.get_or_insert_with(|| Fault::environment(error));
        }
    }

    /// Tells a flow that moves bytes in bulk what the kernel sends at once.
    pub(super) fn fit_packets(&mut self, slot: usize) {
        let Slot { socket: Some(socket), flow, .. } = &mut self.slots[slot] else { return };
        if flow.bulk_bytes().is_some()
            && let Some(packet) = TcpInfo::of(socket).ok().and_then(|info| info.packet_bytes())
        {
            flow.fit_packets(packet);
        }
    }
}

/// Exchanges that the flows which rest or await could begin now.
fn room_of<F: Flow>(
    slots: &[Slot<F>],
    resting: &VecDeque<(usize, Nanos)>,
    awaiting: &VecDeque<(usize, Nanos)>,
) -> usize {
    let awaiting = awaiting.iter().filter(|(slot, since)| slots[*slot].awaits == Some(*since));
    resting.iter().chain(awaiting).map(|(slot, _)| slots[*slot].flow.room()).sum()
}
