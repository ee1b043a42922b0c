//! Answers that a paced client reads when it sends next.
//!
//! A client that waits for each answer sleeps twice a request: until the answer comes, and until
//! the next send. Where the kernel says when an answer came, it may be read late, and one sleep is
//! enough.

use std::sync::Arc;

use hopbench_model::{Fault, Nanos};
use hopbench_sys::{Socket, TcpInfo, clock};

use crate::measure::socket_set::SocketSet;

/// The longest sleep without a look at answers, ns.
const LONGEST: Nanos = 10_000_000;
/// The longest time from an answer to the end of a wait for it, ns. What then seems to have come
/// earlier was not complete before.
const LONGEST_WAKE: Nanos = 1_000_000;
/// The longest time that the kernel may take to begin with timestamps, ns.
const LONGEST_BEGIN: Nanos = 100_000_000;
/// Answers in a row that may have none.
const MOST_UNSTAMPED: u32 = 8;

/// Whether answers may be read late, and when they came.
#[derive(Debug)]
pub(super) struct LateReads {
    has_timestamps: bool,
    /// What one segment of every connection holds, bytes. Of a longer answer the kernel says when
    /// its end came, though another part may have come later.
    segment_bytes: usize,
    /// What was received last had a timestamp.
    is_stamped: bool,
    /// Since when no answer had one, and how many there were.
    unstamped: Option<(Nanos, u32)>,
    /// An answer was longer than a segment.
    has_long: bool,
    /// Slots that wait for anything but the start of an answer.
    urgent: usize,
    /// When the last two looks at what came began. What the last one finds was not there before.
    looked: [Nanos; 2],
    /// The worker slept before the last look, and did not wait for answers.
    has_slept: bool,
    notes: Arc<SocketSet>,
}

impl LateReads {
    pub(super) fn new(has_timestamps: bool, notes: Arc<SocketSet>) -> Self {
        Self {
            has_timestamps,
            segment_bytes: usize::MAX,
            is_stamped: false,
            unstamped: None,
            has_long: false,
            urgent: 0,
            looked: [0; 2],
            has_slept: false,
            notes,
        }
    }

    /// Whether a client may sleep from `now` until `next`, before which it has nothing to do.
    #[inline]
    pub(super) fn may_sleep(&self, now: Nanos, next: Nanos) -> bool {
        let are_late = self.has_timestamps && self.is_stamped && !self.has_long;
        are_late && self.urgent == 0 && next > now && next - now <= LONGEST
    }

    /// A connection stands.
    pub(super) fn connected(&mut self, socket: &Socket) {
        if self.has_timestamps {
            let segment = TcpInfo::of(socket).ok().and_then(|info| info.segment_bytes());
            self.segment_bytes = self.segment_bytes.min(segment.unwrap_or(0));
        }
    }

    /// A slot begins to wait. `may_read_late`: for the start of an answer.
    #[inline]
    pub(super) fn waits(&mut self, is_urgent: &mut bool, may_read_late: bool) {
        if self.has_timestamps && !may_read_late && !*is_urgent {
            *is_urgent = true;
            self.urgent += 1;
        }
    }

    /// A slot waits no more.
    #[inline]
    pub(super) fn goes_on(&mut self, is_urgent: &mut bool) {
        self.urgent -= usize::from(std::mem::take(is_urgent));
    }

    /// A look at what came begins.
    #[inline]
    pub(super) fn looks(&mut self, has_slept: bool) {
        if self.has_timestamps {
            self.has_slept = has_slept;
            self.looked = [self.looked[1], clock::now()];
        }
    }

