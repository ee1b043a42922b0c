//! A client that reads answers when it sends next.
//!
//! A paced client that waits for each answer sleeps twice a request: until the answer comes, and
//! until the next send. Where the kernel says when an answer came, it may be read late, and one
//! sleep is enough.

use hopbench_model::{Fault, Nanos};

/// What a client does not sleep through in one piece, ns.
const LONGEST: Nanos = 10_000_000;
/// Longer answers are read as they come, bytes: the other end would wait for room. A new connection
/// has room for 64 KiB.
const MOST_BYTES: usize = 32 * 1024;
/// The kernel begins to note times so long after it was asked to, at most, ns.
const BEGIN: Nanos = 100_000_000;

/// Whether answers may be read late, and which slots speak against it.
#[derive(Debug)]
pub(super) struct Hold {
    /// Sockets have receive timestamps.
    has_timestamps: bool,
    /// The first answer has not shown yet whether it may be.
    is_unknown: bool,
    /// An answer was long, or its end was that of the connection.
    is_off: bool,
    /// When the first bytes came.
    heard_first: Option<Nanos>,
    /// Slots that wait for something else than a whole answer.
    hurried: usize,
}

impl Hold {
    pub(super) fn new(has_timestamps: bool) -> Self {
        Self { has_timestamps, is_unknown: true, is_off: false, heard_first: None, hurried: 0 }
    }

    /// Until when a client that has nothing to do before `next` may sleep at `now`.
    #[inline]
    pub(super) fn until(&self, now: Nanos, next: Nanos) -> Option<Nanos> {
        let may = self.has_timestamps && !self.is_unknown && !self.is_off && self.hurried == 0;
        (may && next > now && next - now <= LONGEST).then_some(next)
    }

    /// A slot waits. `is_late`: what it waits for may be read late.
    #[inline]
    pub(super) fn waits(&mut self, hurries: &mut bool, is_late: bool) {
        if self.has_timestamps && !is_late && !*hurries {
            *hurries = true;
            self.hurried += 1;
        }
    }

    /// A slot waits no more.
    #[inline]
    pub(super) fn goes_on(&mut self, hurries: &mut bool) {
        self.hurried -= usize::from(std::mem::take(hurries));
    }

    /// A slot got so many bytes in a row. `at`: whether the kernel said when.
    ///
    /// # Errors
    /// The kernel does not say it.
    #[inline]
    pub(super) fn hear(
        &mut self,
        bytes: usize,
        at: Option<Nanos>,
        now: Nanos,
    ) -> Result<(), Fault> {
        if !self.has_timestamps {
            return Ok(());
        }
        let first = *self.heard_first.get_or_insert(now);
        self.is_unknown = at.is_none();
        self.is_off |= bytes > MOST_BYTES;
        if at.is_none() && now.saturating_sub(first) > BEGIN {
            return Err(Fault::environment(
                "--receive-time kernel: the kernel did not say when an answer came; measure with \
                 --receive-time process",
            ));
        }
        Ok(())
    }

    /// The other end closed a connection. The kernel does not say when.
    pub(super) fn hear_end(&mut self) {
        self.is_off = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn known() -> Hold {
        let mut hold = Hold::new(true);
        hold.hear(100, Some(1), 2).unwrap();
        hold
    }

    #[test]
    fn a_client_sleeps_until_its_next_send() {
        let hold = known();
        assert_eq!(hold.until(MS, 2 * MS), Some(2 * MS));
        assert_eq!(hold.until(MS, 12 * MS), None, "too long");
        assert_eq!(hold.until(MS, MS), None);
        assert_eq!(hold.until(MS, 0), None, "there is something to do");
        assert_eq!(Hold::new(true).until(MS, 2 * MS), None, "no answer yet");
        let mut without = Hold::new(false);
        without.hear(100, Some(1), 2).unwrap();
        assert_eq!(without.until(MS, 2 * MS), None);
    }

    #[test]
    fn a_slot_that_waits_for_more_is_not_slept_through() {
        let (mut hold, mut one, mut other) = (known(), false, false);
        hold.waits(&mut one, true);
        assert!(hold.until(MS, 2 * MS).is_some());
        for _ in 0..2 {
            hold.waits(&mut one, false);
        }
        hold.waits(&mut other, false);
        hold.goes_on(&mut one);
        assert_eq!(hold.until(MS, 2 * MS), None);
        hold.goes_on(&mut other);
        hold.goes_on(&mut other);
        assert!(hold.until(MS, 2 * MS).is_some());
    }

    #[test]
    fn long_answers_and_those_that_end_with_a_connection_are_read_as_they_come() {
        let mut hold = known();
        hold.hear(MOST_BYTES + 1, Some(1), 2).unwrap();
        hold.hear(100, Some(1), 2).unwrap();
        assert_eq!(hold.until(MS, 2 * MS), None);
        let mut hold = known();
        hold.hear_end();
        assert_eq!(hold.until(MS, 2 * MS), None);
    }

    #[test]
    fn a_kernel_that_says_no_times_is_an_error() {
        let mut hold = Hold::new(true);
        hold.hear(100, None, MS).unwrap();
        assert_eq!(hold.until(MS, 2 * MS), None);
        hold.hear(100, Some(50 * MS), 51 * MS).unwrap();
        let fault = hold.hear(100, None, MS + BEGIN + 1).unwrap_err();
        assert!(fault.to_string().contains("--receive-time process"), "{fault}");
    }
}
