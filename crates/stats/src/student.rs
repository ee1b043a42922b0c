//! Student's t distribution, as far as it is needed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::f64::consts::{FRAC_2_PI, PI};

/// With so many degrees of freedom the distribution is the normal one, a little wider.
pub(crate) const NORMAL: usize = 1000;

/// The share of a t variable with these degrees of freedom that lies beyond `t` on either side: the
/// two-sided p-value.
///
/// For whole degrees the integral is a finite sum (Abramowitz and Stegun, "Handbook of Mathematical
/// Functions", 26.7.3 and 26.7.4). It says how much lies within, right to about 1e-15. Far out,
/// where hardly anything lies beyond, that is a series. 1 for 0 degrees or a `t` that is not a
/// number.
pub(crate) fn beyond(t: f64, degrees: usize) -> f64 {
    if degrees == 0 || t.is_nan() {
        return 1.0;
    }
    let angle = (t.abs() / (degrees as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    // Terms in cos, cos^3 ... up to cos^(degrees - 2), or in 1, cos^2 ...
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    for power in (usize::from(odd)..=degrees.saturating_sub(2)).step_by(2) {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
    }
    let within = if odd { FRAC_2_PI * (angle + sin * sum) } else { sin * sum };
    let beyond = (1.0 - within).clamp(0.0, 1.0);
    // The closer to the middle, and the more degrees, the longer is the series.
    let x = degrees as f64 / (degrees as f64 + t * t);
    if beyond < SMALL && x < SHORT { far_beyond(x, degrees) } else { beyond }
}

/// A share beyond that is smaller than this has lost too many digits to a subtraction from 1.
const SMALL: f64 = 1e-6;
/// The series is short for an x up to this.
const SHORT: f64 = 0.99;

/// The same as [`beyond`] by x = n / (n + t^2), for n degrees: the incomplete beta function of x
/// with n / 2 and 1 / 2 as a series of positive terms (Abramowitz and Stegun, 26.5.4 and 26.7.1).
fn far_beyond(x: f64, degrees: usize) -> f64 {
    let a = degrees as f64 / 2.0;
    // B(1/2, 1/2) is pi and B(1, 1/2) is 2; the others follow by steps of 1.
    let (mut from, mut beta) = if degrees % 2 == 1 { (0.5, PI) } else { (1.0, 2.0) };
    while from < a {
        beta *= from / (from + 0.5);
        from += 1.0;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for n in 0..MOST_TERMS {
        let part = term / (a + f64::from(n));
        sum += part;
        if part < sum * f64::EPSILON {
            break;
        }
        term *= x * (f64::from(n) + 0.5) / f64::from(n + 1);
    }
    x.powf(a) / beta * sum
}

/// Terms of the series of [`far_beyond`] that are summed, at most.
const MOST_TERMS: u32 = 5000;

/// The t that is exceeded on either side in a share `outside` of cases together; `None` for 0
/// degrees or a share outside 1e-9..1.
pub(crate) fn quantile(degrees: usize, outside: f64) -> Option<f64> {
    if degrees == 0 || !(1e-9..1.0).contains(&outside) {
        return None;
    }
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let found = known.entry((degrees, outside.to_bits()));
        Some(*found.or_insert_with(|| bisected(degrees, outside)))
    })
}

thread_local! {
    /// Quantiles by degrees and the bits of the share. A report of 10 000 cells asks for some
    /// hundred different ones, a million times.
    static KNOWN: RefCell<HashMap<(usize, u64), f64>> = RefCell::default();
}

/// Quantiles that are kept at most: about 200 kB.
const MOST_KNOWN: usize = 4096;

/// The quantile, by bisection of [`beyond`] to the last bits.
fn bisected(degrees: usize, outside: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, degrees) > outside {
        low = high;
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if beyond(middle, degrees) > outside { low = middle } else { high = middle }
    }
    high
}

/// The two-sided p-value of Welch's t test: whether two samples have one mean though their scatter
/// differs. `None` with fewer than two values on a side, or without any scatter.
///
/// Degrees of freedom are no whole number here. Between two of them the p-value is taken from a
/// line over their reciprocals, which is right to about 1e-3.
pub fn welch(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (sample(a)?, sample(b)?);
    let error = a.error + b.error;
    if error.is_nan() || error <= 0.0 {
        return None;
    }
    let degrees = error * error / (a.error * a.error / a.degrees + b.error * b.error / b.degrees);
    let t = (a.mean - b.mean) / error.sqrt();
    let whole = degrees.floor().max(1.0);
    let (less, more) = (beyond(t, whole as usize), beyond(t, whole as usize + 1));
    let share =
        (whole.recip() - degrees.max(1.0).recip()) / (whole.recip() - (whole + 1.0).recip());
    Some(less + share * (more - less))
}

