//! How many control sessions an agent holds.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions at once whose other end has shown that it has the token.
const MOST_KNOWN: usize = 128;
/// Sessions at once that are still shaking hands.
const MOST_STRANGERS: usize = 128;

/// The control sessions of an agent. A stranger who only opens sessions cannot keep out who has the token: when
/// there are too many strangers, the one that came first goes.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    strangers: BTreeMap<u64, TcpStream>,
    known: usize,
}

impl Sessions {
    /// Enters a session that begins; `None` when its socket cannot be shared, for want of files.
    pub(crate) fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let stream = stream.try_clone().ok()?;
        let mut inner = self.lock();
        while inner.strangers.len() >= MOST_STRANGERS
            && let Some((_, oldest)) = inner.strangers.pop_first()
        {
            // Its thread sees the end of the stream and leaves.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let number = inner.next;
        inner.next += 1;
        inner.strangers.insert(number, stream);
        Some(number)
    }

    /// The session's other end has the token; whether there is room for it.
    pub(crate) fn welcome(&self, number: u64) -> bool {
        let mut inner = self.lock();
        let stays = inner.known < MOST_KNOWN && inner.strangers.remove(&number).is_some();
        inner.known += usize::from(stays);
        stays
    }

    /// The session is over; `known` is what [`Sessions::welcome`] said.
    pub(crate) fn leave(&self, number: u64, known: bool) {
        let mut inner = self.lock();
        inner.strangers.remove(&number);
        inner.known -= usize::from(known);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Both fields are right after every statement.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn strangers_make_room_for_each_other_and_never_for_who_is_known() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = || {
            let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (ours, listener.accept().unwrap().0)
        };
        let sessions = Sessions::default();
        let (_known_peer, known) = open();
        let known_number = sessions.enter(&known).unwrap();
        assert!(sessions.welcome(known_number));
        let pairs: Vec<_> = (0..=MOST_STRANGERS).map(|_| open()).collect();
        let numbers: Vec<_> = pairs.iter().map(|(_, s)| sessions.enter(s).unwrap()).collect();
        // The first stranger was cut off, nobody else.
        assert_eq!((&pairs[0].0).read(&mut [0]).unwrap(), 0);
        pairs[1].0.set_nonblocking(true).unwrap();
        assert!((&pairs[1].0).read(&mut [0]).is_err());
        assert!(!sessions.welcome(numbers[0]), "who was cut off is not welcomed any more");
        assert!(sessions.welcome(numbers[1]));
        sessions.leave(numbers[1], true);
        sessions.leave(known_number, true);
        assert_eq!(sessions.lock().known, 0);
    }
}
