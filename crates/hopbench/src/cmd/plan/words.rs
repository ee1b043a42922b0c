//! A plan's rounds, trials and times in words.

use hopbench_model::units::Span;
use hopbench_model::{SECOND, StopRule};
use hopbench_report::number::{self, percent_as_written};

use super::estimate::{Estimate, Range};

/// `3 to 20 rounds, until throughput is known to 2 %, at most 10m`.
pub(super) fn until(rule: &StopRule, most: u32) -> String {
    let least = rule.min_rounds.min(most);
    let rounds = if least == most { counted(most.into(), "round") } else { format!("{least} to {most} rounds") };
    let budget = rule.budget_ns.map(|ns| format!(", at most {}", Span(ns).brief())).unwrap_or_default();
    format!("{rounds}, until {} is known to {}{budget}", rule.metric, percent_as_written(rule.half_width_share))
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
        let searches = number::counted(searches, "search", "searches");
        parts.push(format!("{searches} of {}", counts(search_trials, "trial")));
    }
    format!("{}, about {}", parts.join(" and "), duration(time_ns))
}

/// `1 cell`, `2 cells`.
pub(super) fn counted(count: u64, what: &str) -> String {
    number::counted(count, what, &format!("{what}s"))
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
