//! Two runs, or several on each side, against each other: what became better or worse from a baseline to a candidate.
//!
//! ```text
//!   run.json, records ─► Values ─┐
//!                                ├─► compare ─► Comparison ─► table, markdown, json, junit
//!   run.json, records ─► Values ─┘
//! ```
//!
//! - cells are the same when path, workload and point have the same names and the job is the same, besides its seed and the
//!   length of its window;
//! - what is compared are the figures that reports show for a kind of workload, and those that bounds name. A question is put
//!   to the rounds' values of both sides (`hopbench_stats::unpaired`); all questions are judged together
//!   (`hopbench_stats::judge`), so that many cells do not make differences by chance;
//! - on a side stand runs of the same thing, each once (`sides.rs`);
//! - what searches found is compared by what is known of the two loads, without a test (`searched.rs`);
//! - the noise floor is the larger one of both runs' A/A pairs for that figure and point. Rounds of one run share what changes
//!   between runs: with three runs and more on each side, runs are compared, each by the medians of its rounds.

mod ask;
mod bound;
mod bounded;
mod difference;
mod format;
mod formats;
mod measure;
mod pairs;
mod row;
mod said;
mod searched;
mod sides;
mod values;
mod words;

use std::collections::BTreeMap;

use hopbench_model::{Fault, RunStatus, point_label};
use serde::Serialize;
use serde_json::Value;

pub use self::bound::{Bound, BoundSummary, Case, CaseState, share_of};
pub use self::difference::Difference;
pub use self::format::ComparisonFormat;
pub use self::formats::{COMPARISON_FORMATS, comparison_format};
pub use self::pairs::NotCompared;
pub use self::row::{Outcome, Row, Side};
pub use self::sides::Unlike;
pub use self::values::{LeftOut, Values};

/// The version of [`Comparison`]; a field is never repurposed, this number grows instead.
pub const COMPARISON_SCHEMA: &str = "hopbench.comparison/1";

/// What is asked of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Differences below this share are of no interest; `None`: what the plans say, the larger one.
    pub minimum_effect: Option<f64>,
    /// What may not have become worse by more than so much.
    pub bounds: Vec<Bound>,
    /// Whether runs that differ in what changes figures are refused.
    pub strict: bool,
}

/// What two sides say against each other. Serialised, this is [`COMPARISON_SCHEMA`].
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: &'static str,
    /// The runs that are the baseline; at least one.
    pub baseline: Vec<RunSummary>,
    /// The runs that are compared with it; at least one.
    pub candidate: Vec<RunSummary>,
    /// Whether medians of runs were compared, and not rounds, in every row; each row says it of itself.
    pub by_run: bool,
    /// In what the candidate differs from the first run of the baseline besides its figures, what matters first.
    pub differences: Vec<Difference>,
    /// In what runs of one side differ that can change figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<Unlike>,
    /// Differences below this share are of no interest.
    pub minimum_effect: f64,
    /// Every figure of every cell: called differences first, worst first, then the others in the plan's order.
    pub comparisons: Vec<Row>,
    /// Cells that are not compared.
    pub not_compared: Vec<NotCompared>,
    /// Cells of searches that are not compared; `not_compared` says why.
    pub searches: u64,
    /// What became of the bounds, in their order.
    pub bounds: Vec<BoundSummary>,
}

/// A run that takes part.
#[derive(Debug, Clone, Serialize)]
pub struct RunSummary {
    /// Its folder, as it was given.
    pub folder: String,
    /// Its identity.
    pub run_id: String,
    /// The scenario's name.
    pub name: String,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// How far it came.
    pub status: RunStatus,
    /// Trials whose figures are used.
    pub used_trials: u64,
    /// Trials of searches that can be used; they are not among the others.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub search_trials: u64,
    /// Trials that are in no comparison.
    pub left_out: LeftOut,
}

fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

