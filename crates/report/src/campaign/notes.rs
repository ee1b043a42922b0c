//! What is kept beside the figures: caveats, evidence, failures. All of it is bounded by the plan, not by the records.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::Record;

use super::summary::{FailureSummary, ProofSummary, WarningSummary};

/// Caveats, by the index of the workload and their kind.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<(usize, String), Seen>);

#[derive(Debug)]
struct Seen {
    trials: u32,
    paths: BTreeSet<usize>,
    detail: String,
    next: String,
}

impl Warnings {
    pub(crate) fn add(&mut self, workload: usize, path: usize, record: &Record) {
        for warning in &record.warnings {
            // Its word in records.
            let kind = serde_json::to_value(warning.kind).ok().and_then(|word| Some(word.as_str()?.to_owned()));
            let seen = self.0.entry((workload, kind.unwrap_or_default())).or_insert_with(|| Seen {
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
        self.0.iter().map(of).collect()
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
    if let Some(proof) = record.proof.iter().find(|proof| !proof.ok) {
        return Some(format!("the traffic did not take the path: {}: {}", proof.hop, proof.evidence));
    }
    let broken = record.invariants.iter().find(|invariant| !invariant.ok)?;
    Some(format!("the figures do not add up: {}: {}", broken.name, broken.detail))
}

/// A record as a failure.
pub(crate) fn failure(record: &Record, point: String, reason: String) -> FailureSummary {
    FailureSummary { path: record.path.clone(), workload: record.workload.clone(), point, round: record.round, reason }
}
