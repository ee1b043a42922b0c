//! How many control sessions an agent holds.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions at once whose other end has shown that it has the token.
const MOST_KNOWN: usize = 128;
/// Sessions at once that are still shaking hands.
const MOST_STRANGERS: usize = 128;

/// One session's place among them, given up when this is dropped: however the session ends.
#[derive(Debug)]
pub(crate) struct Seat {
    sessions: Arc<Sessions>,
    number: u64,
    known: bool,
}

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
    pub(crate) fn enter(self: &Arc<Self>, stream: &TcpStream) -> Option<Seat> {
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
        Some(Seat { sessions: Arc::clone(self), number, known: false })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Both fields are right after every statement.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// The session's other end has the token; whether there is room for it.
    pub(crate) fn welcome(&mut self) -> bool {
        let mut inner = self.sessions.lock();
        self.known = inner.known < MOST_KNOWN && inner.strangers.remove(&self.number).is_some();
        inner.known += usize::from(self.known);
        self.known
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut inner = self.sessions.lock();
        inner.strangers.remove(&self.number);
        inner.known -= usize::from(self.known);
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
        let sessions = Arc::new(Sessions::default());
        let (_known_peer, known) = open();
        let mut known_seat = sessions.enter(&known).unwrap();
        assert!(known_seat.welcome());
        let pairs: Vec<_> = (0..=MOST_STRANGERS).map(|_| open()).collect();
        let mut seats: Vec<_> = pairs.iter().map(|(_, s)| sessions.enter(s).unwrap()).collect();
        // The first stranger was cut off, nobody else.
        assert_eq!((&pairs[0].0).read(&mut [0]).unwrap(), 0);
        pairs[1].0.set_nonblocking(true).unwrap();
        assert!((&pairs[1].0).read(&mut [0]).is_err());
        assert!(!seats[0].welcome(), "who was cut off is not welcomed any more");
        assert!(seats[1].welcome());
        assert_eq!(sessions.lock().known, 2);
        // A session that panics drops its seat like any other.
        let panicked = std::thread::spawn(move || {
            let _seat = known_seat;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.join().is_err());
        assert_eq!(sessions.lock().known, 1);
        drop(seats);
        let inner = sessions.lock();
        assert_eq!((inner.known, inner.strangers.len()), (0, 0));
    }
}
