//! A bound on the memory that all strangers together may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes over all who share it, and no more.
#[derive(Debug)]
pub struct Room {
    used: AtomicUsize,
    most: usize,
}

impl Room {
    /// Room for so many bytes.
    pub fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), most: most_bytes })
    }

    /// Bytes that are taken now.
    pub fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// What one connection has of a room; given back when this is dropped. Without a room it has what
/// it likes.
#[derive(Debug, Default)]
pub(crate) struct Share {
    room: Option<Arc<Room>>,
    own: usize,
}

impl Share {
    /// Nothing yet.
    pub(crate) fn of(room: Option<Arc<Room>>) -> Self {
        Self { room, own: 0 }
    }

    /// Whether there is a bound at all.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        self.room.is_some()
    }

    /// Has so many bytes from now on, and says whether there was room for them; where there was
    /// not, it has what it had.
    #[must_use]
    pub(crate) fn set(&mut self, own: usize) -> bool {
        let Some(room) = self.room.as_ref().filter(|_| own != self.own) else { return true };
        let had = self.own;
        let change = |used: usize| Some(used - had + own).filter(|used| own <= had || *used <= room.most);
        let fits = room.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok();
        if fits {
            self.own = own;
        }
        fits
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Less always fits.
        let _ = self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_and_given_back() {
        let room = Room::new(10);
        let (mut a, mut b) = (Share::of(Some(Arc::clone(&room))), Share::of(Some(Arc::clone(&room))));
        assert!(a.set(6) && b.set(4) && !b.set(5));
        assert!(a.set(5) && b.set(5));
        assert_eq!(room.used_bytes(), 10);
        drop(a);
        assert!(b.set(10) && !b.set(11) && b.set(0));
        assert_eq!(room.used_bytes(), 0);
        assert!(Share::default().set(usize::MAX), "nobody bounds it");
    }
}
