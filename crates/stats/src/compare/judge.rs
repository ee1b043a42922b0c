//! The judge: from evidence to judgements, over all comparisons of a report at once.

use super::bh::q_values;
use super::evidence::{Evidence, Test};
use crate::interval::{CONFIDENCE, Interval};
use crate::student::quantile;

/// Fewest rounds, or values on a side, that a judgement is founded on.
pub const FEWEST_TO_JUDGE: usize = 3;
/// The share of judgements that may be wrong.
const ALPHA: f64 = 1.0 - CONFIDENCE;
/// Two figures are the same where they differ by no more than this share, if nobody says what is of
/// interest.
pub const SAME: f64 = 0.05;

/// One of several comparisons that are judged together.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What was measured.
    pub evidence: Evidence,
    /// Differences below this share are of no interest; 0: all are, and two figures are the same
    /// within [`SAME`].
    pub minimum_effect: f64,
    /// A share by which the same thing measured twice differs in this place, however many rounds it
    /// is measured for: see [`noise_floor`] and [`sure_floor`]. The interval is wider by it.
    pub noise_floor: Option<f64>,
    /// The share by which a ratio can differ from 1 only because its figures are rounded. The
    /// interval is wider by it.
    pub resolution: f64,
}

/// What a comparison says. A share is of the baseline: 0.03 is 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Judgement {
    /// The figure is higher than the baseline's.
    Higher,
    /// The figure is lower.
    Lower,
    /// They differ by no more than is of interest: in the whole interval, and in all rounds
    /// together, neither is above the other by more than this share.
    Same {
        /// By how much one of them is above the other at most, as a share.
        within: f64,
    },
    /// The interval holds no difference and one that is of interest, both.
    NotDecided {
        /// With so many rounds more it would be decided with a probability of about 80 %, if the
        /// ratio stays; absent where nobody can say, or no number of rounds decides it.
        more_rounds: Option<usize>,
    },
    /// The interval holds no difference that is of interest, but all rounds together have one
    /// ([`Comparison::together`]): some rounds are far from the others, on one side more than on
    /// the other.
    Uneven,
    /// There is a difference, but the same thing measured twice differed by as much: nothing is
    /// said. Only of figures without a ratio.
    BelowFloor {
        /// By how much that differed.
        floor: f64,
    },
    /// There is a difference, but a smaller one than what is of interest. Only of figures without a
    /// ratio.
    BelowMinimum,
    /// Nothing can be said with so few rounds.
    TooFewRounds {
        /// With how many it could.
        needed: usize,
    },
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The figure over the baseline's.
    pub ratio: f64,
    /// Its interval, corrected for the number of comparisons: the judgement is what it says. Absent
    /// with fewer than 2 rounds, or where it has no end.
    pub interval: Option<Interval>,
    /// Rounds behind it.
    pub rounds: usize,
    /// The p-value; absent with fewer than 2 rounds.
    pub p: Option<f64>,
    /// The same corrected for the number of comparisons: see [`q_values`](crate::q_values).
    pub q: Option<f64>,
    /// Which test it is of.
    pub test: Test,
    /// The figure over the baseline's, of all rounds together; 0 where it was always 0.
    pub together: f64,
    /// Whether a difference is called, and all rounds together differ by what is of interest in the
    /// other direction.
    pub is_opposed: bool,
    /// What it says.
    pub judgement: Judgement,
}

