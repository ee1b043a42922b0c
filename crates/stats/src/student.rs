//! Student's t distribution, as far as it is needed.

/// Quantiles at 97.5 % for 1, 2, 3 ... degrees of freedom; any table of the distribution has them.
const QUANTILES: &[f64] = &[12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469];

/// The 97.5 % point of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The value that a t variable with these degrees of freedom exceeds in 2.5 % of cases; `None` for 0.
pub(crate) fn quantile_975(degrees: usize) -> Option<f64> {
    let table = QUANTILES.get(degrees.checked_sub(1)?).copied();
    Some(table.unwrap_or_else(|| expanded(degrees as f64)))
}

/// The quantile as a series in 1/degrees (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5); from 7
/// degrees on right to 0.001.
fn expanded(degrees: f64) -> f64 {
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / degrees + second / degrees.powi(2) + third / degrees.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_the_tables() {
        for (degrees, table) in [(1, 12.7062), (6, 2.4469), (7, 2.3646), (10, 2.2281), (30, 2.0423), (120, 1.9799)] {
            let found = quantile_975(degrees).unwrap();
            assert!((found - table).abs() < 0.001, "{degrees}: {found}, not {table}");
        }
        assert_eq!(quantile_975(0), None);
    }
}
