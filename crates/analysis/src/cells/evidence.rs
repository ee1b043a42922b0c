//! The evidence of paths, and the trials that are in no figure. Bounded by the plan, not by the
//! records.

use hopbench_model::{Failure, Record, Warning, WarningKind, point_label};

use crate::summary::{FailureSummary, ProofSummary};

/// The evidence of one path, by hop in the order in which hops appeared.
#[derive(Debug, Default, Clone)]
pub(crate) struct Proofs {
    hops: Vec<ProofSummary>,
    partly: Option<String>,
}

/// More hops than this are not kept: a path has a handful.
const MOST_HOPS: usize = 64;

impl Proofs {
    pub(crate) fn add(&mut self, record: &Record) {
        let is_partly = |warning: &&Warning| warning.kind == WarningKind::PartlyProved;
        if let Some(warning) = record.warnings.iter().find(is_partly) {
            self.partly = Some(warning.detail.clone());
        }
        for proof in &record.proof {
            let known = match self.hops.iter().position(|seen| seen.hop == proof.hop) {
                Some(index) => index,
                None if self.hops.len() < MOST_HOPS => {
                    let (hop, evidence) = (proof.hop.clone(), String::new());
                    self.hops.push(ProofSummary { hop, ok: 0, failed: 0, evidence });
                    self.hops.len() - 1
                }
                None => continue,
            };
            let seen = &mut self.hops[known];
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
        self.hops.clone()
    }

    /// Why evidence shows only a part of the path's way; `None`: it shows all of it.
    pub(crate) fn partly(&self) -> Option<String> {
        self.partly.clone()
    }
}

/// The key of a trial: a cell in a round. In the order in which they are listed.
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
    pub(crate) fn summary(&self, unused: &Unused) -> FailureSummary {
        let (Self { path, workload, point, round }, Unused { reason, is_unproved }) =
            (self.clone(), unused.clone());
        FailureSummary { path, workload, point, round, reason, is_unproved }
    }
}

/// Why a trial is in no figure.
#[derive(Debug, Clone)]
pub(crate) struct Unused {
    pub(crate) reason: String,
    /// Whether a proof of its path does not hold.
    pub(crate) is_unproved: bool,
}
