//! The processes of one end, one by one.

use std::collections::BTreeMap;

use hopbench_meter::delta;
use hopbench_model::EndReport;

use crate::limited::Process;

/// Whether a figure is of one process of several.
pub(super) fn is_of_one(name: &str) -> bool {
    of_one(name).is_some()
}

/// `process2_cpu_s` is process 2's `cpu_s`.
fn of_one(name: &str) -> Option<(u32, &str)> {
    let (number, what) = name.strip_prefix("process")?.split_once('_')?;
    Some((number.parse().ok()?, what))
}

/// The processes that do an end's work: those of a server program, or the agent, which does it in so many `threads` and
/// used so many `cores`. None in a sandbox: its own threads work, too, and nobody says how many.
pub(super) fn working(end: &EndReport, threads: u32, cores: f64, seconds: f64) -> Vec<Process> {
    let Some(program) = end.end.readings.get("program") else {
        let in_sandbox = end.end.readings.get("self").is_some_and(|own| own.contains_key("processes"));
        return if in_sandbox { Vec::new() } else { vec![Process { cores, threads }] };
    };
    let nothing = BTreeMap::new();
    let spent = delta::window(end.start.readings.get("program").unwrap_or(&nothing), program);
    let each = spent.iter().filter_map(|(name, cpu_s)| {
        let (number, _) = of_one(name).filter(|(_, what)| *what == "cpu_s")?;
        let threads = *spent.get(&format!("process{number}_threads"))?;
        Some(Process { cores: cpu_s / seconds, threads: threads as u32 })
    });
    each.collect()
}
