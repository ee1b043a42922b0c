//! The records whose figures can be used.

use hopbench_model::{Record, TrialOutcome};

/// Why a record is in no figure; `None` when it is good.
pub fn unusable(record: &Record) -> Option<String> {
    match record.outcome() {
        TrialOutcome::Good | TrialOutcome::Disturbed(_) => None,
        TrialOutcome::CutShort(why) => Some(format!("cut short: {why}")),
        TrialOutcome::Error(why) => Some(why.to_owned()),
    }
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
