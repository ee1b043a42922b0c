//! The figures of `make bench-verdicts` as markdown.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hopbench_stats::{share_interval, summary};

use super::effect::{Effect, PRACTICE};
use super::measured::EffectRuns;
use super::quickstart::Quickstart;

/// What was measured so far.
#[derive(Debug)]
pub(super) struct VerdictResults {
    /// The last column of what is measured now: when, how often, where.
    pub(super) measured: String,
    pub(super) busy: bool,
    pub(super) scale: f64,
    /// The effects, and their runs where they were measured.
    pub(super) effects: Vec<(Effect, Option<EffectRuns>)>,
    pub(super) quickstart: Vec<(Duration, Option<Quickstart>)>,
}

/// Runs of manual practice of one comparison: three a path.
const PRACTICE_RUNS: f64 = 6.0;

/// What a text of a try begins with.
const TRY: &str = "A try with shorter budgets: **these figures mean nothing**.";

/// The rows that stay of `file`. A try keeps none, and takes no file that has others.
///
/// # Errors
/// When the file cannot be read, or is not to be overwritten.
pub(super) fn kept(file: Option<&Path>, is_whole: bool) -> Result<String> {
    let Some(file) = file else { return Ok(String::new()) };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let is_try = text.is_empty() || text.starts_with(TRY);
    ensure!(
        is_whole || is_try,
        "--markdown: found {} with rows of whole budgets, expected another file for a try",
        file.display()
    );
    Ok(if is_try { String::new() } else { text })
}

/// The whole text between the marks of a page. Rows that are not measured now stay as they are in
/// `earlier`, the text before.
pub(super) fn markdown(report: &VerdictResults, earlier: &str) -> String {
    let mut out = String::new();
    if report.scale < 1.0 {
        out.push_str(&format!("{TRY}\n\n"));
    }
    out.push_str(
        "| figure | effect | CPUs | budget | decided | 9 of 10 by | wrong | by hand \
         | ours / by hand | measured |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for busy in [false, true] {
        for (effect, runs) in &report.effects {
            let head = format!("| {} | {} % | {} |", effect.what(), effect.percent, state(busy));
            let runs = runs.as_ref().filter(|_| busy == report.busy);
            let cells = runs.map(|runs| effect_cells(report, effect, runs));
            // Beside a busy process, only false alarms are asked for.
            let wanted = !busy || effect.percent == 0;
            out.push_str(&row(&head, report, cells, earlier, wanted.then_some(6)));
        }
    }
    out.push_str(
        "\n| quickstart | CPUs | comparisons decided \
         | sidecars, server-sidecar and overlay told, web and latency | measured |\n\
         |---|---|---|---|---|\n",
    );
    for busy in [false, true] {
        for (budget, runs) in &report.quickstart {
            let seconds = budget.as_secs_f64() * report.scale;
            let head = format!("| {seconds:.0} s | {} |", state(busy));
            let runs = runs.as_ref().filter(|_| busy == report.busy);
            out.push_str(&row(
                &head,
                report,
                runs.map(quickstart_cells),
                earlier,
                (!busy).then_some(2),
            ));
        }
    }
    out
}

fn state(busy: bool) -> &'static str {
    if busy { "one busy" } else { "idle" }
}

/// A line that begins with `head`: as measured now, or as it was, or with so many `empty` cells.
fn row(
    head: &str,
    report: &VerdictResults,
    cells: Option<String>,
    earlier: &str,
    empty: Option<usize>,
) -> String {
    if let Some(cells) = cells {
        return format!("{head} {cells} | {} |\n", report.measured);
    }
    if let Some(line) = earlier.lines().find(|line| line.starts_with(head)) {
        return format!("{line}\n");
    }
    empty.map_or_else(String::new, |cells| format!("{head} not run{} |\n", " |".repeat(cells)))
}

fn effect_cells(report: &VerdictResults, effect: &Effect, measured: &EffectRuns) -> String {
    let practice_s = PRACTICE.as_secs_f64() * PRACTICE_RUNS * report.scale;
    let runs = measured.runs.len();
    let time_s = measured.time_s();
    let time = time_s.map_or_else(|| "not reached".to_owned(), |at_s| format!("{at_s:.1} s"));
    let against = match (time_s, measured.practice_decides()) {
        (Some(at_s), Some(true)) if effect.percent > 0 => format!("{:.3}", at_s / practice_s),
        (Some(_), Some(false)) if effect.percent > 0 => {
            format!("not decided by hand in {practice_s:.0} s")
        }
        _ => "-".to_owned(),
    };
    let by_hand = match measured.practice.len() {
        0 => "not tried".to_owned(),
        tests => share(measured.practice_called(), tests),
    };
    let seen = measured.seen().map_or_else(String::new, |ratio| {
        format!(", of {:+.1} % as all runs saw it", 100.0 * (ratio - 1.0))
    });
    format!(
        "{:.0} s | {}{seen} | {time} | {} | {by_hand} | {against}",
        effect.budget.as_secs_f64() * report.scale,
        share(measured.decided(), runs),
        share(measured.wrong(), runs)
    )
}

