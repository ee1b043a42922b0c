//! The table for a terminal.

use std::fmt::Write;

use comfy_table::{Table, presets};

use super::cell;
use super::measured::SessionResults;

/// The table, then what did not run, and what it was measured with.
pub(crate) fn terminal(report: &SessionResults) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["row"].into_iter().chain(cell::HEADINGS));
    let mut text = String::new();
    for (title, cells) in cell::lines(report, |row| &row.name) {
        table.add_row([title].into_iter().chain(cells));
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{table}\n");
    for (name, why) in report.broken() {
        let _ = writeln!(text, "{name}: failed: {why}");
    }
    for (why, rows) in report.skipped() {
        let _ = writeln!(text, "not run: {why}: {}", rows.join(", "));
    }
    let _ = writeln!(
        text,
        "{}; {} pairs of {} s runs, up to {} while a row is not decided",
        report.score(),
        report.pairs,
        report.run_s,
        report.most_pairs
    );
    let _ = writeln!(text, "{}\n{}", report.machine, report.versions());
    for row in report.rows.iter().filter(|row| !row.commands.is_empty()) {
        let _ = writeln!(text, "\n{}: {}", row.name, row.what);
        for command in &row.commands {
            let _ = writeln!(text, "  {command}");
        }
        let _ = writeln!(text, "  {}", row.note);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn everything_the_reader_needs_is_there() {
        let text = terminal(&sample());
        for part in [
            "udp / iperf3 -u -b 0",
            "1.100 (1.100 - 1.110)",
            "1.088 - 1.119",
            ">= 1.03",
            "pass",
            "not run: qperf was not found: rr-qperf",
            "1 of 1 goals reached, 0 missed, 0 not decided; 3 pairs of 3 s runs, up to 6",
            "iperf3 3.12",
            "client$ taskset -c 0 iperf3 -u",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }
}
