//! The times of a trial where a budget asks for many short rounds.

use std::collections::BTreeMap;

use hopbench_model::{Job, Nanos, Pattern, SECOND, SearchGoal, SearchSpec, ShortTrials, Transport};

const MILLISECOND: Nanos = SECOND / 1000;

/// The exchanges that a window of an open loop has at least.
const FEWEST_DUE: f64 = 30.0;
/// The bursts that it has at least: one of them may lie across the end.
const FEWEST_BURSTS: f64 = 25.0;
/// The exchanges of probes, which are sparse.
const FEWEST_PROBES: f64 = 10.0;

/// The workloads whose windows the scenario does not say, by name, each with whether the interval
/// follows the window.
pub(crate) type UnsaidWindows = BTreeMap<String, bool>;

/// Whether a scenario says how long a window is, or the count that ends it.
pub(crate) fn says_window(says: impl Fn(&str) -> bool) -> bool {
    says("time") || says("count")
}

/// Warm-up and window of a trial, where a scenario does not say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortTimes {
    /// The warm-up of a stream, whose rate TCP has to find.
    stream_ns: Nanos,
    /// That of everything else.
    warmup_ns: Nanos,
    window_ns: Nanos,
    /// The shortest window of a trial of a search, which is one of few.
    search_ns: Nanos,
    /// What a link may let pass at once beyond its rate, as time at that rate.
    burst_ns: Nanos,
}

impl ShortTimes {
    /// Where a trial begins within some milliseconds. A window of this length scatters hardly more
    /// than one ten times as long. Exchanges are soon what they stay: medians, rates and CPU time
    /// were the same within 2 % after 10, 20 and 40 ms.
    pub(crate) const NEAR: Self = Self {
        stream_ns: 40 * MILLISECOND,
        warmup_ns: 10 * MILLISECOND,
        window_ns: 120 * MILLISECOND,
        search_ns: 250 * MILLISECOND,
        burst_ns: 0,
    };
    /// Where links of a lab are shaped, by buckets that hold 10 ms.
    pub(crate) const SHAPED: Self = Self { burst_ns: 10 * MILLISECOND, ..Self::NEAR };
    /// Where the orders cross a network: the ends begin within some milliseconds of each other, and
    /// the time between trials is longer. So windows are twice as long as near by.
    pub(crate) const FAR: Self = Self {
        stream_ns: 100 * MILLISECOND,
        warmup_ns: 50 * MILLISECOND,
        window_ns: 250 * MILLISECOND,
        search_ns: 500 * MILLISECOND,
        burst_ns: 10 * MILLISECOND,
    };

    /// Sets the times of a job that the scenario does not say (`says`: whether it has that key).
    pub(crate) fn suit(self, job: &mut Job, says: impl Fn(&str) -> bool) {
        self.suit_window(job, &says);
        if !says("warmup") {
            job.timing.warmup_ns = self.warmup_ns(job);
        }
    }

    /// Lets a search choose the windows of its trials, where the scenario does not say a time. The
    /// job has that of the lowest rate.
    pub(crate) fn suit_search(
        self,
        spec: &mut SearchSpec,
        job: &mut Job,
        says: impl Fn(&str) -> bool,
    ) {
        // What `lossless` needs depends on queues that are not known everywhere.
        let is_lossless = matches!(spec.goal, SearchGoal::Lossless { .. });
        if is_lossless || says_window(&says) {
            return;
        }
        let suits_warmup = !says("warmup");
        spec.short = Some(ShortTrials {
            least_window_ns: self.search_ns,
            suits_warmup,
            burst_ns: self.burst_ns,
        });
        job.timing.window_ns = spec.window_ns(None).unwrap_or(self.search_ns);
        if !says("interval") {
            job.timing.interval_ns = job.timing.window_ns;
        }
        if suits_warmup {
            // Near what a path carries, what queued at the start takes long to be worked off.
            job.timing.warmup_ns = self.search_ns / 5;
        }
    }

    fn warmup_ns(self, job: &Job) -> Nanos {
        let kind = job.kind();
        if kind.transport == Transport::Tcp && kind.pattern == Pattern::OneWay {
            return self.stream_ns;
        }
        self.warmup_ns.max(job.first_requests_ns().min(job.timing.window_ns))
    }

    fn suit_window(self, job: &mut Job, says: &impl Fn(&str) -> bool) {
        if says_window(says) {
            return;
        }
        let fewest = if job.kind().pattern == Pattern::Probes { FEWEST_PROBES } else { FEWEST_DUE };
        let fewest = fewest.max(FEWEST_BURSTS * f64::from(job.burst));
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
        let of = |name: &str, connections, schedule, says: &[&str]| {
            let mut job = Job { schedule, connections, ..fixture::job(name, json!({})) };
            ShortTimes::NEAR.suit(&mut job, |name| says.contains(&name));
            times(&job)
        };
        let suited = |schedule, says: &[&str]| of("rr", 1, schedule, says);
        let old = times(&fixture::job("rr", json!({})));
        let ms = MILLISECOND;
        assert_eq!(suited(Schedule::Closed, &[]), (10 * ms, 120 * ms));
        assert_eq!(suited(Schedule::Rate(100.0), &[]), (10 * ms, 300 * ms));
        assert_eq!(suited(Schedule::Rate(10_000.0), &[]), (10 * ms, 120 * ms));
        assert_eq!(suited(Schedule::Closed, &["time"]), (10 * ms, old.1));
        assert_eq!(suited(Schedule::Closed, &["warmup", "time"]), old);
        assert_eq!(of("stream", 4, Schedule::Closed, &[]), (40 * ms, 120 * ms));
        let bursts = |per_s| {
            let schedule = Schedule::Rate(per_s);
            let mut job = Job { schedule, burst: 16, ..fixture::job("rr", json!({})) };
            ShortTimes::NEAR.suit(&mut job, |_| false);
            job.timing.window_ns
        };
        assert_eq!([bursts(100.0), bursts(10_000.0)], [4000 * ms, 120 * ms]);
        // Two requests on each connection, within one window.
        assert_eq!(of("http", 16, Schedule::Closed, &[]), (10 * ms, 120 * ms));
        assert_eq!(of("http", 16, Schedule::Rate(500.0), &[]), (64 * ms, 120 * ms));
        assert_eq!(of("http", 64, Schedule::Rate(100.0), &[]), (300 * ms, 300 * ms));
    }
}
