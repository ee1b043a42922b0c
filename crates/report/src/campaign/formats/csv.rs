//! The cells and figures of a run as CSV, for spreadsheets, pandas and R: filter `figure`, pivot
//! `path`.
//!
//! A row is one figure of one cell. Texts are quoted as RFC 4180 says, and texts that look like
//! formulas have a `'` before them. Numbers are in the unit of the figure's name, with a point. The
//! columns, in this order:
//!
//! - `path`, `from`, `to`, `via`, `workload`, `kind`;
//! - one for every swept parameter of the run (`size`, `connections` ...), empty where the workload
//!   does not have it;
//! - `figure`: its name says the unit. `client_cores`, `server_sidecar_cores` ... are those of the
//!   components of the path, `node_idle_ratio:b` is of the node b;
//! - `median`, `low`, `high`: with the 95 % interval, which is empty with one round, and for a
//!   minimum or maximum;
//! - `rounds`;
//! - `ratio`, `ratio_low`, `ratio_high`: to the baseline path at the same point, with the interval
//!   that the verdict is founded on;
//! - `verdict`, `limited_by`, `warnings`;
//! - `note`: the reason for a missing ratio or verdict, or for a ratio of fewer rounds than were
//!   measured, and how often a rate was 0. It also says that no proxy saw the traffic, and what
//!   failed and how often. If the stop rule wanted more, it says how precise the cell is;
//! - `mesh`, `variant` and, last, `family`: of the path;
//! - `p`, `q`: of the comparison, and the same corrected for all comparisons of the run;
//! - `test`: `ranks` or `student`;
//! - `noise_floor`: the difference of the baseline and its twin, as a share. The rows of the twin
//!   have no verdict;
//! - `outliers`: rounds far from the others, which are in the median.
//!
//! Each path of a search has rows, too. `figure` of the first row is `found_rate_per_s`,
//! `found_connections` or `found_threads`. Its `median` is the load that was found, empty if none
//! was. `low` and `high` are the loads between which it lies, `rounds` the trials of the search.
//! Its `note` says why none was found, and what was not decided. It says why the load above was too
//! high if not by that figure, and why there is nothing at equal load.
//!
//! The other rows are the figures at that load, the one that was searched by first:
//! `at_found_rate_response_p99_ns` is `response_p99_ns` there. Their `rounds` are the trials at
//! that load.
//!
//! These columns have a value in the rows of searches only:
//!
//! - `goal`: `knee`, `slo`, `cpu`, `lossless`;
//! - `parameter`: the one that was varied;
//! - `load`: the load of the figures. It is the one that was found, or the highest if even that is
//!   not too high;
//! - `limit`: the bound of the figure that was searched by, in its unit: ns, or a share. Empty for
//!   a knee;
//! - `goal_met`: `true` if a load was found that keeps the limit. For a knee: if throughput stopped
//!   growing;
//! - `ended`: `found`, `above_highest`, `below_lowest`, `gave_up`; empty while the search goes on.
//!
//! The last column is `saturated_per_s`, of a cell that did not carry the rate that was asked for:
//! the rate that it carried. Its latencies have no ratio, and their verdict says why.
//!
//! `--format searches` has the trials themselves.

use std::collections::BTreeSet;

use hopbench_analysis::{
    CellSummary, Estimate, LoadComparison, PathSummary, SearchSummary, SearchedPath, Spread,
    Summary, WorkloadSummary, undecided_text,
};

use crate::campaign::format::SummaryFormat;
use crate::campaign::search_table::MARK as GENERATOR_THERE;
use crate::campaign::{page_text, point, table_model};
use crate::format::Format;
use crate::text::csv::Csv;

/// The columns that only searches have.
const OF_SEARCHES: [&str; 6] = ["goal", "parameter", "load", "limit", "goal_met", "ended"];

/// The column of the rate at which a cell is saturated.
const SATURATED: &str = "saturated_per_s";

/// The column of the family of IP.
const FAMILY: &str = "family";

fn family(path: &PathSummary) -> String {
    path.family.map(|family| family.word().to_owned()).unwrap_or_default()
}

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat =
    Format { name: "csv", summary: "one row a cell and figure, for spreadsheets", render };

