//! The times that an event loop waits for: timers, deadlines, and how long it may sleep.

use std::cmp::Reverse;
use std::io;

use hopbench_model::{Nanos, Pacing};
use hopbench_sys::clock;

use super::gather::Gather;
use super::slot::NEVER;
use super::{EventLoop, LONGEST_REST, LONGEST_WAIT, OPENING_AT_ONCE};
use crate::engine::Engine;
use crate::flow::{Event, Flow};

/// The most connections that wait for answers while a client sleeps. One look at an engine names
/// more.
const MOST_OPEN: usize = 128;
/// The same where fewer rest than are due at once: a send then waits until the answers are read.
const MOST_BUSY: usize = 16;
/// A sleep that ends so soon before its time is followed by spinning, ns. The kernel may end it
/// 0.1 % too soon, and another sleep would cost as much as the first.
const RIGHT_BEFORE: Nanos = 10_000;

impl<F: Flow> EventLoop<F> {
    /// Until when nothing but the engine can have work; 0 when there is work now.
    pub(super) fn next_work(&self, now: Nanos) -> Nanos {
        if !self.turns.is_empty() || (self.opening < OPENING_AT_ONCE && !self.unopened.is_empty()) {
            return 0;
        }
        let mut next = NEVER;
        if !self.started {
            next = self.load_start();
        } else if !self.finished {
            next = self.recorder.window().end();
            if let Some(arrivals) = &self.arrivals {
                next = next.min(arrivals.next());
            }
        } else if self.live > 0 {
            next = self.cut_at();
        }
        if let Some(Reverse((at, _, _))) = self.timers.peek() {
            next = next.min(*at);
        }
        // Only what keeps a schedule is worth spinning for.
        let keeps_schedule = self.arrivals.is_some() || !self.timers.is_empty();
        if self.setup.pacing == Pacing::Spin && self.started && keeps_schedule {
            return 0;
        }
        if let Some(Reverse((at, _, _))) = self.deadlines.peek() {
            next = next.min(*at);
        }
        let rests = self.visits > 0 && !self.started;
        next.min(now + if rests { LONGEST_REST } else { LONGEST_WAIT })
    }

    /// Waits until something may be ready, or until `until`, before which there is nothing to do.
    pub(super) fn wait<E: Engine>(
        &mut self,
        engine: &mut E,
        until: Nanos,
        gather: &mut Gather,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        let sleeps = self.reads_late(until);
        if sleeps {
            engine.rest(until)?;
            while (1..=RIGHT_BEFORE).contains(&until.saturating_sub(clock::now())) {
                std::hint::spin_loop();
            }
            // What is due goes first where it need not wait for what is read below.
            let resting = self.resting.len();
            if resting > 0 {
                self.assign_arrivals(engine, clock::now(), resting)?;
            }
            self.late_reads.looks(sleeps);
            engine.wait(0, ready)?;
        } else {
            self.late_reads.looks(sleeps);
            gather.wait(engine, until, !self.turns.is_empty(), ready)?;
        }
        Ok(())
    }

    fn reads_late(&self, until: Nanos) -> bool {
        let Some(arrivals) = &self.arrivals else { return false };
        let resting = self.resting.len();
        let open = self.live.saturating_sub(resting);
        let most = if resting < arrivals.at_once() { MOST_BUSY } else { MOST_OPEN };
        self.backlog.is_empty()
            && (1..=most).contains(&open)
            && self.late_reads.may_sleep(clock::now(), until)
    }

    /// Wakes the flows whose time has come, and gives up what took too long.
    pub(super) fn fire_timers<E: Engine>(&mut self, engine: &mut E, now: Nanos) -> io::Result<()> {
        while let Some(Reverse((at, slot, generation))) = self.timers.peek().copied() {
            if at > now {
                break;
            }
            self.timers.pop();
            if self.slots[slot].generation != generation {
                continue;
            }
            // A throttled operation waits under a timer too: it is done now, the flow never knew.
            self.slots[slot].held = false;
            match self.slots[slot].pending.take() {
                Some(op) => self.advance(engine, slot, op)?,
                None => self.tell(engine, slot, Event::Timer, clock::now())?,
            }
        }
        while let Some(Reverse((at, slot, generation))) = self.deadlines.peek().copied() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            let entry = &mut self.slots[slot];
            // A slot that an earlier deadline replaced, or that is another flow's by now.
            if entry.generation != generation || entry.watched != at {
                continue;
            }
            entry.watched = NEVER;
            // What the throttle holds is not the other end's fault; it is watched again once it
            // waits there.
            if entry.pending.is_none() || entry.held {
                continue;
            }
            match entry.flow.deadline() {
                Some(deadline) if deadline <= now => {
                    let Some(op) = entry.pending.take() else {
                        continue;
                    };
                    if engine.cancel(slot) {
                        self.tell(engine, slot, Event::TimedOut, now)?;
                    } else {
                        self.advance(engine, slot, op)?;
                    }
                }
                // The exchange that was watched is over, a later one is under way.
                Some(deadline) => self.watch(slot, deadline),
                None => {}
            }
        }
        Ok(())
    }

    /// Puts a slot among the deadlines, unless it is there under an earlier one: when that has
    /// passed, the flow is asked anew. So an exchange costs no entry, only every timeout's length
    /// does.
    pub(super) fn watch(&mut self, slot: usize, deadline: Nanos) {
        let entry = &mut self.slots[slot];
        if deadline < entry.watched {
            entry.watched = deadline;
            self.deadlines.push(Reverse((deadline, slot, entry.generation)));
        }
    }
}
