//! The judge: from evidence to verdicts, over all comparisons of a report at once.

use super::bh::q_values;
use super::evidence::Evidence;
use crate::interval::{CONFIDENCE, Interval};
use crate::student;

/// Fewest rounds that a verdict is founded on.
const FEWEST: usize = 3;
/// The share of verdicts that may be wrong.
const ALPHA: f64 = 1.0 - CONFIDENCE;
/// A permutation test is taken where the smallest p-value that it can give is this many times below
/// what is needed. A test that is near its end finds only what is glaring.
const ROOM: f64 = 4.0;
/// The probability with which a difference of the size `could_have_seen` is found.
const POWER: f64 = 0.8;

/// One of several comparisons that are judged together.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What was measured.
    pub evidence: Evidence,
    /// Differences below this share are of no interest; 0: all are.
    pub minimum_effect: f64,
    /// The share by which the same thing measured twice differed in this run; see [`noise_floor`].
    pub noise_floor: Option<f64>,
    /// The share by which a ratio can differ from 1 only because its figures are rounded.
    pub resolution: f64,
}

/// Which test the p-value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// The permutation test: no assumption but that a difference of nothing is as often above as
    /// below.
    Permutation,
    /// Student's t test of the logarithms: there are too few rounds for the permutation test to say
    /// enough.
    Student,
}

/// What a comparison says. A share is of the baseline: 0.03 is 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The figure is higher than the baseline's.
    Higher,
    /// The figure is lower.
    Lower,
    /// No difference was seen.
    NoDifference {
        /// The smallest difference that would have been called with 80 %; absent where that cannot
        /// be said. Not below the noise floor, the minimum effect and the resolution.
        could_have_seen: Option<f64>,
    },
    /// There is a difference, but the same thing measured twice differed by as much: nothing is
    /// said.
    BelowFloor {
        /// By how much that differed.
        floor: f64,
    },
    /// There is a difference, but a smaller one than what is of interest.
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
    /// Its interval, 95 %, of this comparison alone.
    pub interval: Option<Interval>,
    /// Rounds behind it.
    pub rounds: usize,
    /// The p-value; absent with fewer than 2 rounds.
    pub p: Option<f64>,
    /// The same corrected for the number of comparisons: see [`q_values`](crate::q_values).
    pub q: Option<f64>,
    /// Which test it is of.
    pub test: Test,
    /// What it says.
    pub verdict: Verdict,
}

/// Judges comparisons together: all that a reader sees as one set, since each more is one more that
/// chance can decide.
///
/// A difference is called where three agree. The q-value is at most 5 %, and the interval of the
/// ratio leaves out 1 by more than the resolution. And there are at least 3 rounds. Then it must be
/// above the noise floor and the minimum effect. What could have been seen otherwise is the
/// difference that would have been called with a probability of 80 %, with the noise that these
/// rounds had. It is (t of the test + t of 80 %) standard errors (H. S. Bloom, "Minimum Detectable
/// Effects", Evaluation Review 19(5), 1995), at the level that the next discovery would have
/// needed.
#[must_use]
pub fn judge(questions: &[Question]) -> Vec<Comparison> {
    let tested = questions
        .iter()
        .filter(|q| q.evidence.rounds >= FEWEST && q.evidence.student_p.is_some())
        .count();
    let chosen: Vec<(Option<f64>, Test)> =
        questions.iter().map(|q| p_value(&q.evidence, tested)).collect();
    let counted: Vec<usize> =
        (0..questions.len()).filter(|at| questions[*at].evidence.rounds >= FEWEST).collect();
    let p_values: Vec<f64> = counted.iter().map(|at| chosen[*at].0.unwrap_or(1.0)).collect();
    let among = q_values(&p_values);
    let discoveries = among.iter().filter(|q| **q <= ALPHA).count();
    let mut q: Vec<Option<f64>> = vec![None; questions.len()];
    counted.iter().zip(among).for_each(|(at, among)| q[*at] = Some(among));
    let level = (ALPHA * (discoveries + 1) as f64 / tested.max(1) as f64).min(ALPHA);
    let one = |(at, question): (usize, &Question)| {
        let evidence = &question.evidence;
        let q = q[at];
        let (p, test) = chosen[at];
        Comparison {
            ratio: evidence.ratio,
            interval: evidence.interval,
            rounds: evidence.rounds,
            p,
            q: q.filter(|_| p.is_some()),
            test,
            verdict: verdict(question, q, level),
        }
    };
    questions.iter().enumerate().map(one).collect()
}

/// The p-value among so many comparisons, and of which test it is.
fn p_value(evidence: &Evidence, comparisons: usize) -> (Option<f64>, Test) {
    let enough = ALPHA / comparisons.max(1) as f64 / ROOM;
    match evidence.permuted {
        Some(permuted) if permuted.smallest <= enough => (Some(permuted.p), Test::Permutation),
        _ => (evidence.student_p, Test::Student),
    }
}

