//! The table of a service's connections, and which of them makes way for another.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hopbench_model::{Source, makes_room};
use tokio::sync::Notify;
use tokio::time::Instant;

/// So many connections at once. One more takes the place of the one that has been idle longest, of
/// the source that has the most. A table full of silent peers keeps no proxy out, and peers that
/// call in turn displace no proxy from elsewhere.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    most: usize,
    began: Instant,
    taken: Mutex<Vec<Arc<ConnectionState>>>,
}

/// One connection's place; given back when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionGuard {
    table: Arc<ConnectionTable>,
    place: Arc<ConnectionState>,
}

/// What the table knows of one connection.
#[derive(Debug)]
struct ConnectionState {
    source: Source,
    /// When it last did something, ms after the beginning.
    active_ms: AtomicU64,
    /// Calls that are open.
    calls: AtomicUsize,
    /// Somebody else has its place.
    given_away: Notify,
}

/// A call that is open on a connection.
#[derive(Debug)]
pub(crate) struct Call(Arc<ConnectionGuard>);

impl ConnectionTable {
    /// At most so many, and at least one.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), began: Instant::now(), taken: Mutex::default() })
    }

    /// A place for one more, from there; and whether another connection lost its own for that.
    pub(crate) fn take(self: &Arc<Self>, source: Source) -> (Arc<ConnectionGuard>, bool) {
        let place = Arc::new(ConnectionState {
            source,
            active_ms: AtomicU64::new(self.now_ms()),
            calls: AtomicUsize::new(0),
            given_away: Notify::new(),
        });
        let mut taken = self.lock();
        let full = taken.len() >= self.most;
        let idle =
            |place: &Arc<ConnectionState>| (place.source, place.active_ms.load(Ordering::Relaxed));
        if full && let Some(one) = makes_room(taken.iter().map(idle)) {
            taken.swap_remove(one).given_away.notify_one();
        }
        taken.push(Arc::clone(&place));
        (Arc::new(ConnectionGuard { table: Arc::clone(self), place }), full)
    }

    /// Connections that have a place.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.lock().len()
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ConnectionState>>> {
        // The list is whole after every statement.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionGuard {
    /// The connection did something.
    pub(crate) fn active(&self) {
        self.place.active_ms.store(self.table.now_ms(), Ordering::Relaxed);
    }

    /// A call was opened on it.
    pub(crate) fn call(self: &Arc<Self>) -> Call {
        self.place.calls.fetch_add(1, Ordering::Relaxed);
        self.active();
        Call(Arc::clone(self))
    }

    /// Ends when it has had no call for so long, or at most twice as long.
    pub(crate) async fn idle_for(&self, long: Duration) {
        let long_ms = u64::try_from(long.as_millis()).unwrap_or(u64::MAX);
        loop {
            let idle_ms = match self.place.calls.load(Ordering::Relaxed) {
                0 => {
                    self.table.now_ms().saturating_sub(self.place.active_ms.load(Ordering::Relaxed))
                }
                _ => 0,
            };
            if idle_ms >= long_ms {
                return;
            }
            tokio::time::sleep(Duration::from_millis(long_ms - idle_ms)).await;
        }
    }

    /// Ends when its place was given to another.
    pub(crate) async fn given_away(&self) {
        self.place.given_away.notified().await;
    }
}

impl Call {
    /// Something of it came.
    pub(crate) fn active(&self) {
        self.0.active();
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Idle from here on.
        self.active();
        self.0.place.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.table.lock().retain(|place| !Arc::ptr_eq(place, &self.place));
    }
}
