//! The results of searches: a table a search, without its trials, and one for each load at which
//! every path was measured.

use hopbench_analysis::{SearchSummary, Summary};

use super::block::{self, Text};
use super::out::{Out, cut, paragraph};
use crate::campaign::search_lines::lines;
use crate::campaign::search_table::{Row, Texts, caveats, equal_label, equal_texts};
use crate::text::wrap::plain;

/// Every search; nothing where the run has none.
pub(super) fn all(out: &mut Out, summary: &Summary) {
    summary.searches.iter().for_each(|search| one(out, search));
}

fn one(out: &mut Out, search: &SearchSummary) {
    out.push_str("\n");
    paragraph(out, &format!("search, {} ({}): {}", search.name(), search.goal, search.asked), "");
    if search.paths.is_empty() {
        return;
    }
    lines(search).iter().for_each(|line| paragraph(out, &format!("- {}", line.text()), "  "));
    table(out, &Texts::of(search));
    let caveats = caveats(search);
    if !caveats.is_empty() {
        out.push_str("\n");
        caveats.iter().for_each(|remark| paragraph(out, &format!("- {remark}"), "  "));
    }
    for load in search.equal_load.iter().filter(|load| !load.paths.is_empty()) {
        out.push_str("\n");
        paragraph(out, &format!("every path at {}", equal_label(search, load)), "  ");
        table(out, &equal_texts(search, load));
    }
}

fn table(out: &mut Out, texts: &Texts) {
    let labels = texts.rows.iter().map(|row| cut(&row.label)).collect();
    let mut figures = Vec::new();
    for (index, head) in texts.heads.iter().enumerate() {
        // The load has the ends between which it lies; the figures there are medians.
        let value = |row: &Row| match &row.values[index] {
            text if index == 0 => format!("{}{}", text.value, text.ends),
            text => text.value.clone(),
        };
        let values = texts.rows.iter().map(value).collect();
        figures.push(Text::new([&plain(&head.label), &head.unit], !head.words, values));
    }
    block::write(out, &[Text::new(["path", ""], false, labels)], &figures);
}