/// Judges comparisons together: all that a reader sees as one set, since each more is one more that
/// chance can decide.
///
/// Of m comparisons, R have a q-value of at most 5 %. Their intervals hold the truth with 1 - 5 % R
/// / m: so of the intervals that are shown next to a difference at most 5 % are false on average
/// (Y. Benjamini and D. Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence Intervals for
/// Selected Parameters", Journal of the American Statistical Association 100, 2005). The others
/// have 1 - 5 % (R + 1) / m, at least 95 %: what the next difference would have needed. An interval
/// belongs to the test that the p-value is of. So an interval leaves out 1 exactly where the
/// q-value is at most 5 %. With rates of 0 it may hold 1 all the same: it reaches to the ratio.
///
/// Then the interval is widened by the noise floor and the resolution, and it alone decides, from 3
/// rounds on. It leaves out 1: there is a difference. It lies within what is of no interest: both
/// are the same. Otherwise nothing is decided. A ratio that differs by less than the minimum effect
/// is no difference that is called, and its p-value counts as 1 above.
///
/// Where a rate was 0 in some rounds (see [`paired_rates`](super::paired_rates)), only ranks can
/// decide, and too few rounds for them decide nothing.
///
/// The interval is about what most rounds show. A path that is bad in a few of them is not the same
/// as one that never is. So both are the same only if all rounds together, too, differ by no more
/// than is of interest. A difference is called by the interval alone. Where all rounds together say
/// the opposite, the comparison tells it: [`Comparison::is_opposed`].
#[must_use]
pub fn judge(questions: &[Question]) -> Vec<Comparison> {
    let counted: Vec<usize> = (0..questions.len())
        .filter(|at| questions[*at].evidence.rounds >= FEWEST_TO_JUDGE)
        .collect();
    let tested = counted.len();
    let chosen: Vec<Chosen> =
        questions.iter().map(|question| Chosen::of(&question.evidence, tested)).collect();
    // What is not called whatever its p-value is no candidate. Else those that are called would be
    // a choice from the discoveries, and more of their intervals would be false.
    let p_of = |at: &usize| {
        let Chosen { p, ratio, .. } = chosen[*at];
        p.filter(|_| questions[*at].is_of_interest(ratio)).unwrap_or(1.0)
    };
    let p_values: Vec<f64> = counted.iter().map(p_of).collect();
    let among = q_values(&p_values);
    let found = among.iter().filter(|q| **q <= ALPHA).count();
    let mut q: Vec<Option<f64>> = vec![None; questions.len()];
    counted.iter().zip(among).for_each(|(at, among)| q[*at] = Some(among));
    let level = |selected: usize| (ALPHA * selected as f64 / tested.max(1) as f64).min(ALPHA);
    let one = |(at, question): (usize, &Question)| {
        let evidence = &question.evidence;
        let Chosen { test, p, ratio } = chosen[at];
        let is_found = q[at].is_some_and(|q| q <= ALPHA);
        let level = level(found + usize::from(!is_found));
        let interval = evidence.within(test, level);
        let shrinking = Shrinking { rounds: evidence.rounds, test, level };
        let judgement = question.judgement(ratio, interval, shrinking, tested);
        Comparison {
            ratio,
            interval: interval.map(|interval| question.widened(interval)),
            rounds: evidence.rounds,
            p,
            q: q[at].filter(|_| p.is_some()),
            test,
            together: evidence.together(),
            is_opposed: question.is_opposed(judgement),
            judgement,
        }
    };
    questions.iter().enumerate().map(one).collect()
}

/// The test that suits a comparison among so many, and what it says.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    test: Test,
    p: Option<f64>,
    ratio: f64,
}

impl Chosen {
    fn of(evidence: &Evidence, comparisons: usize) -> Self {
        let test = evidence.test(comparisons);
        let ratio = evidence.ratio_by(test).unwrap_or(evidence.ratio);
        Self { test, p: evidence.p(test), ratio }
    }
}

impl Question {
    /// Whether a ratio differs by enough to be called.
    pub(super) fn is_of_interest(&self, ratio: f64) -> bool {
        ratio.ln().abs() >= self.minimum_effect.ln_1p()
    }

    /// The share by which the same figures can differ for reasons that no rounds show.
    pub(super) fn slack(&self) -> f64 {
        (1.0 + self.noise_floor.unwrap_or(0.0)) * (1.0 + self.resolution)
    }

    pub(super) fn widened(&self, interval: Interval) -> Interval {
        Interval { low: interval.low / self.slack(), high: interval.high * self.slack() }
    }

    /// The largest difference that is none.
    pub(super) fn same(&self) -> f64 {
        if self.minimum_effect > 0.0 { self.minimum_effect } else { SAME }
    }

    /// Whether an interval, widened, lies within what is of no interest.
    pub(super) fn is_same(&self, interval: Interval) -> bool {
        within(interval) <= self.same()
    }

    /// The share by which one of two figures is above the other, of all rounds together.
    fn apart_together(&self) -> f64 {
        let together = self.evidence.together();
        within(Interval { low: together, high: together })
    }

