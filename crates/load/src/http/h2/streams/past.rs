//! The past of a connection's streams: what a frame means for one that is over.
//!
//! It takes the same few bytes, however many there were.

use super::super::bounds::Farewell;

/// The streams that a client has begun.
#[derive(Debug, Default)]
pub(in crate::http::h2) struct Past {
    /// The highest number so far.
    last: u32,
    /// Of the last 128 numbers, the last one in the lowest bit: those that were used.
    used: u128,
    /// Those of them that this side ended, as far as it knew before the client did.
    cut: u128,
}

impl Past {
    /// The highest number so far; 0: none.
    pub(in crate::http::h2) fn last(&self) -> u32 {
        self.last
    }

    /// Whether no stream of a client has had this number, or can have it.
    pub(in crate::http::h2) fn is_idle(&self, number: u32) -> bool {
        number > self.last || number.is_multiple_of(2)
    }

    /// A stream begins, whose odd number is above all others. Those that were passed over are never
    /// used.
    pub(in crate::http::h2) fn begin(&mut self, number: u32) {
        let steps = number.saturating_sub(self.last).div_ceil(2);
        self.used = self.used.checked_shl(steps).unwrap_or(0) | 1;
        self.cut = self.cut.checked_shl(steps).unwrap_or(0);
        self.last = number;
    }

    /// This side has ended a stream. What the client sent before it knew is under way.
    pub(in crate::http::h2) fn cut(&mut self, number: u32) {
        self.cut |= self.bit(number).unwrap_or(0);
    }

    /// A part of a request came for a stream that is not there. It is no error if it was under way.
    ///
    /// # Errors
    /// The connection has to end (RFC 9113, 5.1 and 5.1.1).
    pub(in crate::http::h2) fn late(&self, number: u32) -> Result<(), Farewell> {
        if self.is_idle(number) {
            return Err(Farewell::Protocol);
        }
        match self.bit(number) {
            Some(bit) if self.used & bit == 0 => Err(Farewell::Protocol),
            // The client has ended it itself.
            Some(bit) if self.cut & bit == 0 => Err(Farewell::StreamClosed),
            // Nobody knows of one that is older.
            _ => Ok(()),
        }
    }

    /// The bit of a stream; `None`: it is older than those that have one.
    fn bit(&self, number: u32) -> Option<u128> {
        let steps = self.last.checked_sub(number)? / 2;
        1_u128.checked_shl(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_depends_on_who_ended_the_stream() {
        let mut past = Past::default();
        assert_eq!((past.is_idle(1), past.late(1)), (true, Err(Farewell::Protocol)));
        for number in [1, 5, 7] {
            past.begin(number);
        }
        past.cut(5);
        let expected = [
            (1, Err(Farewell::StreamClosed)),
            (2, Err(Farewell::Protocol)),
            (3, Err(Farewell::Protocol)),
            (5, Ok(())),
            (7, Err(Farewell::StreamClosed)),
            (9, Err(Farewell::Protocol)),
        ];
        for (number, expected) in expected {
            assert_eq!(past.late(number), expected, "{number}");
        }
        // As far as it remembers, and not beyond.
        past.begin(7 + 2 * 127);
        past.cut(7);
        assert_eq!((past.late(5), past.late(7), past.late(1)), (Ok(()), Ok(()), Ok(())));
        past.begin(past.last() + 2);
        past.cut(7);
        assert_eq!((past.late(7), past.late(9)), (Ok(()), Err(Farewell::Protocol)));
        past.begin(u32::MAX >> 1);
        assert_eq!(past.late(past.last()), Err(Farewell::StreamClosed));
        assert_eq!(past.late(past.last() - 2), Err(Farewell::Protocol));
    }
}
