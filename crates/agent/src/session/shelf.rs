//! The trials of a session that stay prepared between their visits.

use hopbench_model::{Fault, FaultKind, Nanos};
use hopbench_sys::clock;

use crate::trial::ActiveTrial;

/// Trials whose connections stand and whose workers rest.
pub(super) struct Shelf {
    /// Each with the number of its run and the end of its rest; the one that was visited last is at
    /// the end.
    resting: Vec<(u32, Nanos, ActiveTrial)>,
    /// How long each may rest, ns.
    most_ns: Nanos,
}

impl Shelf {
    /// Nothing yet. A trial that rests for `most_ns` ends.
    pub(super) fn new(most_ns: Nanos) -> Self {
        Self { resting: Vec::new(), most_ns }
    }

    /// Keeps a trial whose visit is over; one that does not stay prepared ends.
    pub(super) fn put(&mut self, trial: ActiveTrial) {
        if let Some(run) = trial.rests() {
            self.resting.push((run, clock::now().saturating_add(self.most_ns), trial));
        }
    }

    /// The trial of a run, for another visit after a warm-up of so many nanoseconds.
    pub(super) fn visit(&mut self, run: u32, warmup_ns: Nanos) -> Result<ActiveTrial, Fault> {
        let again = |why: &str| Fault::environment(format!("{why}, it is to be prepared again"));
        let mut trial = self.remove(run).ok_or_else(|| again("the trial did not stay prepared"))?;
        if trial.is_broken() {
            return Err(again("connections of the trial were closed while it rested"));
        }
        trial.revisit(warmup_ns);
        Ok(trial)
    }

    /// Takes the trial of a run away.
    pub(super) fn remove(&mut self, run: u32) -> Option<ActiveTrial> {
        let at = self.resting.iter().position(|(of, ..)| *of == run)?;
        Some(self.resting.remove(at).2)
    }

    /// Ends the trials whose rest is over; when the next one's is.
    pub(super) fn let_go(&mut self, now: Nanos) -> Nanos {
        self.resting.retain(|(_, until, _)| *until > now);
        self.resting.iter().map(|(_, until, _)| *until).min().unwrap_or(Nanos::MAX)
    }

    /// Makes a trial; where the agent lacks room for it, trials that rest make way. The first is
    /// the one that was visited last: with one round after the other, the others are visited before
    /// it.
    pub(super) fn with_room<T>(
        &mut self,
        mut make: impl FnMut() -> Result<T, Fault>,
        lacks_room: impl Fn() -> bool,
    ) -> Result<T, Fault> {
        loop {
            match make() {
                Err(fault)
                    if fault.kind == FaultKind::Environment
                        && lacks_room()
                        && self.resting.pop().is_some() => {}
                made => return made,
            }
        }
    }
}