    /// Whether all rounds together differ by what is of interest, in the other direction than a
    /// difference that is called.
    fn is_opposed(&self, judgement: Judgement) -> bool {
        let together = self.evidence.together();
        let is_other = match judgement {
            Judgement::Higher => together < 1.0,
            Judgement::Lower => together > 1.0,
            _ => false,
        };
        is_other && self.apart_together() > self.same()
    }

    /// What the interval says, before it is widened, among so many comparisons.
    fn judgement(
        &self,
        ratio: f64,
        interval: Option<Interval>,
        shrinking: Shrinking,
        comparisons: usize,
    ) -> Judgement {
        let needed = self.evidence.fewest_for_zeros(comparisons).unwrap_or(FEWEST_TO_JUDGE);
        if self.evidence.rounds < needed {
            return Judgement::TooFewRounds { needed };
        }
        let Some(inner) = interval else { return Judgement::NotDecided { more_rounds: None } };
        let interval = self.widened(inner);
        if !interval.contains(1.0) && self.is_of_interest(ratio) {
            return if interval.low > 1.0 { Judgement::Higher } else { Judgement::Lower };
        }
        if self.is_same(interval) {
            let apart = self.apart_together();
            return if apart <= self.same() {
                Judgement::Same { within: within(interval).max(apart) }
            } else {
                Judgement::Uneven
            };
        }
        // Nor how an end that rests on rounds with a 0 moves.
        if !self.evidence.has_ends(inner) {
            return Judgement::NotDecided { more_rounds: None };
        }
        Judgement::NotDecided { more_rounds: self.more_rounds(ratio, inner, shrinking) }
    }

    /// The rounds that would decide it besides these, with a probability of 80 % if ratio and
    /// scatter stay. A difference needs the end that is nearer to 1 to leave it out; sameness needs
    /// both ends.
    fn more_rounds(&self, ratio: f64, inner: Interval, shrinking: Shrinking) -> Option<usize> {
        let (at, slack) = (ratio.ln(), self.slack().ln());
        let (below, above) = (at - inner.low.ln(), inner.high.ln() - at);
        let to_one = if at > 0.0 { below } else { above };
        let differ = if self.is_of_interest(ratio) {
            shrinking.needed(to_one, at.abs() - slack, ONE_END)
        } else {
            f64::INFINITY
        };
        let bound = self.same().ln_1p() - slack;
        let same = if self.apart_together() > self.same() {
            // Nobody can say how many rounds that are far from the others are to come.
            f64::INFINITY
        } else {
            let both = [(below, bound + at), (above, bound - at)];
            let [low, high] = both.map(|(half, to)| shrinking.needed(half, to, BOTH_ENDS));
            low.max(high)
        };
        let needed = differ.min(same) - shrinking.rounds as f64;
        needed.is_finite().then_some((needed as usize).max(1))
    }
}

/// The share by which one of two figures is above the other, at the interval's further end. It does
/// not depend on which of them is the baseline.
fn within(interval: Interval) -> f64 {
    interval.high.max(interval.low.recip()) - 1.0
}

/// How the halves of an interval shrink with the number of rounds.
#[derive(Debug, Clone, Copy)]
struct Shrinking {
    /// The rounds that there are.
    rounds: usize,
    test: Test,
    /// The share that the interval leaves out.
    level: f64,
}

/// The quantile of the normal distribution that one end needs for a probability of 80 %.
const ONE_END: f64 = 0.842;
/// The same where both ends must hold: 90 % each.
const BOTH_ENDS: f64 = 1.282;
/// More degrees of freedom than this change the quantile of t by less than 1 %.
const MANY: usize = 200;
/// More rounds than this are never asked for.
const MOST_ROUNDS: usize = 1 << 40;

impl Shrinking {
    /// The half of an interval of so many rounds, in standard errors. For ranks it is about that of
    /// many rounds.
    fn errors(&self, rounds: usize) -> f64 {
        let degrees = match self.test {
            Test::Ranks => MANY,
            Test::Student => (rounds - 1).clamp(1, MANY),
        };
        quantile(degrees, self.level).unwrap_or(f64::INFINITY)
    }

