//! The overview of all cells: figures on colours that say how far they are from the baseline.

use std::collections::HashMap;

use hopbench_analysis::{CellSummary, Outcome, Summary, WorkloadSummary};
use hopbench_model::number::ratio as ratio_text;

use crate::campaign::layout::{Layout, Matrix};
use crate::campaign::{page_text, table_model};
use crate::document::{Block, Cell, Column, Kind, Part, Reach, Row, Table, Tone};

/// More columns than this do not fit beside each other: then each workload has a map of its own.
const MOST_COLUMNS: usize = 8;
/// Columns of one map, at most.
const MOST_POINTS: usize = 12;
/// Factors from the baseline at which the colour gets stronger.
const STEPS: [f64; 4] = [1.0, 1.1, 1.25, 1.5];

/// A workload with what every map of it needs, found once.
struct View<'a> {
    workload: &'a WorkloadSummary,
    /// The main figure.
    column: table_model::Column,
    points: Vec<&'a str>,
    /// By path and point.
    cells: HashMap<(usize, &'a str), &'a CellSummary>,
}

impl<'a> View<'a> {
    /// `None` when no trial left a figure.
    fn of(workload: &'a WorkloadSummary) -> Option<Self> {
        let cells =
            workload.cells.iter().map(|cell| ((cell.path_index, cell.point_label.as_str()), cell));
        Some(Self {
            workload,
            column: table_model::columns(workload).into_iter().next()?,
            points: workload.points(),
            cells: cells.collect(),
        })
    }

    fn is_of_latency(&self) -> bool {
        self.workload.main_figure().is_some_and(|figure| figure.is_latency)
    }
}

/// The part, for pages; nothing of a run that only searched.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    if summary.workloads.is_empty() {
        return Vec::new();
    }
    let baseline = page_text::reference(summary);
    let mut blocks: Vec<Block> = Vec::new();
    if summary.workloads.iter().any(table_model::judged) {
        let text = "is better, orange is worse, the stronger the further; grey is the same, not \
                    decided, or too small to count; ! is no verdict: the load generator was the \
                    limit.";
        blocks.push(Block::note(format!("Against {baseline}, blue {text}")));
    } else if summary.workloads.iter().any(table_model::compared) {
        let why = if summary.run.rounds < 2 {
            "One round shows no verdict"
        } else {
            "No comparison has a verdict"
        };
        blocks.push(Block::note(format!("Factors are to {baseline}. {why}: nothing is coloured.")));
    }
    let views: Vec<View<'_>> = summary.workloads.iter().filter_map(View::of).collect();
    let Layout { matrices, others } = Layout::of(summary);
    let mut maps = squares(summary, &views, &matrices);
    if !others.is_empty() {
        maps.extend(lists(summary, &views, &others));
    }
    blocks.extend(maps.into_iter().map(Block::Table));
    vec![Part::open("overview", "Overview", blocks).only(Reach::Page).into()]
}

