//! Searches for a load: what is searched, and what a trial of a search was for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Nanos, SECOND};

/// The search that a point of a plan asks for, instead of rounds at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchSpec {
    /// What is searched.
    pub goal: SearchGoal,
    /// How often a rate is searched, at least 1. The result is the median. From 3 on, its interval
    /// and verdicts come from the results of the searches. A knee is searched once: its levels are
    /// measured several times each.
    #[serde(default = "once")]
    pub repeats: u32,
    /// Exchanges that may fail at a load that counts, as a share of all: 0.01 is `errors: 1%`.
    pub errors_share: f64,
    /// Whether every path is also measured at the load that was found on each of the others.
    pub equal_load: bool,
    /// The times of trials that are as short as their load allows. Absent: all have those of the
    /// job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<ShortTrials>,
}

/// What the times of short trials depend on, besides their load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortTrials {
    /// The shortest window, ns.
    pub least_window_ns: Nanos,
    /// Whether a trial has a longer warm-up where its load needs that.
    pub suits_warmup: bool,
    /// Traffic that a link may let pass at once beyond its rate, as time at that rate, ns.
    pub burst_ns: Nanos,
}

fn once() -> u32 {
    1
}

/// Samples beyond a percentile that a window holds. With 10, one search of a simulated queue came
/// within 5 % of the truth in 77 to 93 of 100 runs; with 50 in 98 to 100, as with longer windows.
const BEYOND: f64 = 50.0;
/// How long a window waits for them, ns.
const BEYOND_NS: Nanos = 2 * SECOND;
/// Those that it holds however long that takes.
const LEAST_BEYOND: f64 = 10.0;
/// The longest window that a load can need, ns.
const LONGEST_NS: Nanos = 10 * SECOND;
/// A scan ends with rates around the limit that are this many times the precision apart.
const SCAN_WIDTH: f64 = 8.0;
/// Samples beyond a percentile that a scan waits for, and how long, ns.
const SCANNED: f64 = 1.0;
const SCANNED_NS: Nanos = SECOND;
/// The shortest window in which the clock ticks of a CPU are counted well enough, ns.
const COUNTED_NS: Nanos = SECOND;

impl SearchSpec {
    /// The window of a trial at this rate a second, ns; without a rate, that of a level.
    /// `None`: that of the job.
    ///
    /// One of `slo` holds 50 samples beyond the percentile. Where these take more than 2 s, it is 2
    /// s long, or as long as ten samples take. A rate above what the path carries, by the
    /// precision, first uses up the burst of a link. Then it makes a queue. At the end of the
    /// window, the percentile of the waiting has reached the limit.
    pub fn window_ns(&self, rate_per_s: Option<f64>) -> Option<Nanos> {
        let ShortTrials { least_window_ns: least, burst_ns, .. } = self.short?;
        Some(match &self.goal {
            SearchGoal::Knee { .. } => least,
            SearchGoal::Lossless { .. } => return None,
            SearchGoal::Cpu { .. } => least.max(COUNTED_NS),
            SearchGoal::Slo { percentile, limit_ns, rates, precision } => {
                let rate = rate_per_s.unwrap_or(rates.lowest_per_s);
                let beyond = |samples| beyond_ns(*percentile, rate, samples);
                let samples_ns = beyond(LEAST_BEYOND).max(beyond(BEYOND).min(BEYOND_NS as f64));
                let queue_ns = queue_ns(*percentile, *limit_ns, burst_ns, *precision);
                least.max((queue_ns.max(samples_ns).round() as Nanos).min(LONGEST_NS))
            }
        })
    }

    /// The window of a trial at this rate a second, which may be one of a scan, ns. `None`: that of
    /// the job.
    pub fn trial_window_ns(&self, rate_per_s: Option<f64>, is_scan: bool) -> Option<Nanos> {
        let scanned = rate_per_s.filter(|_| is_scan).and_then(|rate| self.scan_window_ns(rate));
        scanned.or_else(|| self.window_ns(rate_per_s))
    }

    /// The window of a trial of a scan at this rate a second, ns; `None`: this search has no scan.
    ///
    /// It is long enough for a queue to show at a rate that is too high by the width of the scan.
    /// It holds a sample beyond the percentile, if that takes at most 1 s. It is no longer than the
    /// window of other trials.
    pub fn scan_window_ns(&self, rate_per_s: f64) -> Option<Nanos> {
        let ShortTrials { least_window_ns: least, burst_ns, .. } = self.short?;
        let SearchGoal::Slo { percentile, limit_ns, precision, .. } = &self.goal else {
            return None;
        };
        let samples_ns = beyond_ns(*percentile, rate_per_s, SCANNED).min(SCANNED_NS as f64);
        let queue_ns = queue_ns(*percentile, *limit_ns, burst_ns, precision * SCAN_WIDTH);
        let needed = least.max(queue_ns.max(samples_ns).round() as Nanos);
        Some(needed.min(self.window_ns(Some(rate_per_s))?))
    }

