//! The early end of a command of a subject, when the run is to stop.

use hopbench_testbed::Interrupt;

use crate::lab::Lab;

impl Lab {
    /// The same, but it ends a command before the trials of a subject when `wanted` returns true.
    /// While a command runs, it is asked about a thousand times a second.
    #[must_use]
    pub fn stopped_by(mut self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.interrupt = Interrupt::by(wanted);
        self
    }
}
