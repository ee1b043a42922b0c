//! Stalls of the answers: requests are open, a worker looks for answers in time, and nothing at all
//! comes. All answers that were held back then come at once, and the worker is late with what comes
//! due while it takes them in.

use hopbench_model::{LATE_NS, Nanos};

/// A shorter silence is none: an answer more or less is not what makes a worker late.
const SHORTEST: Nanos = 5_000_000;

/// What one worker knows of stalls.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    /// Since when requests are open and nothing came.
    silent_since: Option<Nanos>,
    /// When the worker looked last, and nothing had come.
    silent_until: Nanos,
    /// By when the worker was to wake up.
    awake_by: Nanos,
    /// Whether something came since the worker looked last.
    has_heard: bool,
    /// Until when the worker may be late with what a stall held back.
    behind_until: Nanos,
}

impl Stalls {
    /// A turn of the worker begins. `is_open`: it waits for answers.
    pub(super) fn look(&mut self, now: Nanos, is_open: bool) {
        if !self.has_heard {
            // Nothing is left of what was held back.
            self.behind_until = 0;
        }
        // A worker that was not awake cannot say that nothing came.
        let is_new = self.has_heard || now > self.awake_by.saturating_add(LATE_NS);
        let since = self.silent_since.filter(|_| !is_new).unwrap_or(now);
        self.silent_since = is_open.then_some(since);
        self.silent_until = now;
        self.has_heard = false;
        self.awake_by = Nanos::MAX;
    }

    /// The worker goes to sleep at `now`, until `until` at the latest.
    pub(super) fn sleep(&mut self, now: Nanos, until: Nanos) {
        self.awake_by = until.max(now);
    }

    /// Something came.
    #[inline]
    pub(super) fn hear(&mut self, now: Nanos) {
        if self.has_heard {
            return;
        }
        self.has_heard = true;
        let silence = self.silent_since.map_or(0, |since| self.silent_until.saturating_sub(since));
        if now > self.awake_by.saturating_add(LATE_NS) {
            // It came while the worker was not awake.
            self.behind_until = 0;
        } else if silence >= SHORTEST {
            // A worker that needs longer than the stall was cannot keep up with the rate.
            self.behind_until = now.saturating_add(silence);
        }
    }

    /// Whether the worker is late at `now` because of a stall.
    pub(super) fn is_behind(&self, now: Nanos) -> bool {
        now < self.behind_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// A worker that looked once a ms from 1 s on, for so many ms, and heard nothing. It was to
    /// wake up once more a ms later.
    fn silent(ms: Nanos, is_open: bool) -> (Stalls, Nanos) {
        let mut stalls = Stalls::default();
        let start = 1000 * MS;
        for now in (0..=ms).map(|ms| start + ms * MS) {
            stalls.look(now, is_open);
            stalls.sleep(now, now + MS);
        }
        (stalls, start + ms * MS)
    }

    #[test]
    fn what_comes_due_while_held_back_answers_are_taken_in_is_behind_the_stall() {
        let (mut stalls, now) = silent(20, true);
        assert!(!stalls.is_behind(now), "nothing came yet");
        // To take them in takes 6 ms, and 4 ms more for those that did not fit.
        stalls.hear(now + MS / 2);
        stalls.look(now + 6 * MS, true);
        assert!(stalls.is_behind(now + 6 * MS));
        stalls.sleep(now + 7 * MS, now + 6 * MS);
        stalls.hear(now + 7 * MS);
        stalls.look(now + 11 * MS, true);
        assert!(stalls.is_behind(now + 11 * MS));
        // It sleeps again, and nothing came.
        stalls.sleep(now + 11 * MS, now + 12 * MS);
        stalls.look(now + 12 * MS, true);
        assert!(!stalls.is_behind(now + 12 * MS));
    }

    #[test]
    fn a_worker_that_takes_longer_than_the_stall_was_is_late_by_itself() {
        let (mut stalls, now) = silent(20, true);
        stalls.hear(now);
        stalls.look(now + 19 * MS, true);
        assert!(stalls.is_behind(now + 19 * MS));
        stalls.sleep(now + 19 * MS, now);
        stalls.hear(now + 19 * MS);
        stalls.look(now + 21 * MS, true);
        assert!(!stalls.is_behind(now + 21 * MS));
    }

    #[test]
    fn a_worker_that_was_stopped_saw_no_stall() {
        // The answers came while it was stopped: it finds them when it goes on.
        let (mut stalls, now) = silent(3, true);
        stalls.hear(now + 50 * MS);
        stalls.look(now + 55 * MS, true);
        assert!(!stalls.is_behind(now + 55 * MS));
        // A signal ends its sleep without an answer, which it finds at the next look.
        let (mut stalls, now) = silent(3, true);
        stalls.look(now + 50 * MS, true);
        stalls.sleep(now + 50 * MS, now + 51 * MS);
        stalls.hear(now + 50 * MS);
        stalls.look(now + 55 * MS, true);
        assert!(!stalls.is_behind(now + 55 * MS));
        // A server stood still, and then the worker did.
        let (mut stalls, now) = silent(20, true);
        stalls.hear(now + 50 * MS);
        assert!(!stalls.is_behind(now + 50 * MS));
    }

    #[test]
    fn a_silence_that_is_short_or_that_nobody_has_to_break_is_none() {
        for (ms, is_open) in [(4, true), (20, false)] {
            let (mut stalls, now) = silent(ms, is_open);
            stalls.hear(now);
            stalls.look(now + 3 * MS, true);
            assert!(!stalls.is_behind(now + 3 * MS), "{ms} ms, {is_open}");
        }
    }
}
