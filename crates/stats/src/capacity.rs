//! What a load would cost that was not measured: a line with intervals, and how far it is stretched.

use crate::interval::{CONFIDENCE, Interval};
use crate::line::{Line, fit};
use crate::student;

/// A cost over a load: cores of proxies over requests a second, memory over connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// The line.
    pub line: Line,
    /// Points behind it.
    pub points: usize,
    /// The lowest load that was measured.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// How far a point typically lies from the line: in the cost's unit, or as a share of the line where `grows` is set.
    pub scatter: f64,
    /// Whether the scatter grows with the cost itself.
    pub grows: bool,
    weights: f64,
    centre: f64,
    spread: f64,
}

/// What a load would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// On the line.
    pub cost: f64,
    /// Where the line itself may run: 95 %.
    pub line: Interval,
    /// Where one more trial at that load would lie: 95 %.
    pub trial: Interval,
    /// How many times the highest measured load it is (or the lowest measured is it); 1 within what was measured. From
    /// about 2 on the intervals mean little: they take it that the line goes on.
    pub stretched: f64,
}

impl Capacity {
    /// The line through points (load, cost), one of each trial, by least squares.
    ///
    /// Costs scatter either alike at all loads or in proportion to what they are. Both are fitted, the second with weights
    /// 1 / line^2, and the likelier is taken (of two normal models with as many parameters the one with the higher
    /// likelihood). Intervals are those of linear regression (N. R. Draper and H. Smith, "Applied Regression Analysis", 3rd
    /// edition, 1998, sections 1.4, 3.1 and 9.2).
    ///
    /// `None` where there is no line (see [`fit`]).
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let plain = fit(points)?;
        let (alike, alike_likelihood) = Self::weighted(points, |_| 1.0)?;
        let mut line = plain;
        let mut growing = None;
        for _ in 0..3 {
            // A line that is not above 0 all the way is no measure of a share.
            if points.iter().any(|(x, _)| line.at(*x) <= 0.0) {
                growing = None;
                break;
            }
            let before = line;
            growing = Self::weighted(points, |x| before.at(x).powi(-2));
            line = growing.as_ref()?.0.line;
        }
        Some(match growing {
            Some((growing, likelihood)) if likelihood > alike_likelihood => Self { grows: true, ..growing },
            _ => alike,
        })
    }

    /// The line with such weights, and the logarithm of its likelihood but for a constant.
    fn weighted(points: &[(f64, f64)], weight: impl Fn(f64) -> f64) -> Option<(Self, f64)> {
        let sum = |value: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| weight(*x) * value(*x, *y)).sum::<f64>();
        let weights = sum(&|_, _| 1.0);
        let (centre, height) = (sum(&|x, _| x) / weights, sum(&|_, y| y) / weights);
        let spread = sum(&|x, _| (x - centre).powi(2));
        let slope = sum(&|x, y| (x - centre) * (y - height)) / spread;
        let line = Line { intercept: height - slope * centre, slope };
        let count = points.len() as f64;
        let variance = sum(&|x, y| (y - line.at(x)).powi(2)) / (count - 2.0);
        let logs: f64 = points.iter().map(|(x, _)| weight(*x).ln()).sum();
        let likelihood = logs / 2.0 - count / 2.0 * variance.max(f64::MIN_POSITIVE).ln();
        let (from, to) = points.iter().fold((f64::INFINITY, 0.0f64), |(a, b), (x, _)| (a.min(*x), b.max(*x)));
        let scatter = variance.sqrt();
        let out = Self { line, points: points.len(), from, to, scatter, grows: false, weights, centre, spread };
        (slope.is_finite() && likelihood.is_finite()).then_some((out, likelihood))
    }

    /// What a load would cost; `None` for one that is not finite or below 0.
    #[must_use]
    pub fn at(&self, load: f64) -> Option<Predicted> {
        if !load.is_finite() || load < 0.0 {
            return None;
        }
        let cost = self.line.at(load);
        let t = student::quantile(self.points.checked_sub(2)?, 1.0 - CONFIDENCE)?;
        let known = self.scatter.powi(2) * (1.0 / self.weights + (load - self.centre).powi(2) / self.spread);
        let one = if self.grows { self.scatter * cost } else { self.scatter };
        let around = |reach: f64| Interval { low: cost - reach, high: cost + reach };
        let stretched = if load > self.to {
            load / self.to
        } else if load < self.from {
            self.from / load
        } else {
            1.0
        };
        Some(Predicted {
            cost,
            line: around(t * known.sqrt()),
            trial: around(t * (known + one * one).sqrt()),
            stretched,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    #[test]
    fn the_textbooks_example() {
        // y = 2.2 + 0.6 x with residuals -0.8, 0.6, 1, -0.6, -0.2: squares 2.4, variance 0.8; Sxx 10, mean of x 3.
        let capacity = Capacity::of(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        assert!(!capacity.grows && (capacity.scatter - 0.8f64.sqrt()).abs() < 1e-9, "{capacity:?}");
        let found = capacity.at(6.0).unwrap();
        let known = 0.8 * (0.2 + 9.0 / 10.0);
        assert!((found.cost - 5.8).abs() < 1e-9 && (found.stretched - 1.2).abs() < 1e-9);
        assert!((found.line.high - found.cost - 3.18245 * f64::sqrt(known)).abs() < 1e-3, "{found:?}");
        assert!((found.trial.high - found.cost - 3.18245 * f64::sqrt(known + 0.8)).abs() < 1e-3);
        assert_eq!(capacity.at(0.5).unwrap().stretched, 2.0);
        assert_eq!(capacity.at(3.0).unwrap().stretched, 1.0);
        assert_eq!((capacity.at(-1.0), capacity.at(f64::NAN)), (None, None));
        assert_eq!(Capacity::of(&[(1.0, 1.0), (2.0, 2.0)]), None);
    }

    #[test]
    fn intervals_hold_what_they_say_with_either_noise() {
        let mut random = Random::new(2);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        for grows in [false, true] {
            for load in [2000.0, 20_000.0] {
                let (mut line, mut trial, mut told) = (0, 0, 0);
                for _ in 0..1000 {
                    let mut cost = |rate: f64| {
                        let truth = 0.1 + rate * 5e-4;
                        truth + normal() * if grows { 0.05 * truth } else { 0.1 }
                    };
                    let rates = [100.0, 500.0, 1000.0, 2000.0, 4000.0];
                    let points: Vec<_> = rates.iter().flat_map(|r| [*r; 4]).map(|rate| (rate, cost(rate))).collect();
                    let capacity = Capacity::of(&points).unwrap();
                    let found = capacity.at(load).unwrap();
                    line += usize::from(found.line.contains(0.1 + load * 5e-4));
                    trial += usize::from(found.trial.contains(cost(load)));
                    told += usize::from(capacity.grows == grows);
                }
                for held in [line, trial] {
                    assert!((925..=970).contains(&held), "grows: {grows}, at {load}: {line} {trial} of 1000");
                }
                assert!(told > 950, "grows: {grows}: {told}");
            }
        }
    }

    proptest! {
        #[test]
        fn points_on_a_line_are_predicted_exactly(
            rest in 0.0..10.0f64, slope in 1e-6..1.0f64, load in 0.0..1e5f64,
        ) {
            let points: Vec<_> = [10.0, 200.0, 3000.0, 5000.0].iter().map(|x| (*x, rest + slope * x)).collect();
            let found = Capacity::of(&points).unwrap().at(load).unwrap();
            let expected = rest + slope * load;
            prop_assert!((found.cost - expected).abs() <= 1e-6 * (1.0 + expected), "{:?}", found);
            prop_assert!(found.trial.low <= found.line.low && found.line.high <= found.trial.high);
        }
    }
}
