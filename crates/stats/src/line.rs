//! The straight line that a cost follows.

use crate::summary::mean;

/// Places on the x axis that a line must be fitted to: through two of them one always goes, and
/// nothing could contradict it.
pub const FEWEST_PLACES: usize = 3;

/// Two x that differ by less than this share of the larger are one place, measured twice.
const SAME_PLACE: f64 = 0.05;

/// y = intercept + slope x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// y at x = 0.
    pub intercept: f64,
    /// Growth of y for 1 more of x.
    pub slope: f64,
}

impl Line {
    /// y on the line.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The line of ordinary least squares through points (x, y). How well it is known is for several of
/// them to say: one of each round, as of any other figure.
///
/// `None` with a value that is not finite, or with points at fewer than [`FEWEST_PLACES`] places.
/// Values of x that differ by less than 5 % are one place, like rates that a path did not reach.
#[must_use]
pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let (mut xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    if places(&mut xs) < FEWEST_PLACES {
        return None;
    }
    let (x_mean, y_mean) = (mean(&xs)?, mean(&ys)?);
    let spread: f64 = xs.iter().map(|x| (x - x_mean).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
    let intercept = y_mean - slope * x_mean;
    (slope.is_finite() && intercept.is_finite()).then_some(Line { intercept, slope })
}

/// How many places on the x axis these values are, which are sorted for that: values that differ by
/// less than 5 % are one.
fn places(xs: &mut [f64]) -> usize {
    xs.sort_unstable_by(f64::total_cmp);
    let mut last: Option<f64> = None;
    let mut count = 0;
    for x in xs.iter().copied() {
        if last.is_none_or(|last| x - last > SAME_PLACE * x.abs().max(last.abs())) {
            count += 1;
            last = Some(x);
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
    fn points_on_a_line_give_that_line() {
        let line = fit(&[(100.0, 0.016), (1000.0, 0.07), (4000.0, 0.25)]).unwrap();
        assert!(close(line.intercept, 0.01) && close(line.slope, 6e-5), "{line:?}");
        assert!(close(line.at(2000.0), 0.13));
    }

    #[test]
    fn scattered_points_give_the_line_of_least_squares() {
        // By hand: the sum of products is 6, the spread of x is 10, the means are 3 and 4.
        let line = fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)]).unwrap();
        assert!(close(line.slope, 0.6) && close(line.intercept, 2.2), "{line:?}");
    }

    #[test]
    fn two_places_are_no_line() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(5.0, 1.0); 4]), None);
        assert_eq!(fit(&[(0.0, 1.0); 4]), None);
        let rounds = [(100.0, 1.0), (100.1, 1.1), (99.9, 1.2), (4000.0, 9.0), (4001.0, 9.1)];
        assert_eq!(fit(&rounds), None, "two rates, measured often");
        let reached = [(3500.0, 1.0), (3510.0, 1.1), (3490.0, 1.2), (3530.0, 0.9)];
        assert_eq!(fit(&reached), None, "four rates were asked for, and one was reached");
        assert_eq!(fit(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
    }

    proptest! {
        #[test]
        fn the_residuals_are_nobody_s_trend(
            points in prop::collection::vec((0.0..1e4f64, -1e3..1e3f64), 3..30),
        ) {
            if let Some(line) = fit(&points) {
                let residual = |(x, y): &(f64, f64)| y - line.at(*x);
                let sum: f64 = points.iter().map(residual).sum();
                let moment: f64 = points.iter().map(|p| residual(p) * p.0).sum();
                prop_assert!(sum.abs() < 1e-5 && moment.abs() < 1e-1, "{sum} {moment}");
            }
        }
    }
}
