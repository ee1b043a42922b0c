//! One row a cell and figure, for spreadsheets, pandas and R: filter `figure`, pivot `path`.
//!
//! Columns, in this order: `path`, `from`, `to`, `via`, `workload`, `kind`, one for every swept parameter of the run
//! (`size`, `connections` ...; empty where the workload does not have it), `figure` (its name says the unit), `median`,
//! `low`, `high` (its 95 % interval; empty with one round, and of a minimum or maximum), `rounds`, `ratio`, `ratio_low`,
//! `ratio_high` (to the baseline path at the same point), `verdict`, `limited_by`, `warnings`, `note` (why there is no
//! ratio, no verdict, or a ratio of fewer rounds than were measured; that no proxy saw the traffic; what failed, how
//! often; how sure the cell is where the stop rule wanted more), `mesh` and `variant` (of the path), `p` (of the comparison),
//! `q` (the same corrected for all comparisons of the run), `test` (`permutation` or `student`), `noise_floor` (by how much
//! the baseline and its twin differ, as a share; the rows of the twin have no verdict), `outliers` (rounds far from the
//! others, which are in the median). Quoted as RFC 4180 says; numbers are in the unit of the figure's name, not
//! scaled, with a point. Each path of a search has a row, too: `figure` is `found_rate_per_s`, `found_connections` or
//! `found_threads`, `low` and `high` are the loads between which it lies, `rounds` are the trials of the search;
//! `--format searches` has the trials themselves.

use std::collections::BTreeSet;

use hopbench_model::SearchOutcome;

use crate::campaign::{
    CellSummary, Estimate, PathSummary, SearchSummary, SearchedPath, Spread, Summary, SummaryFormat, WorkloadSummary,
    grid, point, words,
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
        let measured = summary.workloads.iter().flat_map(|workload| workload.parameters.iter().map(String::as_str));
        let searched = summary.searches.iter().flat_map(|search| search.point.keys().map(String::as_str));
        let parameters: BTreeSet<&str> = measured.chain(searched).collect();
        let mut out = String::new();
        let head = ["path", "from", "to", "via", "workload", "kind"].into_iter().chain(parameters.iter().copied());
        let rest = ["figure", "median", "low", "high", "rounds", "ratio", "ratio_low", "ratio_high"];
        let last = ["verdict", "limited_by", "warnings", "note", "mesh", "variant"];
        let last = last.into_iter().chain(["p", "q", "test", "noise_floor", "outliers"]);
        row(&mut out, head.chain(rest).chain(last).map(str::to_owned));
        for workload in &summary.workloads {
            for cell in &workload.cells {
                let path = &summary.paths[cell.path_index];
                for figure in &cell.figures {
                    row(&mut out, values(path, workload, cell, figure, &parameters).into_iter());
                }
            }
        }
        for search in &summary.searches {
            for found in &search.paths {
                let path = &summary.paths[found.path_index];
                row(&mut out, of_search(path, search, found, &parameters).into_iter());
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
    let remark = grid::full_remark(cell);
    let floor = grid::floor(cell, Some(figure)).filter(|_| ratio.is_some_and(|ratio| ratio.noise_floor.is_some()));
    let notes = [floor.unwrap_or_default(), figure.note.clone(), remark.clone()];
    // What the remark says of the whole cell is not said twice.
    let notes = notes.into_iter().enumerate().filter(|(at, note)| *at == 2 || !remark.contains(note.as_str()));
    out.push(notes.map(|(_, note)| note).filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "));
    out.push(path.mesh.to_string());
    out.push(path.variant.clone().unwrap_or_default());
    out.extend([ratio.and_then(|r| r.p), ratio.and_then(|r| r.q)].map(number));
    out.push(ratio.and_then(|r| r.test).unwrap_or_default().to_owned());
    out.push(number(ratio.and_then(|r| r.noise_floor)));
    out.push(figure.outliers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    out
}

/// What a search came to on a path.
fn of_search(
    path: &PathSummary,
    search: &SearchSummary,
    found: &SearchedPath,
    parameters: &BTreeSet<&str>,
) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut out: Vec<String> =
        [&path.name, &path.from, &path.to, &path.via, &search.workload, &search.kind].map(Clone::clone).into();
    out.extend(parameters.iter().map(|name| search.point.get(*name).map(point::text).unwrap_or_default()));
    out.push(format!("found_{}{}", search.parameter, if search.parameter == "rate" { "_per_s" } else { "" }));
    out.extend(match found.outcome {
        Some(SearchOutcome::Found { load, low, high }) => [Some(load), Some(low), high].map(number),
        Some(SearchOutcome::GaveUp { low, high }) => [None, low, high].map(number),
        _ => Default::default(),
    });
    out.push(found.trials.to_string());
    let compared = found.comparison.as_ref();
    out.extend(compared.map_or_else(Default::default, |ratio| [ratio.ratio, ratio.low, ratio.high].map(number)));
    out.push(compared.map(|ratio| ratio.text.clone()).unwrap_or_default());
    // What limited its trials and their warnings are the trials' own.
    out.extend([String::new(), String::new()]);
    out.push(if found.found().is_none() { found.text.clone() } else { String::new() });
    out.push(path.mesh.to_string());
    out.push(path.variant.clone().unwrap_or_default());
    // No p-values, no noise floor, no rounds.
    out.extend(vec![String::new(); 5]);
    out
}

/// Writes a row, quoted where it must be.
pub(super) fn row(out: &mut String, values: impl Iterator<Item = String>) {
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
