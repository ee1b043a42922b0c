//! The workers of one end, one by one.

use hopbench_model::Counts;

use super::{Workers, lock};

impl Workers {
    /// Totals of each worker since the trial began, in the order in which they started. Empty where
    /// there are no two workers, or where each flow has one of its own.
    pub fn each(&self) -> Vec<Counts> {
        let lives = lock(&self.shared.lives);
        if self.shares_flows && lives.len() > 1 {
            lives.iter().map(|live| live.counts()).collect()
        } else {
            Vec::new()
        }
    }
}
