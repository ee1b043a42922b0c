//! Trends over the rounds of a run: a machine that gets warmer, a neighbour that comes and stays.

use crate::random::Random;
use crate::summary::{mean, median};
use crate::trial::steady::{mann_kendall, relative, theil_sen};

/// Fewest rounds that can show a trend: of 4 rounds every 12th is in order by chance.
const FEWEST: usize = 5;
/// Up to this number of rounds the chance of a trend is counted exactly.
const MOST_EXACT: usize = 40;
/// Shuffles of the rounds that a persistence is compared with.
const SHUFFLES: usize = 2_000;

/// How a figure moved over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change from the first round to the last along the trend, as a share of the first. So -0.5 is
    /// half of it, 1 twice as much.
    pub relative_change: f64,
    /// The probability of as clear an order, up or down, where nothing moves: the two-sided
    /// p-value.
    pub p: f64,
}

/// The trend of one value a round, in order of time.
///
/// Its size is the Theil-Sen slope of the logarithms times the distance from the first round to the
/// last, as a factor less 1. What doubles is changed by 1, what halves by -0.5, whether it does so
/// evenly or not. (With a value that is not above 0 there are no logarithms. There it is the slope
/// of the values as a share of their median.) Its p-value is that of the Mann-Kendall test (sources
/// at [`drift`](crate::drift), which does the same within a window). It is exact for up to 40
/// different values, with the normal approximation for more or where some are equal.
///
/// `None` with fewer than 5 values or one that is not finite.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < FEWEST {
        return None;
    }
    let middle = median(values)?;
    let last = (values.len() - 1) as f64;
    let relative_change = if values.iter().all(|value| *value > 0.0) {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        (theil_sen(&logs)? * last).exp_m1().min(f64::MAX)
    } else {
        relative(theil_sen(values)? * last, middle, values)
    };
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let tied = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    let p = if tied || values.len() > MOST_EXACT {
        normal_p(mann_kendall(values))
    } else {
        exact_p(values)
    };
    Some(Trend { relative_change, p })
}

/// The share of all orders of as many different values whose score is at least as far from 0.
fn exact_p(values: &[f64]) -> f64 {
    let n = values.len();
    // Orders by their number of inversions: the k-th value can stand before 0 to k - 1 of those
    // before it.
    let mut shares = vec![1.0];
    for k in 2..=n {
        let mut next = vec![0.0; shares.len() + k - 1];
        for (inversions, share) in shares.iter().enumerate() {
            for more in 0..k {
                next[inversions + more] += share / k as f64;
            }
        }
        shares = next;
    }
    let falling = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|(i, j)| values[*i] > values[*j])
        .count();
    let rarer = falling.min(shares.len() - 1 - falling);
    (2.0 * shares[..=rarer].iter().sum::<f64>()).min(1.0)
}

/// The share of a standard normal variable that lies beyond `z` on either side (Abramowitz and
/// Stegun, 7.1.26 for the error function; right to 2e-7).
pub(crate) fn normal_p(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = series.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (sum * (-x * x).exp()).clamp(0.0, 1.0)
}

/// What each round had in common over all cells: the median over the cells of the logarithm of
/// (value / median of the cell).
///
/// `cells` holds for each cell its value in each round, in order; `None` where it was not measured.
/// Every cell is measured in every round in another order. So what all share is the machine, and it
/// shows through noise that hides it in each single cell. Give the result to [`trend`] and
/// [`persistence`] (as `exp` of it, where shares are wanted). A round in which no cell has a value
/// that is above 0 is left out.
#[must_use]
pub fn round_effects(cells: &[Vec<Option<f64>>]) -> Vec<f64> {
    let usable = |value: &Option<f64>| value.filter(|v| v.is_finite() && *v > 0.0).map(f64::ln);
    let centred: Vec<Vec<Option<f64>>> = cells
        .iter()
        .filter_map(|cell| {
            let logs: Vec<Option<f64>> = cell.iter().map(usable).collect();
            let middle = median(&logs.iter().flatten().copied().collect::<Vec<_>>())?;
            Some(logs.into_iter().map(|log| log.map(|log| log - middle)).collect())
        })
        .collect();
    let rounds = centred.iter().map(Vec::len).max().unwrap_or(0);
    let of_round = |round: usize| {
        let values: Vec<f64> =
            centred.iter().filter_map(|cell| cell.get(round).copied().flatten()).collect();
        median(&values)
    };
    (0..rounds).filter_map(of_round).collect()
}

/// How much a round resembles the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Persistence {
    /// The correlation of the ranks of neighbouring rounds, -1 to 1.
    pub correlation: f64,
    /// The probability of one as high where rounds are independent: one-sided.
    pub p: f64,
}

/// Whether rounds resemble their neighbours, from one value a round in order of time. Then there is
/// less in them than their number says, and their interval is too narrow.
///
/// The first serial correlation of the ranks, compared with that of 2000 shuffles (the permutation
/// version of R. Bartels, "The Rank Version of von Neumann's Ratio Test for Randomness", Journal of
/// the American Statistical Association 77, 1982). With fewer than 10 rounds only what is glaring
/// shows. `None` with fewer than 5 values, one that is not finite, or where all are equal.
#[must_use]
pub fn persistence(values: &[f64], seed: u64) -> Option<Persistence> {
    if values.len() < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut ranks = centred_ranks(values)?;
    let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
    if squares == 0.0 {
        return None;
    }
    let correlation =
        |ranks: &[f64]| ranks.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
    let found = correlation(&ranks);
    let mut random = Random::new(seed);
    let mut as_high = 1;
    for _ in 0..SHUFFLES {
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, random.below(last + 1));
        }
        as_high += usize::from(correlation(&ranks) >= found - 1e-12);
    }
    Some(Persistence { correlation: found, p: as_high as f64 / (SHUFFLES + 1) as f64 })
}

