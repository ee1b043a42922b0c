//! Settled cells: those whose comparisons are clear already, or out of reach.

use std::collections::BTreeSet;

use hopbench_stats::is_settled;

use crate::cells::against::evidence;
use crate::figures::Better;
use crate::run_data::RunData;

impl RunData {
    /// The cells without an open comparison, as indices of path and point. Each of their
    /// comparisons is clear already, or out of reach ([`is_settled`]). Only figures that are
    /// plotted count. The baseline and its twin are never among these cells.
    pub fn settled(&self) -> BTreeSet<(usize, usize)> {
        let mut looked = self.clone();
        looked.pool();
        let plan = &looked.run.plan;
        let baseline = plan.baseline.as_ref().and_then(|name| looked.path_names.get(name));
        let is_settled = |(path, point): (usize, usize)| {
            let base = baseline.filter(|base| **base != path && looked.twin != Some(path))?;
            let (cell, base) =
                (looked.cells.get(&(path, point))?, looked.cells.get(&(*base, point))?);
            let twin = looked.twin.and_then(|twin| looked.cells.get(&(twin, point)));
            let both = twin.map(|twin| base.with_twin(twin));
            let base = both.as_ref().unwrap_or(base);
            let kind = looked.workloads[looked.workload_of[point]].kind;
            let figures = kind.figures.iter().enumerate().take(kind.plots);
            let mut compared = figures
                .filter(|(_, figure)| figure.is_compared() && figure.better != Better::Neither);
            if cell.is_generator_limited() || base.is_generator_limited() {
                return Some(true);
            }
            let is_saturated = cell.saturated_per_s().is_some() || base.saturated_per_s().is_some();
            Some(compared.all(|(at, figure)| {
                // What gets no verdict takes no time.
                if is_saturated && figure.is_latency() {
                    return true;
                }
                let rested =
                    looked.rested.get(&(path, point)).filter(|_| figure.is_far_percentile());
                let (cell, base) = rested.map_or((cell, base), |(cell, base)| (cell, base));
                let (found, _) = evidence(figure, at, cell, base);
                found.is_some_and(|found| is_settled(&found, plan.minimum_effect))
            }))
        };
        looked.cells.keys().copied().filter(|cell| is_settled(*cell) == Some(true)).collect()
    }
}
