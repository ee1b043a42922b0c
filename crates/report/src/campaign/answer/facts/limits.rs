//! The limits of the trials: the most frequent one of each workload and search.

use std::collections::BTreeMap;

use hopbench_analysis::Summary;
use hopbench_analysis::text::limit_text::short;

use super::fact::Fact;

/// `throughput: softirq; latency: round trip`; `None` where no trial has one.
pub(in super::super) fn fact(summary: &Summary) -> Option<Fact> {
    let mut parts: Vec<String> = Vec::new();
    for workload in &summary.workloads {
        let mut counted: BTreeMap<&str, u32> = BTreeMap::new();
        for limit in
            workload.cells.iter().filter(|cell| !cell.is_twin).flat_map(|cell| &cell.limited_by)
        {
            *counted.entry(&limit.limit).or_default() += limit.trials;
        }
        parts.extend(most(&counted).map(|limit| format!("{}: {limit}", workload.name)));
    }
    for search in &summary.searches {
        let mut counted: BTreeMap<&str, u32> = BTreeMap::new();
        for step in search.paths.iter().flat_map(|path| &path.trace) {
            *counted.entry(&step.limited_by).or_default() += 1;
        }
        parts.extend(most(&counted).map(|limit| format!("search of {}: {limit}", search.name())));
    }
    if parts.is_empty() {
        return None;
    }
    Some(Fact { label: "limited by", text: parts.join("; ") })
}

/// The most frequent limit; with its share where it is not that of all.
fn most(counted: &BTreeMap<&str, u32>) -> Option<String> {
    let all: u32 = counted.values().sum();
    let (limit, trials) =
        counted.iter().filter(|(limit, _)| !limit.is_empty()).max_by_key(|(_, trials)| **trials)?;
    let share = if *trials < all { format!(" ({trials} of {all})") } else { String::new() };
    Some(format!("{}{share}", short(limit)))
}
