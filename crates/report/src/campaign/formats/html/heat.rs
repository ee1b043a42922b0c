//! All cells at a glance: figures on colours that say how far they are from the baseline.

use super::markup::{esc, table};
use crate::campaign::layout::{Matrix, matrices};
use crate::campaign::{CellSummary, Outcome, Summary, WorkloadSummary, grid, scale, words};

/// More columns than this do not fit beside each other: then each workload has a map of its own.
const MOST_COLUMNS: usize = 8;
/// Columns of one map, at most.
const MOST_POINTS: usize = 12;
/// Rows of one map, at most.
const MOST_ROWS: usize = 100;
/// Matrices, at most.
const MOST_MATRICES: usize = 40;
/// Factors from the baseline at which the colour gets stronger.
const STEPS: [f64; 4] = [1.0, 1.1, 1.25, 1.5];

/// The section with all maps.
pub(super) fn maps(summary: &Summary) -> String {
    let mut out = "<section id=\"overview\">\n<h2>Overview</h2>\n".to_owned();
    let compared = summary.workloads.iter().any(grid::compared);
    if compared {
        out.push_str(&legend(summary));
    }
    let matrices = matrices(summary);
    if matrices.is_empty() {
        out.push_str(&lists(summary));
    } else {
        out.push_str("<div class=\"maps\">\n");
        for workload in &summary.workloads {
            for point in workload.points() {
                for matrix in matrices.iter().take(MOST_MATRICES) {
                    out.push_str(&square(summary, workload, point, matrix));
                }
            }
        }
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
    out
}

fn legend(summary: &Summary) -> String {
    let baseline = esc(summary.run.baseline.as_deref().unwrap_or_default());
    let swatch = |class: &str, text: &str| format!("<li><span class=\"heat {class}\"></span>{text}</li>");
    format!(
        "<ul class=\"legend\"><li class=\"of\">against {baseline}:</li>{}{}{}{}{}</ul>\n",
        swatch("w4", "worse, 1.5 times or more"),
        swatch("w2", "worse"),
        swatch("same", "no difference seen"),
        swatch("b2", "better"),
        swatch("b4", "better, 1.5 times or more"),
    )
}

/// Paths as rows, workloads and their points as columns.
fn lists(summary: &Summary) -> String {
    let workloads: Vec<&WorkloadSummary> =
        summary.workloads.iter().filter(|workload| workload.main_figure().is_some()).collect();
    let columns: usize = workloads.iter().map(|workload| workload.points().len()).sum();
    if columns <= MOST_COLUMNS {
        return list(summary, &workloads, "The main figure of every workload by path", true);
    }
    // Those without points of their own go together.
    let (single, swept): (Vec<_>, Vec<_>) = workloads.into_iter().partition(|workload| workload.points().len() == 1);
    let mut out = "<div class=\"maps\">\n".to_owned();
    // What the paths are is said once.
    let mut first = true;
    for group in single.chunks(MOST_COLUMNS) {
        out.push_str(&list(summary, group, "The main figure of every workload without a sweep", first));
        first = false;
    }
    for workload in swept {
        out.push_str(&list(summary, &[workload], &format!("{} by point", workload.name), first));
        first = false;
    }
    out.push_str("</div>\n");
    out
}

fn list(summary: &Summary, workloads: &[&WorkloadSummary], caption: &str, ways: bool) -> String {
    let mut tops = "<tr><th scope=\"col\" rowspan=\"2\">Path</th>".to_owned();
    let mut points = "<tr>".to_owned();
    let mut shown: Vec<(&WorkloadSummary, Vec<&str>, grid::Column)> = Vec::new();
    for workload in workloads {
        let labels = thinned(workload.points());
        let Some(column) = grid::columns(workload).into_iter().next() else {
            continue;
        };
        tops.push_str(&format!(
            "<th scope=\"colgroup\" colspan=\"{}\">{}<small>{}</small></th>",
            labels.len(),
            esc(&workload.name),
            esc(&[column.label, column.scale.head()].join(" "))
        ));
        for label in &labels {
            points.push_str(&format!("<th scope=\"col\">{}</th>", esc(label)));
        }
        shown.push((workload, labels, column));
    }
    let swept = shown.iter().any(|(_, labels, _)| labels.len() > 1);
    let mut body = String::new();
    for (index, path) in summary.paths.iter().enumerate().take(MOST_ROWS) {
        let way = if ways { format!("<small>{}</small>", esc(&words::way(path))) } else { String::new() };
        body.push_str(&format!("<tr><th scope=\"row\">{}{way}</th>", esc(&path.name)));
        for (workload, labels, column) in &shown {
            for label in labels {
                body.push_str(&heat(summary, workload, find(workload, index, label), column));
            }
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

/// Where clients are as rows, where servers are as columns.
fn square(summary: &Summary, workload: &WorkloadSummary, point: &str, matrix: &Matrix) -> String {
    let Some(column) = grid::columns(workload).into_iter().next() else {
        return String::new();
    };
    let mut head = "<tr><th scope=\"col\">from \\ to</th>".to_owned();
    matrix.to.iter().for_each(|to| head.push_str(&format!("<th scope=\"col\">{}</th>", esc(to))));
    head.push_str("</tr>");
    let mut body = String::new();
    for (from, paths) in matrix.from.iter().zip(&matrix.paths) {
        body.push_str(&format!("<tr><th scope=\"row\">{}</th>", esc(from)));
        for path in paths {
            body.push_str(&heat(summary, workload, find(workload, *path, point), &column));
        }
        body.push_str("</tr>\n");
    }
    let at = if point.is_empty() { String::new() } else { format!(" {point}") };
    let unit = column.scale.head();
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let caption = format!("{}{at}: {}{unit}, {}", workload.name, column.label, matrix.title);
    table("map", &caption, &head, &body)
}

/// At most so many labels, spread evenly, the last among them.
fn thinned(labels: Vec<&str>) -> Vec<&str> {
    let n = labels.len();
    if n <= MOST_POINTS {
        return labels;
    }
    (0..MOST_POINTS).map(|i| labels[i * (n - 1) / (MOST_POINTS - 1)]).collect()
}

fn find<'a>(workload: &'a WorkloadSummary, path: usize, point: &str) -> Option<&'a CellSummary> {
    workload.cells.iter().find(|cell| cell.path_index == path && cell.point_label == point)
}

fn heat(summary: &Summary, workload: &WorkloadSummary, cell: Option<&CellSummary>, column: &grid::Column) -> String {
    let Some(cell) = cell else {
        return "<td class=\"heat none\">not measured</td>".to_owned();
    };
    if column.of(cell).is_none() {
        return "<td class=\"heat none\">no figure</td>".to_owned();
    }
    let text = esc(&column.median(cell));
    if summary.run.baseline.as_deref() == Some(cell.path.as_str()) {
        return format!("<td class=\"heat base\">{text}<small>baseline</small></td>");
    }
    let Some(ratio) = grid::comparison(workload, cell) else {
        return format!("<td class=\"heat\">{text}</td>");
    };
    let more_is_good = column.name.ends_with("_per_s");
    let goodness = if more_is_good { ratio.median } else { 1.0 / ratio.median };
    let outcome = ratio.verdict.as_ref().map(|verdict| verdict.outcome);
    let class = match outcome {
        Some(Outcome::Same) => "same".to_owned(),
        Some(Outcome::Generator) => "doubt".to_owned(),
        // Without a verdict (one round) the figures speak for themselves.
        _ => format!("{}{}", if goodness < 1.0 { 'w' } else { 'b' }, strength(goodness)),
    };
    format!("<td class=\"heat {class}\">{text}<small>×{}</small></td>", scale::ratio(ratio.median))
}

/// How strong the colour is: 1 to 4.
fn strength(goodness: f64) -> usize {
    let factor = goodness.max(1.0 / goodness);
    STEPS.iter().filter(|step| factor >= **step).count().max(1)
}
