//! Student's t distribution, as far as it is needed.

/// Quantiles at 97.5 % for 1, 2, 3 ... degrees of freedom; any table of the distribution has them.
const QUANTILES: &[f64] = &[12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469];

/// The value that a t variable with these degrees of freedom exceeds in 2.5 % of cases; known for 1 to 6.
pub(super) fn quantile_975(degrees: usize) -> Option<f64> {
    QUANTILES.get(degrees.checked_sub(1)?).copied()
}
