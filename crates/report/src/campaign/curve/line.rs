//! The line through a curve's points: one of each round, and what the rounds say together.

use std::collections::BTreeMap;

use hopbench_stats::{Line, fit};
use serde::Serialize;

use super::CurvePoint;
use crate::campaign::cell::Round;
use crate::campaign::spread::Spread;

/// The smallest load must be at most this share of the largest: from further away, a line says nothing of what is spent at
/// rest.
const NEAR_REST: f64 = 0.25;

/// The line through a curve's points: medians of the lines of the rounds, with the intervals of medians.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LineSummary {
    /// What it has at load 0. It is what is spent at rest only where it is above 0 and the smallest load is near.
    pub intercept: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept_low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept_high: Option<f64>,
    /// What each unit of load adds.
    pub slope: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_high: Option<f64>,
    /// Rounds that have a line.
    pub rounds: usize,
    /// The smallest load.
    pub from: f64,
    /// The largest load.
    pub to: f64,
    /// By how much the line misses the point that it misses most, as a share of that.
    pub off_ratio: f64,
}

/// The trials of a curve by round. What of a round was measured in another session is another round: what changed in
/// between would look like a slope.
#[derive(Default)]
pub(super) struct Rounds(BTreeMap<(u32, u32), Vec<(f64, f64)>>);

impl Rounds {
    pub(super) fn add(&mut self, round: &Round, trial: (f64, f64)) {
        self.0.entry((round.round, round.session)).or_default().push(trial);
    }

    /// `None` where no round has enough different loads, or the points over all rounds have not.
    pub(super) fn line(&self, points: &[CurvePoint]) -> Option<LineSummary> {
        fit(&points.iter().map(|point| (point.x, point.spread.median)).collect::<Vec<_>>())?;
        let lines: Vec<Line> = self.0.values().filter_map(|trials| fit(trials)).collect();
        let slope = Spread::around_zero(lines.iter().map(|line| line.slope))?;
        let intercept = Spread::around_zero(lines.iter().map(|line| line.intercept))?;
        let line = Line { intercept: intercept.median, slope: slope.median };
        let off = |point: &CurvePoint| (point.spread.median - line.at(point.x)).abs() / point.spread.median.abs();
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

impl LineSummary {
    /// Whether it was measured near enough to load 0 to say something of it.
    pub(crate) fn is_near_rest(&self) -> bool {
        self.from <= NEAR_REST * self.to
    }
}
