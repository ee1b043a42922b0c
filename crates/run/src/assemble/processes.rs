//! The processes of one end, one by one.

use std::collections::BTreeMap;

use hopbench_meter::delta;
use hopbench_model::EndReport;

use super::end::spent_seconds;
use crate::limited::WorkingProcess;

/// Whether a figure is of one process of several.
pub(super) fn is_of_one(name: &str) -> bool {
    of_one(name).is_some()
}

/// `process2_cpu_s` is process 2's `cpu_s`.
fn of_one(name: &str) -> Option<(u32, &str)> {
    let (number, what) = name.strip_prefix("process")?.split_once('_')?;
    Some((number.parse().ok()?, what))
}

/// Whether an end is in a sandbox: its processes are seen from outside, and count together.
pub(super) fn in_sandbox(end: &EndReport) -> bool {
    end.end.readings.get("self").is_some_and(|own| own.contains_key("processes"))
}

/// The processes that do an end's work. They are those of a server program, or the agent, which
/// does it in so many `threads` and used so many `cores`. None in a sandbox: its own threads work,
/// too, and nobody says how many.
pub(super) fn working(end: &EndReport, threads: u32, cores: f64) -> Vec<WorkingProcess> {
    let Some(seconds) = spent_seconds(end) else { return Vec::new() };
    let spent = |spender: &str, reading| {
        let nothing = BTreeMap::new();
        delta::window(end.start.readings.get(spender).unwrap_or(&nothing), reading)
    };
    let Some(program) = end.end.readings.get("program") else {
        let own = end.end.readings.get("self").map(|own| spent("self", own)).unwrap_or_default();
        let waits_per_s = own.get("voluntary_switches").map(|waits| waits / seconds);
        return if in_sandbox(end) {
            Vec::new()
        } else {
            vec![WorkingProcess { cores, threads, waits_per_s }]
        };
    };
    let spent = spent("program", program);
    let each = spent.iter().filter_map(|(name, cpu_s)| {
        let (number, _) = of_one(name).filter(|(_, what)| *what == "cpu_s")?;
        let threads = *spent.get(&format!("process{number}_threads"))?;
        Some(WorkingProcess { cores: cpu_s / seconds, threads: threads as u32, waits_per_s: None })
    });
    each.collect()
}