/// Compares the runs of `b`, the candidate, with those of `a`, the baseline. Both must have been made with the bounds of
/// `asked`.
///
/// # Errors
/// A side without a run; a run that stands there several times; a side whose runs have different plans; no cell in common; a
/// bound on what no cell has; with `strict`, runs that differ in what changes figures (all input).
pub fn compare(a: &[Values], b: &[Values], asked: &Asked) -> Result<Comparison, Fault> {
    let (Some(first), false) = (a.first(), b.is_empty()) else {
        return Err(Fault::input("expected a results folder on each side"));
    };
    sides::once(a, b)?;
    let unlike = sides::unlike(a, b)?;
    let mut differences: Vec<Difference> = Vec::new();
    for other in b {
        for difference in difference::between(&first.run, &other.run) {
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
    }
    // Stable: what matters first, the rest as it came.
    differences.sort_by_key(|difference| !difference.matters);
    if asked.strict {
        refuse(&differences, &unlike)?;
    }
    let planned = a.iter().chain(b).map(|values| values.run.plan.minimum_effect).fold(0.0, f64::max);
    let minimum_effect = asked.minimum_effect.unwrap_or(planned);
    let cells = pairs::all(a, b);
    let mut searches = searched::all(a, b, minimum_effect);
    let left_out = searches.not_compared.len() as u64;
    let mut not_compared: Vec<NotCompared> = cells.not_compared.iter().chain(&searches.not_compared).cloned().collect();
    // With bounds a candidate in which every cell failed has broken them.
    let gone = !cells.gone.is_empty() || !searches.gone.is_empty();
    if cells.pairs.is_empty() && searches.rows.is_empty() && (!gone || asked.bounds.is_empty()) {
        return Err(nothing_in_common(a, b, &not_compared));
    }
    let mut rows = ask::all(&cells.pairs, minimum_effect);
    rows.append(&mut searches.rows);
    let bounds = bounded::all(&cells, &searches, &rows, asked, minimum_effect, &[a, b])?;
    // What a bound has a case of is told there.
    for cell in not_compared.iter_mut().filter(|cell| bounded::has(&searches, asked, cell)) {
        cell.is_unbound = false;
    }
    rows.sort_by(|one, other| rank(one).cmp(&rank(other)).then(badness(other).total_cmp(&badness(one))));
    let summary = |values: &Values| RunSummary {
        folder: values.label.clone(),
        run_id: values.run.run_id.clone(),
        name: values.run.plan.name.clone(),
        started_at: values.run.started_at.clone(),
        status: values.run.status,
        used_trials: values.used(),
        search_trials: values.search_trials,
        left_out: values.left_out.clone(),
    };
    Ok(Comparison {
        schema: COMPARISON_SCHEMA,
        baseline: a.iter().map(summary).collect(),
        candidate: b.iter().map(summary).collect(),
        by_run: !rows.is_empty() && rows.iter().all(|row| row.by_run),
        differences,
        unlike,
        minimum_effect,
        comparisons: rows,
        not_compared,
        searches: left_out,
        bounds,
    })
}

impl Comparison {
    /// The bounds that no cell could judge: whether they are kept nobody knows.
    pub fn blind(&self) -> impl Iterator<Item = &BoundSummary> {
        self.bounds.iter().filter(|bound| bound.judged() == 0)
    }

    /// The bounds that were broken, with the cells.
    pub fn broken(&self) -> impl Iterator<Item = (&BoundSummary, &Case)> {
        self.bounds.iter().flat_map(|bound| bound.cases_of(CaseState::Broken).map(move |case| (bound, case)))
    }
}

/// The place of a row among the others: called ones first.
fn rank(row: &Row) -> usize {
    match row.outcome {
        Outcome::Worse => 0,
        Outcome::More | Outcome::Less => 1,
        Outcome::Better => 2,
        _ => 3,
    }
}

/// How bad a called row is among those of its rank: of the better ones the best is last. The others stay in the plan's order.
fn badness(row: &Row) -> f64 {
    match row.outcome {
        Outcome::Worse | Outcome::More | Outcome::Less => row.size(),
        Outcome::Better => -row.size(),
        _ => 0.0,
    }
}

fn refuse(differences: &[Difference], unlike: &[Unlike]) -> Result<(), Fault> {
    let telling = differences.iter().filter(|difference| difference.matters);
    let within = unlike.iter().map(|unlike| format!("- {}", unlike.text()));
    let lines: Vec<_> = telling.map(|difference| format!("- {}", difference.text())).chain(within).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Fault::input(format!(
        "--strict: the runs differ in what can change figures; measure again under the same circumstances, or compare without \
         --strict:\n{}",
        lines.join("\n")
    )))
}

/// More cells than this are not named in a message.
const MOST_NAMED: usize = 8;

fn nothing_in_common(a: &[Values], b: &[Values], apart: &[NotCompared]) -> Fault {
    let has = |name: &str, side: &[Values]| {
        let plan = &side[0].run.plan;
        let cells: Vec<_> = plan
            .cells
            .iter()
            .map(|cell| plan.at(*cell))
            .map(|(path, point)| cell_text(&path.name, &point.workload, &point.point))
            .collect();
        let more = cells.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = cells.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        format!("the {name} {} has {named}{more}", side[0].label)
    };
    let other = |cell: &&NotCompared| !cell.reason.starts_with("only the ");
    let why: Vec<_> =
        apart.iter().filter(other).take(MOST_NAMED).map(|c| format!("{}: {}", c.cell, c.reason)).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    Fault::input(format!(
        "no cell can be compared: expected the same path, workload and point with the same job on both sides, found that {}, \
         and {}{why}",
        has("baseline", a),
        has("candidate", b),
    ))
}

/// What identifies a point: JSON with sorted keys.
fn key(point: &BTreeMap<String, Value>) -> String {
    serde_json::to_string(point).unwrap_or_default()
}

/// A cell for people: `bridge latency size=64B`.
fn cell_text(path: &str, workload: &str, point: &BTreeMap<String, Value>) -> String {
    let point = point_label(point);
    if point.is_empty() { format!("{path} {workload}") } else { format!("{path} {workload} {point}") }
}
