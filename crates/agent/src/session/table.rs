//! The table of control sessions that an agent holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_model::Nanos;
use hopbench_sys::{Waker, clock};

/// Sessions at once.
const MOST: usize = 128;
/// Threads of sessions at once: one whose place was taken may need a moment to end.
const MOST_THREADS: usize = 2 * MOST;

/// The control sessions of an agent, whose other ends have all shown that they have the token. When
/// there are too many, the one goes that has had no trial for the longest time, and none that has
/// one.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    entries: BTreeMap<u64, Occupant>,
    /// Seats that were not given up, taken or not.
    threads: usize,
}

#[derive(Debug)]
struct Occupant {
    waker: Arc<Waker>,
    /// Since when it has had no trial; `Nanos::MAX` while it has one.
    idle_since: Nanos,
}

/// One session's place among them, given up when this is dropped: however the session ends.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    sessions: Arc<SessionTable>,
    number: u64,
    waker: Arc<Waker>,
}

impl SessionTable {
    /// A place for a session, which is woken when it loses it; `None` where every session has a
    /// trial, or for want of files.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<SessionGuard> {
        let waker = Arc::new(Waker::new().ok()?);
        let mut inner = self.lock();
        if inner.threads >= MOST_THREADS {
            return None;
        }
        if inner.entries.len() >= MOST {
            let (idlest, since) = inner
                .entries
                .iter()
                .map(|(number, entry)| (*number, entry.idle_since))
                .min_by_key(|(_, since)| *since)?;
            if since == Nanos::MAX {
                return None;
            }
            if let Some(gone) = inner.entries.remove(&idlest) {
                gone.waker.wake();
            }
        }
        let number = inner.next;
        inner.next += 1;
        inner.threads += 1;
        inner
            .entries
            .insert(number, Occupant { waker: Arc::clone(&waker), idle_since: clock::now() });
        Some(SessionGuard { sessions: Arc::clone(self), number, waker })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // All fields are right after every statement.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionGuard {
    /// Woken when the place is lost.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Whether the place is still the session's.
    pub(crate) fn is_held(&self) -> bool {
        self.sessions.lock().entries.contains_key(&self.number)
    }

    /// A trial begins: nobody gets the place before it is over. Whether it is still the session's.
    pub(crate) fn busy(&self) -> bool {
        let mut inner = self.sessions.lock();
        let occupant = inner.entries.get_mut(&self.number);
        occupant.map(|occupant| occupant.idle_since = Nanos::MAX).is_some()
    }

    /// It has no trial, any more or still.
    pub(crate) fn rest(&self) {
        let mut inner = self.sessions.lock();
        if let Some(occupant) =
            inner.entries.get_mut(&self.number).filter(|o| o.idle_since == Nanos::MAX)
        {
            occupant.idle_since = clock::now();
        }
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        let mut inner = self.sessions.lock();
        inner.entries.remove(&self.number);
        inner.threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_makes_room_and_one_with_a_trial_does_not() {
        let sessions = Arc::new(SessionTable::default());
        let mut entries: Vec<_> = (0..MOST).map(|_| sessions.enter().unwrap()).collect();
        assert!(entries[0].busy());
        entries[1].busy();
        entries[1].rest();
        let newcomer = sessions.enter().unwrap();
        let held: Vec<bool> = entries.iter().map(SessionGuard::is_held).collect();
        assert_eq!(held.iter().filter(|held| !**held).count(), 1);
        assert!(!held[2] && held[0] && held[1], "the one that was idle the longest had to go");
        assert!(!entries[2].busy(), "it begins no trial any more");
        for entry in &entries {
            entry.busy();
        }
        newcomer.busy();
        assert!(sessions.enter().is_none(), "everybody has a trial");
        // A session that panics gives up its place like any other.
        let panicked = std::thread::spawn(move || {
            let _seat = newcomer;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.join().is_err());
        let other = sessions.enter().unwrap();
        drop((entries.split_off(1), other));
        let inner = sessions.lock();
        assert_eq!((inner.entries.len(), inner.threads), (1, 1));
    }

    #[test]
    fn threads_that_do_not_end_are_bounded() {
        let sessions = Arc::new(SessionTable::default());
        let entries: Vec<_> = std::iter::from_fn(|| sessions.enter()).take(10 * MOST).collect();
        assert_eq!((entries.len(), sessions.lock().entries.len()), (MOST_THREADS, MOST));
    }
}
