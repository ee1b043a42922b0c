//! The answer at the top of the page: each path beside the baseline, costs, limits and notes.

use hopbench_analysis::Summary;

use super::markup::{esc, heading, table};
use super::sections;
use crate::campaign::answer::{Answer, Cell, Row, Table, Value};

/// Rows of one table; more are counted.
const MOST_ROWS: usize = 60;
/// Notes; more are counted.
const MOST_NOTES: usize = 12;

/// The first section.
pub(super) fn section(summary: &Summary) -> String {
    let answer = Answer::of(summary);
    let mut out = format!("<section id=\"answer\">\n{}", heading(2, "answer", "Answer"));
    let head = answer.head.parts.iter().chain([&answer.head.place]).map(|part| esc(part));
    out.push_str(&format!("<p class=\"note\">{}</p>\n", head.collect::<Vec<_>>().join(" · ")));
    out.push_str(&sections::missing(summary));
    answer.tables.iter().for_each(|one| out.push_str(&self::one(one)));
    if !answer.legend.is_empty() {
        let items: String = answer.legend.iter().map(|part| format!("<li>{}</li>", esc(part))).collect();
        out.push_str(&format!("<ul class=\"legend\">{items}</ul>\n"));
    }
    let mut facts: String =
        answer.facts.iter().map(|fact| format!("<dt>{}</dt><dd>{}</dd>", fact.label, esc(&fact.text))).collect();
    // Those of the run as a whole stand below.
    let notes: Vec<&String> = answer.notes.iter().filter(|note| !is_of_run(summary, note)).collect();
    let mut items: String = notes.iter().take(MOST_NOTES).map(|note| format!("<li>{}</li>", esc(note))).collect();
    if notes.len() > MOST_NOTES {
        items.push_str(&format!("<li>{} more</li>", notes.len() - MOST_NOTES));
    }
    if !items.is_empty() {
        facts.push_str(&format!("<dt>notes</dt><dd><ul class=\"plain\">{items}</ul></dd>"));
    }
    if !facts.is_empty() {
        out.push_str(&format!("<dl class=\"answer\">{facts}</dl>\n"));
    }
    out.push_str(&sections::notes(summary));
    out.push_str("</section>\n");
    out
}

fn is_of_run(summary: &Summary, note: &str) -> bool {
    summary.run.notes.iter().any(|own| own.trim_end().trim_end_matches('.') == note)
}

fn one(answer: &Table) -> String {
    let mut head = "<tr><th scope=\"col\"></th>".to_owned();
    for column in &answer.columns {
        let below: String = column.heads[1..]
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| format!("<small>{}</small>", esc(text)))
            .collect();
        head.push_str(&format!("<th scope=\"col\" class=\"n\">{}{below}</th>", esc(&column.heads[0])));
    }
    head.push_str("</tr>");
    let (rows, left_out) = answer.worst(MOST_ROWS);
    let row = |Row { name, cells, .. }: &Row| {
        format!("<tr><th scope=\"row\">{}</th>{}</tr>\n", esc(name), cells.iter().map(cell).collect::<String>())
    };
    let body: String = rows.into_iter().map(row).collect();
    let caption = if answer.title.is_empty() { "Each path beside the baseline" } else { &answer.title };
    let more = match left_out {
        0 => String::new(),
        count => format!("<p class=\"note\">{count} more rows, no worse than these.</p>\n"),
    };
    format!("{}{more}", table("cells answer", caption, &head, &body))
}

/// An arrow has the direction of the number. Colour and a word say whether that is better: a colour
/// is never the only difference.
fn cell(cell: &Cell) -> String {
    let (class, arrow, word) = match cell.value {
        Value::Effect { is_higher, is_better, .. } => {
            let arrow = if is_higher { "▲ " } else { "▼ " };
            let (class, word) = if is_better { (" better", "better") } else { (" worse", "worse") };
            (class, arrow, format!("<small>{word}</small>"))
        }
        Value::Failed | Value::Unproved => (" worse", "", String::new()),
        Value::Same | Value::NotDecided | Value::Absent => (" quiet", "", String::new()),
        Value::Figure(_) => ("", "", String::new()),
    };
    format!("<td class=\"n{class}\">{arrow}{}{}{word}</td>", esc(cell.value.text()), cell.mark())
}
