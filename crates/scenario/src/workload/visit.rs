//! The times of a trial where a budget asks for many short rounds.

use hopbench_model::{Job, Nanos, Pattern, SECOND};

const MILLISECOND: Nanos = SECOND / 1000;

/// The exchanges that a window of an open loop has at least.
const FEWEST_DUE: f64 = 30.0;
/// The same of probes, which are sparse.
const FEWEST_PROBES: f64 = 10.0;

/// Warm-up and window of a trial, where a scenario does not say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    warmup_ns: Nanos,
    window_ns: Nanos,
}

impl Visit {
    /// Where a trial begins within some milliseconds. A window of this length scatters hardly more
    /// than one ten times as long.
    pub(crate) const NEAR: Self =
        Self { warmup_ns: 40 * MILLISECOND, window_ns: 120 * MILLISECOND };
    /// Where it takes longer than the window, so that short ones spend the time on waiting.
    pub(crate) const FAR: Self = Self { warmup_ns: 200 * MILLISECOND, window_ns: SECOND };

    /// Sets the times of a job that the scenario does not say (`says`: whether it has that key).
    pub(crate) fn suit(self, job: &mut Job, says: impl Fn(&str) -> bool) {
        if !says("warmup") {
            job.timing.warmup_ns = self.warmup_ns;
        }
        if says("time") || says("count") {
            return;
        }
        let fewest = if job.kind().pattern == Pattern::Probes { FEWEST_PROBES } else { FEWEST_DUE };
        let due = job.schedule.per_s().map_or(0.0, |per_s| fewest / per_s * SECOND as f64);
        let timing = &mut job.timing;
        timing.window_ns = self.window_ns.max(due as Nanos);
        if !says("interval") {
            timing.interval_ns = timing.window_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Schedule, fixture};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_window_holds_enough_and_what_is_said_stays() {
        let times = |job: &Job| (job.timing.warmup_ns, job.timing.window_ns);
        let suited = |schedule, says: &[&str]| {
            let mut job = Job { schedule, ..fixture::job("rr", json!({})) };
            Visit::NEAR.suit(&mut job, |name| says.contains(&name));
            times(&job)
        };
        let old = times(&fixture::job("rr", json!({})));
        let ms = MILLISECOND;
        assert_eq!(suited(Schedule::Closed, &[]), (40 * ms, 120 * ms));
        assert_eq!(suited(Schedule::Rate(100.0), &[]), (40 * ms, 300 * ms));
        assert_eq!(suited(Schedule::Rate(10_000.0), &[]), (40 * ms, 120 * ms));
        assert_eq!(suited(Schedule::Closed, &["time"]), (40 * ms, old.1));
        assert_eq!(suited(Schedule::Closed, &["warmup", "time"]), old);
    }
}
