//! The overview of all cells: figures on colours that say how far they are from the baseline.

use std::collections::HashMap;

use hopbench_analysis::{CellSummary, Outcome, Summary, WorkloadSummary};
use hopbench_model::number::ratio as ratio_text;

use super::markup::{esc, heading, table};
use crate::campaign::layout::{Matrix, matrices};
use crate::campaign::{page_text, table_model};

/// More columns than this do not fit beside each other: then each workload has a map of its own.
const MOST_COLUMNS: usize = 8;
/// Columns of one map, at most.
const MOST_POINTS: usize = 12;
/// Rows of one map, at most.
const MOST_ROWS: usize = 100;
/// Maps on the page, at most.
const MOST_MAPS: usize = 40;
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
        let cells = workload.cells.iter().map(|cell| ((cell.path_index, cell.point_label.as_str()), cell));
        Some(Self {
            workload,
            column: table_model::columns(workload).into_iter().next()?,
            points: workload.points(),
            cells: cells.collect(),
        })
    }
}

/// The section with all maps; nothing of a run that only searched.
pub(super) fn maps(summary: &Summary) -> String {
    if summary.workloads.is_empty() {
        return String::new();
    }
    let mut out = format!("<section id=\"overview\">\n{}", heading(2, "overview", "Overview"));
    if summary.workloads.iter().any(table_model::judged) {
        out.push_str(&legend(summary));
    } else if summary.workloads.iter().any(table_model::compared) {
        let baseline = esc(summary.run.baseline.as_deref().unwrap_or_default());
        let why = if summary.run.rounds < 2 { "One round shows no verdict" } else { "No comparison has a verdict" };
        out.push_str(&format!("<p class=\"note\">Factors are to {baseline}. {why}: nothing is coloured.</p>\n"));
    }
    let views: Vec<View<'_>> = summary.workloads.iter().filter_map(View::of).collect();
    let matrices = matrices(summary);
    let maps = if matrices.is_empty() { lists(summary, &views) } else { squares(summary, &views, &matrices) };
    out.push_str(&maps);
    out.push_str("</section>\n");
    out
}

fn legend(summary: &Summary) -> String {
    let baseline = esc(summary.run.baseline.as_deref().unwrap_or_default());
    let swatch = |class: &str, text: &str| format!("<li><span class=\"heat {class}\"></span>{text}</li>");
    let doubt = |workload: &WorkloadSummary| {
        let verdict = |cell| workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
        workload.cells.iter().filter_map(verdict).any(|verdict| verdict.outcome == Outcome::Generator)
    };
    let doubt = match summary.workloads.iter().any(doubt) {
        true => "<li>! no verdict: the load generator was the limit</li>",
        false => "",
    };
    format!(
        "<ul class=\"legend\"><li class=\"of\">against {baseline}:</li>{}{}{}{}{}{doubt}</ul>\n",
        swatch("w4", "worse, 1.5 times or more"),
        swatch("w2", "worse"),
        swatch("same", "no difference seen, or too small to count"),
        swatch("b2", "better"),
        swatch("b4", "better, 1.5 times or more"),
    )
}

/// Maps beside each other, as many as a page bears.
fn page(maps: impl ExactSizeIterator<Item = String>) -> String {
    let all = maps.len();
    let mut out = "<div class=\"maps\">\n".to_owned();
    maps.take(MOST_MAPS).for_each(|map| out.push_str(&map));
    out.push_str("</div>\n");
    if all > MOST_MAPS {
        out.push_str(&format!("<p class=\"note\">The first {MOST_MAPS} of {all} maps.</p>\n"));
    }
    out
}

