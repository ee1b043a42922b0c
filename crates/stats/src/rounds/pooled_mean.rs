//! The mean of all rounds together, with an interval from the rounds.

use crate::interval::{CONFIDENCE, Interval};
use crate::student;

/// The mean of all samples of several rounds and its interval, 95 %, from the number of samples and
/// the mean of each round, above 0. Rounds without samples are left out; `None` with fewer than
/// two.
///
/// The mean is a ratio of two sums over the rounds: of the samples and of their number. Its
/// variance is that of the rounds' residuals (W. G. Cochran, "Sampling Techniques", 1977, section
/// 6.3), since samples of one round resemble each other. On the scale of logarithms Student's t
/// makes the interval of it, so no end is below 0.
#[must_use]
pub fn pooled_mean(rounds: &[(u64, f64)]) -> Option<(f64, Interval)> {
    let rounds: Vec<(f64, f64)> = rounds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, mean)| (*count as f64, *mean))
        .collect();
    let total: f64 = rounds.iter().map(|(count, _)| count).sum();
    let mean = rounds.iter().map(|(count, mean)| count * mean).sum::<f64>() / total;
    if rounds.len() < 2 || mean.is_nan() || mean <= 0.0 {
        return None;
    }
    let of_rounds = rounds.len() as f64;
    let squares: f64 = rounds.iter().map(|(count, own)| (count * (own - mean)).powi(2)).sum();
    let deviation = (of_rounds / (of_rounds - 1.0) * squares).sqrt() / total;
    let reach = student::quantile(rounds.len() - 1, 1.0 - CONFIDENCE)? * deviation / mean;
    Some((mean, Interval { low: mean * (-reach).exp(), high: mean * reach.exp() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn an_interval_is_student_s_where_rounds_have_as_many_samples() {
        let (mean, interval) = pooled_mean(&[(7, 1.0), (7, 2.0), (7, 3.0), (0, 99.0)]).unwrap();
        // 4.3027 * 1 / sqrt(3) / 2.
        let reach = 1.242_08_f64;
        assert!((mean - 2.0).abs() < 1e-12);
        assert!((interval.low - 2.0 * (-reach).exp()).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - 2.0 * reach.exp()).abs() < 1e-3, "{interval:?}");
        assert_eq!(pooled_mean(&[(7, 1.0)]), None);
        assert_eq!(pooled_mean(&[(7, 0.0), (7, 0.0)]), None);
        assert_eq!(pooled_mean(&[]), None);
    }

    #[test]
    fn a_round_counts_as_much_as_it_has_samples() {
        let (mean, interval) = pooled_mean(&[(1, 10.0), (99, 1.0), (100, 1.0)]).unwrap();
        assert!((mean - 1.045).abs() < 1e-12);
        assert!(interval.contains(1.0), "{interval:?}");
    }

    /// Most samples are short, some are long, and rounds differ.
    #[test]
    fn the_interval_holds_the_true_mean_as_often_as_it_says() {
        let mut random = Random::new(7);
        let mut held = 0;
        for _ in 0..2000 {
            let mut round = || {
                let slow = 1.0 + random.below(100) as f64 / 200.0;
                let count = 60 + random.below(80) as u64;
                let sample = |_| slow * if random.below(20) == 0 { 400.0 } else { 100.0 };
                let sum: f64 = (0..count).map(sample).sum();
                (count, sum / count as f64)
            };
            let rounds: Vec<_> = (0..12).map(|_| round()).collect();
            let truth = (1.0 + 99.0 / 400.0) * 115.0;
            held += u32::from(pooled_mean(&rounds).unwrap().1.contains(truth));
        }
        assert!((1860..=1940).contains(&held), "{held} of 2000");
    }
}
