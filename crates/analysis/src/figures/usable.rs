//! The records whose figures can be used.

use hopbench_model::{Record, TrialOutcome};
use hopbench_stats::summary::median;

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

/// The rate at which most of some trials are saturated, a second: the median of those trials'.
/// `None` if half of them or more are not. So a single odd trial does not decide it.
pub(crate) fn mostly_saturated(trials: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut all, mut rates) = (0, Vec::new());
    for trial in trials {
        all += 1;
        rates.extend(trial);
    }
    if rates.len() * 2 > all { median(&rates) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{is_mostly_late, mostly_saturated};

    #[test]
    fn more_than_half_of_the_trials_are_most_and_their_median_is_the_rate() {
        let at = |trials: &[Option<f64>]| mostly_saturated(trials.iter().copied());
        assert_eq!(at(&[Some(100.0)]), Some(100.0));
        assert_eq!(at(&[Some(100.0), None, Some(300.0), Some(200.0)]), Some(200.0));
        assert_eq!(at(&[None, Some(100.0), None]), None, "one stalled");
        assert_eq!((at(&[]), at(&[Some(100.0), None])), (None, None));
    }

    #[test]
    fn half_of_the_trials_are_most() {
        let late = |late: &[bool]| is_mostly_late(late.iter().copied());
        assert!(late(&[true]) && late(&[true, false]) && late(&[true, true, false]));
        assert!(!late(&[]) && !late(&[false]) && !late(&[true, false, false]));
    }
}
