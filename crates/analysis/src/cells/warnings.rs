//! Caveats of trials, by workload and kind. Bounded by the plan, not by the records.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::number::counted;
use hopbench_model::{Record, Warning, WarningKind};

use crate::summary::WarningSummary;

/// Caveats, by the index of the workload and their kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings {
    by_kind: BTreeMap<(usize, String), Caveat>,
    /// Trials with caveats that are the machine's, whatever was measured.
    of_the_machine: u64,
    trials: u64,
}

/// Whether a caveat is about the kernel's way to count, which is the same in every trial: it is
/// said once.
pub(crate) fn is_of_the_machine(warning: &Warning) -> bool {
    warning.kind == WarningKind::CpuUndercounted
}

#[derive(Debug, Clone)]
struct Caveat {
    trials: u32,
    paths: BTreeSet<usize>,
    detail: String,
    next: String,
}

impl Warnings {
    pub(crate) fn add(&mut self, workload: usize, path: usize, record: &Record) {
        self.trials += 1;
        self.of_the_machine += u64::from(record.warnings.iter().any(is_of_the_machine));
        for warning in record.warnings.iter().filter(|warning| !is_of_the_machine(warning)) {
            // Its word in records.
            let kind = serde_json::to_value(warning.kind)
                .ok()
                .and_then(|word| Some(word.as_str()?.to_owned()));
            let seen =
                self.by_kind.entry((workload, kind.unwrap_or_default())).or_insert_with(|| {
                    Caveat {
                        trials: 0,
                        paths: BTreeSet::new(),
                        detail: warning.detail.clone(),
                        next: warning.next.clone(),
                    }
                });
            seen.trials += 1;
            seen.paths.insert(path);
        }
    }

    pub(crate) fn summary(&self, workloads: &[String], paths: &[String]) -> Vec<WarningSummary> {
        let of = |((workload, kind), seen): (&(usize, String), &Caveat)| WarningSummary {
            workload: workloads[*workload].clone(),
            kind: kind.clone(),
            trials: seen.trials,
            paths: seen.paths.iter().map(|path| paths[*path].clone()).collect(),
            detail: seen.detail.clone(),
            next: seen.next.clone(),
        };
        self.by_kind.iter().map(of).collect()
    }

    /// The note on the machine, which is said once.
    pub(crate) fn machine(&self) -> Option<String> {
        match self.of_the_machine {
            0 => None,
            missed => Some(format!(
                "in {missed} of {} the kernel's ticks missed short work: the CPU of the machine, \
                 its softirq and its busiest CPUs are lower bounds there, the CPU of processes is \
                 exact",
                counted(self.trials, "trial", "trials")
            )),
        }
    }
}
