//! The straight line that a cost follows.

use crate::Interval;
use crate::student::quantile_975;
use crate::summary::mean;

/// Places on the x axis that a line must be fitted to: through two of them one always goes, and nothing could contradict it.
pub const FEWEST_PLACES: usize = 3;

/// Two x closer than this share of the range are one place.
const SAME_PLACE: f64 = 0.01;

/// y = intercept + slope x, with how well both are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// y at x = 0.
    pub intercept: f64,
    /// Its interval, 95 %.
    pub intercept_interval: Interval,
    /// Growth of y for 1 more of x.
    pub slope: f64,
    /// Its interval, 95 %.
    pub slope_interval: Interval,
    /// The smallest and the largest x: outside the line is a guess.
    pub range: Interval,
}

impl Line {
    /// y on the line.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The line of ordinary least squares through points (x, y).
///
/// The intervals are Student's with n - 2 degrees of freedom, from the residuals: they grow with noise and also where the
/// points follow a curve rather than a line. They take the points for independent and equally uncertain.
///
/// `None` with a value that is not finite, or with points at fewer than [`FEWEST_PLACES`] places: values of x that differ by
/// less than 1 % of their range are one place.
#[must_use]
pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mut xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    xs.sort_unstable_by(f64::total_cmp);
    let range = Interval { low: *xs.first()?, high: *xs.last()? };
    if places(&xs, (range.high - range.low) * SAME_PLACE) < FEWEST_PLACES {
        return None;
    }
    let ys: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
    let (x_mean, y_mean) = (mean(&xs)?, mean(&ys)?);
    let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
    let intercept = y_mean - slope * x_mean;
    let squares: f64 = points.iter().map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
    let degrees = points.len() - 2;
    let error = (squares / degrees as f64).sqrt() * quantile_975(degrees)?;
    let around = |value: f64, reach: f64| Interval { low: value - reach, high: value + reach };
    let slope_reach = error / spread.sqrt();
    let intercept_reach = error * (1.0 / points.len() as f64 + x_mean * x_mean / spread).sqrt();
    let line = Line {
        intercept,
        intercept_interval: around(intercept, intercept_reach),
        slope,
        slope_interval: around(slope, slope_reach),
        range,
    };
    (slope.is_finite() && intercept.is_finite()).then_some(line)
}

/// Values, ascending, that are further apart than this.
fn places(sorted: &[f64], apart: f64) -> usize {
    let mut count = 0;
    let mut last = f64::NEG_INFINITY;
    for x in sorted {
        if x - last > apart {
            count += 1;
            last = *x;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
    }

    #[test]
    fn points_on_a_line_give_that_line_and_no_doubt() {
        let line = fit(&[(100.0, 0.016), (1000.0, 0.07), (4000.0, 0.25)]).unwrap();
        assert!(close(line.intercept, 0.01) && close(line.slope, 6e-5), "{line:?}");
        assert!(line.slope_interval.high - line.slope_interval.low < 1e-12, "{line:?}");
        assert_eq!(line.range, Interval { low: 100.0, high: 4000.0 });
        assert!(close(line.at(2000.0), 0.13));
    }

    #[test]
    fn the_intervals_are_the_textbooks() {
        // By hand: slope 0.6, intercept 2.2, squares of residuals 2.4, s = sqrt(0.8); the spread of x is 10.
        let line = fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        assert!(close(line.slope, 0.6) && close(line.intercept, 2.2), "{line:?}");
        let reach = 3.1824 * (0.8f64 / 10.0).sqrt();
        assert!(close(line.slope_interval.high, 0.6 + reach) && close(line.slope_interval.low, 0.6 - reach));
        let reach = 3.1824 * (0.8f64 * (0.2 + 0.9)).sqrt();
        assert!(close(line.intercept_interval.high, 2.2 + reach) && close(line.intercept_interval.low, 2.2 - reach));
    }

    #[test]
    fn two_places_are_no_line() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(5.0, 1.0); 4]), None);
        let rounds = [(100.0, 1.0), (100.1, 1.1), (99.9, 1.2), (4000.0, 9.0), (4001.0, 9.1)];
        assert_eq!(fit(&rounds), None, "two rates, measured often");
        assert_eq!(fit(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
    }

    proptest! {
        #[test]
        fn the_residuals_are_nobody_s_trend(points in prop::collection::vec((0.0..1e4f64, -1e3..1e3f64), 3..30)) {
            if let Some(line) = fit(&points) {
                let residual = |(x, y): &(f64, f64)| y - line.at(*x);
                let sum: f64 = points.iter().map(residual).sum();
                let moment: f64 = points.iter().map(|p| residual(p) * p.0).sum();
                prop_assert!(sum.abs() < 1e-5 && moment.abs() < 1e-1, "{sum} {moment}");
                prop_assert!(line.slope_interval.contains(line.slope));
                prop_assert!(line.intercept_interval.contains(line.intercept));
            }
        }
    }
}
