//! The cost of proxies: the ways of the paths, the waterfall, and CPU and memory over the load.

use hopbench_analysis::{CurveSummary, Summary, WaterfallSummary, WorkloadSummary};

use super::block::{self, Text};
use super::out::{Out, paragraph};
use crate::campaign::page_text;
use crate::campaign::waterfall_table::{Texts, shares};
use crate::text::wrap::plain;

/// More than this of one workload are counted, not printed; the other formats have them.
const MOST_WATERFALLS: usize = 30;
/// More than this of one workload are counted, not printed.
const MOST_CURVES: usize = 24;

/// What is at the ends of each path and between them, where that is more than a client and a
/// server.
pub(super) fn ways(out: &mut Out, summary: &Summary) {
    if !summary.paths.iter().any(|path| path.variant.is_some() || path.clients > 1 || path.backends > 1) {
        return;
    }
    out.push_str("\npaths\n");
    for path in &summary.paths {
        let proxies = path.proxies.as_ref().map_or(String::new(), |proxies| format!(" ({proxies})"));
        let ends = page_text::ends(path).join(" to ");
        paragraph(out, &format!("- {}: {ends}, {}{proxies}", path.name, path.way), "  ");
    }
}

/// What each proxy of the workload's paths adds and spends.
pub(super) fn one(out: &mut Out, summary: &Summary, workload: &WorkloadSummary) {
    let own = |waterfall: &&WaterfallSummary| waterfall.workload == workload.name;
    let waterfalls: Vec<&WaterfallSummary> = summary.waterfall.iter().filter(own).collect();
    for waterfall in waterfalls.iter().take(MOST_WATERFALLS) {
        self::waterfall(out, waterfall);
    }
    more(out, waterfalls.len().saturating_sub(MOST_WATERFALLS));
    let own = |curve: &&CurveSummary| curve.workload == workload.name;
    let curves: Vec<&CurveSummary> = summary.proxy_curves.iter().filter(own).collect();
    if !curves.is_empty() {
        out.push_str("\n  what each proxy spends as the load grows\n");
    }
    for curve in curves.iter().take(MOST_CURVES) {
        paragraph(out, &format!("- {}, {}", curve.path, curve.text), "  ");
    }
    more(out, curves.len().saturating_sub(MOST_CURVES));
}

fn waterfall(out: &mut Out, waterfall: &WaterfallSummary) {
    out.push_str("\n");
    let name = waterfall.name().replace('→', "to");
    paragraph(out, &format!("what each hop adds, {name}"), "  ");
    let texts = Texts::of(waterfall);
    let labels = texts.rows.iter().map(|row| plain(&row.label)).collect();
    let column = |(index, head): (usize, &[String; 2])| {
        let values = texts.rows.iter().map(|row| row.values[index].clone()).collect();
        Text::new([&head[0], &head[1]], true, values)
    };
    let figures: Vec<Text> = texts.heads.iter().enumerate().map(column).collect();
    let mut block = Out::new(out.width);
    block::write(&mut block, &[Text::new(["", ""], false, labels)], &figures);
    out.push_str(block.text.trim_start_matches('\n'));
    for row in texts.rows.iter().filter(|row| !row.note.is_empty()) {
        paragraph(out, &format!("! {}: {}", row.label, row.note), "  ");
    }
    if !waterfall.note.is_empty() {
        paragraph(out, &format!("! {}", waterfall.note), "  ");
    }
    if let Some(text) = shares(waterfall) {
        paragraph(out, &text, "  ");
    }
}

fn more(out: &mut Out, count: usize) {
    if count > 0 {
        paragraph(out, &format!("{count} more: see --format json"), "  ");
    }
}
