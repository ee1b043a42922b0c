//! Student's t distribution, as far as it is needed.

use std::f64::consts::FRAC_2_PI;

/// The share of a t variable with these degrees of freedom that lies beyond `t` on either side: the
/// two-sided p-value.
///
/// For whole degrees the integral is a finite sum (Abramowitz and Stegun, "Handbook of Mathematical
/// Functions", 26.7.3 and 26.7.4). Right to about 1e-15, so smaller values may come out as 0. 1 for
/// 0 degrees or a `t` that is not a number.
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
    (1.0 - within).clamp(0.0, 1.0)
}

/// The t that is exceeded on either side in a share `outside` of cases together; `None` for 0
/// degrees or a share outside 1e-9..1.
pub(crate) fn quantile(degrees: usize, outside: f64) -> Option<f64> {
    if degrees == 0 || !(1e-9..1.0).contains(&outside) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, degrees) > outside {
        low = high;
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if beyond(middle, degrees) > outside { low = middle } else { high = middle }
    }
    Some(high)
}

/// The two-sided p-value of Welch's t test: whether two samples have one mean though their scatter
/// differs. `None` with fewer than two values on a side, or without any scatter.
///
/// Degrees of freedom are no whole number here. Between two of them the p-value is taken from a line
/// over their reciprocals, which is right to about 1e-3.
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
}
