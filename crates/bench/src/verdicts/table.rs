//! The figures of `make bench-verdicts` as markdown.

use std::time::Duration;

use hopbench_stats::share_interval;

use super::effect::{Effect, PRACTICE};
use super::measured::EffectRuns;
use super::quickstart::Quickstart;
use crate::lab::machine::Machine;

/// What was measured so far.
#[derive(Debug)]
pub(super) struct VerdictResults {
    pub(super) machine: Machine,
    pub(super) runs: u32,
    pub(super) busy: bool,
    pub(super) scale: f64,
    /// The effects, and their runs where they were measured.
    pub(super) effects: Vec<(Effect, Option<EffectRuns>)>,
    pub(super) quickstart: Vec<(Duration, Option<Quickstart>)>,
}

/// Runs of manual practice of one comparison: three a path.
const PRACTICE_RUNS: f64 = 6.0;

/// The whole text between the marks of a page.
pub(super) fn markdown(report: &VerdictResults) -> String {
    let mut out = format!(
        "Measured on {}. {} runs of each effect{}.\n",
        report.machine,
        report.runs,
        if report.busy { ", beside a process that kept a CPU busy" } else { "" }
    );
    if report.scale < 1.0 {
        out.push_str("A try with shorter budgets: **these figures mean nothing**.\n");
    }
    out.push_str("\n| figure | effect | budget | decided | 9 of 10 by | wrong | by hand | ours / by hand |\n");
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    let practice_s = PRACTICE.as_secs_f64() * PRACTICE_RUNS * report.scale;
    for (effect, measured) in &report.effects {
        out.push_str(&row(effect, report.scale, practice_s, measured.as_ref()));
    }
    out.push_str("\n| quickstart | comparisons decided | sidecars, server-sidecar and overlay told, web and latency |\n|---|---|---|\n");
    for (budget, quickstart) in &report.quickstart {
        let seconds = budget.as_secs_f64() * report.scale;
        out.push_str(&format!("| {seconds:.0} s | {} |\n", quickstart_row(quickstart.as_ref())));
    }
    out
}

fn row(effect: &Effect, scale: f64, practice_s: f64, measured: Option<&EffectRuns>) -> String {
    let head = format!(
        "| {} | {} % | {:.0} s |",
        effect.what(),
        effect.percent,
        effect.budget.as_secs_f64() * scale
    );
    let Some(measured) = measured else {
        return format!("{head} not run | | | | |\n");
    };
    let runs = measured.runs.len();
    let time_s = measured.time_s();
    let time = time_s.map_or_else(|| "not reached".to_owned(), |at_s| format!("{at_s:.1} s"));
    let against = match time_s {
        Some(at_s) if effect.percent > 0 && measured.practice_decides() => {
            format!("{:.3}", at_s / practice_s)
        }
        Some(_) if effect.percent > 0 => format!("not decided by hand in {practice_s:.0} s"),
        _ => "-".to_owned(),
    };
    format!(
        "{head} {} | {time} | {} | {} | {against} |\n",
        share(measured.decided(), runs),
        share(measured.wrong(), runs),
        share(measured.practice_called(), measured.practice.len())
    )
}

fn quickstart_row(quickstart: Option<&Quickstart>) -> String {
    let Some(quickstart) = quickstart else { return "not run |".to_owned() };
    let each = quickstart.comparisons.iter();
    let each: Vec<String> =
        each.map(|(judged, decided)| format!("{decided} of {judged}")).collect();
    format!("{} | {}", each.join(", "), share(quickstart.told, quickstart.comparisons.len()))
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

    #[test]
    fn shares_have_intervals_and_rows_that_were_not_run_say_so() {
        assert_eq!(share(18, 20), "18 of 20 [70, 97] %");
        assert_eq!(share(0, 0), "0 of 0");
        let text = row(&effects().nth(1).unwrap(), 1.0, 60.0, None);
        assert_eq!(text, "| rr p50 | 2 % | 300 s | not run | | | | |\n");
        assert_eq!(quickstart_row(None), "not run |");
    }
}
