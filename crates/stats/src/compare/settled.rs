//! Settled comparisons: those that are clear already, and those that are out of reach.

use super::judge::{FEWEST_TO_JUDGE, Question};
use crate::interval::CONFIDENCE;

/// Rounds before the first look.
const FIRST_LOOK: u32 = 8;
/// Rounds from a look to the next, at least.
const FEWEST_APART: u32 = 4;
/// Looks while the number of rounds doubles, at most.
const LOOKS_A_DOUBLING: u32 = 16;
/// A look before the end calls something clear with this probability of an error, at most. It is so
/// small that looking often costs hardly anything (J. L. Haybittle, "Repeated Assessment of Results
/// in Clinical Trials of Cancer Treatment", British Journal of Radiology 44, 1971; R. Peto et al.,
/// British Journal of Cancer 34, 1976).
const CLEAR: f64 = 0.001;
/// A comparison is out of reach if it needs more than so many times the rounds that it has.
const REACH: f64 = 10.0;

/// Whether there is a look before this round, counted from 1: before rounds 9, 13, 17 and so on up
/// to 129, then every 8 rounds up to 257, every 16 up to 513, and so on.
///
/// A look reads all rounds so far. With a fixed step, looks would take more and more of a long run:
/// their cost would grow with the square of its rounds.
#[must_use]
pub fn is_look(round: u32) -> bool {
    let made = round.saturating_sub(1);
    made >= FIRST_LOOK
        && made.is_multiple_of(FEWEST_APART.max((1_u32 << made.ilog2()) / LOOKS_A_DOUBLING))
}

/// Whether a comparison is clear or out of reach, so that more rounds are worth little. It looks at
/// one comparison alone, whatever their number. With fewer than 3 rounds it is `false`.
///
/// Two figures are clearly the same if the interval alone says so. All rounds together may say
/// otherwise: then some are far from the others. Nobody knows how many of these are to come, so
/// more rounds decide nothing soon.
///
/// Such a comparison gets a small share of the rounds, not none. The judgement at the end is from
/// all its rounds, so what was clear by chance can still turn out otherwise.
#[must_use]
pub fn is_settled(question: &Question) -> bool {
    let evidence = &question.evidence;
    if evidence.rounds < FEWEST_TO_JUDGE {
        return false;
    }
    // A test of ranks needs more rounds to be as sure.
    let test = evidence.test(((1.0 - CONFIDENCE) / CLEAR).round() as usize);
    let (Some(sure), Some(likely)) =
        (evidence.within(test, CLEAR), evidence.within(test, 1.0 - CONFIDENCE))
    else {
        return false;
    };
    let sure = question.widened(sure);
    let is_of_interest = question.is_of_interest(evidence.ratio);
    if is_of_interest && !sure.contains(1.0) || question.is_same(sure) {
        return true;
    }
    // Such an end says nothing of how many rounds are needed.
    if !evidence.has_ends(likely) {
        return false;
    }
    let size = evidence.ratio.ln().abs();
    let to_one = if is_of_interest { size } else { 0.0 };
    // What widens an interval never shrinks. The half of it shrinks with the root of the number of
    // rounds.
    let goal = to_one.max(question.same().ln_1p() - size) - question.slack().ln();
    let half = (likely.high.ln() - likely.low.ln()) / 2.0;
    goal <= 0.0 || (half / goal).powi(2) > REACH
}

#[cfg(test)]
mod tests {
    use super::super::{Judgement, judge, paired};
    use super::*;

    #[test]
    fn looks_come_at_a_share_of_the_rounds() {
        let looks: Vec<u32> = (0..300).filter(|round| is_look(*round)).collect();
        let steps = |range: std::ops::RangeInclusive<u32>, step| range.step_by(step);
        let expected = steps(9..=129, 4).chain(steps(137..=257, 8)).chain(steps(273..=289, 16));
        assert_eq!(looks, expected.collect::<Vec<_>>());
        let many = (1..=u32::from(u16::MAX)).filter(|round| is_look(*round)).count();
        assert!(many < 200, "{many} looks at 65 535 rounds");
    }

