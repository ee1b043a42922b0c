//! The searches on the page: their results, and their trials as a plot and as folded tables.

use hopbench_analysis::{LoadComparison, SearchSummary, Standing, Summary};

use super::markup::{esc, folded, heading, id, table};
use crate::campaign::plot::{Chart, searches::spoken};
use crate::campaign::search_lines::{FoundLine, lines};
use crate::campaign::search_table::{
    Head, Text, Texts, equal_figures, equal_label, equal_paths, remarks, trace_heads, trace_row,
};

/// More trials than this of one path are left to the other formats.
const MOST_STEPS: usize = 500;

/// Every search; nothing where the run has none.
pub(super) fn section(summary: &Summary, charts: &[Option<Chart>]) -> String {
    if summary.searches.is_empty() {
        return String::new();
    }
    let pairs = summary.searches.iter().zip(charts).enumerate();
    let all: String = pairs.map(|(number, (search, chart))| one(number, search, chart.as_ref())).collect();
    format!(
        "<section id=\"searches\">\n{}<p class=\"note\">Each load stands with the ends of what \
         it lies between; the figures beside it are those of the trials at that load. Rates are compared with the \
         baseline's by the results of three searches or more, levels by whether what is known of the two overlaps.</p>\n{all}</section>\n",
        heading(2, "searches", "Searches")
    )
}

/// What a search found, a line a path.
pub(super) fn card(number: usize, search: &SearchSummary) -> String {
    let item = |line: &FoundLine<'_>| {
        let chip = |found: &LoadComparison| {
            let said = Text { value: found.text.clone(), standing: Some(found.standing), ..Text::default() };
            format!(" {}", verdict(&said, search.goal == "knee"))
        };
        let text = match line.is_doubtful {
            true => format!("<span class=\"verdict doubt\">{}</span>", esc(&line.text)),
            false => esc(&line.text),
        };
        let compared = line.comparison.map(chip).unwrap_or_default();
        format!("<li><strong>{}</strong> {text}{compared}</li>", esc(&line.path))
    };
    format!(
        "<li><h3><a href=\"#{}\">{}</a> <span class=\"kind\">search, {} over {}</span></h3><p>{}.</p><ul class=\"findings\">{}\
         </ul></li>\n",
        id("search", number),
        esc(&search.name()),
        search.goal,
        search.parameter,
        esc(&search.asked),
        lines(search).iter().map(item).collect::<String>()
    )
}

fn one(number: usize, search: &SearchSummary, chart: Option<&Chart>) -> String {
    let own = id("search", number);
    let (name, kind) = (esc(&search.name()), esc(&search.kind));
    let title = format!("{name} <span class=\"kind\">{kind}, {} over {}</span>", search.goal, search.parameter);
    let mut out = format!(
        "<div class=\"search\" id=\"{own}\">\n{}<p class=\"note\">Searched: {}.</p>\n",
        heading(3, &own, &title),
        esc(&search.asked)
    );
    out.push_str(&chart.map(figure).unwrap_or_default());
    let said: String = remarks(search).iter().map(|text| format!("<li>{}</li>\n", esc(text))).collect();
    if !said.is_empty() {
        out.push_str(&format!("<ul class=\"plain\">\n{said}</ul>\n"));
    }
    if !search.paths.is_empty() {
        out.push_str(&folded(&format!("{own}-found"), "What was found", &found(search)));
    }
    if !search.equal_load.is_empty() {
        out.push_str(&folded(&format!("{own}-equal"), "Every path at the loads that were found", &equal_load(search)));
    }
    out.push_str(&traces(&own, search));
    out.push_str("</div>\n");
    out
}

fn figure(chart: &Chart) -> String {
    let spoken = esc(&spoken(chart));
    let note =
        if chart.left_out.is_empty() { String::new() } else { format!(" <small>{}</small>", esc(&chart.left_out)) };
    format!(
        "<div class=\"plots\"><figure><figcaption>{}{note}</figcaption><div class=\"canvas line\" data-bars=\"0\">\
         <canvas id=\"{}\" role=\"img\" aria-label=\"{spoken}\">{spoken}</canvas></div></figure></div>\n",
        esc(&chart.title),
        chart.id
    )
}

