//! A table of the answer: a row a path, a column a figure.

use hopbench_analysis::Better;

use super::cell::{Cell, DOUBTFUL, Value};
use crate::text::wrap::cut;

/// Columns that the legend names; more are counted.
const MOST_NAMED: usize = 4;
/// A name longer than this is cut in the legend.
const LONGEST_NAME: usize = 16;

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    /// Its heads from top to bottom: the workload, the figure, the point.
    pub(crate) heads: [String; 3],
    /// The direction that is good in it; `Neither` also where the cells say it.
    pub(crate) better: Better,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Row {
    /// The path's name, or a step's.
    pub(crate) name: String,
    /// A cell a column.
    pub(crate) cells: Vec<Cell>,
    /// How bad it is: of more rows than fit, those with the highest rank are shown.
    pub(crate) rank: f64,
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it shows; empty where the heads say it.
    pub(crate) title: String,
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// The rows, in the order of the scenario.
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// At most so many rows, the worst, in their order; and how many are left out.
    pub(crate) fn worst(&self, most: usize) -> (Vec<&Row>, usize) {
        let left_out = self.rows.len().saturating_sub(most);
        if left_out == 0 {
            return (self.rows.iter().collect(), 0);
        }
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|a, b| self.rows[*b].rank.total_cmp(&self.rows[*a].rank));
        order.truncate(most);
        order.sort_unstable();
        (order.into_iter().map(|index| &self.rows[index]).collect(), left_out)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|row| &row.cells)
    }

    /// The columns in which this direction is good, by what they are called.
    fn named(&self, is_good: fn(Better) -> bool) -> Vec<&str> {
        // Of a single workload, its figures are told apart.
        let is_single = self.columns.len() > 1
            && self.columns.windows(2).all(|two| two[0].heads[0] == two[1].heads[0]);
        let mut names: Vec<&str> = Vec::new();
        for column in &self.columns {
            let name = column.heads[usize::from(is_single)].as_str();
            if is_good(column.better) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// What is better, and what the signs of these tables mean, as far as they occur.
/// `has_intervals`: differences are shown with theirs.
pub(in super::super) fn legend(tables: &[Table], has_intervals: bool) -> Vec<String> {
    let named = |is_good: fn(Better) -> bool| {
        tables.iter().flat_map(|table| table.named(is_good)).collect::<Vec<_>>()
    };
    let (higher, lower) = (named(|better| better == Better::Higher), named(Better::is_less));
    let mut parts: Vec<String> = Vec::new();
    let direction = |word: &str, names: &[&str]| {
        let shown: Vec<String> =
            names.iter().take(MOST_NAMED).map(|name| cut(name, LONGEST_NAME)).collect();
        let more = names.len() - shown.len();
        match (shown.is_empty(), more) {
            (true, _) => None,
            (_, 0) => Some(format!("better: {word} {}", shown.join(", "))),
            _ => Some(format!("better: {word} {} and {more} more", shown.join(", "))),
        }
    };
    parts.extend(direction("higher", &higher));
    parts.extend(direction("lower", &lower));
    let any = |is: &dyn Fn(&Value) -> bool| {
        tables.iter().flat_map(Table::cells).any(|cell| is(&cell.value))
    };
    if has_intervals && any(&|value| value.text() != value.brief()) {
        parts.push("± how far the interval reaches".to_owned());
    }
    if any(&|value| matches!(value, Value::Same(_))) {
        parts.push("same: no difference that matters".to_owned());
    }
    let signs = [
        (Value::NotDecided, "? not decided"),
        (Value::Late, "late: the load generator was the limit"),
        (Value::NoRatio, "no ratio: see the notes and details"),
        (Value::Absent, ". not measured"),
        (Value::Failed, "error: no trial left a figure"),
        (Value::Unproved, "unproved: the traffic did not take the path"),
    ];
    let occurs = |sign: &Value| any(&|value| value == sign);
    parts.extend(signs.iter().filter(|(sign, _)| occurs(sign)).map(|(_, text)| (*text).to_owned()));
    if any(&|value| matches!(value, Value::Saturated(_))) {
        parts.push("saturated: it did not carry the asked rate".to_owned());
    }
    if tables.iter().flat_map(Table::cells).any(|cell| cell.is_doubtful) {
        parts.push(format!("{DOUBTFUL} doubtful, see the notes"));
    }
    parts
}
