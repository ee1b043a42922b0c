//! A table with a value for each source, which the connections of that source share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hopbench_model::Source;

/// One `T` for each source, as long as something of the source holds it.
#[derive(Debug)]
pub(crate) struct BySource<T>(Mutex<BTreeMap<Source, Weak<T>>>);

impl<T> BySource<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// That of a source; a new one where it has none.
    pub(crate) fn of(&self, source: Source, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        // Every statement leaves a whole table.
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts.get(&source).and_then(Weak::upgrade) {
            return part;
        }
        // A source without a connection is forgotten.
        parts.retain(|_, part| part.strong_count() > 0);
        let part = make();
        parts.insert(source, Arc::downgrade(&part));
        part
    }

    /// Sources that are remembered.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