struct Sample {
    mean: f64,
    /// The variance of the mean.
    error: f64,
    degrees: f64,
}

fn sample(values: &[f64]) -> Option<Sample> {
    let (n, degrees) =
        (values.len() as f64, values.len().checked_sub(1).filter(|d| *d > 0)? as f64);
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / degrees;
    Some(Sample { mean, error: variance / n, degrees })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_the_tables() {
        let table = [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (6, 2.4469),
            (7, 2.3646),
            (10, 2.2281),
            (120, 1.9799),
        ];
        for (degrees, expected) in table {
            let found = quantile(degrees, 0.05).unwrap();
            assert!((found - expected).abs() < 1e-4, "{degrees}: {found}, not {expected}");
        }
        assert!((quantile(4, 0.01).unwrap() - 4.6041).abs() < 1e-4);
        assert!((quantile(9, 0.4).unwrap() - 0.8834).abs() < 1e-4);
        assert_eq!((quantile(0, 0.05), quantile(3, 0.0), quantile(3, 1.0)), (None, None, None));
    }

    /// With equal scatter and sizes the degrees are whole: t = -1.2247 with 4.
    #[test]
    fn welchs_test_is_students_where_both_scatter_alike() {
        let p = welch(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]).unwrap();
        assert!((p - beyond(1.224_745, 4)).abs() < 1e-6, "{p}");
        assert!(welch(&[10.0, 10.1, 9.9], &[12.0, 12.1, 11.9]).unwrap() < 0.001);
        // One side without scatter: the other's degrees.
        let p = welch(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]).unwrap();
        assert!((p - beyond(3.0 * 3.0_f64.sqrt(), 2)).abs() < 1e-6, "{p}");
        assert_eq!((welch(&[1.0], &[1.0, 2.0]), welch(&[1.0, 1.0], &[2.0, 2.0])), (None, None));
    }

    #[test]
    fn what_lies_beyond_is_what_the_tables_say() {
        // With 1 degree the distribution is Cauchy's: half of it lies beyond 1.
        for (t, degrees, expected) in
            [(1.0, 1, 0.5), (2.0, 2, 0.18350), (-2.5706, 5, 0.05), (3.0, 8, 0.017072)]
        {
            let found = beyond(t, degrees);
            assert!((found - expected).abs() < 1e-5, "{t}, {degrees}: {found}");
        }
        assert_eq!((beyond(0.0, 5), beyond(f64::NAN, 5), beyond(1.0, 0)), (1.0, 1.0, 1.0));
        assert!(beyond(f64::INFINITY, 4) < 1e-12);
    }

    /// With 1 degree it is an arc tangent, and with 2 a root.
    #[test]
    fn what_lies_far_beyond_keeps_its_digits() {
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
        for t in [1e7, 1e12, 1e100_f64] {
            assert!(close(beyond(t, 1), FRAC_2_PI * t.recip().atan()), "{t}");
        }
        for t in [2e3, 1e6, 1e9_f64] {
            let root = (2.0 + t * t).sqrt();
            assert!(close(beyond(t, 2), 2.0 / (root * (root + t))), "{t}");
        }
        // Where both ways have digits, they agree.
        for (t, degrees) in [(30.0, 5), (9.0, 30), (8.0, 31), (7.0, 60), (6.0, 119), (5.5, 400)] {
            let x = degrees as f64 / (degrees as f64 + t * t);
            let (near, far) = (beyond(t, degrees), far_beyond(x, degrees));
            assert!((near / far - 1.0).abs() < 1e-4, "{t}, {degrees}: {near}, {far}");
        }
        // Monotone where the one takes over from the other.
        for degrees in [3, 8, 21, 64, 201] {
            let shares: Vec<f64> = (10..200).map(|t| beyond(f64::from(t) / 4.0, degrees)).collect();
            assert!(shares.is_sorted_by(|a, b| a > b), "{degrees}");
        }
    }
}
