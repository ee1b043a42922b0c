//! Settled cells: those whose comparisons are clear already, or out of reach.

use std::collections::BTreeSet;

use hopbench_stats::is_settled;

use super::sides::Sides;
use crate::run_data::RunData;

impl RunData {
    /// The cells without an open comparison, as indices of path and point. Each of their
    /// comparisons is clear already, or out of reach ([`is_settled`]), or gets no verdict. Only
    /// figures that are plotted count. The baseline and its twin are never among these cells. Nor
    /// are a tool of others and what it stands beside: the two are compared with each other.
    pub fn settled(&self) -> BTreeSet<(usize, usize)> {
        let mut looked = self.clone();
        looked.pool();
        let all = &looked.run.plan.points;
        let beside: BTreeSet<&str> =
            all.iter().filter_map(|point| Some(point.peer.as_ref()?.of.as_str())).collect();
        let is_alone = |point: &&usize| {
            let point = &all[**point];
            point.peer.is_none() && !beside.contains(point.workload.as_str())
        };
        let points = looked.workloads.iter().flat_map(|workload| &workload.points);
        let of_point = |point: &usize| -> Vec<(usize, usize)> {
            let sides = Sides::of(&looked, *point);
            let is_clear =
                |path: &usize| sides.questions(*path).is_some_and(|all| all.iter().all(is_settled));
            let clear = (0..looked.run.plan.paths.len()).filter(is_clear);
            clear.map(|path| (path, *point)).collect()
        };
        points.filter(is_alone).flat_map(of_point).collect()
    }
}
