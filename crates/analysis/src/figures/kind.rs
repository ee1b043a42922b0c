//! The figures that matter for a kind of workload.

use super::figure::{End, Figure, Percentile, Source, Work};

/// The purpose of a workload's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Without a rate: as much as the path carries.
    Most,
    /// The path shall carry the rate.
    Rate,
    /// More is offered than the path carries.
    Offered,
}

/// The figures that matter for a kind of workload.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The workload's kind: `record.job.workload`.
    pub(crate) name: &'static str,
    /// The intent that this is for; `None`: for any.
    pub(crate) intent: Option<Intent>,
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
        self.figures
            .iter()
            .position(|figure| matches!(figure.source, Source::Cpu(of, _) if of == end))
    }

    /// Index of the figure that records have under this name: `requests_per_s`, `response_ns p99`;
    /// `None` where it is none of the figures.
    pub(crate) fn recorded_as(&self, name: &str) -> Option<usize> {
        self.figures.iter().position(|figure| figure.is_recorded_as(name))
    }

    /// The unit of work, where CPU time is counted by one.
    pub(crate) fn work(&self) -> Option<Work> {
        self.figures.iter().find_map(|figure| match figure.source {
            Source::Cpu(_, work) => Some(work),
            _ => None,
        })
    }
}