/// Ranks less their mean; equal values share the mean of theirs.
fn centred_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal - 1.0) / 2.0
    };
    let ranks: Vec<f64> = values.iter().map(rank).collect();
    let centre = mean(&ranks)?;
    Some(ranks.into_iter().map(|rank| rank - centre).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_p_values_are_the_tables() {
        // Kendall's tables: of 5 values in order 2 in 120; of 6 with a score of 11 (2 inversions) 2
        // (1 + 5 + 14) / 720.
        assert!((exact_p(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 2.0 / 120.0).abs() < 1e-12);
        assert!((exact_p(&[5.0, 4.0, 3.0, 2.0, 1.0]) - 2.0 / 120.0).abs() < 1e-12);
        assert!((exact_p(&[2.0, 1.0, 4.0, 3.0, 5.0, 6.0]) - 40.0 / 720.0).abs() < 1e-12);
        assert!((normal_p(1.959_964) - 0.05).abs() < 1e-6 && (normal_p(0.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_trend_is_measured_and_none_is_rarely_seen() {
        let rising: Vec<f64> = (0..9).map(|i| 96.0 + f64::from(i)).collect();
        let found = trend(&rising).unwrap();
        assert!((found.relative_change - 8.0 / 96.0).abs() < 2e-4 && found.p < 1e-4, "{found:?}");
        assert_eq!(trend(&rising[..4]), None);
        let mut random = Random::new(1);
        let mut seen = |n: usize, drift: f64| {
            let one = |at: usize, random: &mut Random| {
                100.0 + drift * at as f64 / n as f64 + random.unit()
            };
            let rounds = |random: &mut Random| (0..n).map(|at| one(at, random)).collect::<Vec<_>>();
            (0..1000)
                .filter(|_| trend(&rounds(&mut random)).is_some_and(|trend| trend.p <= 0.05))
                .count()
        };
        for n in [6, 10, 20] {
            let (nothing, something) = (seen(n, 0.0), seen(n, 1.5));
            assert!(nothing <= 65, "{n}: {nothing}");
            assert!(something >= [0, 250, 800, 995][n / 6], "{n}: {something}");
        }
    }

    #[test]
    fn its_size_is_that_of_the_last_over_the_first() {
        for factor in [2.0f64, 4.0, 0.5, 0.25] {
            let even: Vec<f64> = (0..9).map(|i| 7.0 * factor.powf(f64::from(i) / 8.0)).collect();
            let found = trend(&even).unwrap().relative_change;
            assert!((found - (factor - 1.0)).abs() < 1e-9, "{factor}: {found}");
            // Turned over, it is the change of what is turned over.
            let over: Vec<f64> = even.iter().map(|value| 1.0 / value).collect();
            assert!((trend(&over).unwrap().relative_change - (1.0 / factor - 1.0)).abs() < 1e-9);
        }
        // A latency that grows from 1 to 2 in even steps: the speed falls by a half.
        let speeds: Vec<f64> = (0..9).map(|i| 1.0 / (1.0 + f64::from(i) / 8.0)).collect();
        assert!(
            (trend(&speeds).unwrap().relative_change + 0.5).abs() < 0.02,
            "{:?}",
            trend(&speeds)
        );
        // Without logarithms: 0 to 8 around 4.
        let from_zero: Vec<f64> = (0..9).map(f64::from).collect();
        assert!((trend(&from_zero).unwrap().relative_change - 2.0).abs() < 1e-12);
        assert!(trend(&[1e-300, 1e-300, 1e300, 1e300, 1e300]).unwrap().relative_change.is_finite());
    }

    #[test]
    fn what_all_cells_share_is_the_rounds() {
        // Each cell has a level and a noise of its own; the rounds share a slow second half.
        let mut random = Random::new(5);
        let mut cell = |level: f64| {
            let slow = |round: usize| if round < 5 { 1.0 } else { 0.9 };
            (0..10)
                .map(|round| Some(level * slow(round) * (1.0 + 0.1 * (random.unit() - 0.5))))
                .collect::<Vec<_>>()
        };
        let mut cells: Vec<_> = (1..40).map(|i| cell(f64::from(i))).collect();
        cells[3][2] = None;
        let effects = round_effects(&cells);
        assert_eq!(effects.len(), 10);
        let step = effects[..5].iter().sum::<f64>() / 5.0 - effects[5..].iter().sum::<f64>() / 5.0;
        assert!((step - (1.0f64 / 0.9).ln()).abs() < 0.02, "{step}");
        assert!(
            persistence(&effects, 1).is_some_and(|found| found.correlation > 0.4 && found.p < 0.05)
        );
        assert!(round_effects(&[]).is_empty());
    }

    #[test]
    fn independent_rounds_are_rarely_called_persistent() {
        let mut random = Random::new(8);
        let mut called = 0;
        for seed in 0..400 {
            let values: Vec<f64> = (0..12).map(|_| random.unit()).collect();
            called += usize::from(persistence(&values, seed).is_some_and(|found| found.p <= 0.05));
        }
        assert!((8..=34).contains(&called), "{called} of 400");
        assert_eq!(persistence(&[1.0; 9], 1), None);
        assert_eq!(persistence(&[1.0, 2.0, 3.0], 1), None);
    }
}
