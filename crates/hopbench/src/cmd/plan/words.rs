//! A plan's rounds, trials and times in words.

use hopbench_model::units::Span;
use hopbench_model::{SECOND, StopRule};

use super::estimate::{Estimate, Range};

/// `3 to 20 rounds, until throughput is known to 2 %, at most 10m`.
pub(super) fn until(rule: &StopRule, most: u32) -> String {
    let least = rule.min_rounds.min(most);
    let rounds = if least == most { counted(most.into(), "round") } else { format!("{least} to {most} rounds") };
    let budget = rule.budget_ns.map(|ns| format!(", at most {}", brief(ns))).unwrap_or_default();
    format!("{rounds}, until {} is known to {}{budget}", rule.metric, percent(rule.half_width_share))
}

/// How many cells, rounds, trials, and how long: `30 cells in 3 to 4 rounds = 90 to 120 trials, about 4 to 5.3 min`.
pub(super) fn extent(estimate: &Estimate) -> String {
    let Estimate { cells, searches, rounds, trials, search_trials, time_ns } = *estimate;
    let counts = |span: Range, what: &str| {
        let most = counted(span.most, what);
        if span.least == span.most { most } else { format!("{} to {most}", span.least) }
    };
    let mut parts = Vec::new();
    if cells > 0 || searches == 0 {
        parts.push(format!("{} in {} = {}", counted(cells, "cell"), counts(rounds, "round"), counts(trials, "trial")));
    }
    if searches > 0 {
        let searches = if searches == 1 { "1 search".to_owned() } else { format!("{searches} searches") };
        parts.push(format!("{searches} of {}", counts(search_trials, "trial")));
    }
    format!("{}, about {}", parts.join(" and "), duration(time_ns))
}

/// `1 cell`, `2 cells`.
pub(super) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// A share as people say it: `2 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// A time as scenarios write it, `10m`.
fn brief(ns: u64) -> String {
    let minutes = ns / (60 * SECOND);
    if minutes > 0 && ns.is_multiple_of(60 * SECOND) { format!("{minutes}m") } else { Span(ns).to_string() }
}

/// A time in seconds, to a tenth.
pub(super) fn short(ns: u64) -> String {
    format!("{} s", (ns as f64 / SECOND as f64 * 10.0).round() / 10.0)
}

/// A shortest and a longest time: `4 to 5.3 min`.
fn duration(ns: Range) -> String {
    let s = |ns: u64| ns as f64 / SECOND as f64;
    let (unit, length) = match s(ns.most) {
        _ if spoken(ns.least) == spoken(ns.most) => return spoken(ns.most),
        most if most < 90.0 => ("s", 1.0),
        most if most < 7200.0 => ("min", 60.0),
        _ => ("h", 3600.0),
    };
    let tenths = |ns: u64| (s(ns) / length * 10.0).round() / 10.0;
    format!("{} to {} {unit}", tenths(ns.least), tenths(ns.most))
}

/// A time as people say it.
fn spoken(ns: u64) -> String {
    let s = ns.div_ceil(SECOND);
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, min, s) => format!("{min} min {s} s"),
        (h, min, _) => format!("{h} h {min} min"),
    }
}
