//! The rule by which a wait of the epoll engine ends in time, with the fewest system calls.
//!
//! A timeout of a wait's own costs no call, but the kernel starts and stops a timer of its own for
//! it. A timer that was set costs one call, and then nothing for all waits until it goes off. So
//! the first waits for a time have timeouts. Where many follow, as in a closed loop, the next one
//! sets the timer. A schedule has few waits for each of its times and never sets it.

use hopbench_model::Nanos;

/// Waits for one time that have timeouts: about as dear together as to set the timer.
const TIMEOUTS: u32 = 8;

/// What ends a wait in time.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    /// The timer, as it is set.
    Timer,
    /// The timer, once it is set to the time that is waited for.
    NewTimer,
    /// A timeout of so many ns.
    Timeout(Nanos),
}

/// What the waits so far left behind.
#[derive(Debug)]
pub(super) struct Alarm {
    /// When the timer goes off; `Nanos::MAX` when it is not set.
    pub(super) armed: Nanos,
    /// The first of the times that the waits with timeouts were for.
    due: Nanos,
    /// How many of these waits there were.
    timeouts: u32,
}

impl Alarm {
    /// A timer that is not set.
    pub(super) fn new() -> Self {
        Self { armed: Nanos::MAX, due: 0, timeouts: 0 }
    }

    /// What ends a wait until `until`. `clock` is read only where it matters. `precise`: whether
    /// a timeout is exact and takes no further call.
    #[inline]
    pub(super) fn end(
        &mut self,
        until: Nanos,
        precise: bool,
        clock: impl FnOnce() -> Nanos,
    ) -> WaitEnd {
        // A timer that goes off too early only makes a turn for nothing.
        if self.armed <= until {
            return WaitEnd::Timer;
        }
        let now = clock();
        if now >= self.due {
            (self.due, self.timeouts) = (until, 0);
        }
        self.due = self.due.min(until);
        self.timeouts += 1;
        if precise && self.timeouts <= TIMEOUTS {
            return WaitEnd::Timeout(until.saturating_sub(now));
        }
        self.armed = until;
        WaitEnd::NewTimer
    }

    /// The timer went off.
    #[inline]
    pub(super) fn rang(&mut self) {
        self.armed = Nanos::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1000;
    const MS: Nanos = 1000 * US;

    /// Waits of a second, each until the time that `until` says of the moment, of which an answer
    /// ends every one after `answer` ns. How many set the timer, had a timeout, and were late.
    fn second(answer: Nanos, precise: bool, until: impl Fn(Nanos) -> Nanos) -> [u32; 3] {
        let (mut alarm, mut timer) = (Alarm::new(), Nanos::MAX);
        let (mut set, mut timeouts, mut late) = (0, 0, 0);
        let mut now = 1;
        while now < 1000 * MS {
            let until = until(now);
            let end = match alarm.end(until, precise, || now) {
                WaitEnd::Timer => timer,
                WaitEnd::NewTimer => {
                    (set, timer) = (set + 1, until);
                    timer
                }
                WaitEnd::Timeout(left) => {
                    timeouts += 1;
                    now + left
                }
            };
            late += u32::from(end > until);
            now = end.min(timer).min(now + answer);
            if now == timer {
                alarm.rang();
                timer = Nanos::MAX;
            }
        }
        [set, timeouts, late]
    }

    /// The next of times that lie so far apart.
    fn every(gap: Nanos) -> impl Fn(Nanos) -> Nanos {
        move |now| (now / gap + 1) * gap
    }

    #[test]
    fn a_schedule_never_sets_the_timer() {
        for (gap, answer) in [(MS, 300 * US), (10 * MS, 2 * MS), (50 * US, MS)] {
            let [set, timeouts, late] = second(answer, true, every(gap));
            assert_eq!((set, late), (0, 0), "{gap} {answer}");
            let waits = 1000 * MS / gap * gap.div_ceil(answer);
            assert_eq!(u64::from(timeouts), waits, "{gap} {answer}");
        }
    }

    #[test]
    fn many_answers_between_two_times_set_the_timer_once() {
        let [set, timeouts, late] = second(10 * US, true, every(MS));
        assert_eq!((set, timeouts, late), (1000, 1000 * TIMEOUTS, 0));
    }

    #[test]
    fn a_closed_loop_sets_the_timer_as_rarely_as_it_goes_off() {
        // Nothing to wait for but the longest sleep, which each wait counts from its own begin.
        let [set, timeouts, late] = second(30 * US, true, |now| now + 100 * MS);
        assert!((9..=10).contains(&set) && timeouts == set * TIMEOUTS, "{set} {timeouts}");
        assert_eq!(late, 0);
        // With a timeout of 5 ms.
        let [set, timeouts, late] = second(30 * US, true, every(5 * MS));
        assert_eq!((set, timeouts, late), (200, 200 * TIMEOUTS, 0));
    }

    #[test]
    fn without_precise_timeouts_each_time_sets_the_timer_once() {
        assert_eq!(second(300 * US, false, every(MS)), [1000, 0, 0]);
    }

    #[test]
    fn an_earlier_time_ends_the_wait_for_a_later_one() {
        let mut alarm = Alarm::new();
        assert_eq!(alarm.end(100 * MS, false, || 1), WaitEnd::NewTimer);
        // What the timer was set for stays; a schedule that begins then goes before it.
        for tick in 1..50 {
            for now in [tick * MS - MS / 2, tick * MS - MS / 4] {
                let left = tick * MS - now;
                assert_eq!(alarm.end(tick * MS, true, || now), WaitEnd::Timeout(left), "{now}");
            }
        }
        assert_eq!(alarm.end(200 * MS, true, || 60 * MS), WaitEnd::Timer);
        alarm.rang();
        // A time that has come is not waited for.
        assert_eq!(alarm.end(99 * MS, true, || 100 * MS), WaitEnd::Timeout(0));
    }
}
