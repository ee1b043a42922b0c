//! The comparison of two sides, each of one run or of several: a baseline and a candidate.
//!
//! ```text
//!   run.json, records ─► Values ─┐
//!                                ├─► compare ─► Comparison
//!   run.json, records ─► Values ─┘
//! ```
//!
//! - A side has runs of the same thing, each once (`sides.rs`).
//! - Two cells are the same when path, workload and point have the same names, and the job is the
//!   same. The job's seed and the length of its window may differ.
//! - The figures compared are those that reports show for a kind of workload, and those that bounds
//!   name.
//! - A test compares the rounds' values of both sides (`hopbench_stats::unpaired`). It looks at all
//!   rounds together, too. All tests are judged together (`hopbench_stats::judge`), so that many
//!   cells do not make differences by chance.
//! - The results of searches are compared without a test, by what is known of the two loads
//!   (`searched.rs`).
//! - The noise floor is the larger one of both runs' A/A pairs for that figure and point.
//! - Rounds of one run share what changes between runs. So with three runs and more on each side,
//!   runs are compared, each by the medians of its rounds. Losses and errors are means, as in the
//!   summary of a run (`Figure::middle`).

mod difference;
mod gate;
mod gate_result;
mod judged_cells;
mod measure;
mod pairs;
mod result;
mod row;
mod searched;
mod sentences;
mod sides;
mod values;

use hopbench_model::Fault;

pub use self::difference::Difference;
pub use self::gate::{Bound, share_of};
pub(crate) use self::measure::named_figure;
pub use self::pairs::NotCompared;
pub use self::result::{Asked, COMPARISON_SCHEMA, Comparison, RunSummary};
pub(crate) use self::row::worse_by_at_most;
pub use self::row::{Median, Row};
pub use self::sentences::harmless;
pub use self::sides::Unlike;
pub use self::values::{LeftOut, Values};

use crate::summary::Outcome;
pub use crate::summary::{BoundSummary, Case, CaseState};
use crate::text::cell_name::cell_text;

/// Compares the runs of `b`, the candidate, with those of `a`, the baseline. Both must have been
/// made with the bounds of `asked`.
///
/// # Errors
/// A side without a run, or with a run that stands there several times. A side whose runs have
/// different plans. No cell in common; a bound on what no cell has. With `strict` also runs that
/// differ in what changes figures (all input).
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
    let planned =
        a.iter().chain(b).map(|values| values.run.plan.minimum_effect).fold(0.0, f64::max);
    let minimum_effect = asked.minimum_effect.unwrap_or(planned);
    let cells = pairs::all(a, b);
    let mut searches = searched::all(a, b, minimum_effect);
    let left_out = searches.not_compared.len() as u64;
    let mut not_compared: Vec<NotCompared> =
        cells.not_compared.iter().chain(&searches.not_compared).cloned().collect();
    // With bounds a candidate in which every cell failed has broken them.
    let gone = !cells.gone.is_empty() || !searches.gone.is_empty();
    if cells.pairs.is_empty() && searches.rows.is_empty() && (!gone || asked.bounds.is_empty()) {
        return Err(nothing_in_common(a, b, &not_compared));
    }
    let mut rows = judged_cells::all(&cells.pairs, minimum_effect);
    rows.append(&mut searches.rows);
    let bounds = gate_result::all(&cells, &searches, &rows, asked, minimum_effect, &[a, b])?;
    // What a bound has a case of is told there.
    for cell in not_compared.iter_mut().filter(|cell| gate_result::has(&searches, asked, cell)) {
        cell.is_unbound = false;
    }
    rows.sort_by(|one, other| {
        rank(one).cmp(&rank(other)).then(badness(other).total_cmp(&badness(one)))
    });
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

/// The place of a row among the others: called ones first.
fn rank(row: &Row) -> usize {
    match row.outcome {
        Outcome::Worse => 0,
        _ if row.is_newly_saturated() => 0,
        Outcome::More | Outcome::Less => 1,
        Outcome::Better => 2,
        _ => 3,
    }
}

/// How bad a called row is among those of its rank: of the better ones the best is last. The others
/// stay in the plan's order.
fn badness(row: &Row) -> f64 {
    match row.outcome {
        Outcome::Worse | Outcome::More | Outcome::Less => row.size(),
        Outcome::Better => -row.size(),
        _ if row.is_newly_saturated() => f64::INFINITY,
        _ => 0.0,
    }
}

fn refuse(differences: &[Difference], unlike: &[Unlike]) -> Result<(), Fault> {
    let telling = differences.iter().filter(|difference| difference.matters);
    let within = unlike.iter().map(|unlike| format!("- {}", unlike.text()));
    let lines: Vec<_> =
        telling.map(|difference| format!("- {}", difference.text())).chain(within).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Fault::input(format!(
        "--strict: the runs differ in what can change figures; measure again under the same \
         circumstances, or compare without --strict:\n{}",
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
    let why: Vec<_> = apart
        .iter()
        .filter(|cell| !cell.is_one_sided)
        .take(MOST_NAMED)
        .map(|c| format!("{}: {}", c.cell, c.reason))
        .collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    Fault::input(format!(
        "no cell can be compared: expected the same path, workload and point with the same job on \
         both sides, found that {}, and {}{why}",
        has("baseline", a),
        has("candidate", b),
    ))
}