    /// The fewest rounds whose half of an interval is smaller than a distance by so many standard
    /// errors; infinite where none is. `half`: that of the rounds that there are.
    fn needed(&self, half: f64, distance: f64, power: f64) -> f64 {
        let now = self.errors(self.rounds);
        if distance <= 0.0 || !now.is_finite() {
            return f64::INFINITY;
        }
        let scatter = half / now * (self.rounds as f64).sqrt();
        let is_enough = |rounds: usize| {
            (self.errors(rounds) + power) * scatter / (rounds as f64).sqrt() <= distance
        };
        let mut high = FEWEST_TO_JUDGE;
        while !is_enough(high) {
            high *= 2;
            if high > MOST_ROUNDS {
                return f64::INFINITY;
            }
        }
        let mut low = (high / 2).max(FEWEST_TO_JUDGE - 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        high as f64
    }
}

/// The share by which comparisons of the same thing with itself (A/A) differed: the largest of
/// their ratios, up or down, however sure. Where rounds do not show all noise, as between two runs,
/// a difference must exceed it.
///
/// `None` without such comparisons.
#[must_use]
pub fn noise_floor(same: &[Evidence]) -> Option<f64> {
    let size = |evidence: &Evidence| evidence.ratio.ln().abs().exp_m1();
    same.iter().map(size).filter(|size| size.is_finite()).reduce(f64::max)
}

/// The same, of those that surely differ: whose interval leaves out 1. 0 where none does: what they
/// differed by was in the scatter of their rounds, and so it is in the intervals of others.
///
/// `None` without such comparisons.
#[must_use]
pub fn sure_floor(same: &[Evidence]) -> Option<f64> {
    let sure = |evidence: &Evidence| evidence.interval.is_some_and(|i| !i.contains(1.0));
    let floors = same
        .iter()
        .map(|one| if sure(one) { noise_floor(std::slice::from_ref(one)) } else { Some(0.0) });
    floors.flatten().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::{paired, paired_rates, unpaired};
    use super::*;

    fn plain(evidence: Evidence) -> Question {
        Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 }
    }

    /// Rounds that scatter by up to 0.8 % around a ratio.
    fn about(ratio: f64, rounds: usize) -> Evidence {
        let wiggle = |i: usize| 1.0 + 0.004 * ((i * 7) % 5) as f64 - 0.008;
        let pairs: Vec<_> = (0..rounds).map(|i| (100.0 * ratio * wiggle(i), 100.0)).collect();
        paired(&pairs).unwrap()
    }

    /// The same with 25 times the scatter.
    fn wide(ratio: f64, rounds: usize) -> Evidence {
        let wiggle = |i: usize| (0.04 * ((i * 7) % 11) as f64 - 0.2).exp();
        let pairs: Vec<_> = (0..rounds).map(|i| (100.0 * ratio * wiggle(i), 100.0)).collect();
        paired(&pairs).unwrap()
    }

    fn single(question: Question) -> Comparison {
        judge(&[question])[0]
    }

    #[test]
    fn the_direction_is_the_figures() {
        assert_eq!(single(plain(about(1.1, 10))).judgement, Judgement::Higher);
        assert_eq!(single(plain(about(0.9, 10))).judgement, Judgement::Lower);
        assert_eq!(single(plain(about(1.5, 2))).judgement, Judgement::TooFewRounds { needed: 3 });
        assert_eq!(single(plain(about(1.5, 1))).p, None);
        assert_eq!(
            single(plain(unpaired(&[3.0, 3.1, 3.2], &[2.0, 2.1, 1.9]).unwrap())).judgement,
            Judgement::Higher
        );
        assert!(judge(&[]).is_empty());
    }

    #[test]
    fn a_narrow_interval_around_1_is_sameness_and_a_wide_one_is_nothing() {
        let same = single(plain(about(1.0, 10)));
        let interval = same.interval.unwrap();
        let share = within(interval);
        assert!(share < 0.02 && same.judgement == Judgement::Same { within: share }, "{same:?}");
        let open = single(plain(wide(1.0, 10)));
        let Judgement::NotDecided { more_rounds: Some(more) } = open.judgement else {
            panic!("{open:?}")
        };
        // What it says is about what it takes.
        assert!(matches!(single(plain(wide(1.0, 10 + more))).judgement, Judgement::Same { .. }));
        assert!(matches!(
            single(plain(wide(1.0, (10 + more) / 6))).judgement,
            Judgement::NotDecided { .. }
        ));
        // Whichever is the baseline, they are the same within as much.
        assert_eq!(
            [(0.96, 1.0), (1.0, 1.0 / 0.96)]
                .map(|(low, high)| { within(Interval { low, high }) <= SAME }),
            [true; 2]
        );
        assert!(within(Interval { low: 0.951, high: 1.0 }) > SAME, "1 / 0.951 is 1.0515");
        // What is of interest decides what is the same.
        let least = |minimum_effect| Question { minimum_effect, ..plain(about(1.0, 10)) };
        assert!(matches!(single(least(0.02)).judgement, Judgement::Same { .. }));
        assert!(matches!(single(least(0.002)).judgement, Judgement::NotDecided { .. }));
    }

