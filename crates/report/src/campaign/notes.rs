//! What is kept beside the figures: caveats, evidence, failures. All of it is bounded by the plan, not by the records.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Failure, Record, Warning, WarningKind, point_label};

use super::kind::{LINK_MTU, LINK_RATE, TUNNEL, link};
use super::summary::{FailureSummary, ProofSummary, WarningSummary};

/// Caveats, by the index of the workload and their kind.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    by_kind: BTreeMap<(usize, String), Seen>,
    /// Trials with caveats that are the machine's, whatever was measured.
    of_the_machine: u64,
    trials: u64,
}

/// Whether a caveat is about the kernel's way to count, which is the same in every trial: it is said once.
pub(crate) fn is_of_the_machine(warning: &Warning) -> bool {
    warning.kind == WarningKind::CpuUndercounted
}

#[derive(Debug)]
struct Seen {
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
            let kind = serde_json::to_value(warning.kind).ok().and_then(|word| Some(word.as_str()?.to_owned()));
            let seen = self.by_kind.entry((workload, kind.unwrap_or_default())).or_insert_with(|| Seen {
                trials: 0,
                paths: BTreeSet::new(),
                detail: warning.detail.clone(),
                next: warning.next.clone(),
            });
            seen.trials += 1;
            seen.paths.insert(path);
        }
    }

    pub(crate) fn summary(&self, workloads: &[String], paths: &[String]) -> Vec<WarningSummary> {
        let of = |((workload, kind), seen): (&(usize, String), &Seen)| WarningSummary {
            workload: workloads[*workload].clone(),
            kind: kind.clone(),
            trials: seen.trials,
            paths: seen.paths.iter().map(|path| paths[*path].clone()).collect(),
            detail: seen.detail.clone(),
            next: seen.next.clone(),
        };
        self.by_kind.iter().map(of).collect()
    }

    /// What is said once of the machine.
    pub(crate) fn machine(&self) -> Option<String> {
        (self.of_the_machine > 0).then(|| {
            format!(
                "in {} of {} the kernel's ticks missed short work: the CPU of the machine, its softirq and its busiest \
                 CPUs are lower bounds there, the CPU of processes is exact",
                self.of_the_machine,
                crate::number::counted(self.trials, "trial", "trials")
            )
        })
    }
}

/// The evidence of one path, by hop in the order in which hops appeared.
#[derive(Debug, Default, Clone)]
pub(crate) struct Proofs(Vec<ProofSummary>);

/// More hops than this are not kept: a path has a handful.
const MOST_HOPS: usize = 64;

impl Proofs {
    pub(crate) fn add(&mut self, record: &Record) {
        for proof in &record.proof {
            let known = match self.0.iter().position(|seen| seen.hop == proof.hop) {
                Some(index) => index,
                None if self.0.len() < MOST_HOPS => {
                    let (hop, evidence) = (proof.hop.clone(), String::new());
                    self.0.push(ProofSummary { hop, ok: 0, failed: 0, evidence });
                    self.0.len() - 1
                }
                None => continue,
            };
            let seen = &mut self.0[known];
            if proof.ok {
                seen.ok += 1;
            } else {
                seen.failed += 1;
            }
            if !proof.ok || seen.failed == 0 {
                seen.evidence.clone_from(&proof.evidence);
            }
        }
    }

    pub(crate) fn summary(&self) -> Vec<ProofSummary> {
        self.0.clone()
    }
}

/// Why a record is in no figure; `None` when it is good.
pub(crate) fn unusable(record: &Record) -> Option<String> {
    if let Some(reason) = &record.error {
        return Some(reason.clone());
    }
    if let Some(reason) = &record.incomplete {
        return Some(format!("cut short: {reason}"));
    }
    if record.proof.is_empty() {
        return Some("there is no evidence that the traffic took the path".to_owned());
    }
    if let Some(proof) = record.proof.iter().find(|proof| !proof.ok) {
        return Some(format!("the traffic did not take the path: {}: {}", proof.hop, proof.evidence));
    }
    let broken = record.invariants.iter().find(|invariant| !invariant.ok)?;
    Some(format!("the figures do not add up: {}: {}", broken.name, broken.detail))
}

/// Which trial it is: a cell in a round. In the order in which they are listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TrialKey {
    path: String,
    workload: String,
    point: String,
    round: u32,
}

impl TrialKey {
    /// The trial of a record.
    pub(crate) fn of(record: &Record) -> Self {
        let (path, workload) = (record.path.clone(), record.workload.clone());
        Self { path, workload, point: point_label(&record.point), round: record.round }
    }

    /// The trial of a line of `run.json`.
    pub(crate) fn of_failure(failure: &Failure) -> Self {
        let Failure { path, workload, point, round, .. } = failure.clone();
        Self { path, workload, point, round }
    }

    /// The trial with the reason why it is in no figure.
    pub(crate) fn summary(&self, reason: &str) -> FailureSummary {
        let Self { path, workload, point, round } = self.clone();
        FailureSummary { path, workload, point, round, reason: reason.to_owned() }
    }
}

/// What the testbed says of a path's links, from its records.
#[derive(Debug, Default, Clone)]
pub(crate) struct Link {
    /// Rate of the slowest, bits/s.
    pub(crate) bits_per_s: Option<u64>,
    /// The largest packet that the ends send, bytes.
    pub(crate) mtu_bytes: Option<u64>,
    /// What tunnels add to each packet, bytes.
    pub(crate) tunnel_bytes: Option<u64>,
}

impl Link {
    pub(crate) fn add(&mut self, record: &Record) {
        self.bits_per_s = link(record, LINK_RATE).or(self.bits_per_s);
        self.mtu_bytes = link(record, LINK_MTU).or(self.mtu_bytes);
        self.tunnel_bytes = link(record, TUNNEL).or(self.tunnel_bytes);
    }
}
