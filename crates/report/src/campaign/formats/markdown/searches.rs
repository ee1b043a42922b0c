//! The searches in Markdown: their results, the figures there, and every trial.

use hopbench_analysis::{SearchSummary, Summary};

use crate::campaign::search_table::{
    Head, Text, Texts, equal_figures, equal_label, equal_paths, remarks, trace_heads, trace_row,
};
use crate::text::markdown::{row, safe};

/// Every search; nothing where the run has none.
pub(super) fn all(out: &mut String, summary: &Summary) {
    if summary.searches.is_empty() {
        return;
    }
    out.push_str("\n## Searches\n");
    summary.searches.iter().for_each(|search| one(out, search));
}

fn one(out: &mut String, search: &SearchSummary) {
    out.push_str(&format!(
        "\n### {} ({})\n\nSearched: {}.\n\n",
        safe(&search.name()),
        search.goal,
        safe(&search.asked)
    ));
    if search.paths.is_empty() {
        return;
    }
    let texts = Texts::of(search);
    let head = |Head { label, unit, .. }: &Head| {
        safe(&if unit.is_empty() { label.clone() } else { format!("{label}, {unit}") })
    };
    row(out, &["path".to_owned()].into_iter().chain(texts.heads.iter().map(head)).collect::<Vec<_>>());
    let aligned: Vec<&str> = texts.heads.iter().map(|head| if head.words { ":--" } else { "--:" }).collect();
    out.push_str(&format!("| :-- | {} |\n", aligned.join(" | ")));
    for path in &texts.rows {
        // The words of a comparison are ours, as are the brackets in them.
        let value = |text: &Text| if text.standing.is_some() { text.value.clone() } else { safe(&text.value) };
        let values = path.values.iter().map(|text| format!("{}{}", value(text), text.ends));
        row(out, &[safe(&path.label)].into_iter().chain(values).collect::<Vec<_>>());
    }
    let said: Vec<String> = remarks(search);
    if !said.is_empty() {
        out.push('\n');
        said.iter().for_each(|text| out.push_str(&format!("- {}\n", safe(text))));
    }
    equal_load(out, search);
    traces(out, search);
}

fn equal_load(out: &mut String, search: &SearchSummary) {
    if search.equal_load.is_empty() {
        return;
    }
    let paths = equal_paths(search);
    out.push_str("\nEvery path at the loads that were found:\n\n");
    row(out, &[String::new()].into_iter().chain(paths.iter().map(|path| safe(path))).collect::<Vec<_>>());
    out.push_str(&format!("| :-- |{}\n", " :-- |".repeat(paths.len())));
    for load in &search.equal_load {
        let figures = |path: &&str| {
            let own = load.paths.iter().find(|own| own.path == **path);
            own.map(|own| safe(&equal_figures(search, own).join(", "))).unwrap_or_default()
        };
        let label = safe(&equal_label(search, load));
        row(out, &[label].into_iter().chain(paths.iter().map(figures)).collect::<Vec<_>>());
    }
}

fn traces(out: &mut String, search: &SearchSummary) {
    for path in search.paths.iter().filter(|path| !path.trace.is_empty()) {
        let trials = crate::number::counted(path.trace.len() as u64, "trial", "trials");
        let name = safe(&path.path);
        out.push_str(&format!("\n<details><summary>{name}: {trials}</summary>\n\n"));
        row(out, &trace_heads(search).map(|head| safe(&head)));
        out.push_str("| --: | --: | --: | :-- | :-- |\n");
        path.trace.iter().for_each(|step| row(out, &trace_row(search, step).map(|text| safe(&text))));
        out.push_str("\n</details>\n");
    }
}