    /// How near to each other the rates around the limit are at the end of a scan, as a share;
    /// `None`: this search has no scan.
    pub fn scan_width(&self) -> Option<f64> {
        match &self.goal {
            SearchGoal::Slo { precision, .. } if self.short.is_some() => {
                Some(precision * SCAN_WIDTH)
            }
            _ => None,
        }
    }
}

/// How long it takes until so many samples lie beyond a percentile, ns.
fn beyond_ns(percentile: f64, rate_per_s: f64, samples: f64) -> f64 {
    samples / (1.0 - percentile / 100.0) / rate_per_s * SECOND as f64
}

/// How long a queue grows until a percentile of the waiting has reached the limit, ns. The rate is
/// too high by this share.
fn queue_ns(percentile: f64, limit_ns: u64, burst_ns: Nanos, share: f64) -> f64 {
    (limit_ns as f64 / (percentile / 100.0) + burst_ns as f64) / share
}

/// What is searched. Rates are arrivals a second over all connections of all clients: requests, or
/// datagrams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchGoal {
    /// The first of several levels beyond which throughput stops growing: connections at the
    /// threads of the job, then threads at the connections that were found.
    Knee {
        /// Connections, ascending; each at least 1.
        connections: Vec<u32>,
        /// Threads, ascending; empty: they stay as the job says.
        threads: Vec<u32>,
        /// Growth from a level to the next below this share counts as none: 0.05 is 5 %.
        least_growth: f64,
    },
    /// The highest constant rate with a percentile of the response time at or below a limit.
    Slo {
        /// The percentile, 0 to 100: 99.
        percentile: f64,
        /// The limit, ns.
        limit_ns: u64,
        /// Where it is searched.
        rates: RateRange,
        /// How near is near enough, as a share: 0.02.
        precision: f64,
    },
    /// The highest constant rate that keeps a CPU at or below a ceiling.
    Cpu {
        /// The owner of the CPU.
        of: CpuOf,
        /// The ceiling as a share of all its CPUs: 0.6 is 60 %.
        ceiling: f64,
        /// Where it is searched.
        rates: RateRange,
    },
    /// The highest rate of datagrams with a share of loss at or below a bound.
    Lossless {
        /// The bound: 0.001 is 0.1 %.
        loss_share: f64,
        /// Where it is searched.
        rates: RateRange,
        /// How near is near enough, as a share: 0.01.
        precision: f64,
    },
}

impl SearchGoal {
    /// The name in scenarios and records: `knee`, `slo`, `cpu`, `lossless`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Knee { .. } => "knee",
            Self::Slo { .. } => "slo",
            Self::Cpu { .. } => "cpu",
            Self::Lossless { .. } => "lossless",
        }
    }

    /// The limit of the figure that is searched by, in its unit (ns, or a share); `None` of a knee,
    /// which has none.
    pub fn limit(&self) -> Option<f64> {
        match self {
            Self::Knee { .. } => None,
            Self::Slo { limit_ns, .. } => Some(*limit_ns as f64),
            Self::Cpu { ceiling, .. } => Some(*ceiling),
            Self::Lossless { loss_share, .. } => Some(*loss_share),
        }
    }

    /// The rates among which it searches; `None` of a knee, which has levels.
    pub fn rates(&self) -> Option<RateRange> {
        match self {
            Self::Knee { .. } => None,
            Self::Slo { rates, .. } | Self::Cpu { rates, .. } | Self::Lossless { rates, .. } => {
                Some(*rates)
            }
        }
    }

    /// Whether the load of a trial was not too high; `None` of a knee, which has no limit.
    pub fn is_within(&self, step: &SearchStep) -> Option<bool> {
        let limit = self.limit()?;
        Some(step.within && step.value.is_some_and(|value| value <= limit))
    }
}

/// The rates that a search looks at, arrivals a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateRange {
    /// The lowest, above 0.
    pub lowest_per_s: f64,
    /// The highest.
    pub highest_per_s: f64,
}

/// The owner of the CPU that a search holds down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuOf {
    /// All CPUs of a node of the scenario.
    Node(String),
    /// All CPUs of the busiest of these nodes.
    Nodes(Vec<String>),
    /// A proxy of the path by its name (`server-sidecar`), as a share of its worker threads.
    Proxy(String),
    /// The client's processes, as a share of their threads.
    Client,
    /// The server's processes, as a share of the CPUs that they may use.
    Server,
}

