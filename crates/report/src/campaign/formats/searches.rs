//! The trials of searches as CSV, for spreadsheets: the whole trace of every search.
//!
//! A row is one trial. Texts are quoted as RFC 4180 says. The columns, in this order:
//!
//! - `path`, `workload`, `goal`;
//! - one for every parameter of the points that were searched, empty where the workload does not
//!   have it;
//! - `parameter`: the one that was varied;
//! - `step`: the trial's number in the search of its cell;
//! - `session`, `load`, `why`;
//! - `figure`, `value`: the figure that is searched by;
//! - `within`: whether all other bounds were kept;
//! - `limited_by`;
//! - `found`, `low`, `high`: the result of the search, in the row of its last trial; empty if it
//!   found nothing;
//! - `note`: the result in words, in that row. In any row it says what was out of bounds, who else
//!   kept the CPU busy, and why the trial is in no figure.

use std::collections::BTreeSet;

use hopbench_analysis::{SearchSummary, SearchedPath, Summary, TraceStep};
use hopbench_model::SearchOutcome;

use crate::campaign::format::SummaryFormat;
use crate::campaign::point;
use crate::format::Format;
use crate::text::csv::Csv;

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat =
    Format { name: "searches", summary: "CSV, one row a trial of a search", render };

fn render(summary: &Summary) -> String {
    let points = summary.searches.iter().flat_map(|search| search.point.keys().map(String::as_str));
    let parameters: BTreeSet<&str> = points.collect();
    let head = ["path", "workload", "goal"].into_iter().chain(parameters.iter().copied());
    #[rustfmt::skip]
    let rest = [
        "parameter", "step", "session", "load", "why", "figure", "value", "within",
        "limited_by",
    ];
    let mut out = Csv::default();
    out.row(head.chain(rest).chain(["found", "low", "high", "note"]).map(str::to_owned));
    for search in &summary.searches {
        for path in &search.paths {
            for (index, step) in path.trace.iter().enumerate() {
                let last = index + 1 == path.trace.len();
                out.row(values(search, path, step, last, &parameters));
            }
        }
    }
    out.finish()
}

fn values(
    search: &SearchSummary,
    path: &SearchedPath,
    step: &TraceStep,
    last: bool,
    parameters: &BTreeSet<&str>,
) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut out = vec![path.path.clone(), search.workload.clone(), search.goal.to_owned()];
    out.extend(
        parameters.iter().map(|name| search.point.get(*name).map(point::text).unwrap_or_default()),
    );
    out.extend([
        search.parameter.to_owned(),
        step.step.to_string(),
        step.session.to_string(),
        step.load.to_string(),
    ]);
    out.extend([
        step.why.clone(),
        search.figure.clone(),
        number(step.value),
        step.within.to_string(),
    ]);
    out.push(step.limited_by.clone());
    out.extend(match path.outcome.filter(|_| last) {
        Some(SearchOutcome::Found { load, low, high }) => {
            [number(Some(load)), number(Some(low)), number(high)]
        }
        Some(SearchOutcome::GaveUp { low, high }) => [String::new(), number(low), number(high)],
        _ => Default::default(),
    });
    let notes = [
        if last { path.text.clone() } else { String::new() },
        step.because.clone(),
        step.unusable.clone(),
    ];
    out.push(notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "));
    out
}
