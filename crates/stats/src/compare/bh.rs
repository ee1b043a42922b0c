//! The correction of p-values for many comparisons at once (Benjamini and Hochberg).

/// The q-values of these p-values: the smallest share of false discoveries at which each would be
/// one.
///
/// Calling a difference wherever q is at most 5 % makes, on average, at most 5 % of the called
/// differences false. Where nothing differs at all, anything is called in at most 5 % of runs. Y.
/// Benjamini and Y. Hochberg, "Controlling the False Discovery Rate: A Practical and Powerful
/// Approach to Multiple Testing", Journal of the Royal Statistical Society B 57(1), 1995; it holds
/// for comparisons with one baseline, too, whose errors go the same way (Y. Benjamini and D.
/// Yekutieli, "The Control of the False Discovery Rate in Multiple Testing under Dependency", The
/// Annals of Statistics 29(4), 2001).
///
/// In the order of the p-values. One that is not a number counts as 1.
#[must_use]
pub fn q_values(p_values: &[f64]) -> Vec<f64> {
    let p = |at: usize| if p_values[at].is_nan() { 1.0 } else { p_values[at].clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p(*b).total_cmp(&p(*a)));
    let mut out = vec![1.0; p_values.len()];
    let mut least = 1.0f64;
    for (done, at) in order.into_iter().enumerate() {
        let rank = p_values.len() - done;
        least = least.min(p(at) * p_values.len() as f64 / rank as f64);
        out[at] = least;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_paper() {
        // The 15 p-values of Benjamini and Hochberg's section 3.2: at 5 % the first four are
        // discoveries, at 1 % the first three.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let q = q_values(&p);
        assert_eq!(q.iter().filter(|q| **q <= 0.05).count(), 4);
        assert_eq!(q.iter().filter(|q| **q <= 0.01).count(), 3);
        assert!((q[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn they_are_what_the_procedure_decides(
            p in prop::collection::vec(0.0..=1.0, 0..40),
            level in 0.001..0.5,
        ) {
            let q = q_values(&p);
            // The procedure itself: the largest k of which the k-th smallest p is at most k/m of
            // the level.
            let mut sorted = p.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let m = p.len() as f64;
            let called = (1..=p.len()).rev().find(|k| sorted[k - 1] * m / *k as f64 <= level);
            let called = called.unwrap_or(0);
            prop_assert_eq!(q.iter().filter(|q| **q <= level).count(), called);
            for (p, q) in p.iter().zip(&q) {
                prop_assert!(*q >= p - 1e-12 && *q <= 1.0);
            }
        }
    }
}
