//! The pending connections: those that have not said yet what they are.

use hopbench_model::{Nanos, Source};
use hopbench_sys::Socket;
use hopbench_wire::HANDSHAKE_LIMIT;

use crate::port::fair_queue::{FairQueue, Origin};

/// A connection, and where and when it came from.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub(crate) origin: Origin,
    pub(crate) socket: Socket,
}

/// New connections that still have to speak. Those that have said nothing and those that have said
/// a part take no room from each other: silence cannot keep out who speaks, however many come from
/// one source.
pub(crate) struct Pending {
    silent: FairQueue<Socket>,
    begun: FairQueue<Socket>,
    next: u64,
}

/// More than this many connections that say nothing are an attack or an accident, unless prepared
/// runs expect them.
const MOST_SILENT: usize = 1024;
/// What a client says first mostly comes in one piece.
const MOST_BEGUN: usize = 256;

impl Pending {
    /// Connections are numbered from `first`.
    pub(crate) fn new(first: u64) -> Self {
        Self { silent: FairQueue::new(), begun: FairQueue::new(), next: first }
    }

    /// The state of a connection that was just accepted.
    pub(crate) fn origin(&mut self, source: Source, now: Nanos) -> Origin {
        let number = self.next;
        self.next += 1;
        Origin { number, source, since: now }
    }

    /// Takes a connection in that has said nothing. There is room for twice as many more as are
    /// `expected`: a source that floods leaves half of it to the one where those come from.
    pub(crate) fn add(&mut self, newcomer: Newcomer, expected: usize) {
        let most = MOST_SILENT.saturating_add(expected.saturating_mul(2));
        drop(self.silent.add(newcomer.origin, newcomer.socket, most));
    }

    /// It has said a part of what it is.
    pub(crate) fn has_begun(&mut self, number: u64) {
        if let Some((origin, socket)) = self.silent.remove(number) {
            drop(self.begun.add(origin, socket, MOST_BEGUN));
        }
    }

    pub(crate) fn socket(&self, number: u64) -> Option<&Socket> {
        self.silent.get(number).or_else(|| self.begun.get(number))
    }

    pub(crate) fn take(&mut self, number: u64) -> Option<Newcomer> {
        let (origin, socket) = self.silent.remove(number).or_else(|| self.begun.remove(number))?;
        Some(Newcomer { origin, socket })
    }

    /// Gives up one connection for its file; whether there was one.
    pub(crate) fn displace(&mut self) -> bool {
        self.silent.displace().or_else(|| self.begun.displace()).is_some()
    }

    /// Closes those whose time is over; returns when to look again. Silent ones may `rest` while a
    /// trial is prepared whose client opens connections before it has anything to say.
    pub(crate) fn expire(&mut self, now: Nanos, rest: bool) -> Option<Nanos> {
        let begun = expire(&mut self.begun, now);
        let silent = match self.silent.first_since() {
            // The trial may end meanwhile, and nobody says so.
            Some(_) if rest => Some(now + HANDSHAKE_LIMIT),
            _ => expire(&mut self.silent, now),
        };
        [begun, silent].into_iter().flatten().min()
    }
}

/// Closes those that came too long ago; when the next has been there too long.
fn expire(queue: &mut FairQueue<Socket>, now: Nanos) -> Option<Nanos> {
    loop {
        let until = queue.first_since()? + HANDSHAKE_LIMIT;
        if until > now {
            return Some(until);
        }
        queue.pop_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn come(pending: &mut Pending, source: u32, now: Nanos, expected: usize) -> u64 {
        let origin = pending.origin(Source::V4(source), now);
        let socket = Socket::tcp("127.0.0.1:1".parse().unwrap()).unwrap();
        pending.add(Newcomer { origin, socket }, expected);
        origin.number
    }

    #[test]
    fn silence_is_bounded_in_time_and_number() {
        let mut pending = Pending::new(10);
        assert_eq!((come(&mut pending, 1, 0, 0), come(&mut pending, 1, 1, 0)), (10, 11));
        drop(pending.take(10));
        assert_eq!(pending.expire(HANDSHAKE_LIMIT, false), Some(HANDSHAKE_LIMIT + 1));
        assert!(pending.socket(11).is_some());
        assert_eq!(pending.expire(HANDSHAKE_LIMIT + 1, true), Some(2 * HANDSHAKE_LIMIT + 1));
        assert!(pending.socket(11).is_some(), "it may rest");
        assert_eq!(pending.expire(HANDSHAKE_LIMIT + 1, false), None);
        assert!(pending.socket(11).is_none());
        hopbench_sys::limits::raise_open_files(4096).unwrap();
        for _ in 0..MOST_SILENT + 5 {
            come(&mut pending, 1, 0, 0);
        }
        assert_eq!(pending.silent.len(), MOST_SILENT);
        for _ in 0..MOST_SILENT + 10 {
            come(&mut pending, 2, 0, 5);
        }
        assert_eq!(pending.silent.len(), MOST_SILENT + 10, "those that are expected are let in");
        assert!(pending.silent.of(Source::V4(1)) >= 5, "and not displaced by others");
    }

    #[test]
    fn silent_ones_and_those_that_have_begun_displace_their_own_kind_and_source() {
        hopbench_sys::limits::raise_open_files(4096).unwrap();
        let mut pending = Pending::new(0);
        let (other, speaker) = (come(&mut pending, 2, 0, 0), come(&mut pending, 1, 0, 0));
        pending.has_begun(speaker);
        for _ in 0..MOST_SILENT + 5 {
            come(&mut pending, 1, 0, 0);
        }
        assert!(pending.socket(speaker).is_some(), "silence displaced who has begun");
        for _ in 0..MOST_BEGUN + 5 {
            let number = come(&mut pending, 1, 0, 0);
            pending.has_begun(number);
        }
        assert_eq!((pending.begun.len(), pending.socket(speaker).is_some()), (MOST_BEGUN, false));
        assert!(pending.socket(other).is_some(), "another source was displaced");
    }
}
