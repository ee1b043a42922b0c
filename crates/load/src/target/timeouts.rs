//! Time limits of a target for whoever is connected.

use hopbench_model::{Nanos, SECOND};

/// The times of one target. A time that bytes renew is renewed by every
/// [`pace_bytes`](Self::pace_bytes) of them, or by the end of what was under way. So who sends or
/// reads a byte now and then gains nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the first byte of a head to its last, ns: bytes do not renew it.
    pub head_ns: Nanos,
    /// From the end of an answer to the next request's first byte, and from the connecting to the
    /// first one's, ns.
    pub idle_ns: Nanos,
    /// For each pace of a request's body, ns.
    pub body_ns: Nanos,
    /// For each pace of an answer, to be taken by the kernel, ns: what the client does not read
    /// fills its queues.
    pub read_ns: Nanos,
    /// Bytes that renew the time of a body and of an answer; at least 1.
    pub pace_bytes: u64,
}

impl Timeouts {
    /// For everybody: 16 KiB of a body in 10 s, 16 KiB of an answer in 30 s.
    pub const STRANGERS: Self = Self {
        head_ns: 10 * SECOND,
        idle_ns: 60 * SECOND,
        body_ns: 10 * SECOND,
        // A send queue that was full takes more only when a third of it was read.
        read_ns: 30 * SECOND,
        pace_bytes: 16 * 1024,
    };

    /// For the ends of a trial, whose timeouts are the client's: slow is what the path is, not what
    /// somebody wants.
    pub const PARTICIPANTS: Self = Self {
        head_ns: 60 * SECOND,
        idle_ns: 60 * SECOND,
        body_ns: 60 * SECOND,
        read_ns: 60 * SECOND,
        pace_bytes: 1,
    };
}

/// How far what is under way got since its time was renewed.
#[derive(Debug, Default)]
pub(super) struct Pace(u64);

impl Pace {
    /// Begins anew.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.0 = 0;
    }

    /// So many bytes were moved; whether that renews the time.
    #[inline]
    pub(super) fn moved(&mut self, bytes: usize, timeouts: &Timeouts) -> bool {
        self.0 += bytes as u64;
        let renews = self.0 >= timeouts.pace_bytes;
        if renews {
            self.0 = 0;
        }
        renews
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that docs/by-hand.md promises.
    #[test]
    fn strangers_have_seconds_and_must_keep_moving() {
        let Timeouts { head_ns, idle_ns, body_ns, read_ns, pace_bytes } = Timeouts::STRANGERS;
        assert_eq!([head_ns, idle_ns, body_ns, read_ns].map(|ns| ns / SECOND), [10, 60, 10, 30]);
        assert_eq!(pace_bytes, 16 << 10);
        // 16 MiB, the longest body, at the slowest pace: nobody holds memory for longer.
        assert!((16 << 20) / pace_bytes * body_ns <= 3 * 3600 * SECOND);
    }

    #[test]
    fn a_byte_now_and_then_renews_nothing() {
        let mut pace = Pace::default();
        let timeouts = Timeouts { pace_bytes: 100, ..Timeouts::STRANGERS };
        assert!((0..99).all(|_| !pace.moved(1, &timeouts)));
        assert!(pace.moved(1, &timeouts) && !pace.moved(99, &timeouts));
        pace.begin();
        assert!(!pace.moved(99, &timeouts) && pace.moved(1, &timeouts));
        assert!(Pace::default().moved(1, &Timeouts::PARTICIPANTS));
    }
}