    #[test]
    fn the_rounds_that_are_needed_are_the_fewest() {
        for (test, level, rounds, half, distance) in [
            (Test::Student, 0.001, 5, 1.0, 0.5),
            (Test::Student, 0.05, 4, 1.0, 0.9),
            (Test::Student, 0.05, 40, 0.3, 0.01),
            (Test::Ranks, 0.01, 12, 0.2, 0.15),
        ] {
            let shrinking = Shrinking { rounds, test, level };
            let needed = shrinking.needed(half, distance, ONE_END) as usize;
            let scatter = half / shrinking.errors(rounds) * (rounds as f64).sqrt();
            let is_enough = |rounds: usize| {
                (shrinking.errors(rounds) + ONE_END) * scatter <= distance * (rounds as f64).sqrt()
            };
            let first = (FEWEST_TO_JUDGE..).find(|rounds| is_enough(*rounds));
            assert_eq!(Some(needed), first, "{test:?} {level} {rounds}");
        }
        let shrinking = Shrinking { rounds: 5, test: Test::Student, level: 0.05 };
        assert_eq!(shrinking.needed(1.0, 0.0, ONE_END), f64::INFINITY);
        assert_eq!(shrinking.needed(1.0, 1e-9, ONE_END), f64::INFINITY);
    }

    #[test]
    fn an_interval_and_its_judgement_never_disagree() {
        let ratios = [0.9, 0.97, 0.99, 0.995, 1.0, 1.004, 1.01, 1.02, 1.04, 1.2];
        let questions: Vec<Question> = ratios
            .iter()
            .flat_map(|ratio| [3, 5, 8, 14, 40].map(|rounds| (*ratio, rounds)))
            .flat_map(|(ratio, rounds)| [about(ratio, rounds), wide(ratio, rounds)])
            .map(plain)
            .collect();
        let (mut found, mut same) = (0, 0);
        for one in judge(&questions) {
            let leaves_out = one.interval.is_some_and(|interval| !interval.contains(1.0));
            assert_eq!(leaves_out, matches!(one.judgement, Judgement::Higher | Judgement::Lower));
            assert_eq!(leaves_out, one.q.unwrap() <= 0.05, "{one:?}");
            assert!(one.interval.is_none_or(|interval| interval.contains(one.ratio)), "{one:?}");
            found += usize::from(leaves_out);
            same += usize::from(matches!(one.judgement, Judgement::Same { .. }));
        }
        assert!(found > 30 && same > 10 && found + same < questions.len(), "{found} {same}");
    }

    #[test]
    fn floors_widen_and_minima_withhold() {
        let floor = noise_floor(&[about(0.96, 5), about(1.01, 5)]).unwrap();
        assert!((floor - (1.0 / 0.96 - 1.0)).abs() < 0.001, "{floor}");
        let with = |ratio: f64| Question { noise_floor: Some(floor), ..plain(about(ratio, 10)) };
        let open = single(with(1.03));
        assert_eq!(open.judgement, Judgement::NotDecided { more_rounds: None }, "the floor stays");
        assert!(open.interval.unwrap().contains(1.0));
        assert_eq!(single(with(0.94)).judgement, Judgement::Lower);
        let least = |ratio: f64| Question { minimum_effect: 0.02, ..plain(about(ratio, 10)) };
        assert!(matches!(single(least(1.018)).judgement, Judgement::NotDecided { .. }));
        assert!(matches!(single(least(1.005)).judgement, Judgement::Same { .. }));
        assert_eq!(single(least(1.03)).judgement, Judgement::Higher);
        assert_eq!((noise_floor(&[]), sure_floor(&[])), (None, None));
        assert_eq!(sure_floor(&[about(1.0, 10), wide(1.02, 10)]), Some(0.0));
        assert_eq!(sure_floor(&[about(1.0, 10), about(0.96, 5)]), noise_floor(&[about(0.96, 5)]));
    }

