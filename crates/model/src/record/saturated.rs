//! Saturation: whether a path carried the rate that a trial asked for.
//!
//! It concerns trials whose exchanges start by a schedule. What comes due and is not completed
//! stands in a queue. So what came due in the window less what was completed in it is what the
//! queue grew by. It grows by chance, too: in a window in which `n` exchanges come due, its scatter
//! is at most `sqrt(n (a + s))`. Here `a` is 0 for evenly spaced arrivals, 1 for Poisson arrivals,
//! and `N` where these are bursts of `N`. `s` is the squared coefficient of variation of the service
//! times. That is the scatter of a queue at the highest rate that is stable (J. F. C. Kingman,
//! 1962); at lower ones it is less.

use serde_json::Value;

use super::Record;
use crate::{SCHEDULE_KEPT, SECOND, Schedule};

/// Exchanges that may lie across an edge of the window, whatever the rate.
const EDGES: f64 = 2.0;
/// A queue that grew by no more than so many times its scatter may have grown by chance.
const CHANCE: f64 = 2.0;
/// A queue that more of the arrivals than this met is one that does not go away.
const MOSTLY: f64 = 0.5;
/// Service times scatter no more than times by chance: what scatters more is single stalls.
const BY_CHANCE: f64 = 1.0;

impl Record {
    /// The rate at which exchanges were completed, a second, if the path is saturated: the rate
    /// that was asked for was not reached, or its queue grew over the window. `None`: it was kept,
    /// or nothing can be said. That is so where no rate was asked for and where nothing is
    /// answered. It is also so if the generator was late, as that is not the path's.
    pub fn saturated_per_s(&self) -> Option<f64> {
        let metric = |name: &str| self.metrics.get(name).copied();
        let due = metric("intended_per_s")? * self.window_s;
        let (answered, failed) = (metric("requests")?, metric("errors").unwrap_or(0.0));
        if !self.kind().is_of_exchanges() || self.is_generator_limited() || answered <= 0.0 {
            return None;
        }
        // Old records do not have the first; the other is it where the two differ.
        let per_s = metric("completed_per_s").or_else(|| metric("requests_per_s"))?;
        // What failed left the queue, too.
        let due = due * answered / (answered + failed);
        let done = per_s * self.window_s;
        let is_beyond_chance =
            due - done > self.edges() + self.filled() + CHANCE * self.scatter(due);
        let is_short = done < SCHEDULE_KEPT * due;
        let has_queue = metric("queued").is_some_and(|queued| queued > MOSTLY * due);
        (is_beyond_chance && (is_short || has_queue)).then_some(per_s)
    }

    /// Exchanges that were due at the same moment.
    fn burst(&self) -> f64 {
        self.job.get("burst").and_then(Value::as_f64).unwrap_or(1.0)
    }

    /// Exchanges that may lie across an edge of the window.
    fn edges(&self) -> f64 {
        EDGES.max(self.burst())
    }

    /// Exchanges that are under way at the end of the window and were not at its start, because the
    /// warm-up was shorter than an exchange.
    fn filled(&self) -> f64 {
        let service_ns = self.latency.get("service_ns").map_or(0.0, |service| service.mean);
        let warmup = self.job.get("timing").and_then(|timing| timing.get("warmup_ns"));
        let warmup_ns = warmup.and_then(Value::as_f64).unwrap_or(0.0);
        let missing_s = (service_ns - warmup_ns).max(0.0) / SECOND as f64;
        self.metrics.get("intended_per_s").map_or(0.0, |rate| rate * missing_s)
    }

