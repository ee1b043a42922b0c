//! One row a cell and figure, for spreadsheets, pandas and R: filter `figure`, pivot `path`.
//!
//! Columns, in this order: `path`, `from`, `to`, `via`, `workload`, `kind`, one for every swept parameter of the run
//! (`size`, `connections` ...; empty where the workload does not have it), `figure` (its name says the unit), `median`,
//! `low`, `high` (its 95 % interval; empty with one round, and of a minimum or maximum), `rounds`, `ratio`, `ratio_low`,
//! `ratio_high` (to the baseline path at the same point), `verdict`, `limited_by`, `warnings`, `note` (why there is no
//! ratio, no verdict, or a ratio of fewer rounds than were measured; that no proxy saw the traffic; what failed, how
//! often), `mesh` and `variant` (of the path). Quoted as RFC 4180 says; numbers are in the unit of the figure's name, not
//! scaled, with a point.

use std::collections::BTreeSet;

use crate::campaign::{
    CellSummary, Estimate, PathSummary, Spread, Summary, SummaryFormat, WorkloadSummary, grid, point, words,
};

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Csv;

impl SummaryFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn summary(&self) -> &'static str {
        "one row a cell and figure, for spreadsheets"
    }

    fn render(&self, summary: &Summary) -> String {
        let parameters: BTreeSet<&str> =
            summary.workloads.iter().flat_map(|workload| workload.parameters.iter().map(String::as_str)).collect();
        let mut out = String::new();
        let head = ["path", "from", "to", "via", "workload", "kind"].into_iter().chain(parameters.iter().copied());
        let rest = ["figure", "median", "low", "high", "rounds", "ratio", "ratio_low", "ratio_high"];
        let last = ["verdict", "limited_by", "warnings", "note", "mesh", "variant"];
        row(&mut out, head.chain(rest).chain(last).map(str::to_owned));
        for workload in &summary.workloads {
            for cell in &workload.cells {
                let path = &summary.paths[cell.path_index];
                for figure in &cell.figures {
                    row(&mut out, values(path, workload, cell, figure, &parameters).into_iter());
                }
            }
        }
        out
    }
}

fn values(
    path: &PathSummary,
    workload: &WorkloadSummary,
    cell: &CellSummary,
    figure: &Estimate,
    parameters: &BTreeSet<&str>,
) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let ratio = figure.ratio.as_ref();
    let mut out: Vec<String> =
        [&path.name, &path.from, &path.to, &path.via, &workload.name, &workload.kind].map(Clone::clone).into();
    out.extend(parameters.iter().map(|name| cell.point.get(*name).map(point::text).unwrap_or_default()));
    out.push(figure.name.to_owned());
    let ends = |spread: &Spread| [number(Some(spread.median)), number(spread.low), number(spread.high)];
    out.extend(ends(&figure.spread));
    out.push(figure.spread.rounds.to_string());
    out.extend(ratio.map_or_else(Default::default, |ratio| ends(&ratio.spread)));
    out.push(ratio.and_then(|r| r.verdict.as_ref()).map(|verdict| verdict.text.clone()).unwrap_or_default());
    out.push(words::limits(cell));
    out.push(cell.warnings.to_string());
    let remark = grid::remark(cell);
    let notes = [figure.note.clone(), remark.clone()];
    // What the remark says of the whole cell is not said twice.
    let notes = notes.into_iter().enumerate().filter(|(at, note)| *at == 1 || !remark.contains(note.as_str()));
    out.push(notes.map(|(_, note)| note).filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "));
    out.push(path.mesh.to_string());
    out.push(path.variant.clone().unwrap_or_default());
    out
}

fn row(out: &mut String, values: impl Iterator<Item = String>) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if value.contains([',', '"', '\n', '\r']) {
            out.push_str(&format!("\"{}\"", value.replace('"', "\"\"")));
        } else {
            out.push_str(&value);
        }
    }
    out.push('\n');
}