fn quickstart_cells(quickstart: &Quickstart) -> String {
    let runs = &quickstart.comparisons;
    let told = share(quickstart.told, runs.len());
    let all = runs.iter().map(|(judged, _)| *judged).max().unwrap_or(0);
    let decided: Vec<f64> = runs.iter().map(|(_, decided)| *decided as f64).collect();
    let [low, high] = [f64::min, f64::max].map(|of| decided.iter().copied().reduce(of));
    match (low, summary::median(&decided), high) {
        (Some(low), Some(median), Some(high)) if low < high => {
            format!("{low} to {high} of {all}, median {median} | {told}")
        }
        _ => format!("{} of {all} | {told}", low.unwrap_or(0.0)),
    }
}

/// `18 of 20 [70, 97] %`.
fn share(hits: usize, of: usize) -> String {
    let interval = share_interval(hits, of).map_or_else(String::new, |interval| {
        format!(" [{:.0}, {:.0}] %", 100.0 * interval.low, 100.0 * interval.high)
    });
    format!("{hits} of {of}{interval}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::effect::effects;

    fn results(busy: bool, runs: usize) -> VerdictResults {
        let quickstart = Quickstart { comparisons: vec![(24, 23); runs], told: runs };
        VerdictResults {
            measured: format!("{runs} runs"),
            busy,
            scale: 1.0,
            effects: effects().map(|effect| (effect, None)).collect(),
            quickstart: vec![(Duration::from_secs(150), (runs > 0).then_some(quickstart))],
        }
    }

    #[test]
    fn shares_have_intervals_and_rows_that_were_not_run_say_so() {
        assert_eq!(share(18, 20), "18 of 20 [70, 97] %");
        assert_eq!(share(0, 0), "0 of 0");
        let scattered =
            Quickstart { comparisons: vec![(24, 14), (24, 22), (24, 18), (24, 19)], told: 3 };
        assert_eq!(quickstart_cells(&scattered), "14 to 22 of 24, median 18.5 | 3 of 4 [30, 95] %");
        let text = markdown(&results(false, 0), "");
        assert!(text.contains("\n| rr p50 | 2 % | idle | not run | | | | | | |\n"), "{text}");
        assert!(text.contains("\n| rr p50 | 0 % | one busy | not run"), "{text}");
        assert!(!text.contains("| rr p50 | 2 % | one busy |"), "{text}");
        assert!(text.ends_with("\n| 150 s | idle | not run | | |\n"), "{text}");
    }

    #[test]
    fn a_try_neither_keeps_rows_nor_overwrites_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("verdicts.md");
        for is_whole in [false, true] {
            assert_eq!(kept(None, is_whole).unwrap(), "");
            assert_eq!(kept(Some(&file), is_whole).unwrap(), "", "no file yet");
            assert!(kept(Some(folder.path()), is_whole).is_err(), "a folder");
        }
        let write = |scale| {
            let text = markdown(&VerdictResults { scale, ..results(false, 1) }, "");
            std::fs::write(&file, &text).unwrap();
            text
        };
        write(0.5);
        assert_eq!(
            (kept(Some(&file), true).unwrap(), kept(Some(&file), false).unwrap()),
            Default::default()
        );
        let whole = write(1.0);
        assert_eq!(kept(Some(&file), true).unwrap(), whole);
        assert!(
            kept(Some(&file), false).unwrap_err().to_string().contains("expected another file")
        );
    }

    #[test]
    fn what_is_not_measured_now_stays_as_it_was() {
        let first = markdown(&results(false, 1), "");
        let line = "| 150 s | idle | 23 of 24 | 1 of 1 [21, 100] % | 1 runs |";
        assert!(first.ends_with(&format!("\n{line}\n")), "{first}");
        // Nothing new, then the same beside a busy process, then again.
        assert_eq!(markdown(&results(false, 0), &first), first);
        let busy = markdown(&results(true, 1), &first);
        assert_eq!(busy, format!("{first}{}\n", line.replace("idle", "one busy")));
        let again = markdown(&results(false, 2), &busy);
        assert!(!again.contains(line) && again.contains("one busy | 23 of 24 |"), "{again}");
    }
}
