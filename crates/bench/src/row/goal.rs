//! A goal that a figure must reach.

use std::fmt;

use hopbench_stats::Interval;
use serde::Serialize;

/// A figure of a row, and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    /// The figure's name in [`crate::bench::Figures`].
    pub(crate) figure: &'static str,
    /// The figure in words, for the table.
    pub(crate) label: &'static str,
    /// Its unit as shown.
    pub(crate) unit: &'static str,
    /// The factor from a value to that unit.
    pub(crate) scale: f64,
    /// The value that is judged.
    pub(crate) judged: Judged,
    /// The value that it must reach.
    pub(crate) reach: Reach,
}

/// The value that a goal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judged {
    /// Ours divided by the peer's, pair by pair.
    Ratio,
    /// Our value, in the unit shown.
    Value,
    /// Our value, an exact count: its median is judged as it is, without an interval.
    Count,
}

/// The condition of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reach {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// The first value, give or take the second.
    Near(f64, f64),
    /// Nothing: shown for information.
    Shown,
}

/// What the runs say of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GoalState {
    /// All of the interval reaches it.
    Met,
    /// None of the interval reaches it.
    NotMet,
    /// A part of the interval does, or there is no interval.
    NotDecided,
}

impl Reach {
    /// The verdict on a value that lies in this interval, if there is one; none where nothing is
    /// asked.
    pub(crate) fn judge(self, interval: Option<Interval>) -> Option<GoalState> {
        let (least, most) = match self {
            Self::AtLeast(least) => (least, f64::INFINITY),
            Self::AtMost(most) => (f64::NEG_INFINITY, most),
            Self::Near(target, slack) => (target - slack, target + slack),
            Self::Shown => return None,
        };
        Some(match interval {
            Some(Interval { low, high }) if least <= low && high <= most => GoalState::Met,
            Some(Interval { low, high }) if high < least || most < low => GoalState::NotMet,
            _ => GoalState::NotDecided,
        })
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::Near(target, slack) => write!(f, "{target} +- {slack}"),
            Self::Shown => f.write_str("-"),
        }
    }
}

impl Goal {
    /// A goal for the ratio of ours to the peer's.
    pub(crate) const fn ratio(
        figure: &'static str,
        label: &'static str,
        unit: &'static str,
        scale: f64,
        reach: Reach,
    ) -> Self {
        Self { figure, label, unit, scale, judged: Judged::Ratio, reach }
    }

    /// A goal for our value alone, given in the unit shown.
    pub(crate) const fn value(
        figure: &'static str,
        label: &'static str,
        unit: &'static str,
        scale: f64,
        reach: Reach,
    ) -> Self {
        Self { figure, label, unit, scale, judged: Judged::Value, reach }
    }

    /// A goal for a count of ours that is exact.
    pub(crate) const fn count(
        figure: &'static str,
        label: &'static str,
        unit: &'static str,
        reach: Reach,
    ) -> Self {
        Self { figure, label, unit, scale: 1.0, judged: Judged::Count, reach }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(reach: Reach, low: f64, high: f64) -> Option<GoalState> {
        reach.judge(Some(Interval { low, high }))
    }

    #[test]
    fn a_goal_is_met_at_its_edge() {
        let (met, not_met) = (Some(GoalState::Met), Some(GoalState::NotMet));
        assert_eq!(verdict(Reach::AtLeast(1.0), 1.0, 1.2), met);
        assert_eq!(verdict(Reach::AtLeast(1.0), 0.9, 0.999), not_met);
        assert_eq!(verdict(Reach::AtMost(0.75), 0.7, 0.75), met);
        assert_eq!(verdict(Reach::AtMost(0.75), 0.751, 0.8), not_met);
        assert_eq!(verdict(Reach::Near(1.0, 0.001), 0.9995, 1.0005), met);
        assert_eq!(verdict(Reach::Near(1.0, 0.001), 1.1, 1.2), not_met);
        assert_eq!(verdict(Reach::Near(1.0, 0.001), 0.8, 0.9), not_met);
        assert_eq!(verdict(Reach::Shown, 1.0, 1.0), None);
    }

    #[test]
    fn an_interval_on_both_sides_of_a_goal_decides_nothing() {
        for reach in [Reach::AtLeast(1.0), Reach::AtMost(1.0), Reach::Near(1.0, 0.01)] {
            assert_eq!(verdict(reach, 0.9, 1.1), Some(GoalState::NotDecided), "{reach}");
            assert_eq!(reach.judge(None), Some(GoalState::NotDecided), "{reach}");
        }
        assert_eq!(Reach::Shown.judge(None), None);
    }
}
