//! A goal that a figure must reach.

use std::fmt;

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

impl Reach {
    /// Whether a value reaches it; none where nothing is asked.
    pub(crate) fn met_by(self, value: f64) -> Option<bool> {
        match self {
            Self::AtLeast(least) => Some(value >= least),
            Self::AtMost(most) => Some(value <= most),
            Self::Near(target, slack) => Some((value - target).abs() <= slack),
            Self::Shown => None,
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_at_its_edge() {
        assert_eq!(Reach::AtLeast(1.0).met_by(1.0), Some(true));
        assert_eq!(Reach::AtLeast(1.0).met_by(0.999), Some(false));
        assert_eq!(Reach::AtMost(0.75).met_by(0.75), Some(true));
        assert_eq!(Reach::AtMost(0.75).met_by(0.751), Some(false));
        assert_eq!(Reach::Near(1.0, 0.001).met_by(0.9995), Some(true));
        assert_eq!(Reach::Near(1.0, 0.001).met_by(1.1), Some(false));
        assert_eq!(Reach::Shown.met_by(1.0), None);
    }
}
