//! Loss, reordering and duplicates of numbered datagrams.

use std::fmt;

/// Numbers that are remembered, counted back from the highest that arrived.
const WINDOW: u64 = 65_536;
const WORDS: usize = (WINDOW / 64) as usize;

/// What the arrival of one datagram says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Observation {
    /// Its number is higher than any before.
    New,
    /// It arrived for the first time, after one that was sent later.
    Reordered,
    /// It arrived before.
    Duplicate,
    /// It is older than what is remembered, so nobody knows whether it arrived before. Counted as
    /// reordered.
    Late,
}

/// Counts received, reordered, duplicate and lost datagrams of one flow whose sender numbers them
/// 0, 1, 2, ...
///
/// The last 65 536 numbers up to the highest that arrived are remembered, one bit each: 8 KiB a
/// flow, whatever arrives. What is older counts as received and reordered, never as a duplicate. A
/// copy that comes more than 65 536 numbers late is taken for a datagram that was late, and makes
/// up for one that was lost. At 1 million datagrams a second that is a copy 65 ms late.
///
/// A number far above the sender's makes all that follow [`Observation::Late`]: pass only numbers
/// from datagrams that are known to belong to the flow.
#[derive(Clone)]
pub struct SequenceTracker {
    /// Bit n mod 65 536 says whether number n of the window arrived.
    seen: Box<[u64; WORDS]>,
    /// Means nothing until something was received.
    highest: u64,
    received: u64,
    reordered: u64,
    duplicates: u64,
}

impl SequenceTracker {
    /// A tracker that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { seen: Box::new([0; WORDS]), highest: 0, received: 0, reordered: 0, duplicates: 0 }
    }

    /// Takes in the number of a datagram that arrived.
    ///
    /// In order it costs one bit; after a gap, time in proportion to the gap, at most a window.
    #[inline]
    pub fn observe(&mut self, seq: u64) -> Observation {
        // Nothing below the first number was seen, and no bit is set: it needs no forgetting.
        if self.received == 0 || seq > self.highest {
            if self.received > 0 && seq - self.highest > 1 {
                self.forget_between(self.highest, seq);
            }
            self.highest = seq;
            self.received += 1;
            self.mark(seq);
            return Observation::New;
        }
        self.observe_old(seq)
    }

    /// Datagrams that arrived, each counted once.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Datagrams that arrived after one that was sent later; part of [`received`](Self::received).
    #[must_use]
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Arrivals of datagrams that had arrived before; not part of [`received`](Self::received).
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Datagrams that did not arrive out of the `sent` first ones.
    ///
    /// Right when nothing is under way any more; before, what is under way counts as lost.
    #[must_use]
    pub fn lost(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.received)
    }

    /// A number that is not above the highest.
    fn observe_old(&mut self, seq: u64) -> Observation {
        if self.highest - seq >= WINDOW {
            self.received += 1;
            self.reordered += 1;
            return Observation::Late;
        }
        if self.mark(seq) {
            self.duplicates += 1;
            return Observation::Duplicate;
        }
        self.received += 1;
        self.reordered += 1;
        Observation::Reordered
    }

    /// Marks a number of the window as seen; says whether it was before.
    #[inline]
    fn mark(&mut self, seq: u64) -> bool {
        let (word, bit) = place(seq);
        let before = self.seen[word];
        self.seen[word] = before | bit;
        before & bit != 0
    }

    /// Clears the bits of the numbers between two, both exclusive: they still stand for numbers a
    /// window earlier.
    fn forget_between(&mut self, below: u64, above: u64) {
        if above - below > WINDOW {
            self.seen.fill(0);
            return;
        }
        let mut seq = below + 1;
        while seq < above {
            let (word, bit) = place(seq);
            if bit == 1 && above - seq >= 64 {
                self.seen[word] = 0;
                seq += 64;
            } else {
                self.seen[word] &= !bit;
                seq += 1;
            }
        }
    }
}

impl Default for SequenceTracker {
    fn default() -> Self {
        Self::new()
    }
}

/// The counts: the bits would fill pages.
impl fmt::Debug for SequenceTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequenceTracker")
            .field("highest", &self.highest)
            .field("received", &self.received)
            .field("reordered", &self.reordered)
            .field("duplicates", &self.duplicates)
            .finish_non_exhaustive()
    }
}

/// Where the bit of a number is.
#[inline]
fn place(seq: u64) -> (usize, u64) {
    ((seq % WINDOW / 64) as usize, 1 << (seq % 64))
}

#[cfg(test)]
mod tests;
