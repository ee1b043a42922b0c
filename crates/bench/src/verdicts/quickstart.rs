//! The shipped scenario: how many of its comparisons are decided.

use std::time::Duration;

use anyhow::Result;
use hopbench_analysis::{Outcome, Summary};

use super::folder::Runner;
use crate::cli::verdicts::VerdictOptions;

/// The budgets of its runs.
pub(super) const BUDGETS: [Duration; 2] = [Duration::from_secs(150), Duration::from_secs(30)];

/// How often it runs with a budget: the longer one takes too long for all the runs.
pub(super) fn runs(options: &VerdictOptions, budget: Duration) -> u32 {
    if budget > Duration::from_secs(60) { options.few() } else { options.runs }
}

/// The paths and workloads that must be told from the baseline.
const PATHS: [&str; 3] = ["sidecars", "server-sidecar", "overlay"];
const WORKLOADS: [&str; 2] = ["web", "latency"];

/// Its runs with one budget.
#[derive(Debug, Default)]
pub(super) struct Quickstart {
    /// Comparisons of each run that were judged, and those of them that were decided.
    pub(super) comparisons: Vec<(usize, usize)>,
    /// Runs in which all the paths were told from the baseline.
    pub(super) told: usize,
}

impl Quickstart {
    /// Runs it.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn of(
        runner: &Runner,
        options: &VerdictOptions,
        whole_budget: Duration,
    ) -> Result<Self> {
        let (budget, mut out) = (options.scaled(whole_budget), Self::default());
        for seed in 1..=runs(options, whole_budget) {
            let (budget_text, seed) = (format!("{}ms", budget.as_millis()), seed.to_string());
            let words = ["--budget", &budget_text, "--seed", &seed];
            out.add(&runner.run("quickstart", &words, budget)?.summary());
        }
        Ok(out)
    }

    fn add(&mut self, summary: &Summary) {
        let (mut judged, mut decided, mut told) = (0, 0, 0);
        for workload in &summary.workloads {
            for cell in &workload.cells {
                let verdict = workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
                let Some(outcome) = verdict.map(|verdict| verdict.outcome) else { continue };
                if cell.is_twin || !outcome.is_judged() {
                    continue;
                }
                judged += 1;
                decided += usize::from(outcome.is_called() || outcome == Outcome::Same);
                let asked = PATHS.contains(&cell.path.as_str())
                    && WORKLOADS.contains(&workload.name.as_str());
                told += usize::from(asked && outcome.is_called());
            }
        }
        self.comparisons.push((judged, decided));
        self.told += usize::from(told == PATHS.len() * WORKLOADS.len());
    }
}
