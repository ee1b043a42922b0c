//! The token bucket that is an agent's own ceiling on traffic.

use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_model::{Nanos, SECOND};

/// A ceiling on bytes a second over everything that shares it.
///
/// Virtual-time form of the token bucket (the generic cell rate algorithm, ITU-T I.371): each byte
/// books a slice of time. Whoever runs ahead of the clock by more than the allowance has to wait.
#[derive(Debug)]
pub struct Throttle {
    bits_per_s: u64,
    booked_until: AtomicU64,
}

/// How far traffic may run ahead: long enough to be paid by a sleep, short enough not to show in an
/// interval.
const ALLOWANCE: Nanos = 2_000_000;

/// How far all traffic together may run ahead before whoever did not move anything yet has to wait
/// too.
const MOST_AHEAD: Nanos = SECOND;
/// The longest that what was moved at once can hold up what comes later.
const MOST_DEBT: Nanos = 10 * SECOND;

impl Throttle {
    /// A ceiling of `bits_per_s`.
    pub fn new(bits_per_s: u64) -> Self {
        Self { bits_per_s: bits_per_s.max(1), booked_until: AtomicU64::new(0) }
    }

    /// Books `bytes` that were moved at `now`; returns until when nothing more may be moved, if
    /// that is later.
    pub fn charge(&self, bytes: usize, now: Nanos) -> Option<Nanos> {
        let slice = bytes as u128 * 8 * u128::from(SECOND) / u128::from(self.bits_per_s);
        let slice = u64::try_from(slice).unwrap_or(Nanos::MAX);
        let mut booked = self.booked_until.load(Ordering::Relaxed);
        loop {
            let until = booked.max(now).saturating_add(slice).min(now.saturating_add(MOST_DEBT));
            match self.booked_until.compare_exchange_weak(
                booked,
                until,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return (until > now + ALLOWANCE).then_some(until - ALLOWANCE),
                Err(current) => booked = current,
            }
        }
    }

    /// Until when nobody may move anything, because more than a second is booked already.
    #[inline]
    pub fn full_until(&self, now: Nanos) -> Option<Nanos> {
        let free = self.booked_until.load(Ordering::Relaxed).saturating_sub(MOST_AHEAD);
        (free > now).then_some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_holds_over_time() {
        let throttle = Throttle::new(8_000_000); // 1 MB/s
        let mut now = SECOND;
        let mut moved = 0u64;
        while now < 11 * SECOND {
            moved += 1500;
            now = throttle.charge(1500, now).unwrap_or(now + 10);
        }
        assert!((9_990_000..=10_020_000).contains(&moved), "{moved}");
    }

    #[test]
    fn many_who_move_once_are_held_together_and_not_for_long() {
        let throttle = Throttle::new(8_000_000);
        let now = SECOND;
        throttle.charge(900_000, now);
        assert_eq!(throttle.full_until(now), None);
        throttle.charge(600_000, now);
        assert_eq!(throttle.full_until(now), Some(now + SECOND / 2));
        assert_eq!(throttle.full_until(now + SECOND / 2), None);
        assert_eq!(throttle.charge(1_000_000_000, now), Some(now + MOST_DEBT - ALLOWANCE));
    }
}
