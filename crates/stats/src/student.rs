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