/// In words: `node b`, `proxy server-sidecar`, `the client`.
impl fmt::Display for CpuOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => write!(f, "node {name}"),
            Self::Nodes(names) => write!(f, "the busiest of nodes {}", names.join(", ")),
            Self::Proxy(name) => write!(f, "proxy {name}"),
            Self::Client => f.write_str("the client"),
            Self::Server => f.write_str("the server"),
        }
    }
}

/// [`SearchStep::why`] of a trial of a scan: it shows about where the limit lies, and is in no
/// figure.
pub const SCAN: &str = "scan";

/// [`SearchStep::goal`] of a trial at a load that was found on another path.
pub const EQUAL_LOAD: &str = "equal-load";

/// What a trial of a search was for, and what it showed. The record's `point` holds the load under
/// `parameter`, its `round` is `step`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    /// [`SearchGoal::name`], or [`EQUAL_LOAD`].
    pub goal: String,
    /// The trial's number in the search of its cell, from 1.
    pub step: u32,
    /// What was varied: `rate`, `connections`, `threads`.
    pub parameter: String,
    /// Its value: arrivals a second, or a number.
    pub load: f64,
    /// Why this load: [`SCAN`], `raise`, `narrow`, `again`, `confirm`; of [`EQUAL_LOAD`] the path
    /// that it was found on.
    pub why: String,
    /// The figure that is searched by, as in `metrics` or `latency`: `requests_per_s`,
    /// `response_ns p99`, `cpu_share`, `loss`.
    pub figure: String,
    /// Its value; absent where the trial has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether all else was within bounds: errors, and the rate that was to be reached.
    pub within: bool,
    /// The other bounds that it broke; empty in old records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenBound>,
    /// On the last trial of one of several searches of a cell for a rate: the rate that this one
    /// found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
    /// On the last trial of a search over a parameter: what it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SearchOutcome>,
}

/// A bound that a trial of a search broke besides the limit of its figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BrokenBound {
    /// Which.
    pub bound: SearchBound,
    /// The share that it counts, 0 to 1.
    pub share: f64,
}

