//! Everything that the answer of a run has.

use hopbench_analysis::Summary;

use super::facts::{self, Fact};
use super::head::Head;
use super::notes;
use super::tables::{self, Table};

/// A run in short.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Which run, how large, and how far it came.
    pub(crate) head: Head,
    /// The figures: of workloads, of searches, of what each hop adds.
    pub(crate) tables: Vec<Table>,
    /// Costs and limits, a line each.
    pub(crate) facts: Vec<Fact>,
    /// What a reader must know, the worst first.
    pub(crate) notes: Vec<String>,
}

impl Answer {
    /// The answer of a summary.
    pub(crate) fn of(summary: &Summary) -> Self {
        let mut tables: Vec<Table> = tables::effects(summary, false).into_iter().collect();
        tables.extend(tables::searches(summary));
        tables.extend(tables::hops(summary));
        Self {
            head: Head::of(summary),
            tables,
            facts: facts::costs(summary).into_iter().chain(facts::limits(summary)).collect(),
            notes: notes::all(summary),
        }
    }

    /// What is better, and what the signs mean. `has_intervals`: differences are shown with theirs.
    pub(crate) fn legend(&self, has_intervals: bool) -> Vec<String> {
        tables::legend(&self.tables, has_intervals)
    }
}
