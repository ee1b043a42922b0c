//! The evidence on two figures: their ratio, its tests, and the interval of each test.

use super::aligned::Aligned;
use super::ranks::{self, RankTest, Ranks};
use super::round_pair::RoundPair;
use super::together;
use super::zeros::Zeros;
use crate::interval::{CONFIDENCE, Interval, NoRatio};
use crate::rounds::standard_error;
use crate::student;
use crate::summary::{mean, median};

/// A test of ranks is taken where the smallest p-value that it can give is this many times below
/// what is needed. A test that is near its end finds only what is glaring.
const ROOM: f64 = 4.0;
/// The probability with which a difference of the size [`Evidence::could_have_seen`] is found.
const POWER: f64 = 0.8;

/// Which test a p-value and its interval are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// The test of ranks: for rounds that were paired the signed-rank test, or that of aligned
    /// ranks where the baseline was measured twice. For others it is the rank-sum test and Welch's
    /// t test, of which the more cautious counts.
    Ranks,
    /// Student's t test of the logarithms, or Welch's: there are too few rounds for ranks to say
    /// enough.
    Student,
}

/// What speaks for a difference between two figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The first over the second, as the test says that suits so many rounds.
    pub ratio: f64,
    /// Its interval, 95 %, if it is the only comparison; absent with fewer than 2 rounds on a side,
    /// and with too few for ranks where rounds have a 0.
    pub interval: Option<Interval>,
    /// Pairs; of unpaired sets the values of the smaller.
    pub rounds: usize,
    /// How often a rate was 0; absent where it never was.
    pub zeros: Option<Zeros>,
    /// The logarithm of the first over the second, of all rounds together.
    together: f64,
    logs: Logs,
}

/// Logarithms of ratios, or of values.
#[derive(Debug, Clone, PartialEq)]
enum Logs {
    Paired(Vec<f64>),
    Aligned(Aligned),
    Apart(Vec<f64>, Vec<f64>),
}

/// Two figures that were measured in the same rounds. The ratio is taken round by round, so that
/// what changed between rounds hits both alike.
///
/// From 8 rounds on (more where there are many comparisons) the test is the signed-rank test of the
/// logarithms, the ratio is their Hodges-Lehmann estimate, and the interval is the one that belongs
/// to the test. Where rounds measured the baseline twice, the test is that of aligned ranks, with
/// its own estimate and interval: a path less a mean of two is symmetric only where noise is. With
/// fewer rounds it is Student's ("Student", "The Probable Error of a Mean", Biometrika
/// 6(1), 1908): the mean of the logarithms. It takes them as about normal; where tails are heavy
/// its interval holds more than it says (B. Efron, "Student's t-Test under Symmetry Conditions",
/// Journal of the American Statistical Association 64, 1969).
///
/// # Errors
/// [`NoRatio`] without pairs, or when a value or a baseline is not finite or not above 0. A ratio
/// to nothing is none, and to leave out the rounds that have none would show the others as if they
/// were all. Rates are compared all the same: see [`paired_rates`].
pub fn paired<P: Into<RoundPair> + Copy>(pairs: &[P]) -> Result<Evidence, NoRatio> {
    let pairs: Vec<RoundPair> = pairs.iter().map(|pair| (*pair).into()).collect();
    match pairs.iter().position(|pair| !pair.is_usable()) {
        Some(pair) => Err(NoRatio::Pair(pair)),
        None => of_rounds(&pairs, None),
    }
}

