//! The figures that matter for a kind of workload.

use super::figure::{End, Figure, Percentile, Source, Work};
use crate::summary::Better;

/// The figures that matter for a kind of workload.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The workload's kind: `record.job.workload`.
    pub(crate) name: &'static str,
    /// Whether this is for open-loop schedules; `None`: for any.
    pub(crate) open_loop: Option<bool>,
    /// The figures in the order of the columns; the first is the one that verdicts are about.
    pub(crate) figures: &'static [Figure],
    /// The number of the first figures that are plotted against a swept parameter.
    pub(crate) plots: usize,
    /// The latency whose distribution is shown.
    pub(crate) distribution: Option<&'static str>,
}

impl Kind {
    /// Index of the figure that shows this point of the latency that matters.
    pub(crate) fn latency(&self, percentile: Percentile) -> Option<usize> {
        let source = Source::Latency(self.distribution?, percentile);
        self.figures.iter().position(|figure| figure.source == source)
    }

    /// Index of the figure with the CPU time of this end.
    pub(crate) fn cpu(&self, end: End) -> Option<usize> {
        self.figures.iter().position(|figure| matches!(figure.source, Source::Cpu(of, _) if of == end))
    }

    /// Index of the figure that a stop rule looks at: `throughput` is what is counted a second,
    /// `p99` a percentile of the latency that matters, anything else a metric. Where the job says
    /// how much is done a second (`throughput_given`), that is the same every time, and the latency
    /// is looked at. `None` where it is none of the figures.
    pub(crate) fn of_rule(&self, metric: &str, throughput_given: bool) -> Option<usize> {
        let counted = |figure: &Figure| figure.better == Better::Higher && matches!(figure.source, Source::Metric(_));
        let throughput = self.figures.iter().position(counted);
        let is =
            |figure: &Figure| figure.name == metric || matches!(figure.source, Source::Metric(name) if name == metric);
        let percentile = match metric {
            "p50" => Some(Percentile::P50),
            "p90" => Some(Percentile::P90),
            "p99" => Some(Percentile::P99),
            "p999" if self.distribution.is_some() => return None,
            _ => None,
        };
        if let Some(percentile) = percentile.filter(|_| self.distribution.is_some()) {
            return self.latency(percentile);
        }
        match self.figures.iter().position(is) {
            Some(named) if Some(named) != throughput => Some(named),
            None if !matches!(metric, "throughput" | "p50" | "p90" | "p99" | "p999") => None,
            _ if !throughput_given => throughput,
            // A window holds too few echoes for a 99th percentile.
            _ => self.latency(Percentile::P99).or_else(|| self.latency(Percentile::P50)).or(throughput),
        }
    }

    /// The unit of work, where CPU time is counted by one.
    pub(crate) fn work(&self) -> Option<Work> {
        self.figures.iter().find_map(|figure| match figure.source {
            Source::Cpu(_, work) => Some(work),
            _ => None,
        })
    }
}
