//! The subjects of a run: what they changed, what trials read back, and their bounds.

use hopbench_model::Subject;

use super::bounds;
use crate::run_data::RunData;
use crate::summary::{ProofSummary, SubjectSummary, WorkloadSummary};

/// What stands between the parts of an evidence.
const BETWEEN: &str = ", ";

/// The subjects, in the order of the plan.
pub(super) fn summaries(data: &RunData, workloads: &[WorkloadSummary]) -> Vec<SubjectSummary> {
    let one = |subject: &Subject| SubjectSummary {
        name: subject.name.clone(),
        changes: subject.changes(),
        read_back: of_paths(data, subject),
        bounds: bounds::of_subject(data, workloads, subject),
    };
    data.run.plan.subjects.iter().map(one).collect()
}

/// The settings that trials on the paths of a subject read back.
fn of_paths(data: &RunData, subject: &Subject) -> Option<String> {
    let hop = Subject::hop(&subject.name);
    let paths = data.run.plan.paths.iter().zip(&data.proofs);
    let own = paths.filter(|(path, _)| path.subject.as_ref() == Some(&subject.name));
    let proofs: Vec<ProofSummary> = own.flat_map(|(_, proofs)| proofs.summary()).collect();
    read_back(proofs.iter().filter(|proof| proof.hop == hop))
}

/// What these proofs say, each once and none that another contains; `None` where nothing was read.
/// What does not hold is left out: it is not what the subject has.
fn read_back<'a>(proofs: impl Iterator<Item = &'a ProofSummary>) -> Option<String> {
    let mut told: Vec<&str> = Vec::new();
    for proof in proofs.filter(|proof| proof.failed == 0) {
        let one = proof.evidence.as_str();
        if one != Subject::NOT_READ_BACK && !told.iter().any(|known| known.contains(one)) {
            told.retain(|known| !one.contains(known));
            told.push(one);
        }
    }
    (!told.is_empty()).then(|| told.join(BETWEEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(evidence: &str, failed: u32) -> ProofSummary {
        let (hop, evidence) = ("subject old".to_owned(), evidence.to_owned());
        ProofSummary { hop, ok: 2, failed, evidence }
    }

    #[test]
    fn what_was_read_on_several_paths_is_told_once() {
        let told = |proofs: &[ProofSummary]| read_back(proofs.iter());
        let none = || proof(Subject::NOT_READ_BACK, 0);
        assert_eq!((told(&[]), told(&[none(), none()])), (None, None));
        let proxied = || proof("mtu 1500, envoy 1.40.0 at /x (sha256 01)", 0);
        assert_eq!(
            told(&[none(), proof("mtu 1500", 0), proxied(), proxied()]).as_deref(),
            Some("mtu 1500, envoy 1.40.0 at /x (sha256 01)")
        );
        let wrong = || proof("a proxy runs another program than envoy at /x (sha256 01)", 1);
        assert_eq!(told(&[wrong()]), None);
        assert_eq!(told(&[wrong(), proof("mtu 1500", 0)]).as_deref(), Some("mtu 1500"));
    }
}