    #[test]
    fn a_difference_within_the_rounding_is_none() {
        let question = Question { resolution: 0.05, ..plain(about(1.03, 10)) };
        assert!(matches!(single(question).judgement, Judgement::NotDecided { .. }));
    }

    /// The rounds of `about(1.0, 40)`; in these the path is 0, in those the baseline.
    fn standing_still(path: &[usize], baseline: &[usize]) -> Evidence {
        let wiggle = |i: usize| 100.0 + 0.4 * ((i * 7) % 5) as f64 - 0.8;
        let mut pairs: Vec<(f64, f64)> = (0..40).map(|i| (wiggle(i), 100.0)).collect();
        path.iter().for_each(|at| pairs[*at].0 = 0.0);
        baseline.iter().for_each(|at| pairs[*at].1 = 0.0);
        paired_rates(&pairs).unwrap()
    }

    #[test]
    fn who_stands_still_more_often_is_not_the_same() {
        let one = single(plain(standing_still(&[5], &[])));
        assert!(matches!(one.judgement, Judgement::Same { .. }), "1 of 40 rounds: {one:?}");
        let both = single(plain(standing_still(&[1, 12, 23, 34], &[3, 15, 27, 39])));
        assert!(matches!(both.judgement, Judgement::Same { .. }), "{both:?}");
        let often = single(plain(standing_still(&[1, 12, 23], &[])));
        assert_eq!(often.judgement, Judgement::Uneven, "{often:?}");
        assert!((often.together - 37.0 / 40.0).abs() < 0.01, "{often:?}");
        assert!(within(often.interval.unwrap()) <= SAME, "the other rounds are the same");
        // In half of the rounds: that is a difference, whatever the others say.
        let half: Vec<usize> = (0..20).map(|i| 2 * i).collect();
        let found = single(plain(standing_still(&half, &[])));
        assert_eq!(found.judgement, Judgement::Lower);
        let interval = found.interval.unwrap();
        assert!((found.ratio - 0.5).abs() < 0.01 && interval.high == found.ratio, "{found:?}");
        assert!(0.0 < interval.low && interval.low < 1e-3, "{found:?}");
        assert_eq!(single(plain(standing_still(&[], &half))).judgement, Judgement::Higher);
    }

    #[test]
    fn who_is_bad_in_a_few_rounds_is_not_the_same() {
        // In 4 of 40 rounds a third of the rate, or three times the time.
        let bad = |is_rate: bool, factor: f64, rounds: usize| {
            let mut pairs: Vec<(f64, f64)> =
                (0..40).map(|i| (99.2 + 0.4 * f64::from((i * 7) % 5), 100.0)).collect();
            (0..rounds).for_each(|i| pairs[6 * i + 1].0 *= factor);
            let evidence = if is_rate { paired_rates(&pairs) } else { paired(&pairs) };
            single(plain(evidence.unwrap()))
        };
        for (is_rate, factor, expected) in [(true, 1.0 / 3.0, 0.9333), (false, 3.0, 1.0714)] {
            let found = bad(is_rate, factor, 4);
            assert_eq!(found.judgement, Judgement::Uneven, "{found:?}");
            assert!((found.together / expected - 1.0).abs() < 0.005, "{found:?}");
            // In one it is no more than its share of the rounds, however far it is off.
            for far in [factor, factor.powi(9)] {
                let found = bad(is_rate, far, 1);
                let Judgement::Same { within } = found.judgement else { panic!("{found:?}") };
                assert!((0.015..0.03).contains(&within), "{within}");
            }
        }
    }

