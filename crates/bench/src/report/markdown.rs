//! The table for docs/benchmarks.md.

use std::fmt::Write;

use super::cell;
use super::measured::SessionResults;
use crate::bench::target::nginx;
use crate::peer::http::k6;

/// A section that stands on its own: machine, table, versions, commands.
pub(crate) fn markdown(report: &SessionResults) -> String {
    let mut text = summary(report);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n<details><summary>Commands</summary>\n");
    for row in report.rows.iter().filter(|row| !row.commands.is_empty()) {
        let (name, what, commands) = (&row.name, &row.what, row.commands.join("\n"));
        let _ = writeln!(text, "`{name}`: {what}\n\n```\n{commands}\n```\n{}\n", row.note);
    }
    let nginx = [("nginx.conf", nginx::configuration())];
    for (name, file) in nginx.into_iter().chain(k6::scripts()) {
        let _ = writeln!(text, "{name}:\n\n```\n{file}```\n");
    }
    let _ = writeln!(text, "</details>");
    text
}

/// The part of it that a page quotes: machine, versions, table, and what was not measured.
pub(crate) fn summary(report: &SessionResults) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Measured on {}. {} pairs of {} s runs, up to {} while a row is not decided. Ours and the \
         peer run in turn. A ratio is ours divided by the peer's: median (min - max) of the pairs, \
         with the interval of the median. {}. Versions: {}.\n",
        report.machine,
        report.pairs,
        report.run_s,
        report.most_pairs,
        report.score(),
        report.versions(),
    );
    let _ = writeln!(text, "| row | {} |", cell::HEADINGS.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(cell::HEADINGS.len()));
    for (title, cells) in cell::lines(report, |row| &row.what) {
        let _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
    }
    let mut notes: Vec<String> = report
        .broken()
        .map(|(name, why)| format!("- `{name}` failed: {}", why.replace('\n', " ")))
        .collect();
    notes.extend(
        report
            .skipped()
            .iter()
            .map(|(why, rows)| format!("- Not run: {why}: `{}`.", rows.join("`, `"))),
    );
    if !notes.is_empty() {
        let _ = writeln!(text, "\n{}", notes.join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_line_of_the_table_has_the_same_columns() {
        let text = markdown(&sample());
        let columns: Vec<usize> =
            text.lines().filter(|l| l.starts_with('|')).map(|l| l.matches('|').count()).collect();
        assert_eq!(columns, [10, 10, 10], "{text}");
        assert!(
            text.contains("Test CPU")
                && text.contains("- Not run: qperf was not found: `rr-qperf`."),
            "{text}"
        );
    }
}
