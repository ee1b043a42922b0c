//! The records whose figures can be used.

use hopbench_model::{BYPASSES_PROXY, Record};

/// Why a record is in no figure; `None` when it is good.
pub fn unusable(record: &Record) -> Option<String> {
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

/// Whether the traffic of a trial went by the proxies of its path: they do not carry its protocol.
pub(crate) fn bypasses_proxy(record: &Record) -> bool {
    record.proof.iter().any(|proof| proof.evidence.starts_with(BYPASSES_PROXY))
}

/// Whether the generator was the limit in half of some trials or more: then their median is not the
/// path's. `late` says of each whether it was.
pub(crate) fn is_mostly_late(late: impl Iterator<Item = bool>) -> bool {
    let (all, late) = late.fold((0, 0), |(all, late), one| (all + 1, late + usize::from(one)));
    late > 0 && late * 2 >= all
}

#[cfg(test)]
mod tests {
    use super::is_mostly_late;

    #[test]
    fn half_of_the_trials_are_most() {
        let late = |late: &[bool]| is_mostly_late(late.iter().copied());
        assert!(late(&[true]) && late(&[true, false]) && late(&[true, true, false]));
        assert!(!late(&[]) && !late(&[false]) && !late(&[true, false, false]));
    }
}
