//! The cost of proxies in Markdown: the ways of the paths, the waterfall, and CPU and memory over
//! the load.

use hopbench_analysis::{Summary, WaterfallSummary, WorkloadSummary};

use crate::campaign::page_text;
use crate::campaign::waterfall_table::{Texts, shares};
use crate::text::markdown::{row, safe};

/// What is at the ends of each path and between them, where that is more than a client and a
/// server.
pub(super) fn ways(out: &mut String, summary: &Summary) {
    if !summary.paths.iter().any(|path| path.variant.is_some() || path.clients > 1 || path.backends > 1) {
        return;
    }
    out.push_str("\n## Paths\n\n");
    row(out, &["path", "from", "to", "way", "proxies"].map(str::to_owned));
    out.push_str("| :-- | :-- | :-- | :-- | :-- |\n");
    for path in &summary.paths {
        let proxies = path.proxies.as_deref().unwrap_or_default();
        let [from, to] = page_text::ends(path);
        row(out, &[&path.name, &from, &to, &path.way, proxies].map(safe));
    }
}

/// What each proxy of the workload's paths adds and spends.
pub(super) fn one(out: &mut String, summary: &Summary, workload: &WorkloadSummary) {
    summary.waterfall.iter().filter(|one| one.workload == workload.name).for_each(|one| waterfall(out, one));
    let mut curves = summary.proxy_curves.iter().filter(|curve| curve.workload == workload.name).peekable();
    if curves.peek().is_some() {
        out.push_str("\nWhat each proxy spends as the load grows:\n\n");
    }
    curves.for_each(|curve| out.push_str(&format!("- {}, {}\n", safe(&curve.path), safe(&curve.text))));
}

fn waterfall(out: &mut String, waterfall: &WaterfallSummary) {
    out.push_str(&format!("\nWhat each hop adds, {}:\n\n", safe(&waterfall.name().replace('→', "to"))));
    let texts = Texts::of(waterfall);
    let head = |[label, unit]: &[String; 2]| if unit.is_empty() { label.clone() } else { format!("{label}, {unit}") };
    row(out, &[String::new()].into_iter().chain(texts.heads.iter().map(head)).collect::<Vec<_>>());
    out.push_str(&format!("| :-- |{}\n", " --: |".repeat(texts.heads.len())));
    for step in &texts.rows {
        let note = if step.note.is_empty() { String::new() } else { format!(" ({})", safe(&step.note)) };
        let label = format!("{}{note}", safe(&step.label));
        row(out, &[label].into_iter().chain(step.values.iter().cloned()).collect::<Vec<_>>());
    }
    if !waterfall.note.is_empty() {
        out.push_str(&format!("\n! {}\n", safe(&waterfall.note)));
    }
    if let Some(text) = shares(waterfall) {
        out.push_str(&format!("\n{}\n", safe(&text)));
    }
}