/// A matrix a workload and point.
fn squares(summary: &Summary, views: &[View<'_>], matrices: &[Matrix]) -> String {
    let mut all: Vec<(&View<'_>, &str, &Matrix)> = Vec::new();
    for view in views {
        for point in &view.points {
            all.extend(matrices.iter().map(|matrix| (view, *point, matrix)));
        }
    }
    page(all.into_iter().map(|(view, point, matrix)| square(summary, view, point, matrix)))
}

/// Paths as rows, workloads and their points as columns.
fn lists(summary: &Summary, views: &[View<'_>]) -> String {
    let views: Vec<&View<'_>> = views.iter().collect();
    let columns: usize = views.iter().map(|view| view.points.len()).sum();
    if columns <= MOST_COLUMNS {
        return list(summary, &views, "The main figure of every workload by path", true);
    }
    // Those without points of their own go together.
    let (single, swept): (Vec<_>, Vec<_>) = views.into_iter().partition(|view| view.points.len() == 1);
    let together = "The main figure of every workload without a sweep";
    let single = single.chunks(MOST_COLUMNS).map(|group| (group.to_vec(), together.to_owned()));
    let swept = swept.into_iter().map(|view| {
        let caption = format!("{}: {}", view.workload.name, view.column.label);
        (vec![view], caption)
    });
    let all: Vec<_> = single.chain(swept).collect();
    // What the paths are is said once.
    page(all.into_iter().enumerate().map(|(index, (group, caption))| list(summary, &group, &caption, index == 0)))
}

fn list(summary: &Summary, views: &[&View<'_>], caption: &str, ways: bool) -> String {
    let mut tops = "<tr><th scope=\"col\" rowspan=\"2\">Path</th>".to_owned();
    let mut points = "<tr>".to_owned();
    let mut shown: Vec<(&View<'_>, Vec<&str>)> = Vec::new();
    for view in views {
        let (workload, labels) = (view.workload, thinned(&view.points));
        let figure = [view.column.label, view.column.scale.head()].join(" ");
        let by = format!("by {}", table_model::point_head(workload));
        // The caption of a map of its own has the workload's name.
        let (name, small) = match (labels.len(), views.len()) {
            (1, _) => (workload.name.as_str(), figure),
            (_, 1) => (figure.trim_end(), by),
            _ => (workload.name.as_str(), format!("{} {by}", figure.trim_end())),
        };
        tops.push_str(&format!(
            "<th scope=\"colgroup\" colspan=\"{}\">{}<small>{}</small></th>",
            labels.len(),
            esc(name),
            esc(small.trim_end())
        ));
        for label in &labels {
            points.push_str(&format!("<th scope=\"col\">{}</th>", esc(table_model::point(workload, label))));
        }
        shown.push((view, labels));
    }
    let swept = shown.iter().any(|(_, labels)| labels.len() > 1);
    let mut body = String::new();
    for (index, path) in summary.paths.iter().enumerate().take(MOST_ROWS) {
        let way = if ways { format!("<small>{}</small>", esc(&page_text::way(path))) } else { String::new() };
        body.push_str(&format!("<tr><th scope=\"row\">{}{way}</th>", esc(&path.name)));
        for (view, labels) in &shown {
            labels.iter().for_each(|label| body.push_str(&heat(summary, view, index, label)));
        }
        body.push_str("</tr>\n");
    }
    let head = if swept {
        format!("{tops}</tr>{points}</tr>")
    } else {
        format!("{}</tr>", tops.replace(" rowspan=\"2\"", ""))
    };
    let mut out = table("map", caption, &head, &body);
    if summary.paths.len() > MOST_ROWS {
        out.push_str(&format!("<p class=\"note\">The first {MOST_ROWS} of {} paths.</p>\n", summary.paths.len()));
    }
    out
}

/// A map with the clients' places as rows and the servers' places as columns.
fn square(summary: &Summary, view: &View<'_>, point: &str, matrix: &Matrix) -> String {
    let mut head = "<tr><th scope=\"col\">from \\ to</th>".to_owned();
    matrix.to.iter().for_each(|to| head.push_str(&format!("<th scope=\"col\">{}</th>", esc(to))));
    head.push_str("</tr>");
    let mut body = String::new();
    for (from, paths) in matrix.from.iter().zip(&matrix.paths) {
        body.push_str(&format!("<tr><th scope=\"row\">{}</th>", esc(from)));
        paths.iter().for_each(|path| body.push_str(&heat(summary, view, *path, point)));
        body.push_str("</tr>\n");
    }
    let at = if point.is_empty() { String::new() } else { format!(" {point}") };
    let unit = view.column.scale.head();
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let caption = format!("{}{at}: {}{unit}, {}", view.workload.name, view.column.label, matrix.title);
    table("map", &caption, &head, &body)
}

/// At most so many labels, spread evenly, the last among them.
fn thinned<'a>(labels: &[&'a str]) -> Vec<&'a str> {
    let n = labels.len();
    if n <= MOST_POINTS {
        return labels.to_vec();
    }
    (0..MOST_POINTS).map(|i| labels[i * (n - 1) / (MOST_POINTS - 1)]).collect()
}

fn heat(summary: &Summary, view: &View<'_>, path: usize, point: &str) -> String {
    let Some(cell) = view.cells.get(&(path, point)) else {
        return "<td class=\"heat none\">not measured</td>".to_owned();
    };
    if view.column.of(cell).is_none() {
        return "<td class=\"heat none\">no figure</td>".to_owned();
    }
    let text = esc(&view.column.median(cell));
    if summary.run.baseline.as_deref() == Some(cell.path.as_str()) {
        return format!("<td class=\"heat base\">{text}<small>baseline</small></td>");
    }
    if let Some(floor) = table_model::floor(cell, view.column.of(cell)) {
        return format!("<td class=\"heat base\">{text}<small>{}</small></td>", esc(&floor));
    }
    let Some(ratio) = view.workload.comparison(cell) else {
        return format!("<td class=\"heat\">{text}</td>");
    };
    // Without a verdict there is no colour: what one round shows may be chance.
    let class = match ratio.verdict.as_ref().map(|verdict| verdict.outcome) {
        None | Some(Outcome::TooFewRounds | Outcome::NoRatio) => String::new(),
        Some(Outcome::NotDecided | Outcome::NoiseFloor | Outcome::MinimumEffect | Outcome::More | Outcome::Less) => {
            " same".to_owned()
        }
        Some(Outcome::Generator) => " doubt".to_owned(),
        Some(Outcome::Worse) => format!(" w{}", strength(ratio.spread.median)),
        Some(Outcome::Better) => format!(" b{}", strength(ratio.spread.median)),
    };
    let doubt = if class == " doubt" { " !" } else { "" };
    let factor = ratio_text(ratio.spread.median);
    format!("<td class=\"heat{class}\">{text}<small>×{factor}{doubt}</small></td>")
}

/// How strong the colour is for a ratio: 1 to 4.
fn strength(ratio: f64) -> usize {
    let factor = ratio.max(1.0 / ratio);
    STEPS.iter().filter(|step| factor >= **step).count().max(1)
}