    #[test]
    fn so_it_is_with_runs_whose_medians_are_the_same() {
        let rounds = |bad: usize| -> Vec<f64> {
            let one = |i: usize| if i < bad { 34.0 } else { 100.0 + (i * 7 % 5) as f64 };
            (0..40).map(one).collect()
        };
        let (few, none) = (rounds(4), rounds(0));
        let runs = unpaired(&[101.9, 102.0, 102.1], &[102.0, 102.1, 102.2]).unwrap();
        let same = single(plain(runs.clone()));
        assert!(matches!(same.judgement, Judgement::Same { .. }), "{same:?}");
        for (values, baseline, together) in [(&few, &none, 0.933), (&none, &few, 1.0 / 0.933)] {
            let found = single(plain(runs.clone().with_rounds(values, baseline)));
            assert_eq!((found.judgement, found.interval), (Judgement::Uneven, same.interval));
            assert!((found.together / together - 1.0).abs() < 0.005, "{found:?}");
        }
        // Where rounds are compared, they are in the interval, too.
        let found = single(plain(unpaired(&few, &none).unwrap()));
        assert_eq!(found.judgement, Judgement::NotDecided { more_rounds: None }, "{found:?}");
        assert!((found.together - 0.933).abs() < 0.005, "{found:?}");
    }

    #[test]
    fn a_difference_that_all_rounds_together_deny_is_called_and_told() {
        // 2 % more in most rounds, and in so many of 80 a quarter of it.
        let with = |bad: usize, minimum_effect: f64| {
            let mut pairs: Vec<(f64, f64)> =
                (0..80).map(|i| (101.2 + 0.4 * f64::from((i * 7) % 5), 100.0)).collect();
            (0..bad).for_each(|i| pairs[10 * i + 1].0 /= 4.0);
            single(Question { minimum_effect, ..plain(paired(&pairs).unwrap()) })
        };
        let found = with(8, 0.0);
        assert_eq!((found.judgement, found.is_opposed), (Judgement::Higher, true), "{found:?}");
        assert!((found.together - 0.9435).abs() < 0.001 && found.ratio > 1.0, "{found:?}");
        // All together are within what is of no interest, or on the same side.
        for (bad, minimum_effect) in [(4, 0.0), (1, 0.0), (0, 0.0), (8, 0.1)] {
            let found = with(bad, minimum_effect);
            assert!(!found.is_opposed, "{bad} {minimum_effect}: {found:?}");
        }
        // The other way round it is the opposite.
        let pairs: Vec<(f64, f64)> =
            (0..80).map(|i| (100.0, if i % 10 == 1 { 25.5 } else { 102.0 })).collect();
        let lower = single(plain(paired(&pairs).unwrap()));
        assert_eq!((lower.judgement, lower.is_opposed), (Judgement::Lower, true), "{lower:?}");
        let same = single(plain(about(1.0, 10)));
        assert!(matches!(same.judgement, Judgement::Same { .. }) && !same.is_opposed, "{same:?}");
    }

    #[test]
    fn a_rate_of_0_needs_as_many_rounds_as_ranks_do() {
        let with_0 = |rounds: usize| {
            let mut pairs = vec![(50.0, 100.0); rounds];
            pairs[0].0 = 0.0;
            plain(paired_rates(&pairs).unwrap())
        };
        let few = single(with_0(7));
        assert_eq!(few.judgement, Judgement::TooFewRounds { needed: 8 });
        assert_eq!((few.p, few.q, few.interval), (None, None, None));
        assert!((few.ratio - 0.5).abs() < 1e-9, "{few:?}");
        let enough = single(with_0(8));
        assert_eq!((enough.judgement, enough.test), (Judgement::Lower, Test::Ranks));
        let mut many = vec![plain(about(1.0, 8)); 99];
        many.push(with_0(8));
        assert_eq!(judge(&many)[99].judgement, Judgement::TooFewRounds { needed: 14 });
    }

    #[test]
    fn many_comparisons_need_more_and_take_the_test_that_can_say_it() {
        // With 8 rounds the ranks end at 0.8 %: enough alone, too little among 100.
        let alone = single(plain(about(1.05, 8)));
        assert_eq!(
            (alone.test, alone.p, alone.q),
            (Test::Ranks, Some(1.0 / 128.0), Some(1.0 / 128.0))
        );
        let mut questions = vec![plain(about(1.0, 8)); 99];
        questions.push(plain(about(1.05, 8)));
        let found = judge(&questions);
        assert_eq!((found[99].test, found[99].judgement), (Test::Student, Judgement::Higher));
        assert!(found[99].q.unwrap() > 50.0 * found[99].p.unwrap());
        // The intervals are wider than they were alone.
        let width = |one: Comparison| one.interval.map(|i| i.high - i.low).unwrap();
        assert!(width(found[99]) > 1.3 * width(single(plain(about(1.05, 8)))));
    }
}
