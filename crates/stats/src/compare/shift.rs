//! The comparison of a figure that is 0 in some rounds, like losses and errors: it has no ratio.

use super::judge::{FEWEST_TO_JUDGE, Judgement};
use super::resample::permuted;
use crate::interval::CONFIDENCE;
use crate::summary::mean;

/// Resamples of the permutation test, where there are too many ways to go through all of them.
const RESAMPLES: usize = 10_000;
/// Of these resamples.
const SEED: u64 = 1;

/// A question about a figure that has no ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftQuestion<'a> {
    /// Values of the baseline.
    pub before: &'a [f64],
    /// Values that are compared with these.
    pub now: &'a [f64],
    /// Whether the figure is itself a share, from 0 to 1.
    pub is_share: bool,
    /// Differences below this share are of no interest; 0: all are. A figure that is a share is
    /// held against it by the difference of the means. With 2 %, losses from 0 % to 1.5 % are of no
    /// interest. Any other figure is held against it by the ratio of the means, and from a baseline
    /// of 0 on any growth is above it.
    pub minimum_effect: f64,
    /// The difference of the means of one thing measured twice, in the figure's own unit.
    pub noise_floor: Option<f64>,
}

/// The outcome of such a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The p-value; absent with fewer than 2 values on a side.
    pub p: Option<f64>,
    /// The same corrected for the number of comparisons.
    pub q: Option<f64>,
    /// Whether the mean grew, however little that may say.
    pub grew: bool,
    /// What it says. A floor is in the figure's own unit.
    pub judgement: Judgement,
}

/// Judges a figure without a ratio by a permutation test ([`permuted`]). It cannot be judged with
/// comparisons that have a ratio. So its p-value is corrected by the number of such figures,
/// `comparisons` with this one (C. E. Bonferroni, "Teoria statistica delle classi e calcolo delle
/// probabilita", 1936).
#[must_use]
pub fn judge_shift(question: &ShiftQuestion<'_>, comparisons: usize) -> Shift {
    let ShiftQuestion { before, now, is_share, minimum_effect, noise_floor } = *question;
    let p = permuted(now, before, RESAMPLES, SEED).map(|permuted| permuted.p);
    let q = p.map(|p| (p * comparisons as f64).min(1.0));
    let (old, new) = (mean(before).unwrap_or(0.0), mean(now).unwrap_or(0.0));
    let difference = (new - old).abs();
    // Without end where the baseline is nothing.
    let effect = if is_share { difference } else { difference / old.abs() };
    let judgement = if before.len().min(now.len()) < FEWEST_TO_JUDGE {
        Judgement::TooFewRounds { needed: FEWEST_TO_JUDGE }
    } else if q.is_none_or(|q| q > 1.0 - CONFIDENCE) {
        Judgement::NotDecided { more_rounds: None }
    } else if let Some(floor) = noise_floor.filter(|floor| difference <= *floor) {
        Judgement::BelowFloor { floor }
    } else if effect < minimum_effect {
        Judgement::BelowMinimum
    } else if new > old {
        Judgement::Higher
    } else {
        Judgement::Lower
    };
    Shift { p, q, grew: new > old, judgement }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [f64; 5] = [0.0; 5];
    const SOME: [f64; 5] = [0.010, 0.012, 0.011, 0.013, 0.009];

    fn question<'a>(before: &'a [f64], now: &'a [f64]) -> ShiftQuestion<'a> {
        ShiftQuestion { before, now, is_share: true, minimum_effect: 0.0, noise_floor: None }
    }

    #[test]
    fn what_comes_out_of_nothing_is_more_of_it() {
        let found = judge_shift(&question(&NONE, &SOME), 1);
        // 2 of the 252 ways to divide ten values are as extreme.
        assert_eq!((found.p, found.q), (Some(2.0 / 252.0), Some(2.0 / 252.0)));
        assert!(found.grew && found.judgement == Judgement::Higher, "{found:?}");
        let back = judge_shift(&question(&SOME, &NONE), 1);
        assert!(!back.grew && back.judgement == Judgement::Lower && back.p == found.p, "{back:?}");
    }

    #[test]
    fn many_comparisons_need_more() {
        let found = judge_shift(&question(&NONE, &SOME), 6);
        assert_eq!((found.q, found.judgement), (Some(2.0 / 252.0 * 6.0), Judgement::Higher));
        let found = judge_shift(&question(&NONE, &SOME), 7);
        assert_eq!(found.judgement, Judgement::NotDecided { more_rounds: None });
        assert_eq!(judge_shift(&question(&NONE, &SOME), 1000).q, Some(1.0));
    }

    #[test]
    fn few_values_say_nothing() {
        let found = judge_shift(&question(&NONE[..2], &SOME[..2]), 1);
        assert_eq!(found.judgement, Judgement::TooFewRounds { needed: 3 });
        let found = judge_shift(&question(&NONE[..1], &SOME), 1);
        assert_eq!(
            (found.p, found.q, found.judgement),
            (None, None, Judgement::TooFewRounds { needed: 3 })
        );
        // 2 of 20 ways.
        let found = judge_shift(&question(&NONE[..3], &SOME[..3]), 1);
        assert_eq!(
            (found.p, found.judgement),
            (Some(0.1), Judgement::NotDecided { more_rounds: None })
        );
    }

    #[test]
    fn what_the_same_thing_differs_by_is_withheld() {
        let with = |floor| ShiftQuestion { noise_floor: Some(floor), ..question(&NONE, &SOME) };
        assert_eq!(judge_shift(&with(0.012), 1).judgement, Judgement::BelowFloor { floor: 0.012 });
        assert_eq!(
            judge_shift(&with(0.010), 1).judgement,
            Judgement::Higher,
            "the means differ by 1.1 %"
        );
    }

    #[test]
    fn a_minimum_effect_is_a_difference_of_shares_or_a_ratio_of_amounts() {
        let share = |least| ShiftQuestion { minimum_effect: least, ..question(&NONE, &SOME) };
        assert_eq!(judge_shift(&share(0.02), 1).judgement, Judgement::BelowMinimum);
        assert_eq!(judge_shift(&share(0.01), 1).judgement, Judgement::Higher);
        let amount = |least| ShiftQuestion { is_share: false, ..share(least) };
        assert_eq!(
            judge_shift(&amount(1000.0), 1).judgement,
            Judgement::Higher,
            "from nothing any growth is one"
        );
        let (before, now) = ([0.0, 99.0, 101.0, 100.0, 100.0], [110.0, 111.0, 109.0, 110.0, 112.0]);
        let amount = |least| ShiftQuestion {
            minimum_effect: least,
            is_share: false,
            ..question(&before, &now)
        };
        assert_eq!(
            judge_shift(&amount(0.5), 1).judgement,
            Judgement::BelowMinimum,
            "from 80 to 110.4"
        );
        assert_eq!(judge_shift(&amount(0.3), 1).judgement, Judgement::Higher);
    }
}