fn verdict(question: &Question, q: Option<f64>, level: f64) -> Verdict {
    let evidence = &question.evidence;
    let Some((interval, q)) = evidence.interval.zip(q).filter(|_| evidence.rounds >= FEWEST) else {
        return Verdict::TooFewRounds { needed: FEWEST };
    };
    let (low, high) =
        (interval.low * (1.0 - question.resolution), interval.high * (1.0 + question.resolution));
    if q > ALPHA || (low <= 1.0 && high >= 1.0) {
        // What is called must be above all of these, too.
        let least = question
            .resolution
            .max(question.minimum_effect)
            .max(question.noise_floor.unwrap_or(0.0));
        let could_have_seen =
            could_have_seen(evidence, interval, level).map(|seen| seen.max(least));
        return Verdict::NoDifference { could_have_seen };
    }
    let size = evidence.ratio.ln().abs();
    if let Some(floor) = question.noise_floor.filter(|floor| size <= floor.ln_1p()) {
        return Verdict::BelowFloor { floor };
    }
    if size < question.minimum_effect.ln_1p() {
        return Verdict::BelowMinimum;
    }
    if interval.low > 1.0 { Verdict::Higher } else { Verdict::Lower }
}

fn could_have_seen(evidence: &Evidence, interval: Interval, level: f64) -> Option<f64> {
    let t = |outside: f64| student::quantile(evidence.degrees, outside);
    // The interval of the median is wider than that of the mean.
    let half = (interval.high.ln() - interval.low.ln()) / 2.0;
    let error = evidence.error.max(half / t(ALPHA)?);
    let seen = ((t(level)? + t(2.0 * (1.0 - POWER))?) * error).exp_m1();
    seen.is_finite().then_some(seen)
}

/// The share by which comparisons of the same thing with itself (A/A) differed in a run: the
/// largest of their ratios, up or down. What two equal cells differ by, a difference between others
/// must exceed to be one of theirs.
///
/// `None` without such comparisons.
#[must_use]
pub fn noise_floor(same: &[Evidence]) -> Option<f64> {
    let size = |evidence: &Evidence| evidence.ratio.ln().abs().exp_m1();
    same.iter().map(size).filter(|size| size.is_finite()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::{paired, unpaired};
    use super::*;

    fn plain(evidence: Evidence) -> Question {
        Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 }
    }

    fn about(ratio: f64, rounds: usize) -> Evidence {
        let wiggle = |i: usize| 1.0 + 0.004 * ((i * 7) % 5) as f64 - 0.008;
        let pairs: Vec<_> = (0..rounds).map(|i| (100.0 * ratio * wiggle(i), 100.0)).collect();
        paired(&pairs, 1).unwrap()
    }

    fn single(question: Question) -> Comparison {
        judge(&[question])[0]
    }

    #[test]
    fn the_direction_is_the_figures() {
        assert_eq!(single(plain(about(1.1, 10))).verdict, Verdict::Higher);
        assert_eq!(single(plain(about(0.9, 10))).verdict, Verdict::Lower);
        assert!(matches!(single(plain(about(1.0, 10))).verdict, Verdict::NoDifference { .. }));
        assert_eq!(single(plain(about(1.5, 2))).verdict, Verdict::TooFewRounds { needed: 3 });
        assert_eq!(single(plain(about(1.5, 1))).p, None);
        assert_eq!(
            single(plain(unpaired(&[3.0, 3.1, 3.2], &[2.0, 2.1, 1.9], 1).unwrap())).verdict,
            Verdict::Higher
        );
        assert!(judge(&[]).is_empty());
    }

    #[test]
    fn floors_and_minima_withhold_what_is_below_them() {
        let floor = noise_floor(&[about(0.96, 5), about(1.01, 5)]).unwrap();
        assert!((floor - (1.0 / 0.96 - 1.0)).abs() < 1e-9, "{floor}");
        let with = |ratio: f64| Question { noise_floor: Some(floor), ..plain(about(ratio, 10)) };
        assert_eq!(single(with(1.03)).verdict, Verdict::BelowFloor { floor });
        assert_eq!(single(with(0.95)).verdict, Verdict::Lower);
        let least = |ratio: f64| Question { minimum_effect: 0.02, ..plain(about(ratio, 10)) };
        assert_eq!(single(least(1.015)).verdict, Verdict::BelowMinimum);
        assert_eq!(single(least(1.03)).verdict, Verdict::Higher);
        assert_eq!(noise_floor(&[]), None);
    }

    #[test]
    fn a_difference_within_the_rounding_is_none() {
        let question = Question { resolution: 0.05, ..plain(about(1.03, 10)) };
        assert_eq!(single(question).verdict, Verdict::NoDifference { could_have_seen: Some(0.05) });
        let floor = Question { noise_floor: Some(0.2), ..plain(about(1.0, 10)) };
        assert_eq!(single(floor).verdict, Verdict::NoDifference { could_have_seen: Some(0.2) });
    }

    #[test]
    fn many_comparisons_need_more_and_take_the_test_that_can_say_it() {
        // With 8 rounds a permutation test ends at 0.8 %: enough alone, too little among 100.
        let alone = single(plain(about(1.05, 8)));
        assert_eq!(
            (alone.test, alone.p, alone.q),
            (Test::Permutation, Some(1.0 / 128.0), Some(1.0 / 128.0))
        );
        let mut questions = vec![plain(about(1.0, 8)); 99];
        questions.push(plain(about(1.05, 8)));
        let found = judge(&questions);
        assert_eq!((found[99].test, found[99].verdict), (Test::Student, Verdict::Higher));
        assert_eq!(found[99].p, about(1.05, 8).student_p);
        assert!(found[99].q.unwrap() > 50.0 * found[99].p.unwrap());
        // What the others could have seen is more than it were alone.
        let seen = |comparison: Comparison| match comparison.verdict {
            Verdict::NoDifference { could_have_seen } => could_have_seen.unwrap(),
            other => panic!("{other:?}"),
        };
        assert!(seen(found[0]) > 1.3 * seen(single(plain(about(1.0, 8)))));
    }
}