    /// Rounds whose ratios alternate around this one by a share.
    fn settled(rounds: usize, ratio: f64, scatter: f64, minimum_effect: f64) -> bool {
        let pairs: Vec<(f64, f64)> = (0..rounds)
            .map(|round| {
                let step = 1.0 + scatter * (1.0 + 0.01 * round as f64);
                (if round % 2 == 0 { ratio * step } else { ratio / step }, 1.0)
            })
            .collect();
        is_settled(&Question { minimum_effect, ..question(&pairs) })
    }

    fn question(pairs: &[(f64, f64)]) -> Question {
        let evidence = paired(pairs).unwrap();
        Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 }
    }

    #[test]
    fn what_is_clear_or_out_of_reach_is_settled_and_the_rest_is_open() {
        assert!(settled(12, 0.1, 0.05, 0.0), "a tenth of the rate");
        assert!(!settled(FEWEST_TO_JUDGE - 1, 0.1, 0.05, 0.0), "too few rounds");
        assert!(settled(30, 1.001, 0.01, 0.0), "the same within 5 %");
        assert!(!settled(12, 1.1, 0.1, 0.0), "10 % and a scatter of 10 %: soon decided");
        assert!(settled(12, 1.025, 0.5, 0.0), "2.5 % and a scatter of 50 %: never");
        assert!(settled(30, 1.06, 0.01, 0.1), "the same within the 10 % that matter");
    }

    /// So many rounds that scatter by up to 0.8 %, of which each tenth has a third.
    fn bad_at_times(rounds: usize) -> Vec<(f64, f64)> {
        let one = |round: usize| {
            let value = 99.3 + 0.4 * ((round * 7) % 5) as f64;
            (if round % 10 == 1 { value / 3.0 } else { value }, 100.0)
        };
        (0..rounds).map(one).collect()
    }

    #[test]
    fn what_is_the_same_in_most_rounds_rests_until_more_of_them_are_bad() {
        let judged = |pairs: &[(f64, f64)]| judge(&[question(pairs)])[0].judgement;
        let mut pairs = bad_at_times(80);
        assert_eq!(judged(&pairs), Judgement::Uneven);
        assert!(is_settled(&question(&pairs)));
        // With 30 rounds the interval of a look still reaches to the bad ones.
        assert_eq!(judged(&pairs[..30]), Judgement::Uneven);
        assert!(!is_settled(&question(&pairs[..30])));
        // So it does again once 16 of 88 are bad.
        pairs.extend([(50.0, 100.0); 8]);
        assert!(!is_settled(&question(&pairs)));
    }

    #[test]
    fn rounds_with_a_rate_of_0_put_nothing_out_of_reach() {
        let about = |ratio: f64, rounds: usize| -> Vec<(f64, f64)> {
            (0..rounds).map(|i| (ratio * (1.0 + 0.01 * (i % 3) as f64), 1.01)).collect()
        };
        let settled = |pairs: &[(f64, f64)]| {
            let evidence = super::super::paired_rates(pairs).unwrap();
            is_settled(&Question { evidence, ..question(&[(1.0, 1.0)]) })
        };
        // The interval has no lower end yet, and it will have one with a few rounds more.
        let mut pairs = about(1.0, 13);
        (pairs[4].0, pairs[9].0) = (0.0, 0.0);
        assert!(!settled(&pairs));
        let mut clear = about(0.1, 30);
        clear[4].1 = 0.0;
        assert!(settled(&clear), "a tenth of the rate, and once the baseline stood still");
        clear.truncate(6);
        assert!(!settled(&clear), "too few for ranks");
    }

    #[test]
    fn what_the_same_path_differs_by_is_out_of_reach() {
        let pairs: Vec<(f64, f64)> =
            (0..12).map(|round| (if round % 2 == 0 { 1.2 } else { 1.0 }, 1.0)).collect();
        let open = question(&pairs);
        assert!(!is_settled(&open), "10 %, give or take as much");
        assert!(is_settled(&Question { noise_floor: Some(0.2), ..open }));
        // And what is clear without a floor is not with one.
        let clear = question(&[(1.1, 1.0), (1.101, 1.0), (1.102, 1.0), (1.099, 1.0), (1.098, 1.0)]);
        assert!(is_settled(&clear));
        assert!(!is_settled(&Question { noise_floor: Some(0.095), ..clear }));
    }
}