/// A matrix a workload and point.
fn squares(summary: &Summary, views: &[View<'_>], matrices: &[Matrix]) -> Vec<Table> {
    let mut out = Vec::new();
    for view in views {
        for point in &view.points {
            out.extend(matrices.iter().map(|matrix| square(summary, view, point, matrix)));
        }
    }
    out
}

/// Paths as rows, workloads and their points as columns.
fn lists(summary: &Summary, views: &[View<'_>], paths: &[usize]) -> Vec<Table> {
    let views: Vec<&View<'_>> = views.iter().collect();
    let columns: usize = views.iter().map(|view| view.points.len()).sum();
    if columns <= MOST_COLUMNS {
        let caption = "The main figure of every workload by path".to_owned();
        return vec![list(summary, &views, paths, caption)];
    }
    // Those without points of their own go together.
    let (single, swept): (Vec<_>, Vec<_>) =
        views.into_iter().partition(|view| view.points.len() == 1);
    let together = "The main figure of every workload without a sweep";
    let mut out: Vec<Table> = single
        .chunks(MOST_COLUMNS)
        .map(|group| list(summary, group, paths, together.to_owned()))
        .collect();
    out.extend(swept.into_iter().map(|view| {
        let caption = format!("{}: {}", view.workload.name, view.column.label);
        list(summary, &[view], paths, caption)
    }));
    out
}

fn list(summary: &Summary, views: &[&View<'_>], paths: &[usize], caption: String) -> Table {
    let mut columns = vec![Column::name("path")];
    let mut shown: Vec<(&View<'_>, &str)> = Vec::new();
    for view in views {
        let labels = thinned(&view.points);
        let name = &view.workload.name;
        let figure = [view.column.label, view.column.scale.head()].join(" ").trim_end().to_owned();
        for label in &labels {
            columns.push(if labels.len() == 1 {
                Column { unit: figure.clone(), ..Column::words(name) }
            } else {
                let group =
                    format!("{name}: {figure} by {}", table_model::point_head(view.workload));
                Column { group, ..Column::words(table_model::point(view.workload, label)) }
            });
        }
        shown.extend(labels.into_iter().map(|label| (*view, label)));
    }
    let row = |index: &usize| {
        let path = &summary.paths[*index];
        let name = Cell { small: page_text::way(path).into(), ..Cell::from(&path.name) };
        let cells = shown.iter().map(|(view, label)| heat(summary, view, *index, label));
        Row::of([name].into_iter().chain(cells))
    };
    let rows = paths.iter().map(row).collect();
    Table { caption, is_titled: true, kind: Kind::Map, columns, rows }
}

/// A map with the clients' places as rows and the servers' places as columns.
fn square(summary: &Summary, view: &View<'_>, point: &str, matrix: &Matrix) -> Table {
    let row = |(from, paths): (&String, &Vec<usize>)| {
        let cells = paths.iter().map(|path| heat(summary, view, *path, point));
        Row::of([Cell::from(from)].into_iter().chain(cells))
    };
    let at = if point.is_empty() { String::new() } else { format!(" {point}") };
    let unit = view.column.scale.head();
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    Table {
        caption: format!(
            "{}{at}: {}{unit}, {}",
            view.workload.name, view.column.label, matrix.title
        ),
        is_titled: true,
        kind: Kind::Map,
        columns: [Column::name("from \\ to")]
            .into_iter()
            .chain(matrix.to.iter().map(Column::words))
            .collect(),
        rows: matrix.from.iter().zip(&matrix.paths).map(row).collect(),
    }
}

/// At most so many labels, spread evenly, the last among them.
fn thinned<'a>(labels: &[&'a str]) -> Vec<&'a str> {
    let n = labels.len();
    if n <= MOST_POINTS {
        return labels.to_vec();
    }
    (0..MOST_POINTS).map(|i| labels[i * (n - 1) / (MOST_POINTS - 1)]).collect()
}

/// The subject that a cell was measured with.
fn cell_subject<'a>(summary: &'a Summary, cell: &CellSummary) -> Option<&'a str> {
    summary.paths[cell.path_index].subject.as_deref()
}

fn heat(summary: &Summary, view: &View<'_>, path: usize, point: &str) -> Cell {
    let Some(cell) = view.cells.get(&(path, point)) else {
        return Cell::toned(Tone::Quiet, "not measured");
    };
    let Some(figure) = view.column.of(cell) else {
        return Cell::toned(Tone::Quiet, "no figure");
    };
    let shown = |tone, small: Box<str>| Cell {
        small,
        ..Cell::toned(tone, view.column.scale.text(figure.spread.median))
    };
    let saturated = cell.saturated().filter(|_| view.is_of_latency());
    if let Some(text) = saturated {
        return shown(Tone::Plain, text.into());
    }
    if cell.is_reference {
        let word = cell_subject(summary, cell).unwrap_or("baseline");
        return shown(Tone::Base, word.into());
    }
    if let Some(floor) = table_model::floor(cell, Some(figure)) {
        return shown(Tone::Base, floor.into());
    }
    let Some(ratio) = view.workload.comparison(cell) else {
        return shown(Tone::Plain, Box::default());
    };
    // Without a verdict there is no colour: what one round shows may be chance.
    let tone = match ratio.verdict.as_ref().map(|verdict| verdict.outcome) {
        None | Some(Outcome::TooFewRounds | Outcome::NoRatio | Outcome::Saturated) => Tone::Plain,
        Some(
            Outcome::Same
            | Outcome::NotDecided
            | Outcome::NoiseFloor
            | Outcome::MinimumEffect
            | Outcome::More
            | Outcome::Less,
        ) => Tone::Same,
        Some(Outcome::Generator | Outcome::OtherSession) => Tone::Doubt,
        Some(Outcome::Worse) => Tone::Worse,
        Some(Outcome::Better) => Tone::Better,
    };
    let Some(spread) = ratio.spread else { return shown(tone, Box::default()) };
    let doubt = if tone == Tone::Doubt { " !" } else { "" };
    let small = format!("×{}{doubt}", ratio_text(spread.median));
    Cell { strength: strength(spread.median), ..shown(tone, small.into()) }
}

/// How strong the colour is for a ratio: 1 to 4.
fn strength(ratio: f64) -> u8 {
    let factor = ratio.max(1.0 / ratio);
    STEPS.iter().map(|step| u8::from(factor >= *step)).sum::<u8>().max(1)
}
