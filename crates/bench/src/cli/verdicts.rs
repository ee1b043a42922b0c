//! The flags of `verdicts`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

/// What is measured, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct VerdictOptions {
    /// The binary of hopbench [default: the workspace's release build]
    #[arg(long, value_name = "PATH")]
    pub(crate) hopbench: Option<PathBuf>,
    /// Runs of each effect; the long quickstart has a quarter of them
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) runs: u32,
    /// Tests by hand of each effect, 60 s each [default: a quarter of the runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) by_hand: Option<u32>,
    /// Only this part; may be given several times
    #[arg(long, value_name = "PART")]
    pub(crate) only: Vec<BenchPart>,
    /// Only effects of this size, %; may be given several times
    #[arg(long, value_name = "PERCENT")]
    pub(crate) percent: Vec<u32>,
    /// Only the quickstart with this budget, s; may be given several times
    #[arg(long, value_name = "SECONDS")]
    pub(crate) budget: Vec<u64>,
    /// Beside a process that keeps the first CPU busy
    #[arg(long)]
    pub(crate) busy: bool,
    /// Budgets times this: less than 1 tries the benchmark, and its figures mean nothing
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Also writes the table as markdown to FILE; rows that are not measured now stay in it
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Also replaces what FILE has between the lines `<!-- make bench-verdicts: begin -->` and
    /// `<!-- make bench-verdicts: end -->`, but for rows that are not measured now; may be given
    /// several times
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Vec<PathBuf>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchPart {
    /// The p50 of `rr`, by the work of its server.
    Rr,
    /// The requests a second of `http`, by the work of its server.
    Http,
    /// The throughput of `stream`, by the rates of links.
    Stream,
    /// The shipped scenario.
    Quickstart,
}

impl VerdictOptions {
    /// Whether a part is measured.
    pub(crate) fn has(&self, part: BenchPart) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// Whether an effect of this size, %, of a part is measured.
    pub(crate) fn has_effect(&self, part: BenchPart, percent: u32) -> bool {
        self.has(part) && (self.percent.is_empty() || self.percent.contains(&percent))
    }

    /// Whether the quickstart with a budget is measured.
    pub(crate) fn has_quickstart(&self, budget: Duration) -> bool {
        self.has(BenchPart::Quickstart)
            && (self.budget.is_empty() || self.budget.contains(&budget.as_secs()))
    }

    /// Tests by hand of each effect.
    pub(crate) fn practice(&self) -> u32 {
        self.by_hand.unwrap_or_else(|| self.few())
    }

    /// Runs of what takes long.
    pub(crate) fn few(&self) -> u32 {
        self.runs.div_ceil(4)
    }

    /// A time as the scale says, 1 s at least: a budget is no shorter.
    pub(crate) fn scaled(&self, time: Duration) -> Duration {
        time.mul_f64(self.scale).max(Duration::from_secs(1))
    }
}
