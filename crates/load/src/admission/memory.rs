//! The bound on the memory that all strangers together may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes over all who share it, and no more.
#[derive(Debug)]
pub struct MemoryLimit {
    used: AtomicUsize,
    most: usize,
}

impl MemoryLimit {
    /// A limit of so many bytes.
    pub fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), most: most_bytes })
    }

    /// Bytes that are taken now.
    pub fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// What one connection holds of the memory; given back when this is dropped. Without a limit it
/// takes what it likes.
#[derive(Debug, Default)]
pub(crate) struct MemoryShare {
    memory: Option<Arc<MemoryLimit>>,
    own: usize,
}

impl MemoryShare {
    /// Nothing yet.
    pub(crate) fn of(memory: Option<Arc<MemoryLimit>>) -> Self {
        Self { memory, own: 0 }
    }

    /// Whether there is a bound at all.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        self.memory.is_some()
    }

    /// Holds so many bytes from now on, and says whether there was room for them; where there was
    /// not, it holds what it held.
    #[must_use]
    pub(crate) fn set(&mut self, own: usize) -> bool {
        let Some(memory) = self.memory.as_ref().filter(|_| own != self.own) else { return true };
        let had = self.own;
        let change = |used: usize| Some(used - had + own).filter(|used| own <= had || *used <= memory.most);
        let fits = memory.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok();
        if fits {
            self.own = own;
        }
        fits
    }
}

impl Drop for MemoryShare {
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
        let memory = MemoryLimit::new(10);
        let (mut a, mut b) = (MemoryShare::of(Some(Arc::clone(&memory))), MemoryShare::of(Some(Arc::clone(&memory))));
        assert!(a.set(6) && b.set(4) && !b.set(5));
        assert!(a.set(5) && b.set(5));
        assert_eq!(memory.used_bytes(), 10);
        drop(a);
        assert!(b.set(10) && !b.set(11) && b.set(0));
        assert_eq!(memory.used_bytes(), 0);
        assert!(MemoryShare::default().set(usize::MAX), "nobody bounds it");
    }
}