fn render(summary: &Summary) -> String {
    let measured = summary
        .workloads
        .iter()
        .flat_map(|workload| workload.parameters.iter().map(String::as_str));
    let searched =
        summary.searches.iter().flat_map(|search| search.point.keys().map(String::as_str));
    let parameters: BTreeSet<&str> = measured.chain(searched).collect();
    let mut out = Csv::default();
    let head = ["path", "from", "to", "via", "workload", "kind"]
        .into_iter()
        .chain(parameters.iter().copied());
    let rest = ["figure", "median", "low", "high", "rounds", "ratio", "ratio_low", "ratio_high"];
    let last = ["verdict", "limited_by", "warnings", "note", "mesh", "variant"];
    let last = last.into_iter().chain(["p", "q", "test", "noise_floor", "outliers"]);
    let last = last.chain(OF_SEARCHES).chain([SATURATED, FAMILY]);
    out.row(head.chain(rest).chain(last).map(str::to_owned));
    for workload in &summary.workloads {
        for cell in &workload.cells {
            let path = &summary.paths[cell.path_index];
            for figure in &cell.figures {
                out.row(values(path, workload, cell, figure.into(), &parameters));
            }
            for component in &cell.components {
                let name = format!("{}_cores", component.name.replace('-', "_"));
                let figure = Valued { name: &name, spread: &component.cores, estimate: None };
                out.row(values(path, workload, cell, figure, &parameters));
            }
            for (node, spread) in idle(cell) {
                let name = format!("node_idle_ratio:{node}");
                let figure = Valued { name: &name, spread, estimate: None };
                out.row(values(path, workload, cell, figure, &parameters));
            }
        }
    }
    for search in &summary.searches {
        for found in &search.paths {
            let path = &summary.paths[found.path_index];
            for values in of_search(path, search, found, &parameters) {
                out.row(values);
            }
        }
    }
    out.finish()
}

/// A figure of a row.
struct Valued<'a> {
    name: &'a str,
    spread: &'a Spread,
    /// What more is said of it, if it is one of the workload's.
    estimate: Option<&'a Estimate>,
}

impl<'a> From<&'a Estimate> for Valued<'a> {
    fn from(estimate: &'a Estimate) -> Self {
        Self { name: estimate.name, spread: &estimate.spread, estimate: Some(estimate) }
    }
}

/// The idle share of each node, where nodes are several machines.
fn idle(cell: &CellSummary) -> impl Iterator<Item = (&str, &Spread)> {
    let seen = cell.nodes.iter().map(|node| (node.name.as_str(), &node.idle_ratio));
    let metered = cell.metered_nodes.iter().map(|node| (&*node.name, &node.idle_ratio));
    seen.chain(metered)
}

