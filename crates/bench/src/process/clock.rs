//! The clock of this tool.
//!
//! Not `hopbench_sys::clock`: the judge does not borrow the watch of the judged.
#![expect(
    clippy::disallowed_methods,
    reason = "independent of the clock of the program under test"
)]

use std::time::{Duration, Instant};

/// A moment from which time is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(Instant);

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    /// Time since this moment.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Sleeps for this long.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}
