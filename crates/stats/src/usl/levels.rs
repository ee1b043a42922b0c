//! The trials of each level: their median, and how far they scatter around it.

use crate::summary::median;

/// What the middle distance of normal values from their median is multiplied with to give their standard deviation, for 2 to
/// 9 values, as the root of the mean square (simulated).
const TO_DEVIATION: [f64; 8] = [1.414, 1.696, 1.254, 1.558, 1.289, 1.522, 1.324, 1.510];
/// The same for more.
const TO_DEVIATION_OF_MANY: f64 = 1.45;

/// The trials of one concurrency, as logarithms of their throughput.
pub(super) struct Level {
    pub(super) n: f64,
    pub(super) logs: Vec<f64>,
}

/// The levels in ascending order; all throughputs must be above 0.
pub(super) fn of(points: &[(f64, f64)]) -> Vec<Level> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let level = |trials: &[(f64, f64)]| Level { n: trials[0].0, logs: trials.iter().map(|(_, x)| x.ln()).collect() };
    sorted.chunk_by(|a, b| a.0 == b.0).map(level).collect()
}

impl Level {
    /// How far its trials scatter, as the standard deviation that normal ones of this middle distance have; `None` of one
    /// trial. From 3 trials on one of them can be anything.
    fn deviation(&self) -> Option<f64> {
        let middle = median(&self.logs)?;
        let mut distances: Vec<f64> = self.logs.iter().map(|log| (log - middle).abs()).collect();
        distances.sort_unstable_by(f64::total_cmp);
        // The middle one has no distance, or the middle two have the same.
        let distances = distances.get(1..).filter(|distances| !distances.is_empty())?;
        let factor = TO_DEVIATION.get(self.logs.len() - 2).copied().unwrap_or(TO_DEVIATION_OF_MANY);
        Some(distances[(distances.len() - 1) / 2] * factor)
    }
}

/// How far trials of one level scatter, and their medians because of that: the root of the mean square over the levels.
pub(super) fn noise(levels: &[Level]) -> Option<(f64, f64)> {
    let deviations: Vec<Option<f64>> = levels.iter().map(Level::deviation).collect();
    let known: Vec<f64> = deviations.iter().flatten().copied().collect();
    let typical = root_mean_square(&known)?;
    let of_median = |(level, deviation): (&Level, &Option<f64>)| {
        // The median of normal values scatters as their mean does up to 2 of them, and by the root of pi / 2 more of many.
        let more = if level.logs.len() < 3 { 1.0 } else { std::f64::consts::FRAC_PI_2 };
        deviation.unwrap_or(typical) * (more / level.logs.len() as f64).sqrt()
    };
    let medians: Vec<f64> = levels.iter().zip(&deviations).map(of_median).collect();
    Some((typical, root_mean_square(&medians)?))
}

/// `None` without values.
fn root_mean_square(values: &[f64]) -> Option<f64> {
    let squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    crate::summary::mean(&squares).map(f64::sqrt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_scatter_is_that_of_the_noise_and_one_trial_does_not_make_it() {
        let mut random = Random::new(4);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        for trials in [2, 3, 4, 5, 9, 20] {
            let mut points: Vec<(f64, f64)> = Vec::new();
            for n in 1..=2000 {
                points.extend((0..trials).map(|_| (f64::from(n), (0.05 * normal()).exp())));
            }
            let (deviation, medians) = noise(&of(&points)).unwrap();
            assert!((deviation / 0.05 - 1.0).abs() < 0.05, "{trials}: {deviation}");
            let measured = of(&points).iter().map(|level| median(&level.logs).unwrap().powi(2)).sum::<f64>() / 2000.0;
            assert!((medians / measured.sqrt() - 1.0).abs() < 0.15, "{trials}: {medians} {measured}");
        }
        let stalled = [(1.0, 100.0), (1.0, 0.1), (1.0, 101.0), (2.0, 200.0), (2.0, 199.0), (2.0, 198.0)];
        assert!(noise(&of(&stalled)).unwrap().0 < 0.03);
        assert!(noise(&of(&[(1.0, 100.0), (2.0, 200.0)])).is_none());
    }
}
