//! The answer so far, while a run goes on: the tables of the answer, drawn again and again.

use hopbench_analysis::Summary;
use hopbench_model::printable;

use super::super::tables;
use super::layout::{Layout, LeftOut};
use super::packed;

/// Lines of the legend; in a small room it has none.
const LEGEND_LINES: usize = 2;
/// Fewer columns are too few for any table: what is laid out for these is cut.
const LEAST_WIDTH: usize = 40;

/// The room for the answer so far. Unlike that of the answer it is never exceeded.
#[derive(Debug, Clone, Copy)]
pub struct LiveScreen {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Whether gains and losses may be bold, and the rest dim.
    pub is_styled: bool,
    /// Whether rounds are to come that can decide: what has no verdict yet is open then.
    pub is_open: bool,
}

impl LiveScreen {
    /// The tables and their legend, in lines without line feeds; none before anything was measured.
    pub fn lines(&self, summary: &Summary) -> Vec<String> {
        let width = self.width.max(LEAST_WIDTH);
        let mut tables: Vec<_> = tables::effects(summary, self.is_open).into_iter().collect();
        tables.extend(tables::searches(summary));
        let layouts: Vec<Layout<'_>> =
            tables.iter().map(|table| Layout::of(table, width)).collect();
        let has_intervals = layouts.iter().any(Layout::has_intervals);
        let mut legend = packed(&tables::legend(&tables, has_intervals), width);
        legend.truncate(LEGEND_LINES);
        let mut out: Vec<String> = Vec::new();
        for table in &layouts {
            let between = usize::from(!out.is_empty());
            let room = self.height.saturating_sub(out.len() + between + legend.len());
            if room < table.least() && !out.is_empty() {
                break;
            }
            out.extend(vec![String::new(); between]);
            out.extend(table.lines(room, self.is_styled, LeftOut::Last));
        }
        if out.len() + legend.len() <= self.height {
            out.extend(legend);
        }
        out.truncate(self.height);
        out.into_iter().map(|line| printable::fitted(line.trim_end(), self.width).0).collect()
    }
}
