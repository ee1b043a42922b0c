//! A chart as data for the page's script.

use serde::Serialize;

/// One chart.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// The canvas's id.
    pub(crate) id: String,
    /// `line`, `bar` or `waterfall`.
    pub(crate) kind: &'static str,
    /// What it shows.
    pub(crate) title: String,
    /// The axis that the reader chose: a parameter, nines.
    pub(crate) x: Axis,
    /// The axis of the figure.
    pub(crate) y: Axis,
    /// Names of the bars.
    pub(crate) categories: Vec<String>,
    /// Whether bars of one category stand on each other.
    pub(crate) stacked: bool,
    /// The lines, or the parts of the bars.
    pub(crate) series: Vec<Series>,
    /// What is left out; empty when nothing is.
    #[serde(skip)]
    pub(crate) left_out: String,
}

/// An axis.
#[derive(Debug, Serialize, Default)]
pub(crate) struct Axis {
    /// What stands beside it.
    pub(crate) label: String,
    /// The unit of its values: `ns`, `bit/s`, `/s`, `ratio` or nothing.
    pub(crate) unit: &'static str,
    /// Whether it is logarithmic.
    pub(crate) log: bool,
    /// Where its ticks are, if that is not the script's choice.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Between which values intervals are drawn, where some go further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut: Option<[f64; 2]>,
}

/// x (or the bar's index), y, and the ends of its interval.
pub(crate) type Point = (f64, f64, Option<f64>, Option<f64>);

/// One line, or one part of every bar.
#[derive(Debug, Serialize, Default)]
pub(crate) struct Series {
    /// What the legend says.
    pub(crate) name: String,
    /// Its colour's number: that of the path in all charts.
    pub(crate) colour: usize,
    /// Its points.
    pub(crate) points: Vec<Point>,
    /// Where the parts of bars begin, if that is not at 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) starts: Vec<f64>,
    /// `points`: they are not joined. `mark`: a ring around one of them. `fit`: the line through
    /// such points. `limit`: a line that they are held against. Empty: points on a line.
    pub(crate) style: &'static str,
}
