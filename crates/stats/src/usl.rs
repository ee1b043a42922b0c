//! How throughput grows with concurrency, and where it stops.

use crate::interval::Interval;
use crate::resample::bootstrap;
use crate::student;
use crate::summary::{mean, quantile};

/// Fewest different concurrencies: three parameters pass through any three points, and a fourth can contradict.
const FEWEST_LEVELS: usize = 4;
/// Fewest points: residuals of fewer say nothing of the noise.
const FEWEST_POINTS: usize = 6;
/// Resamples of the residuals.
const RESAMPLES: usize = 1_000;
/// The normal variable that is exceeded on either side in 5 % of cases together.
const NORMAL: f64 = 1.959_964;
/// Rounds of fitting with weights that follow from the fit before.
const REWEIGHTED: usize = 4;

/// The Universal Scalability Law: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)).
///
/// N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// λ: throughput at N = 1, in the throughput's unit.
    pub lambda: f64,
    /// σ: the share that is done one after the other (contention), from 0.
    pub sigma: f64,
    /// κ: what each pair costs to agree (coherence), from 0.
    pub kappa: f64,
}

impl Usl {
    /// The throughput at a concurrency.
    #[must_use]
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The concurrency with the highest throughput: sqrt((1 - σ) / κ); infinite where throughput never falls, at least 1.
    #[must_use]
    pub fn peak(&self) -> f64 {
        if self.kappa > 0.0 { ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0) } else { f64::INFINITY }
    }
}

/// A fit of the law with 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UslFit {
    /// The law that fits best.
    pub law: Usl,
    /// Of λ.
    pub lambda: Interval,
    /// Of σ.
    pub sigma: Interval,
    /// Of κ.
    pub kappa: Interval,
    /// Of the concurrency with the highest throughput; its upper end is infinite where no fall was seen.
    pub peak: Interval,
    /// The typical distance of a point from the law, as a share.
    pub residual_share: f64,
    /// The highest concurrency that was measured: beyond it the law is extrapolated.
    pub measured_to: f64,
}

/// Fits the law to points (concurrency, throughput), one of each trial.
///
/// With N / X = (1 + σ (N - 1) + κ N (N - 1)) / λ it is a linear problem with coefficients that are not negative; points are
/// weighted so that relative distances count. The intervals are those of resampled residuals (B. Efron and R. J. Tibshirani,
/// "An Introduction to the Bootstrap", 1993, chapter 9), made larger by the root of n / (n - 3) for what the fit took up, and by Student's t
/// over the normal quantile for how little so few points know of their noise.
/// They hold where the law does: a hard limit is no such law, and the fit then says only how far it is off.
///
/// `None` with fewer than 6 points or 4 different concurrencies, with a value that is not finite or not above 0, or a
/// concurrency below 1.
#[must_use]
pub fn usl(points: &[(f64, f64)], seed: u64) -> Option<UslFit> {
    let usable = |(n, x): &(f64, f64)| n.is_finite() && x.is_finite() && *n >= 1.0 && *x > 0.0;
    let mut levels: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    if !points.iter().all(usable) || points.len() < FEWEST_POINTS || levels.len() < FEWEST_LEVELS {
        return None;
    }
    let law = fit(points)?;
    let residuals: Vec<f64> = points.iter().map(|(n, x)| (x / law.at(*n)).ln()).collect();
    let centre = mean(&residuals)?;
    let count = points.len() as f64;
    let larger = (count / (count - 3.0)).sqrt() * student::quantile(points.len() - 3, 0.05)? / NORMAL;
    let mut fits = Vec::with_capacity(RESAMPLES);
    bootstrap(points.len(), RESAMPLES, seed, |drawn| {
        let moved = points.iter().zip(drawn);
        let moved: Vec<(f64, f64)> =
            moved.map(|((n, _), at)| (*n, law.at(*n) * ((residuals[*at] - centre) * larger).exp())).collect();
        fits.extend(fit(&moved));
        0.0
    });
    let of = |figure: fn(&Usl) -> f64| {
        let values: Vec<f64> = fits.iter().map(figure).collect();
        Some(Interval { low: quantile(&values, 0.025)?, high: quantile(&values, 0.975)? })
    };
    // Peaks can be infinite: their reciprocals are not.
    let slowness = of(|law| 1.0 / law.peak())?;
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    Some(UslFit {
        law,
        lambda: of(|law| law.lambda)?,
        sigma: of(|law| law.sigma)?,
        kappa: of(|law| law.kappa)?,
        peak: Interval { low: 1.0 / slowness.high, high: 1.0 / slowness.low },
        residual_share: (squares / (count - 3.0)).sqrt(),
        measured_to: *levels.last()?,
    })
}