fn found(search: &SearchSummary) -> String {
    let texts = Texts::of(search);
    let mut head = "<tr><th scope=\"col\">Path</th>".to_owned();
    for Head { label, unit, words } in &texts.heads {
        let unit = if unit.is_empty() { String::new() } else { format!("<small>{}</small>", esc(unit)) };
        let class = if *words { "" } else { " class=\"n\"" };
        head.push_str(&format!("<th scope=\"col\"{class}>{}{unit}</th>", esc(label)));
    }
    head.push_str("</tr>");
    let mut body = String::new();
    for row in &texts.rows {
        body.push_str(&format!("<tr><th scope=\"row\">{}</th>", esc(&row.label)));
        for (index, (Head { words, .. }, text)) in texts.heads.iter().zip(&row.values).enumerate() {
            // More connections until throughput stops growing are neither better nor worse; all else is better higher.
            let neutral = search.goal == "knee" && index <= 2;
            let ends = text.ends.trim_start();
            let ends = if ends.is_empty() { String::new() } else { format!("<small>{}</small>", esc(ends)) };
            body.push_str(&match words {
                true => format!("<td>{}</td>", verdict(text, neutral)),
                false => format!("<td class=\"n\">{}{ends}</td>", esc(&text.value)),
            });
        }
        body.push_str("</tr>\n");
    }
    table("cells", &format!("{}: what was found", search.name()), &head, &body)
}

fn verdict(text: &Text, neutral: bool) -> String {
    let (class, sign) = match text.standing {
        None => return String::new(),
        Some(Standing::Higher) if !neutral => ("better", "▲ "),
        Some(Standing::Lower) if !neutral => ("worse", "▼ "),
        Some(Standing::Withheld) => ("doubt", ""),
        Some(_) => ("same", ""),
    };
    format!("<span class=\"verdict {class}\">{sign}{}</span>", esc(&text.value))
}

fn equal_load(search: &SearchSummary) -> String {
    let paths = equal_paths(search);
    let column = |path: &&str| format!("<th scope=\"col\">{}</th>", esc(path));
    let head = format!("<tr><th scope=\"col\">Load</th>{}</tr>", paths.iter().map(column).collect::<String>());
    let mut body = String::new();
    for load in &search.equal_load {
        let cell = |path: &&str| {
            let own = load.paths.iter().find(|own| own.path == **path);
            let figures = own.map(|own| equal_figures(search, own)).unwrap_or_default();
            let own = if load.found_on == **path { " class=\"own\"" } else { "" };
            let small = |text: &String| format!("<small>{}</small>", esc(text));
            match figures.split_first() {
                Some((first, rest)) => {
                    format!("<td{own}>{}{}</td>", esc(first), rest.iter().map(small).collect::<String>())
                }
                None => format!("<td{own}></td>"),
            }
        };
        body.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>{}</tr>\n",
            esc(&equal_label(search, load)),
            paths.iter().map(cell).collect::<String>()
        ));
    }
    table("cells equal", &format!("{}: every path at the loads that were found", search.name()), &head, &body)
}

fn traces(own: &str, search: &SearchSummary) -> String {
    let heads = trace_heads(search);
    let numbers = 3;
    let head = |(index, text): (usize, &String)| {
        let class = if index < numbers { " class=\"n\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", esc(text))
    };
    let head = format!("<tr>{}</tr>", heads.iter().enumerate().map(head).collect::<String>());
    let mut out = String::new();
    for (number, path) in search.paths.iter().enumerate().filter(|(_, path)| !path.trace.is_empty()) {
        let mut body = String::new();
        for step in path.trace.iter().take(MOST_STEPS) {
            let cells = trace_row(search, step);
            let cell = |(index, text): (usize, &String)| match index {
                0 => format!("<th scope=\"row\" class=\"n\">{}</th>", esc(text)),
                i if i < numbers => format!("<td class=\"n\">{}</td>", esc(text)),
                _ => format!("<td>{}</td>", esc(text)),
            };
            body.push_str(&format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>()));
        }
        let more = match path.trace.len() {
            n if n > MOST_STEPS => format!("<p class=\"note\">The first {MOST_STEPS} of {n} trials.</p>\n"),
            _ => String::new(),
        };
        let trials = crate::number::counted(path.trace.len() as u64, "trial", "trials");
        let title = format!("{}: all {trials}", esc(&path.path));
        let steps = table("cells", &format!("{} on {}: every trial", search.name(), path.path), &head, &body);
        out.push_str(&folded(&format!("{own}-trials-{number}"), &title, &format!("{steps}{more}")));
    }
    out
}
