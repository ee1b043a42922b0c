//! Rounds as they come: figures of a window whose intervals resemble their neighbours, heavy tails,
//! and what whole rounds share.

use hopbench_stats::{Random, summary::median};

/// Intervals in a window.
pub(crate) const INTERVALS: usize = 20;

/// A kind of noise of a cell's rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// Intervals that resemble their neighbours (first-order autocorrelation 0.6), normal; nothing
    /// else.
    Window,
    /// The same with heavy tails (Student's t with 3 degrees of freedom).
    HeavyWindow,
    /// The same, and each round has an effect of its own with heavy tails, 3 %.
    HeavyRounds,
    /// One round in ten is 20 % slower.
    SlowRounds,
    /// Rounds are skewed: most are a little fast, a few far slower (exponential, 5 %).
    SkewedRounds,
    /// Rounds resemble the round before, by this autocorrelation: what no interval of few rounds
    /// can know.
    Persistent(f64),
}

pub(crate) const INDEPENDENT: [Noise; 5] =
    [Noise::Window, Noise::HeavyWindow, Noise::HeavyRounds, Noise::SlowRounds, Noise::SkewedRounds];

/// A standard normal value.
pub(crate) fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Student's t with 3 degrees of freedom, scaled to a variance of 1.
pub(crate) fn heavy(random: &mut Random) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
    normal(random) / squares.sqrt()
}

/// The logarithms of the intervals of a window: autocorrelated around 0, with a deviation of about
/// 5 % each.
pub(crate) fn window(random: &mut Random, heavy_tails: bool) -> Vec<f64> {
    let one = |random: &mut Random| if heavy_tails { heavy(random) } else { normal(random) };
    let mut at = one(random) / 0.8;
    let mut step = |random: &mut Random| {
        at = 0.6 * at + one(random);
        0.04 * at
    };
    (0..INTERVALS).map(|_| step(random)).collect()
}

fn average(logs: &[f64]) -> f64 {
    logs.iter().sum::<f64>() / logs.len() as f64
}

impl Noise {
    /// What each of so many rounds has of its own, as logarithms.
    pub(crate) fn effects(self, rounds: usize, random: &mut Random) -> Vec<f64> {
        let mut last = normal(random);
        let mut one = |random: &mut Random| match self {
            Self::Window | Self::HeavyWindow => 0.0,
            Self::HeavyRounds => 0.03 * heavy(random),
            Self::SlowRounds => 0.2 * f64::from(random.unit() < 0.1),
            Self::SkewedRounds => -0.05 * random.unit().ln(),
            Self::Persistent(with) => {
                last = with * last + (1.0 - with * with).sqrt() * normal(random);
                0.03 * last
            }
        };
        (0..rounds).map(|_| one(random)).collect()
    }

    pub(crate) fn has_heavy_windows(self) -> bool {
        matches!(self, Self::HeavyWindow | Self::HeavyRounds)
    }

    /// The figures of the rounds of a cell with a level of 100.
    pub(crate) fn cell(self, rounds: usize, random: &mut Random) -> Vec<f64> {
        let effects = self.effects(rounds, random);
        let one = |effect: f64| {
            100.0 * (effect + average(&window(random, self.has_heavy_windows()))).exp()
        };
        effects.into_iter().map(one).collect()
    }

    /// The true median of such rounds.
    pub(crate) fn truth(self) -> f64 {
        let mut random = Random::new(1);
        // As many short cells, so that a persistent effect begins anew in each.
        let rounds: Vec<f64> = (0..20_000).flat_map(|_| self.cell(2, &mut random)).collect();
        median(&rounds).expect("there are rounds")
    }
}