    /// When the last of so many bytes came, which a slot has received in a row until `now`. The
    /// kernel says `stamp`.
    ///
    /// # Errors
    /// The kernel has long said nothing.
    #[inline]
    pub(super) fn time(
        &mut self,
        bytes: usize,
        stamp: Option<Nanos>,
        now: Nanos,
    ) -> Result<Nanos, Fault> {
        if !self.has_timestamps {
            return Ok(now);
        }
        self.is_stamped = stamp.is_some();
        let Some(stamp) = stamp else {
            let (since, count) = self.unstamped.get_or_insert((now, 0));
            *count += 1;
            if now.saturating_sub(*since) <= LONGEST_BEGIN || *count <= MOST_UNSTAMPED {
                return Ok(now);
            }
            return Err(Fault::environment(
                "--receive-time: found `kernel`, and the kernel does not say when answers come; \
                 measure with `process`",
            ));
        };
        self.unstamped = None;
        if bytes > self.segment_bytes {
            if !std::mem::replace(&mut self.has_long, true) {
                self.notes.note_setting("read_at_once", || match self.segment_bytes {
                    0 => "the kernel does not say how long a segment is".to_owned(),
                    bytes => format!("answers are longer than a segment of {bytes} B"),
                });
            }
            return Ok(now);
        }
        if !self.has_slept && now.saturating_sub(stamp) > LONGEST_WAKE {
            return Ok(now);
        }
        // The look before the last would have found what was there. So a clock that was set, or
        // segments that came out of order, do not make an answer earlier than that.
        Ok(stamp.max(self.looked[0]).min(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn late_reads(has_timestamps: bool) -> LateReads {
        let mut late_reads = LateReads::new(has_timestamps, Arc::default());
        late_reads.segment_bytes = 1448;
        late_reads
    }

    fn stamped() -> LateReads {
        let mut late_reads = late_reads(true);
        late_reads.time(100, Some(1), 2).unwrap();
        late_reads
    }

    #[test]
    fn a_client_sleeps_until_its_next_send() {
        let known = stamped();
        assert!(known.may_sleep(MS, 2 * MS));
        assert!(!known.may_sleep(MS, 12 * MS), "too long");
        assert!(!known.may_sleep(MS, MS));
        assert!(!known.may_sleep(MS, 0), "there is something to do");
        assert!(!late_reads(true).may_sleep(MS, 2 * MS), "no answer yet");
        let mut without = late_reads(false);
        assert_eq!(without.time(100, None, 7), Ok(7));
        assert!(!without.may_sleep(MS, 2 * MS));
    }

    #[test]
    fn a_slot_that_waits_for_the_rest_of_an_answer_is_not_slept_through() {
        let (mut late_reads, mut one, mut other) = (stamped(), false, false);
        late_reads.waits(&mut one, true);
        assert!(late_reads.may_sleep(MS, 2 * MS));
        for _ in 0..2 {
            late_reads.waits(&mut one, false);
        }
        late_reads.waits(&mut other, false);
        late_reads.goes_on(&mut one);
        assert!(!late_reads.may_sleep(MS, 2 * MS));
        for _ in 0..2 {
            late_reads.goes_on(&mut other);
        }
        assert!(late_reads.may_sleep(MS, 2 * MS));
    }

    #[test]
    fn an_answer_of_several_segments_came_when_it_was_read() {
        let mut late_reads = stamped();
        late_reads.has_slept = true;
        assert_eq!(late_reads.time(1448, Some(3 * MS), 4 * MS), Ok(3 * MS));
        assert_eq!(late_reads.time(1449, Some(3 * MS), 4 * MS), Ok(4 * MS));
        assert!(!late_reads.may_sleep(4 * MS, 5 * MS));
        let noted = late_reads.notes.settings();
        assert_eq!(noted["read_at_once"], "answers are longer than a segment of 1448 B");
    }

    #[test]
    fn nothing_came_before_the_look_that_did_not_find_it() {
        let mut late_reads = stamped();
        late_reads.looked = [2 * MS, 5 * MS];
        late_reads.has_slept = true;
        assert_eq!(late_reads.time(9, Some(3 * MS), 6 * MS), Ok(3 * MS));
        assert_eq!(late_reads.time(9, Some(MS), 6 * MS), Ok(2 * MS));
        assert_eq!(late_reads.time(9, Some(7 * MS), 6 * MS), Ok(6 * MS));
        // Who waited would have read it at once.
        late_reads.has_slept = false;
        assert_eq!(late_reads.time(9, Some(6 * MS - MS / 2), 6 * MS), Ok(6 * MS - MS / 2));
        assert_eq!(late_reads.time(9, Some(3 * MS), 6 * MS), Ok(6 * MS));
    }

    #[test]
    fn a_kernel_that_says_no_times_is_an_error() {
        let mut late_reads = late_reads(true);
        assert_eq!(late_reads.time(100, None, MS), Ok(MS));
        assert!(!late_reads.may_sleep(MS, 2 * MS));
        // One that begins a little later is none, and one that misses some.
        late_reads.has_slept = true;
        assert_eq!(late_reads.time(100, Some(50 * MS), 51 * MS), Ok(50 * MS));
        for missed in 1..=u64::from(MOST_UNSTAMPED) {
            let now = missed * LONGEST_BEGIN;
            assert_eq!(late_reads.time(100, None, now), Ok(now));
        }
        let fault = late_reads.time(100, None, 9 * LONGEST_BEGIN).unwrap_err();
        assert!(fault.to_string().contains("measure with `process`"), "{fault}");
    }
}