/// The law of weighted least squares.
fn fit(points: &[(f64, f64)]) -> Option<Usl> {
    let mut expected: Vec<f64> = points.iter().map(|(n, x)| n / x).collect();
    let mut out = None;
    for _ in 0..REWEIGHTED {
        let found = not_negative(points, &expected)?;
        let law = Usl { lambda: 1.0 / found[0], sigma: found[1] / found[0], kappa: found[2] / found[0] };
        if !(law.lambda.is_finite() && law.sigma.is_finite() && law.kappa.is_finite()) {
            return out;
        }
        expected = points.iter().map(|(n, _)| n / law.at(*n)).collect();
        out = Some(law);
    }
    out
}

/// What the three coefficients multiply at a concurrency.
fn terms(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

/// The coefficients, none below 0, with the least sum of squared distances as shares of what is expected: the best of the
/// free solutions in which some of them are 0, of which there are four.
fn not_negative(points: &[(f64, f64)], expected: &[f64]) -> Option<[f64; 3]> {
    let mut best: Option<(f64, [f64; 3])> = None;
    for used in [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0]] {
        let Some(found) = least_squares(points, expected, used) else { continue };
        if found[0] <= 0.0 || found.iter().any(|coefficient| *coefficient < 0.0) {
            continue;
        }
        let distance = |((n, x), expected): (&(f64, f64), &f64)| {
            let here: f64 = terms(*n).iter().zip(found).map(|(term, coefficient)| term * coefficient).sum();
            ((n / x - here) / expected).powi(2)
        };
        let sum: f64 = points.iter().zip(expected).map(distance).sum();
        if best.is_none_or(|(least, _)| sum < least) {
            best = Some((sum, found));
        }
    }
    best.map(|(_, found)| found)
}

/// The normal equations for the coefficients that are used; the others are 0. `None` where they have no solution.
fn least_squares(points: &[(f64, f64)], expected: &[f64], used: &[usize]) -> Option<[f64; 3]> {
    let size = used.len();
    // Columns on a common scale, or the squares of N^2 lose the digits of the others.
    let largest = points.iter().map(|(n, _)| *n).fold(1.0, f64::max);
    let scale = terms(largest).map(|term| term.max(1.0));
    let mut rows = vec![vec![0.0; size + 1]; size];
    for ((n, x), expected) in points.iter().zip(expected) {
        let terms: Vec<f64> = used.iter().map(|at| terms(*n)[*at] / scale[*at] / expected).collect();
        for row in 0..size {
            for column in 0..size {
                rows[row][column] += terms[row] * terms[column];
            }
            rows[row][size] += terms[row] * n / x / expected;
        }
    }
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column].clone();
        if head[column].abs() < 1e-14 {
            return None;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column] / head[column];
                row.iter_mut().zip(&head).for_each(|(value, head)| *value -= factor * head);
            }
        }
    }
    let mut out = [0.0; 3];
    for (row, at) in used.iter().enumerate() {
        out[*at] = rows[row][size] / rows[row][row] / scale[*at];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn points(law: Usl) -> Vec<(f64, f64)> {
        LEVELS.iter().map(|n| (*n, law.at(*n))).collect()
    }

    #[test]
    fn too_little_is_no_law() {
        let law = Usl { lambda: 100.0, sigma: 0.05, kappa: 1e-4 };
        assert!(usl(&points(law), 1).is_some());
        assert_eq!(usl(&points(law)[..5], 1), None);
        assert_eq!(usl(&[(1.0, 1.0), (2.0, 2.0), (4.0, 3.0), (1.0, 1.0), (2.0, 2.0), (4.0, 3.0)], 1), None);
        let mut broken = points(law);
        broken[2].1 = 0.0;
        assert_eq!(usl(&broken, 1), None);
    }

    #[test]
    fn its_peak_is_gunthers() {
        let law = Usl { lambda: 995.65, sigma: 0.02671, kappa: 0.000_769 };
        // Published for a web server's figures: the peak lies at 35.6.
        assert!((law.peak() - 35.6).abs() < 0.1, "{}", law.peak());
        assert!(law.at(law.peak()) > law.at(law.peak() * 1.1) && law.at(law.peak()) > law.at(law.peak() * 0.9));
        assert_eq!(Usl { kappa: 0.0, ..law }.peak(), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn figures_without_noise_give_their_law(
            lambda in 1.0..1e5f64, sigma in 0.0..0.3f64, kappa in prop_oneof![Just(0.0), 1e-6..1e-2f64],
        ) {
            let law = Usl { lambda, sigma, kappa };
            let found = usl(&points(law), 1).unwrap();
            prop_assert!((found.law.lambda / lambda - 1.0).abs() < 1e-6, "{:?}", found.law);
            prop_assert!((found.law.sigma - sigma).abs() < 1e-6 && (found.law.kappa - kappa).abs() < 1e-8);
            prop_assert!(found.residual_share < 1e-6);
            prop_assert!(found.lambda.low <= lambda * 1.000_01 && found.lambda.high >= lambda * 0.999_99);
        }
    }
}
