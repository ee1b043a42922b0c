//! The tables of searches: the load that was found on each path, and the figures there.

use hopbench_analysis::{Better, LoadComparison, Outcome, SearchSummary, SearchedPath, Summary};
use hopbench_model::SearchOutcome;

use super::super::text::{asked, effect};
use super::cell::{Cell, SAME, Value};
use super::table::{Column, Row, Table};
use crate::campaign::page_text;
use crate::number::plain;
use crate::text::wrap::cut;

/// More searches than this share a table that has their loads only.
const MOST_ALONE: usize = 2;
/// Figures beside a load.
const MOST_FIGURES: usize = 4;

/// A table a search; of many searches one with a column each.
pub(in super::super) fn tables(summary: &Summary) -> Vec<Table> {
    let searches: Vec<&SearchSummary> =
        summary.searches.iter().filter(|search| !search.paths.is_empty()).collect();
    match searches.len() {
        0 => Vec::new(),
        count if count > MOST_ALONE => vec![together(summary, &searches)],
        _ => searches.iter().map(|search| alone(summary, search)).collect(),
    }
}

/// The load, how it compares, and the figures there.
fn alone(summary: &Summary, search: &SearchSummary) -> Table {
    let head = |first: &str, second: &str| Column {
        heads: [first.to_owned(), second.to_owned(), String::new()],
        better: Better::Neither,
    };
    let is_knee = search.goal == "knee";
    let compared = |path: &'_ SearchedPath| {
        if is_knee { path.value_comparison.clone() } else { path.comparison.clone() }
    };
    let is_compared = search.paths.iter().any(|path| compared(path).is_some());
    let is_over = search.paths.iter().all(|path| path.outcome.is_some());
    let labels: Vec<(&'static str, &'static str)> = search
        .shown
        .iter()
        .filter_map(|name| {
            let figure = search.paths.iter().find_map(|path| path.figure(name))?;
            Some((figure.name, figure.label))
        })
        .take(MOST_FIGURES)
        .collect();
    let mut columns = vec![head("found", search.parameter)];
    if is_compared {
        let name = page_text::reference(summary);
        columns.push(head(if is_knee { "throughput" } else { "load" }, &format!("to {name}")));
        columns[1].better = Better::Higher;
    }
    columns.extend(labels.iter().map(|(_, label)| head("there", label)));
    let row = |path: &SearchedPath| {
        let mut cells = vec![load(search, path, true)];
        if is_compared {
            let is_baseline = is_reference(summary, path);
            let value = match compared(path) {
                Some(comparison) => standing(&comparison),
                None if is_baseline => Value::Figure(String::new()),
                None if is_over => Value::NoRatio,
                None => Value::NotDecided,
            };
            cells.push(Cell::plain(value));
        }
        let figure = |(name, _): &(&'static str, &'static str)| match path.figure(name) {
            Some(figure) => {
                Cell::plain(Value::Figure(asked(search.rate_unit, name, figure.spread.median)))
            }
            None => Cell::plain(Value::Absent),
        };
        cells.extend(labels.iter().map(figure));
        Row { name: path.path.clone(), cells, rank: rank(summary, search, path) }
    };
    let title = format!("search of {} ({}): {}", search.name(), search.goal, search.asked);
    Table { title, columns, rows: search.paths.iter().map(row).collect() }
}

/// Every search's load: of the baseline as it is, of the others in relation to it.
fn together(summary: &Summary, searches: &[&SearchSummary]) -> Table {
    let column = |search: &&SearchSummary| Column {
        heads: [search.name(), search.parameter.to_owned(), search.goal.to_owned()],
        // More connections until throughput stops growing are neither better nor worse.
        better: if search.goal == "knee" { Better::Neither } else { Better::Higher },
    };
    let mut rows: Vec<Row> = Vec::new();
    for path in summary.paths.iter().filter(|path| !path.is_twin) {
        let mut cells = Vec::new();
        let mut worst = 0.0f64;
        for search in searches {
            let Some(found) = search.paths.iter().find(|found| found.path == path.name) else {
                cells.push(Cell::plain(Value::Absent));
                continue;
            };
            let comparison = found
                .comparison
                .as_ref()
                .filter(|_| found.found().is_some() && search.goal != "knee");
            worst = worst.max(rank(summary, search, found));
            cells.push(match comparison {
                Some(comparison) => {
                    Cell { value: standing(comparison), is_doubtful: found.is_doubtful() }
                }
                None => load(search, found, false),
            });
        }
        rows.push(Row { name: path.name.clone(), cells, rank: worst });
    }
    rows.retain(|row| row.cells.iter().any(|cell| cell.value != Value::Absent));
    Table {
        title: "the loads that were found".to_owned(),
        columns: searches.iter().map(column).collect(),
        rows,
    }
}

/// The load that was found, or what is known of it; of a level without its unit, where the head of
/// the column has it.
fn load(search: &SearchSummary, path: &SearchedPath, with_unit: bool) -> Cell {
    let told = |load: f64| match search.parameter {
        "rate" => cut(&search.unit().text(load), 24),
        _ if with_unit => search.unit().text(load),
        _ => plain(load),
    };
    let text = match path.outcome {
        None => "not ended".to_owned(),
        Some(SearchOutcome::Found { load, .. }) => told(load),
        Some(SearchOutcome::AboveHighest) => {
            path.at.map_or_else(|| "?".to_owned(), |most| format!(">= {}", told(most)))
        }
        Some(SearchOutcome::BelowLowest) => {
            path.high.map_or_else(|| "?".to_owned(), |least| format!("< {}", told(least)))
        }
        Some(SearchOutcome::GaveUp { .. }) => "not found".to_owned(),
    };
    Cell { value: Value::Figure(text), is_doubtful: path.is_doubtful() }
}

/// How a load compares with the baseline's.
fn standing(comparison: &LoadComparison) -> Value {
    // A higher load is better. The details have the intervals.
    let differs = |is_higher: bool, word: &str| {
        let text = comparison.ratio.map_or_else(|| word.to_owned(), effect);
        Value::Effect { brief: text.clone(), text, is_better: is_higher }
    };
    match comparison.outcome {
        Outcome::More => differs(true, "higher"),
        Outcome::Less => differs(false, "lower"),
        Outcome::Same | Outcome::MinimumEffect => Value::Same(SAME.to_owned()),
        Outcome::Generator => Value::Late,
        Outcome::OtherSession | Outcome::NoRatio => Value::NoRatio,
        _ => Value::NotDecided,
    }
}

/// Whether others are compared with a path.
fn is_reference(summary: &Summary, path: &SearchedPath) -> bool {
    summary.paths.iter().any(|known| known.is_reference && known.name == path.path)
}

/// How bad a path is: what others are compared with always stays.
fn rank(summary: &Summary, search: &SearchSummary, path: &SearchedPath) -> f64 {
    if is_reference(summary, path) {
        return f64::INFINITY;
    }
    let ratio = path.comparison.as_ref().and_then(|comparison| comparison.ratio);
    match (ratio, path.found()) {
        (Some(ratio), _) if ratio > 0.0 => (-ratio.ln()).max(0.0),
        // Even the highest load was not too high.
        (_, None) if matches!(path.outcome, Some(SearchOutcome::AboveHighest)) => 0.0,
        (_, None) => 1e9,
        (_, Some(load)) => {
            let most = search.paths.iter().filter_map(SearchedPath::found).fold(load, f64::max);
            (most / load).ln().max(0.0)
        }
    }
}
