//! Waiting for something to become true.

use hopbench_sys::clock;

/// Nanoseconds in a millisecond.
pub(crate) const MS: u64 = 1_000_000;
/// Nanoseconds in a second.
pub(crate) const S: u64 = 1_000 * MS;

/// Sleeps this long, ns.
pub(crate) fn pause(ns: u64) {
    clock::sleep_until(clock::now() + ns);
}

/// Looks every few milliseconds until `look` finds something; `None` when it did not within
/// `patience` ns.
pub(crate) fn until<T>(patience: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = clock::now() + patience;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if clock::now() >= end {
            return None;
        }
        pause(5 * MS);
    }
}