/// The same of rates. They are 0 in a window in which nothing came, which says something.
///
/// A round in which only the figure is 0 has the lowest ratio of all, one in which only the
/// baseline is has the highest, and one in which all are 0 is left out. With such a round the test
/// is that of ranks, which needs their order only. With too few rounds for it there is neither a
/// p-value nor an interval. The ratio is the estimate of the test. Where that rests on rounds with
/// a 0, as where more than about three of ten have one, it is the ratio of the sums over all
/// rounds, and the interval reaches to it.
///
/// # Errors
/// [`NoRatio`] without pairs, or when a value or a baseline is not finite or below 0. If the
/// baseline is 0 in all pairs, the first pair is named: there is nothing to divide by.
pub fn paired_rates<P: Into<RoundPair> + Copy>(pairs: &[P]) -> Result<Evidence, NoRatio> {
    let mut pairs: Vec<RoundPair> = pairs.iter().map(|pair| (*pair).into()).collect();
    if let Some(pair) = pairs.iter().position(|pair| !pair.is_of_rates()) {
        return Err(NoRatio::Pair(pair));
    }
    let zeros = Zeros::of(&pairs);
    if zeros.is_some() && pairs.iter().all(|pair| pair.baselines().all(|rate| rate == 0.0)) {
        return Err(NoRatio::Pair(0));
    }
    pairs.retain(|pair| !pair.is_nothing());
    of_rounds(&pairs, zeros)
}

/// Of rounds that all have a ratio. `zeros`: how often a figure is 0, if any is.
fn of_rounds(pairs: &[RoundPair], zeros: Option<Zeros>) -> Result<Evidence, NoRatio> {
    let log = |figure: f64| zeros.map_or_else(|| figure.ln(), |zeros| zeros.log_of(figure));
    let one = |RoundPair { value, baseline, twin }: &RoundPair| {
        let half = twin.map(|twin| (log(*baseline) - log(twin)) / 2.0);
        (log(*value) - log(*baseline) + half.unwrap_or_default(), half)
    };
    let rounds: Vec<(f64, Option<f64>)> = pairs.iter().map(one).collect();
    let logs = if rounds.iter().any(|(_, half)| half.is_some()) {
        Logs::Aligned(Aligned::of(&rounds))
    } else {
        Logs::Paired(rounds.into_iter().map(|(difference, _)| difference).collect())
    };
    let together = together::of_pairs(pairs);
    Evidence::of(pairs.len(), logs, zeros, together).ok_or(NoRatio::NoPairs)
}

