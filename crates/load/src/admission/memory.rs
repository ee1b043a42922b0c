//! The bounds on the memory that strangers may take: all of them together, and those of one source.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hopbench_model::Source;

use super::by_source::BySource;

/// One source gets at most this part of the memory. A third of 64 MiB has room for one request of
/// the largest size, a quarter has not.
const PARTS: usize = 3;

/// So many bytes over all who share it, and no more.
#[derive(Debug)]
pub struct MemoryLimit {
    used: AtomicUsize,
    most: usize,
    /// The limit of which this is a part; what is taken here is taken there, too.
    whole: Option<Arc<Self>>,
}

impl MemoryLimit {
    /// A limit of so many bytes.
    pub fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), most: most_bytes, whole: None })
    }

    /// Bytes that are taken now.
    #[cfg(test)]
    pub(crate) fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether one who had so many bytes can have `own`, and has them from now on.
    fn change(&self, had: usize, own: usize) -> bool {
        let changed =
            |used: usize| Some(used - had + own).filter(|used| own <= had || *used <= self.most);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, changed).is_err() {
            return false;
        }
        let fits = self.whole.as_ref().is_none_or(|whole| whole.change(had, own));
        if !fits {
            // Only more can fail to fit.
            self.used.fetch_sub(own - had, Ordering::Relaxed);
        }
        fits
    }
}

/// The limits of sources, which are parts of one limit.
#[derive(Debug)]
pub(crate) struct SourceLimits {
    whole: Arc<MemoryLimit>,
    parts: BySource<MemoryLimit>,
}

impl SourceLimits {
    /// So many bytes for all sources together.
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { whole: MemoryLimit::new(most_bytes), parts: BySource::new() }
    }

    /// The limit of all connections of a source.
    pub(crate) fn of(&self, source: Source) -> Arc<MemoryLimit> {
        self.parts.of(source, || {
            let (most, whole) = (self.whole.most / PARTS, Some(Arc::clone(&self.whole)));
            Arc::new(MemoryLimit { used: AtomicUsize::new(0), most, whole })
        })
    }
}

/// What one connection holds of the memory; given back when this is dropped. Without a limit it
/// takes what it likes.
#[derive(Debug, Default)]
pub(crate) struct MemoryShare {
    memory: Option<Arc<MemoryLimit>>,
    own: usize,
    /// Bytes that do not count.
    free: usize,
}

impl MemoryShare {
    /// Nothing yet.
    pub(crate) fn of(memory: Option<Arc<MemoryLimit>>) -> Self {
        Self { memory, own: 0, free: 0 }
    }

    /// The same, of which so many bytes do not count: they can be had even if others have taken
    /// all of the memory.
    pub(crate) fn with_free(mut self, bytes: usize) -> Self {
        self.free = bytes;
        self
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
        let own = own.saturating_sub(self.free);
        let Some(memory) = self.memory.as_ref().filter(|_| own != self.own) else { return true };
        let fits = memory.change(self.own, own);
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
        let (mut a, mut b) = (
            MemoryShare::of(Some(Arc::clone(&memory))),
            MemoryShare::of(Some(Arc::clone(&memory))),
        );
        assert!(a.set(6) && b.set(4) && !b.set(5));
        assert!(a.set(5) && b.set(5));
        assert_eq!(memory.used_bytes(), 10);
        drop(a);
        assert!(b.set(10) && !b.set(11) && b.set(0));
        assert_eq!(memory.used_bytes(), 0);
        assert!(MemoryShare::default().set(usize::MAX), "nobody bounds it");
    }

    #[test]
    fn a_source_gets_a_third_however_many_connections_it_has() {
        let sources = SourceLimits::new(30);
        let connection = |source| MemoryShare::of(Some(sources.of(Source::V4(source))));
        let (mut first, mut second) = (connection(1), connection(1));
        assert!(first.set(6) && second.set(4) && !second.set(5), "two connections of one source");
        let (mut other, mut third) = (connection(2), connection(3));
        assert!(other.set(10) && third.set(10) && !third.set(11));
        // All is taken; what does not fit in the whole is not taken of the part either.
        let mut fourth = connection(4);
        assert!(!fourth.set(1) && sources.of(Source::V4(4)).used_bytes() == 0);
        assert_eq!(sources.whole.used_bytes(), 30);
        drop((first, second, other));
        assert!(fourth.set(10));
        drop((third, fourth));
        assert_eq!(sources.whole.used_bytes(), 0);
        let known = connection(5);
        assert_eq!(sources.parts.count(), 1, "sources that are gone are forgotten");
        drop(known);
    }
}
