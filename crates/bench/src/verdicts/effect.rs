//! Two paths that differ by a known share.

use std::time::Duration;

use crate::cli::verdicts::BenchPart;

/// An effect of known size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    pub(super) part: BenchPart,
    /// Its size: the server's work as a share of the round trip, or what a link has less.
    pub(super) percent: u32,
    /// The budget of a run.
    pub(super) budget: Duration,
}

/// A run of manual practice.
pub(super) const PRACTICE: Duration = Duration::from_secs(10);
/// The run that finds the round trip without work.
pub(super) const BASE: Duration = Duration::from_secs(10);

/// The sizes, %, each with the budget of a run, s: of `rr` and `http`, whose goal it is, and of
/// `stream`, whose figure scatters less.
const SIZES: [(u32, u64, u64); 5] =
    [(0, 60, 60), (2, 240, 90), (5, 40, 40), (10, 25, 25), (20, 15, 15)];

/// Every effect, in the order of the table.
pub(super) fn effects() -> impl Iterator<Item = Effect> {
    let parts = [BenchPart::Rr, BenchPart::Http, BenchPart::Stream];
    parts.into_iter().flat_map(|part| {
        SIZES.map(|(percent, of_others, of_stream)| {
            let s = if part == BenchPart::Stream { of_stream } else { of_others };
            Effect { part, percent, budget: Duration::from_secs(s) }
        })
    })
}

/// The rate of the baseline's link, Mbit/s.
const LINK_MBIT: u32 = 1000;

impl Effect {
    /// The workload and the figure, for the table.
    pub(super) fn what(&self) -> &'static str {
        match self.part {
            BenchPart::Http => "http requests/s",
            BenchPart::Stream => "stream throughput",
            BenchPart::Rr | BenchPart::Quickstart => "rr p50",
        }
    }

    /// The figure that is judged, as the summary names it.
    pub(super) fn figure(&self) -> &'static str {
        match self.part {
            BenchPart::Http => "requests_per_s",
            BenchPart::Stream => "received_bits_per_s",
            BenchPart::Rr | BenchPart::Quickstart => "service_p50_ns",
        }
    }

    /// The true ratio to the baseline.
    pub(super) fn ratio(&self) -> f64 {
        let share = f64::from(self.percent) / 100.0;
        match self.part {
            BenchPart::Http => 1.0 / (1.0 + share),
            BenchPart::Stream => 1.0 - share,
            BenchPart::Rr | BenchPart::Quickstart => 1.0 + share,
        }
    }

    /// Whether the size is a server's work, a share of the round trip.
    pub(super) fn is_work(&self) -> bool {
        matches!(self.part, BenchPart::Rr | BenchPart::Http)
    }

    /// The scenario: `length` has its keys of time, and `base_ns` is the round trip without work.
    pub(super) fn scenario(&self, length: &str, base_ns: f64, seed: u32) -> String {
        let work_ns = (base_ns * f64::from(self.percent) / 100.0).round();
        let node = match self.part {
            BenchPart::Stream => {
                format!("{{link: {}Mbit}}", LINK_MBIT - LINK_MBIT * self.percent / 100)
            }
            _ if work_ns > 0.0 => format!("{{server-work: {work_ns}ns}}"),
            _ => "{}".to_owned(),
        };
        let (first, workload) = match self.part {
            BenchPart::Stream => (format!("{{link: {LINK_MBIT}Mbit}}"), "stream: {connections: 1}"),
            BenchPart::Http => ("{}".to_owned(), "http: {connections: 1}"),
            BenchPart::Rr | BenchPart::Quickstart => ("{}".to_owned(), "rr: {size: 1B}"),
        };
        format!(
            "name: verdicts\ntestbed: {{lab: {{nodes: {{a: {{}}, b: {first}, c: {node}}}}}}}\n\
             {length}\nseed: {seed}\n\
             baseline: one\npaths: {{one: bridge@a -> bridge@b, other: bridge@a -> bridge@c}}\n\
             workloads: {{it: {{{workload}}}}}\n"
        )
    }
}