/// A bound of the trials of a search, by the share that may not be large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchBound {
    /// The exchanges due in the window that had no answer.
    Unanswered,
    /// The part of the asked rate that was answered, but only after the window: a queue grew.
    Queued,
    /// The part of the asked rate that was not done in the window.
    NotDone,
    /// The datagrams that were due and never left the sender.
    NotSent,
    /// The datagrams that arrived only after the window: a queue grew.
    NotArrived,
    /// The exchanges that failed, or the datagrams that the sender's kernel refused.
    Failed,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchOutcome {
    /// Found.
    Found {
        /// The load.
        load: f64,
        /// The true one lies between this...
        low: f64,
        /// ... and this; absent: nothing above was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
    },
    /// Even the highest load that may be asked for is not too high.
    AboveHighest,
    /// Even the lowest load is too high.
    BelowLowest,
    /// The trials that a search may take are used up.
    GaveUp {
        /// The highest load that was not too high; absent: none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        /// The lowest that was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RATES: RateRange = RateRange { lowest_per_s: 1.0, highest_per_s: 2.0 };

    fn step(value: Option<f64>, within: bool) -> SearchStep {
        let text = |text: &str| text.to_owned();
        let (goal, parameter, why, figure) =
            (text("cpu"), text("rate"), text("raise"), text("cpu_share"));
        let broken = Vec::new();
        SearchStep {
            goal,
            step: 1,
            parameter,
            load: 1.0,
            why,
            figure,
            value,
            within,
            broken,
            found: None,
            outcome: None,
        }
    }

    #[test]
    fn a_window_holds_what_its_goal_needs() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
        let slo = |percentile, precision| SearchGoal::Slo {
            percentile,
            limit_ns: 5_000_000,
            rates,
            precision,
        };
        let short = ShortTrials { least_window_ns: SECOND / 8, suits_warmup: false, burst_ns: 0 };
        let ms = |goal: SearchGoal, rate| {
            let spec = SearchSpec { short: Some(short), ..crate::fixture::search(goal) };
            spec.window_ns(rate).map(|ns| ns as f64 / 1e6)
        };
        // Samples beyond p99: ten, as many as 2 s give, 50. Then neither, then a queue made by 1 %:
        // half of those that are due in a second wait for 5 ms.
        assert_eq!(ms(slo(99.0, 0.05), Some(250.0)), Some(4000.0));
        assert_eq!(ms(slo(99.0, 0.05), Some(1000.0)), Some(2000.0));
        assert_eq!(ms(slo(99.0, 0.05), Some(10_000.0)), Some(500.0));
        assert_eq!(ms(slo(99.0, 0.05), Some(50_000.0)), Some(125.0));
        assert_eq!(ms(slo(50.0, 0.01), Some(50_000.0)), Some(1000.0));
        let spec = SearchSpec {
            short: Some(ShortTrials { burst_ns: SECOND / 100, ..short }),
            ..crate::fixture::search(slo(50.0, 0.01))
        };
        assert_eq!(spec.window_ns(Some(50_000.0)), Some(2 * SECOND), "and a burst of 10 ms");
        // No longer than 10 s; without a rate that of the lowest.
        assert_eq!(ms(slo(99.99, 0.02), Some(100.0)), Some(10_000.0));
        assert_eq!(ms(slo(99.0, 0.02), None), Some(10_000.0));
        let cpu = SearchGoal::Cpu { of: CpuOf::Client, ceiling: 0.5, rates };
        assert_eq!(ms(cpu.clone(), Some(1000.0)), Some(1000.0));
        assert_eq!(crate::fixture::search(cpu).window_ns(Some(1000.0)), None);
        let knee =
            SearchGoal::Knee { connections: vec![1, 2], threads: Vec::new(), least_growth: 0.05 };
        assert_eq!(ms(knee, None), Some(125.0));
    }

    #[test]
    fn a_scan_is_short() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
        let slo =
            SearchGoal::Slo { percentile: 99.0, limit_ns: 19_800_000, rates, precision: 0.02 };
        let short = ShortTrials { least_window_ns: SECOND / 10, suits_warmup: false, burst_ns: 0 };
        let spec = SearchSpec { short: Some(short), ..crate::fixture::search(slo.clone()) };
        let ms = |rate: f64| spec.scan_window_ns(rate).map(|ns| ns as f64 / 1e6);
        // A sample beyond p99, no longer than 1 s for it, and a queue made by 16 %.
        assert_eq!((ms(50.0), ms(200.0), ms(400.0)), (Some(1000.0), Some(500.0), Some(250.0)));
        assert_eq!(ms(50_000.0), Some(125.0));
        assert_eq!(spec.scan_width(), Some(0.16));
        let long = crate::fixture::search(slo);
        assert_eq!((long.scan_window_ns(100.0), long.scan_width()), (None, None));
    }

    #[test]
    fn a_load_is_within_where_all_bounds_are_kept() {
        let cpu = SearchGoal::Cpu { of: CpuOf::Client, ceiling: 0.6, rates: RATES };
        assert_eq!(cpu.limit(), Some(0.6));
        for (value, within, expected) in [
            (Some(0.6), true, true),
            (Some(0.61), true, false),
            (Some(0.5), false, false),
            (None, true, false),
        ] {
            assert_eq!(cpu.is_within(&step(value, within)), Some(expected), "{value:?} {within}");
        }
        let slo = SearchGoal::Slo {
            percentile: 99.0,
            limit_ns: 5_000_000,
            rates: RATES,
            precision: 0.02,
        };
        let lossless = SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01 };
        assert_eq!((slo.limit(), lossless.limit()), (Some(5e6), Some(0.001)));
        let knee = SearchGoal::Knee { connections: vec![8], threads: vec![], least_growth: 0.05 };
        assert_eq!((knee.limit(), knee.is_within(&step(Some(1.0), true))), (None, None));
    }

    #[test]
    fn broken_bounds_are_data_and_old_records_have_none() {
        let old = json!({
            "goal": "slo", "step": 1, "parameter": "rate", "load": 9.0, "why": "raise",
            "figure": "response_ns p99",
            "value": 1.0, "within": false,
        });
        let mut step: SearchStep = serde_json::from_value(old.clone()).unwrap();
        assert!(step.broken.is_empty() && serde_json::to_value(&step).unwrap() == old);
        step.broken = vec![BrokenBound { bound: SearchBound::NotSent, share: 0.031 }];
        let new = serde_json::to_value(&step).unwrap();
        assert_eq!(new["broken"], json!([{"bound": "not_sent", "share": 0.031}]));
        assert_eq!(serde_json::from_value::<SearchStep>(new).unwrap(), step);
    }

    #[test]
    fn whose_cpu_it_is_has_words() {
        let said = [
            CpuOf::Node("b".to_owned()),
            CpuOf::Proxy("gateway".to_owned()),
            CpuOf::Client,
            CpuOf::Server,
        ];
        assert_eq!(
            said.map(|of| of.to_string()),
            ["node b", "proxy gateway", "the client", "the server"]
        );
    }
}