/// Two figures that were measured apart: `values` and `baseline` hold their rounds, as many as
/// there are on each side.
///
/// The ratio is the median of all ratios of a value to a baseline (on logarithms the shift of
/// Hodges and Lehmann). The test is Welch's of the logarithms (B. L. Welch, "The Generalization of
/// 'Student's' Problem when Several Different Population Variances are Involved", Biometrika 34,
/// 1947), with the degrees of freedom rounded down. From 6 rounds on each side on it must agree
/// with the rank-sum test: the larger p-value counts, and the interval holds those of both. There
/// are no common rounds, but each side has a mean and a harmonic mean of its own. So all rounds
/// together have a ratio, too.
///
/// What changes from one run to the next (placement, memory layout, neighbours) is in neither:
/// rounds of one run share it. Only runs that were repeated show it, as a
/// [`noise_floor`](super::noise_floor) does.
///
/// # Errors
/// [`NoRatio`] without rounds on a side, or when a value is not finite or not above 0: counted
/// through `values` and on through `baseline`.
pub fn unpaired(values: &[f64], baseline: &[f64]) -> Result<Evidence, NoRatio> {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    if let Some(at) = values.iter().chain(baseline).position(|value| !usable(value)) {
        return Err(NoRatio::Pair(at));
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let (a, b) = (logs(values), logs(baseline));
    let together = together::of_sets(values, baseline);
    Evidence::of(a.len().min(b.len()), Logs::Apart(a, b), None, together).ok_or(NoRatio::NoPairs)
}

/// The smallest p-value of a test of ranks must not be above this, among so many comparisons.
fn needed_p(comparisons: usize) -> f64 {
    (1.0 - CONFIDENCE) / comparisons.max(1) as f64 / ROOM
}

impl Evidence {
    /// `None` without values.
    fn of(rounds: usize, logs: Logs, zeros: Option<Zeros>, together: f64) -> Option<Self> {
        let mut out = Self { ratio: 1.0, interval: None, rounds, zeros, together, logs };
        let test = out.test(1);
        out.ratio = out.ratio_by(test)?;
        out.interval = out.within(test, 1.0 - CONFIDENCE);
        Some(out)
    }

    /// The test for one of so many comparisons. It follows from the number of rounds and of
    /// comparisons alone, never from what came out.
    pub(super) fn test(&self, comparisons: usize) -> Test {
        let smallest_p = match &self.logs {
            Logs::Paired(_) | Logs::Aligned(_) => ranks::smallest_signed_p(self.rounds),
            Logs::Apart(a, b) => ranks::smallest_sum_p(a.len(), b.len()),
        };
        if smallest_p <= needed_p(comparisons) { Test::Ranks } else { Test::Student }
    }

    /// The fewest rounds with which something can be said among so many comparisons, where only
    /// ranks can say it: rounds have a 0. `None` where none has.
    pub(super) fn fewest_for_zeros(&self, comparisons: usize) -> Option<usize> {
        let is_too_few = |n: &usize| ranks::smallest_signed_p(*n) > needed_p(comparisons);
        self.has_zeros().then(|| (1..).take_while(is_too_few).count() + 1)
    }

    /// Whether both ends of an interval are ratios of figures above 0. An end that is not stands
    /// for any ratio beyond the other rounds.
    pub(super) fn has_ends(&self, interval: Interval) -> bool {
        let is_seen = |end: f64| self.zeros.is_none_or(|zeros| zeros.is_seen(end.ln()));
        is_seen(interval.low) && is_seen(interval.high)
    }

    /// The first over the second, as a test says; `None` without values.
    pub(super) fn ratio_by(&self, test: Test) -> Option<f64> {
        let log = match (&self.logs, test) {
            _ if self.has_zeros() => self.with_zeros(),
            (Logs::Paired(logs), Test::Student) => mean(logs),
            (Logs::Aligned(aligned), Test::Student) => mean(aligned.differences()),
            _ => self.ranks().median(),
        };
        log.map(f64::exp)
    }

    /// The same evidence, whose values each stand for several rounds: these are all of them, on
    /// both sides. What is far off in a few rounds shows in no median.
    #[must_use]
    pub fn with_rounds(self, values: &[f64], baseline: &[f64]) -> Self {
        Self { together: together::of_sets(values, baseline), ..self }
    }

    /// The first over the second of all rounds together.
    pub(super) fn together(&self) -> f64 {
        self.together.exp()
    }

    /// The two-sided p-value; `None` with fewer than 2 rounds on a side, and of Student's where
    /// rounds have a 0.
    pub(super) fn p(&self, test: Test) -> Option<f64> {
        let student = self.student().map(|student| student.p());
        match (&self.logs, test) {
            (_, Test::Student) => student,
            (Logs::Paired(_) | Logs::Aligned(_), Test::Ranks) => Some(self.ranks().p()),
            (Logs::Apart(..), Test::Ranks) => Some(self.ranks().p().max(student?)),
        }
    }

    /// The interval of the ratio that leaves out 1 where the p-value is at most `outside`; `None`
    /// where there is none, or no end of it.
    pub(super) fn within(&self, test: Test, outside: f64) -> Option<Interval> {
        let student = self.student().and_then(|student| student.interval(outside));
        let inner = match (&self.logs, test) {
            (Logs::Paired(_) | Logs::Aligned(_), Test::Student) => student?,
            // It holds the ratio that it is shown with.
            (Logs::Paired(_) | Logs::Aligned(_), Test::Ranks) if self.has_zeros() => {
                let middle = self.with_zeros()?;
                self.ranks().interval(outside)?.hull(Interval { low: middle, high: middle })
            }
            (Logs::Paired(_) | Logs::Aligned(_), Test::Ranks) => self.ranks().interval(outside)?,
            (Logs::Apart(..), Test::Student) => {
                let middle = self.ranks().median()?;
                student?.hull(Interval { low: middle, high: middle })
            }
            (Logs::Apart(..), Test::Ranks) => student?.hull(self.ranks().interval(outside)?),
        };
        let (low, high) = (inner.low.exp(), inner.high.exp());
        (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
    }

    /// The smallest difference that would be called with a probability of 80 %, as a share, if it
    /// is the only comparison and has this scatter: (t of the test + t of 80 %) standard errors (H.
    /// S. Bloom, "Minimum Detectable Effects", Evaluation Review 19(5), 1995). `None` with fewer
    /// than 2 rounds on a side, and where rounds have a 0.
    #[must_use]
    pub fn could_have_seen(&self) -> Option<f64> {
        let student = self.student()?;
        let t = |outside: f64| student::quantile(student.degrees, outside);
        // Where the test of ranks is the less sure of the two, that counts.
        let half = self.interval.map(|i| (i.high.ln() - i.low.ln()) / 2.0)?;
        let error = student.error.max(half / t(1.0 - CONFIDENCE)?);
        let seen = ((t(1.0 - CONFIDENCE)? + t(2.0 * (1.0 - POWER))?) * error).exp_m1();
        seen.is_finite().then_some(seen)
    }

    fn ranks(&self) -> Box<dyn RankTest> {
        match &self.logs {
            Logs::Paired(logs) => Box::new(Ranks::signed(logs)),
            Logs::Aligned(aligned) => Box::new(aligned.clone()),
            Logs::Apart(a, b) => Box::new(Ranks::between(a, b)),
        }
    }

    /// Whether rounds of the ratio have a 0.
    fn has_zeros(&self) -> bool {
        self.zeros.is_some_and(|zeros| zeros.are_in_ratios())
    }

    /// The estimate of ranks. Where it rests on rounds with a 0, it is the ratio of the sums over
    /// all rounds; where one of these is 0, what stands for that.
    fn with_zeros(&self) -> Option<f64> {
        let zeros = self.zeros?;
        let differences: &[f64] = match &self.logs {
            Logs::Paired(logs) => logs,
            Logs::Aligned(aligned) => aligned.differences(),
            Logs::Apart(..) => &[],
        };
        let estimate = self.ranks().median().filter(|log| zeros.is_seen(*log));
        let together = Some(self.together).filter(|log| log.is_finite());
        estimate.or(together).or_else(|| median(differences))
    }

    /// `None` with fewer than 2 rounds on a side, and where rounds have a 0.
    fn student(&self) -> Option<Student> {
        match &self.logs {
            _ if self.has_zeros() => None,
            Logs::Paired(logs) => Student::of(logs),
            Logs::Aligned(aligned) => Student::of(aligned.differences()),
            Logs::Apart(a, b) => Student::welch(a, b),
        }
    }
}

/// What Student's test knows of logarithms.
struct Student {
    centre: f64,
    /// The standard error of the centre.
    error: f64,
    degrees: usize,
}

impl Student {
    /// `None` for fewer than 2 values.
    fn of(logs: &[f64]) -> Option<Self> {
        let (centre, error) = (mean(logs)?, standard_error(logs)?);
        Some(Self { centre, error, degrees: logs.len() - 1 })
    }

    /// `None` for fewer than 2 values on a side.
    fn welch(a: &[f64], b: &[f64]) -> Option<Self> {
        let (one, other) = (standard_error(a)?, standard_error(b)?);
        let variance = |error: f64, n: usize| error.powi(4) / (n - 1) as f64;
        let sum = one * one + other * other;
        let degrees = sum * sum / (variance(one, a.len()) + variance(other, b.len()));
        let degrees = if degrees.is_finite() {
            (degrees.floor() as usize).max(1)
        } else {
            a.len() + b.len() - 2
        };
        Some(Self { centre: mean(a)? - mean(b)?, error: sum.sqrt(), degrees })
    }

    fn p(&self) -> f64 {
        if self.centre == 0.0 {
            1.0
        } else {
            student::beyond(self.centre / self.error, self.degrees)
        }
    }

    fn interval(&self, outside: f64) -> Option<Interval> {
        let reach = student::quantile(self.degrees, outside)? * self.error;
        Some(Interval { low: self.centre - reach, high: self.centre + reach })
    }
}

#[cfg(test)]
mod tests;
