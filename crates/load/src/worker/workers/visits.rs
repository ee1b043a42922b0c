//! The edges of a visit: the workers of one end are ready, hand over what they wrote down, and stay
//! prepared.

use hopbench_model::Counts;

use super::{Workers, lock};
use crate::measure::recorder::Recorder;

impl Workers {
    /// Whether every flow that a client opens is up.
    pub fn ready(&self) -> bool {
        self.readiness.all()
    }

    /// Flows that are up, and all that a client opens.
    pub fn opened(&self) -> (u32, u32) {
        self.readiness.opened()
    }

    /// The client of a visit is done: a server's receivers wake up for what still comes, however
    /// little it is.
    pub fn drain(&self) {
        if self.receive_low_water.is_some() {
            self.sockets.set_receive_low_water(1);
        }
    }

    /// The last readings of a visit were taken, and a server's clients are done: workers hand over
    /// what they wrote down as soon as nothing is under way, and stay prepared.
    pub fn end_visit(&self) {
        self.window.close_visit();
        self.wake();
    }

    /// Whether all workers have handed over what they wrote down of a visit: flows that stay are at
    /// rest.
    pub fn visit_is_over(&self) -> bool {
        let threads = lock(&self.shared.threads).len();
        self.hand_over.as_ref().is_some_and(|hand_over| hand_over.count() >= threads)
    }

    /// Whether some workers have ended, and all others have handed over.
    pub fn visit_is_torn(&self) -> bool {
        let threads = lock(&self.shared.threads).len();
        let running = self.running();
        running < threads
            && self.hand_over.as_ref().is_some_and(|hand_over| hand_over.count() >= running)
    }

    /// What the workers wrote down of a visit that is over, and their counts.
    pub fn take_visit(&self) -> Option<(Recorder, Counts)> {
        if let Some(bytes) = self.receive_low_water {
            self.sockets.set_receive_low_water(bytes);
        }
        self.hand_over.as_ref().map(|hand_over| hand_over.take(&self.window))
    }
}
