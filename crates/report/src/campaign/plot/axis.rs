//! Axes: units, ticks, and which are logarithmic.

use hopbench_analysis::{CellSummary, WorkloadSummary};

use super::chart::{Axis, Point, Series};
use crate::campaign::point;

/// More ticks than this do not fit under a plot on a phone.
const MOST_TICKS: usize = 9;
/// A figure whose values differ by more than this is plotted on a logarithmic axis.
const WIDE: f64 = 8.0;

/// The unit of a figure by its name.
pub(super) fn unit(name: &str) -> &'static str {
    if name.ends_with("bits_per_s") {
        "bit/s"
    } else if name.ends_with("_per_s") {
        "/s"
    } else if name.ends_with("_ns") {
        "ns"
    } else if name.ends_with("_ratio") {
        "ratio"
    } else if name.ends_with("_bytes") {
        "B"
    } else {
        ""
    }
}

/// The axis of a figure, for these lines.
pub(super) fn of_figure(label: &str, name: &str, lines: &[Series]) -> Axis {
    let values = || lines.iter().flat_map(|series| &series.points).map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    Axis {
        label: label.to_owned(),
        unit: unit(name),
        log: low > 0.0 && high / low > WIDE,
        ..Axis::default()
    }
}

/// A linear axis of a figure goes this many times as far as its points, at most: what of an
/// interval lies beyond is cut.
const FURTHER: f64 = 2.0;
/// A logarithmic one.
const FURTHER_LOG: f64 = 4.0;

/// Between which values intervals are drawn, so that the points have the room and not the
/// intervals; `None` where all have it.
pub(super) fn cut(log: bool, series: &[Series]) -> Option<[f64; 2]> {
    let points = || series.iter().flat_map(|series| &series.points);
    let (low, high) = points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
        (low.min(at.1), high.max(at.1))
    });
    let between = match log {
        true => [low / FURTHER_LOG, high * FURTHER_LOG],
        false => {
            let reach = FURTHER * low.abs().max(high.abs());
            [-reach, reach]
        }
    };
    let beyond = |at: &Point| {
        at.2.is_some_and(|low| low < between[0]) || at.3.is_some_and(|high| high > between[1])
    };
    points().any(beyond).then_some(between)
}

/// The positions of a parameter's values on the axis.
pub(super) struct Positions {
    /// Positions with the values as they were written, ascending.
    at: Vec<(f64, String)>,
    log: bool,
    /// Whether the values are words, which stand side by side.
    words: bool,
}

impl Positions {
    /// `None` when the parameter has one value only.
    pub(super) fn of(workload: &WorkloadSummary, parameter: &str) -> Option<Self> {
        let mut values: Vec<_> = Vec::new();
        for value in workload.cells.iter().filter_map(|cell| cell.point.get(parameter)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.len() < 2 {
            return None;
        }
        let numbers: Option<Vec<f64>> = values.iter().map(|value| point::number(value)).collect();
        let texts = values.iter().map(|value| point::text(value));
        let Some(numbers) = numbers else {
            let at = texts.enumerate().map(|(index, text)| (index as f64, text)).collect();
            return Some(Self { at, log: false, words: true });
        };
        let mut at: Vec<_> = numbers.into_iter().zip(texts).collect();
        at.sort_by(|a, b| a.0.total_cmp(&b.0));
        let log = geometric(&at.iter().map(|(value, _)| *value).collect::<Vec<_>>());
        Some(Self { at, log, words: false })
    }

    /// The position of a cell.
    pub(super) fn of_cell(&self, cell: &CellSummary, parameter: &str) -> Option<f64> {
        let value = cell.point.get(parameter)?;
        if !self.words {
            return point::number(value);
        }
        let text = point::text(value);
        self.at.iter().find(|(_, known)| *known == text).map(|(at, _)| *at)
    }

    /// The axis of the parameter.
    pub(super) fn axis(&self, parameter: &str) -> Axis {
        let step = self.at.len().div_ceil(MOST_TICKS);
        let ticks = self.at.iter().step_by(step).cloned().collect();
        Axis { label: parameter.to_owned(), unit: "", log: self.log, ticks, cut: None }
    }
}

/// Whether ascending values are spread by factors rather than by steps.
fn geometric(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return false;
    };
    if *first <= 0.0 || last / first < 8.0 {
        return false;
    }
    let middle = values[values.len() / 2];
    values.len() == 2
        || (middle.ln() - (first * last).sqrt().ln()).abs()
            < (middle.ln() - f64::midpoint(*first, *last).ln()).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_is_that_of_the_points() {
        let series = |points: &[(f64, f64, f64)]| {
            let points =
                points.iter().map(|(y, low, high)| (1.0, *y, Some(*low), Some(*high))).collect();
            [Series { points, ..Series::default() }]
        };
        assert_eq!(cut(false, &series(&[(10.0, 9.0, 19.0), (5.0, 0.0, 6.0)])), None);
        assert_eq!(cut(false, &series(&[(10.0, 9.0, 1e9), (5.0, 0.0, 6.0)])), Some([-20.0, 20.0]));
        assert_eq!(cut(true, &series(&[(10.0, 9.0, 11.0), (1e3, 900.0, 1100.0)])), None);
        assert_eq!(
            cut(true, &series(&[(10.0, 1e-9, 11.0), (1e3, 900.0, 1100.0)])),
            Some([2.5, 4000.0])
        );
        assert_eq!(cut(false, &[]), None);
    }

    #[test]
    fn factors_are_told_from_steps() {
        assert!(geometric(&[1.0, 64.0, 4096.0, 262_144.0]));
        assert!(geometric(&[8.0, 16.0, 32.0, 64.0, 128.0, 256.0]));
        assert!(geometric(&[100.0, 500.0, 1000.0, 2000.0, 4000.0]));
        assert!(!geometric(&[100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0, 900.0]));
        assert!(!geometric(&[0.0, 1.0, 10.0, 100.0]), "there is no place for 0");
        assert!(!geometric(&[1.0, 2.0, 4.0]), "too narrow to need it");
    }
}