    /// The scatter of what a queue grows by while `due` exchanges come due.
    fn scatter(&self, due: f64) -> f64 {
        let schedule = self.job.get("schedule").cloned();
        let schedule = schedule.and_then(|schedule| serde_json::from_value(schedule).ok());
        let arrivals = if let Some(Schedule::Rate(_)) = schedule { 0.0 } else { self.burst() };
        let service = self.latency.get("service_ns").filter(|service| service.mean > 0.0);
        let variation = service.map_or(BY_CHANCE, |service| service.stddev / service.mean);
        (due * (arrivals + variation.min(BY_CHANCE).powi(2))).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture;
    use crate::{Latency, Warning, WarningKind};

    /// A trial of 1 s with so many exchanges a second due and done, all of 1 ms, of which so many
    /// waited for a connection.
    fn trial(schedule: &str, due: f64, done: f64, queued: f64) -> Record {
        let mut record = fixture::record(&[
            ("intended_per_s", due),
            ("completed_per_s", done),
            ("requests_per_s", done),
            ("requests", due),
            ("errors", 0.0),
            ("queued", queued),
        ]);
        record.job = json!({
            "workload": "rr",
            "schedule": {schedule: due},
            "timing": {"warmup_ns": 100_000_000},
        });
        let service = Latency { count: due as u64, mean: 1e6, stddev: 2e5, ..Latency::default() };
        record.latency.insert("service_ns".to_owned(), service);
        record
    }

    fn of(schedule: &str, due: f64, done: f64) -> Option<f64> {
        trial(schedule, due, done, 0.0).saturated_per_s()
    }

    #[test]
    fn a_rate_that_was_not_reached_is_saturated_at_what_was_done() {
        assert_eq!(of("rate", 5000.0, 3909.0), Some(3909.0));
        assert_eq!(of("poisson", 5000.0, 3909.0), Some(3909.0));
        assert_eq!(of("rate", 5000.0, 5000.0), None);
        // It worked off what was left undone in the warm-up.
        assert_eq!(of("rate", 5000.0, 5100.0), None);
    }

    #[test]
    fn edges_and_chance_explain_a_little() {
        // 2 at the edges; evenly spaced arrivals scatter by sqrt(1000) x 0.2, twice that is 12.6.
        assert_eq!(of("rate", 1000.0, 986.0), None);
        assert_eq!(of("rate", 1000.0, 985.0), Some(985.0));
        // Poisson arrivals scatter by sqrt(1000 x 1.04), twice that is 64.5.
        assert_eq!(of("poisson", 1000.0, 935.0), None);
        assert_eq!(of("poisson", 1000.0, 933.0), Some(933.0));
        assert_eq!(of("rate", 10.0, 7.0), None, "2 at the edges, 1.3 by chance");
    }

    #[test]
    fn bursts_explain_more() {
        let of = |schedule, done| {
            let mut record = trial(schedule, 1000.0, done, 0.0);
            record.job["burst"] = json!(16);
            record.saturated_per_s()
        };
        // A burst at the edges, and 12.6 by chance.
        assert_eq!(of("rate", 972.0), None);
        assert_eq!(of("rate", 971.0), Some(971.0));
        // Bursts at random scatter by sqrt(1000 x 16.04), twice that is 253.3.
        assert_eq!(of("poisson", 731.0), None);
        assert_eq!(of("poisson", 730.0), Some(730.0));
    }

    #[test]
    fn a_share_below_one_percent_counts_where_most_arrivals_met_a_queue() {
        let with = |queued| trial("rate", 100_000.0, 99_500.0, queued).saturated_per_s();
        assert_eq!(with(1000.0), None);
        assert_eq!(with(60_000.0), Some(99_500.0));
    }

    #[test]
    fn exchanges_that_are_longer_than_the_warm_up_fill_the_path_first() {
        let mut record = trial("rate", 1000.0, 850.0, 0.0);
        let service = Latency { count: 1000, mean: 250e6, ..Latency::default() };
        record.latency.insert("service_ns".to_owned(), service);
        assert_eq!(record.saturated_per_s(), None, "150 of them began in the last 150 ms");
        record.job["timing"]["warmup_ns"] = json!(300_000_000);
        assert_eq!(record.saturated_per_s(), Some(850.0));
    }

    #[test]
    fn what_failed_is_in_no_queue() {
        let mut record = trial("rate", 1000.0, 800.0, 0.0);
        record.metrics.extend([("requests".to_owned(), 800.0), ("errors".to_owned(), 200.0)]);
        assert_eq!(record.saturated_per_s(), None);
        record.metrics.insert("completed_per_s".to_owned(), 700.0);
        assert_eq!(record.saturated_per_s(), Some(700.0));
    }

    #[test]
    fn records_without_the_count_between_the_edges_have_the_rate() {
        let mut record = trial("rate", 5000.0, 3909.0, 0.0);
        record.metrics.remove("completed_per_s");
        assert_eq!(record.saturated_per_s(), Some(3909.0));
        record.job = json!({});
        record.workload = "rr".to_owned();
        assert_eq!(record.saturated_per_s(), Some(3909.0), "a job of another version");
    }

    /// Times by chance around 1, the same in each run of a test.
    struct Times(u64);

    impl Times {
        fn next(&mut self) -> f64 {
            // The multiplier and increment of Knuth's MMIX generator.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            -(((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
        }
    }

    /// One connection whose exchanges take 1 ms on average, exponentially distributed, and the
    /// share of trials that are saturated at a load of so many times what it carries. About `count`
    /// exchanges come due in a window, and a third of that before it.
    fn share(times: &mut Times, schedule: &str, load: f64, count: f64) -> f64 {
        const TRIALS: u32 = 400;
        let window_s = count / load / 1000.0;
        let (from, to) = (window_s / 3.0, window_s * 4.0 / 3.0);
        let mut saturated = 0;
        for _ in 0..TRIALS {
            let (mut arrival, mut free) = (0.0, 0.0f64);
            let [mut due, mut done, mut queued] = [0.0f64; 3];
            while arrival < to {
                let is_due = arrival >= from;
                queued += f64::from(u8::from(is_due && free > arrival));
                due += f64::from(u8::from(is_due));
                free = free.max(arrival) + times.next() / 1000.0;
                done += f64::from(u8::from((from..to).contains(&free)));
                arrival += if schedule == "rate" { 1.0 } else { times.next() } / 1000.0 / load;
            }
            let mut record = trial(schedule, due / window_s, done / window_s, queued);
            record.window_s = window_s;
            record.metrics.insert("requests".to_owned(), due);
            let service =
                Latency { count: due as u64, mean: 1e6, stddev: 1e6, ..Latency::default() };
            record.latency.insert("service_ns".to_owned(), service);
            saturated += u32::from(record.saturated_per_s().is_some());
        }
        f64::from(saturated) / f64::from(TRIALS)
    }

    /// Near the highest rate that is stable, too, few trials look saturated, and so of a cell
    /// hardly ever most.
    #[test]
    fn a_stable_queue_that_wanders_is_hardly_ever_saturated() {
        let mut times = Times(1);
        for schedule in ["rate", "poisson"] {
            for count in [150.0, 1000.0] {
                let at = |times: &mut Times, load| share(times, schedule, load, count);
                let stable = [0.5, 0.8, 0.95, 0.99].map(|load| at(&mut times, load));
                assert!(
                    stable.iter().all(|share| *share <= 0.05),
                    "{schedule} {count}: {stable:?}"
                );
                let most = if count < 1000.0 { 1.6 } else { 1.2 };
                let over = [most, 2.0].map(|load| at(&mut times, load));
                assert!(over.iter().all(|share| *share >= 0.9), "{schedule} {count}: {over:?}");
            }
        }
    }

    #[test]
    fn nothing_is_said_of_what_has_no_queue_or_was_not_asked_in_time() {
        let saturated = || trial("rate", 5000.0, 3909.0, 0.0);
        let closed = {
            let mut record = saturated();
            record.metrics.remove("intended_per_s");
            record
        };
        assert_eq!(closed.saturated_per_s(), None);
        let mut datagrams = saturated();
        datagrams.job["workload"] = json!("udp");
        assert_eq!(datagrams.saturated_per_s(), None);
        let late = Warning::new(WarningKind::GeneratorLimited, String::new(), "");
        let late = Record { warnings: vec![late], ..saturated() };
        assert_eq!(late.saturated_per_s(), None);
        let mut dead = saturated();
        dead.metrics.insert("requests".to_owned(), 0.0);
        assert_eq!(dead.saturated_per_s(), None);
    }
}
