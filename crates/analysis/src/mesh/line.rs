//! The line through a curve's points: one of each round, and what the rounds say together.

use std::collections::BTreeMap;

use hopbench_stats::{Line, fit};

use crate::cells::Round;
use crate::summary::{CurvePoint, LineSummary, Spread};

/// The trials of a curve by round. What of a round was measured in another session is another
/// round: what changed in between would look like a slope.
#[derive(Default)]
pub(crate) struct Rounds(BTreeMap<(u32, u32), Vec<(f64, f64)>>);

impl Rounds {
    pub(crate) fn add(&mut self, round: &Round, trial: (f64, f64)) {
        self.0.entry((round.round, round.session)).or_default().push(trial);
    }

    /// `None` where no round has enough different loads, or the points over all rounds have not.
    pub(crate) fn line(&self, points: &[CurvePoint]) -> Option<LineSummary> {
        fit(&points.iter().map(|point| (point.x, point.spread.median)).collect::<Vec<_>>())?;
        let lines: Vec<Line> = self.0.values().filter_map(|trials| fit(trials)).collect();
        let slope = Spread::around_zero(lines.iter().map(|line| line.slope))?;
        let intercept = Spread::around_zero(lines.iter().map(|line| line.intercept))?;
        let line = Line { intercept: intercept.median, slope: slope.median };
        let off = |point: &CurvePoint| {
            (point.spread.median - line.at(point.x)).abs() / point.spread.median.abs()
        };
        Some(LineSummary {
            intercept: intercept.median,
            intercept_low: intercept.low,
            intercept_high: intercept.high,
            slope: slope.median,
            slope_low: slope.low,
            slope_high: slope.high,
            rounds: lines.len(),
            from: points.first()?.x,
            to: points.last()?.x,
            off_ratio: points.iter().map(off).filter(|off| off.is_finite()).fold(0.0, f64::max),
        })
    }
}
