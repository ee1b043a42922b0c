//! Connections that have not said yet what they are.

use std::collections::{BTreeMap, VecDeque};

use hopbench_model::Nanos;
use hopbench_sys::Socket;
use hopbench_wire::HANDSHAKE_LIMIT;

/// New connections in the order in which they came. Each has a few seconds; when there are too many, the
/// oldest goes.
pub(crate) struct Pending {
    sockets: BTreeMap<u64, Socket>,
    order: VecDeque<(Nanos, u64)>,
    next: u64,
}

/// More than this many connections that say nothing are an attack or an accident.
const MOST: usize = 1024;

impl Pending {
    /// Tokens are numbered from `first`.
    pub(crate) fn new(first: u64) -> Self {
        Self { sockets: BTreeMap::new(), order: VecDeque::new(), next: first }
    }

    /// The token that the next connection will get.
    pub(crate) fn next_token(&self) -> u64 {
        self.next
    }

    pub(crate) fn add(&mut self, socket: Socket, now: Nanos) {
        while self.sockets.len() >= MOST
            && let Some((_, oldest)) = self.order.pop_front()
        {
            self.sockets.remove(&oldest);
        }
        self.sockets.insert(self.next, socket);
        self.order.push_back((now + HANDSHAKE_LIMIT, self.next));
        self.next += 1;
    }

    pub(crate) fn socket(&self, token: u64) -> Option<&Socket> {
        self.sockets.get(&token)
    }

    pub(crate) fn take(&mut self, token: u64) -> Option<Socket> {
        self.sockets.remove(&token)
    }

    /// Closes those whose time is over; returns when to look again.
    pub(crate) fn expire(&mut self, now: Nanos) -> Option<Nanos> {
        while let Some((until, token)) = self.order.front().copied() {
            if until > now && self.sockets.contains_key(&token) {
                return Some(until);
            }
            self.order.pop_front();
            self.sockets.remove(&token);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket() -> Socket {
        Socket::tcp("127.0.0.1:1".parse().unwrap()).unwrap()
    }

    #[test]
    fn silence_is_bounded_in_time_and_number() {
        let mut pending = Pending::new(10);
        pending.add(socket(), 0);
        pending.add(socket(), 1);
        drop(pending.take(10));
        assert_eq!(pending.expire(HANDSHAKE_LIMIT), Some(HANDSHAKE_LIMIT + 1));
        assert!(pending.socket(11).is_some());
        assert_eq!(pending.expire(HANDSHAKE_LIMIT + 1), None);
        assert!(pending.socket(11).is_none());
        for _ in 0..MOST + 5 {
            pending.add(socket(), 0);
        }
        assert_eq!(pending.sockets.len(), MOST);
    }
}
