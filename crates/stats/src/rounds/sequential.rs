//! The rule that stops the rounds of a cell, and the interval after repeated looks.

use super::intervals::rounds_interval;
use crate::interval::{CONFIDENCE, Interval};
use crate::summary::median;

/// Fewest rounds that a look means something with.
pub const FEWEST_TO_STOP: usize = 3;

/// What may lie outside of the interval at a look after 3, 4 and 5 rounds. See [`Stop::look`].
const EARLY: [f64; 3] = [0.042, 0.035, 0.028];
/// After more rounds.
const LATER: f64 = 0.018;
/// At the last look, after which nothing can be chosen any more.
const LAST: f64 = 0.03;

/// When the rounds of a cell may end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Half the width of the interval that is narrow enough, as a share of the median: 0.02 is
    /// `ci: 2%`.
    pub half_width_share: f64,
    /// Rounds that are made in any case; fewer than 3 count as 3.
    pub min_rounds: usize,
    /// Rounds after which there are no more; less than `min_rounds` counts as that.
    pub max_rounds: usize,
}

/// What a look at the rounds so far says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Rounds so far.
    pub rounds: usize,
    /// The median of them; absent without any, or with one that is not finite.
    pub median: Option<f64>,
    /// The interval that holds 95 % with all the looks before; absent with fewer than 2 rounds.
    pub interval: Option<Interval>,
    /// Half its width as a share of the median; absent without an interval, or with a median of 0.
    pub half_width_share: Option<f64>,
    /// Whether that is narrow enough, with at least `min_rounds` rounds.
    pub narrow_enough: bool,
    /// Whether `max_rounds` are reached: it is the last look, narrow or not.
    pub last: bool,
}

impl Look {
    /// Whether the cell needs another round.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        !self.narrow_enough && !self.last
    }
}

impl Stop {
    /// Looks at a cell after each of its rounds, or again at the same rounds later: it follows from
    /// the values alone.
    ///
    /// Who looks after each round and stops when the interval is narrow stops more often where the
    /// rounds happened to be close together. Intervals of 95 % then hold 89 %. So the interval is
    /// wider than that of a fixed number of rounds. It is [`rounds_interval`] at 95.8, 96.5 and
    /// 97.2 % after 3, 4 and 5 rounds, at 98.2 % after more, and at 97 % at the last look. These
    /// levels were found by simulation so that, wherever it stops, the interval holds the truth in
    /// 93 to 97 % of cells. That holds at any width asked for and any noise that is not one-sided,
    /// whether it stops at once, in between or never. The idea is that of repeated confidence
    /// intervals (C. Jennison and B. W. Turnbull, "Interim Analyses: The Repeated Confidence
    /// Interval Approach", Journal of the Royal Statistical Society B 51(3), 1989), for the
    /// stopping rule of Y. S. Chow and H. Robbins, "On the Asymptotic Theory of Fixed-Width
    /// Sequential Confidence Intervals for the Mean", Annals of Mathematical Statistics 36(2),
    /// 1965. Where only one look is planned it is the plain interval.
    #[must_use]
    pub fn look(&self, values: &[f64]) -> Look {
        let rounds = values.len();
        let first = self.first_look();
        let final_look = self.max_rounds.max(first);
        let last = rounds >= final_look;
        let outside = if first == final_look {
            1.0 - CONFIDENCE
        } else if last {
            LAST
        } else {
            EARLY.get(rounds.saturating_sub(FEWEST_TO_STOP)).copied().unwrap_or(LATER)
        };
        let middle = median(values);
        let interval = rounds_interval(values, 1.0 - outside);
        let half_width_share =
            interval.zip(middle).filter(|(_, middle)| *middle != 0.0).map(|(interval, middle)| {
                let half = (interval.high - interval.low) / 2.0;
                half / middle.abs()
            });
        let narrow = half_width_share.is_some_and(|share| share <= self.half_width_share);
        Look {
            rounds,
            median: middle,
            interval,
            half_width_share,
            narrow_enough: narrow && rounds >= first,
            last,
        }
    }

    /// How many rounds in all a cell will about need, from those so far: the width falls with the
    /// root of their number. Between the next and `max_rounds`; `None` where nothing can be said
    /// yet, or nothing more is needed.
    #[must_use]
    pub fn expected_rounds(&self, look: &Look) -> Option<usize> {
        let share =
            look.half_width_share.filter(|_| look.goes_on() && self.half_width_share > 0.0)?;
        let needed = (look.rounds as f64 * (share / self.half_width_share).powi(2)).ceil();
        let most = self.max_rounds.max(self.first_look());
        let next = (look.rounds + 1).max(self.first_look()).min(most);
        Some((needed as usize).clamp(next, most))
    }

    fn first_look(&self) -> usize {
        self.min_rounds.max(FEWEST_TO_STOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop = Stop { half_width_share: 0.02, min_rounds: 3, max_rounds: 20 };

    #[test]
    fn it_stops_when_narrow_and_not_before_the_least() {
        let close = [100.0, 100.1, 99.9];
        assert!(!STOP.look(&close[..2]).narrow_enough, "2 rounds are never enough");
        assert!(STOP.look(&close).narrow_enough && !STOP.look(&close).goes_on());
        assert!(STOP.look(&[100.0, 110.0, 90.0]).goes_on());
        let patient = Stop { min_rounds: 5, ..STOP };
        assert!(patient.look(&close).goes_on());
        assert!(Stop { min_rounds: 0, ..STOP }.look(&[100.0; 2]).goes_on());
    }

    #[test]
    fn it_ends_at_the_most_rounds_and_says_how_wide_it_still_is() {
        let wild: Vec<f64> = (0..20).map(|i| 100.0 + 40.0 * f64::from(i % 2)).collect();
        let look = STOP.look(&wild);
        assert!(look.last && !look.narrow_enough && !look.goes_on(), "{look:?}");
        assert!(look.half_width_share.is_some_and(|share| share > 0.15), "{look:?}");
    }

    #[test]
    fn looks_that_could_have_stopped_are_paid_for() {
        let values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 98.0, 102.0];
        let plain = rounds_interval(&values, CONFIDENCE).unwrap();
        let one_look =
            Stop { min_rounds: 8, max_rounds: 8, ..STOP }.look(&values).interval.unwrap();
        let many = STOP.look(&values).interval.unwrap();
        assert_eq!(one_look, plain);
        assert!(many.low < plain.low && many.high > plain.high);
    }

    #[test]
    fn broken_and_missing_values_never_stop() {
        for values in [&[][..], &[1.0], &[1.0, f64::NAN, 1.0], &[0.0, 0.0, 0.0]] {
            let look = STOP.look(values);
            assert!(!look.narrow_enough && look.half_width_share.is_none(), "{values:?}: {look:?}");
        }
    }

    #[test]
    fn the_rounds_to_come_are_guessed_from_the_width() {
        let look = Look {
            rounds: 4,
            half_width_share: Some(0.04),
            ..STOP.look(&[100.0, 110.0, 90.0, 100.0])
        };
        assert_eq!(STOP.expected_rounds(&look), Some(16));
        assert_eq!(STOP.expected_rounds(&Look { half_width_share: Some(0.0201), ..look }), Some(5));
        assert_eq!(STOP.expected_rounds(&Look { half_width_share: Some(0.5), ..look }), Some(20));
        assert_eq!(STOP.expected_rounds(&STOP.look(&[100.0; 3])), None);
    }
}