fn values(
    path: &PathSummary,
    workload: &WorkloadSummary,
    cell: &CellSummary,
    Valued { name, spread, estimate }: Valued<'_>,
    parameters: &BTreeSet<&str>,
) -> Vec<String> {
    let ratio = estimate.and_then(|figure| figure.ratio.as_ref());
    let mut out: Vec<String> =
        [&path.name, &path.from, &path.to, &path.via, &workload.name, &workload.kind]
            .map(Clone::clone)
            .into();
    out.extend(
        parameters.iter().map(|name| cell.point.get(*name).map(point::text).unwrap_or_default()),
    );
    out.push(name.to_owned());
    let ends =
        |spread: &Spread| [number(Some(spread.median)), number(spread.low), number(spread.high)];
    out.extend(ends(spread));
    out.push(spread.rounds.to_string());
    out.extend(
        ratio.and_then(|ratio| ratio.spread).map_or_else(Default::default, |spread| ends(&spread)),
    );
    out.push(
        ratio
            .and_then(|r| r.verdict.as_ref())
            .map(|verdict| verdict.text.clone())
            .unwrap_or_default(),
    );
    out.push(page_text::limits(cell));
    out.push(cell.warnings.to_string());
    let remark = table_model::full_remark(cell);
    let floor = table_model::floor(cell, estimate)
        .filter(|_| ratio.is_some_and(|ratio| ratio.noise_floor.is_some()));
    let note = estimate.map_or_else(String::new, |figure| figure.note.clone());
    let notes = [floor.unwrap_or_default(), note, remark.clone()];
    // What the remark says of the whole cell is not said twice.
    let notes = notes
        .into_iter()
        .enumerate()
        .filter(|(at, note)| *at == 2 || !remark.contains(note.as_str()));
    out.push(
        notes.map(|(_, note)| note).filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "),
    );
    out.push(path.mesh.to_string());
    out.push(path.variant.clone().unwrap_or_default());
    out.extend([ratio.and_then(|r| r.p), ratio.and_then(|r| r.q)].map(number));
    out.push(ratio.and_then(|r| r.test).unwrap_or_default().to_owned());
    out.push(number(ratio.and_then(|r| r.noise_floor)));
    let outliers = estimate.map_or(&[][..], |figure| &figure.outliers);
    out.push(outliers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    out.extend(OF_SEARCHES.map(|_| String::new()));
    out.push(number(cell.saturated_per_s));
    out.push(family(path));
    out
}

/// The result of a search on a path, a row a figure: the load, what was searched by, all else.
fn of_search(
    path: &PathSummary,
    search: &SearchSummary,
    found: &SearchedPath,
    parameters: &BTreeSet<&str>,
) -> Vec<Vec<String>> {
    let said = |compared: Option<&LoadComparison>| {
        let [ratio, low, high] =
            compared.map_or([None; 3], |found| [found.ratio, found.low, found.high]);
        [
            number(ratio),
            number(low),
            number(high),
            compared.map(|found| found.text.clone()).unwrap_or_default(),
        ]
    };
    let limited = if found.generator_limited { GENERATOR_THERE } else { "" };
    let one = |figure: String,
               values: [Option<f64>; 3],
               rounds: usize,
               compared: Option<&LoadComparison>,
               note: &str| {
        let mut out: Vec<String> =
            [&path.name, &path.from, &path.to, &path.via, &search.workload, &search.kind]
                .map(Clone::clone)
                .into();
        out.extend(
            parameters
                .iter()
                .map(|name| search.point.get(*name).map(point::text).unwrap_or_default()),
        );
        out.push(figure);
        out.extend(values.map(number));
        out.push(rounds.to_string());
        out.extend(said(compared));
        // What limited its trials and their warnings are the trials' own.
        out.extend([String::new(), String::new()]);
        out.push(
            [note, limited]
                .into_iter()
                .filter(|note| !note.is_empty())
                .collect::<Vec<_>>()
                .join("; "),
        );
        out.push(path.mesh.to_string());
        out.push(path.variant.clone().unwrap_or_default());
        // No p-values, no noise floor, no rounds.
        out.extend(vec![String::new(); 5]);
        out.extend([
            search.goal.to_owned(),
            search.parameter.to_owned(),
            number(found.at),
            number(search.limit),
        ]);
        out.push(search.is_met(found).map(|met| met.to_string()).unwrap_or_default());
        out.push(found.ended().to_owned());
        // A search goes by what its trials kept: each says it of itself.
        out.push(String::new());
        out.push(family(path));
        out
    };
    let ends = |spread: Spread| [Some(spread.median), spread.low, spread.high];
    let mut notes = if found.found().is_none() { vec![found.text.clone()] } else { Vec::new() };
    if found.found().is_some() {
        notes.extend([undecided_text(&found.undecided, search.parameter), found.too_high.clone()]);
    }
    notes.push(search.no_equal_load.to_owned());
    notes.retain(|note| !note.is_empty());
    let note = notes.join("; ");
    let load = [found.found(), found.low, found.high];
    let mut out =
        vec![one(search.found_name(), load, found.trials, found.comparison.as_ref(), &note)];
    let own = search.figure_name();
    let compared = |name: &str| found.value_comparison.as_ref().filter(|_| name == own);
    if let Some(spread) = found.value {
        out.push(one(search.name_there(&own), ends(spread), spread.rounds, compared(&own), ""));
    }
    // The figure that was searched by is one of those that reports show, or stands for itself.
    for figure in found.figures.iter().filter(|figure| figure.name != own || found.value.is_none())
    {
        let spread = figure.spread;
        out.push(one(
            search.name_there(figure.name),
            ends(spread),
            spread.rounds,
            compared(figure.name),
            "",
        ));
    }
    out
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
