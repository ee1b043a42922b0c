//! The count of flows that are up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopbench_sys::Waker;

/// The number of flows of a trial that have come to rest once: they are connected and accepted.
#[derive(Debug)]
pub(crate) struct Readiness {
    up: AtomicU32,
    expected: u32,
    notify: Arc<Waker>,
}

impl Readiness {
    /// Wakes `notify` when `expected` flows are up.
    pub(crate) fn new(expected: u32, notify: Arc<Waker>) -> Self {
        Self { up: AtomicU32::new(0), expected, notify }
    }

    pub(crate) fn one_more(&self) {
        if self.up.fetch_add(1, Ordering::Release) + 1 == self.expected {
            self.notify.wake();
        }
    }

    /// Whether all expected flows are up.
    pub(crate) fn all(&self) -> bool {
        let (up, expected) = self.opened();
        up >= expected
    }

    /// Flows that are up, and all that are expected.
    pub(crate) fn opened(&self) -> (u32, u32) {
        (self.up.load(Ordering::Acquire), self.expected)
    }
}
