//! A plan's rounds, trials and times in words.

use hopbench_model::units::Span;
use hopbench_model::{SECOND, StopRule};
use hopbench_report::number::{self, percent_as_written};

use super::estimate::{Estimate, Range};

/// Values of a list; more of them are counted.
const MOST_VALUES: usize = 10;

/// `3 to 20 rounds, until throughput is known to 2 %, at most 10m`. `expected`: the rounds that
/// there is time for.
pub(super) fn until(rule: &StopRule, most: u32, expected: Range) -> String {
    let least = rule.min_rounds.min(most);
    let rounds = |least: u64, most: u64| {
        if least == most { counted(most, "round") } else { format!("{least} to {most} rounds") }
    };
    let known =
        format!("{} is known to {}", rule.metric, percent_as_written(rule.half_width_share));
    let all = rounds(least.into(), most.into());
    match rule.budget_ns.map(|ns| Span(ns).brief()) {
        None => format!("{all}, until {known}"),
        Some(budget) if expected.most >= most.into() => {
            format!("{all}, until {known}, at most {budget}")
        }
        Some(budget) if expected.most < least.into() => format!(
            "{} in {budget}, no more begin then: too few to say whether {known}, which takes {all}",
            rounds(expected.least, expected.most)
        ),
        Some(budget) => {
            format!(
                "{} in {budget} (of {most} at most), until {known}",
                rounds(expected.least, expected.most)
            )
        }
    }
}

/// How many cells, rounds, trials, and how long: `30 cells in 3 to 4 rounds = 90 to 120 trials,
/// about 4 to 5.3 min`.
pub(super) fn extent(estimate: &Estimate) -> String {
    let Estimate { cells, searches, rounds, trials, search_trials, profiles, time_ns, .. } =
        *estimate;
    let counts = |span: Range, what: &str| {
        let most = counted(span.most, what);
        if span.least == span.most { most } else { format!("{} to {most}", span.least) }
    };
    if cells + searches == 0 {
        return "no cell".to_owned();
    }
    let mut parts = Vec::new();
    if cells > 0 {
        parts.push(format!(
            "{} in {} = {}",
            counted(cells, "cell"),
            counts(rounds, "round"),
            counts(trials, "trial")
        ));
    }
    if searches > 0 {
        let searches = number::counted(searches, "search", "searches");
        parts.push(format!("{searches} of {}", counts(search_trials, "trial")));
    }
    if profiles > 0 {
        parts.push(counted(profiles, "profile"));
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

/// A time as people say it, in whole seconds.
fn spoken(ns: u64) -> String {
    number::long_time(ns.div_ceil(SECOND))
}

/// Texts with commas between; of many the first ones, and how many more there are.
pub(super) fn listed(values: &[String]) -> String {
    let more = values.len().saturating_sub(MOST_VALUES);
    let shown = values[..values.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_of_a_rule_are_those_that_there_is_time_for() {
        let said = |budget_ns, least, most| {
            let rule = StopRule {
                half_width_share: 0.05,
                metric: "p99".to_owned(),
                min_rounds: 3,
                budget_ns,
            };
            until(&rule, 500, Range { least, most })
        };
        let budget = Some(60 * SECOND);
        assert_eq!(said(None, 3, 500), "3 to 500 rounds, until p99 is known to 5 %");
        assert_eq!(said(budget, 3, 500), "3 to 500 rounds, until p99 is known to 5 %, at most 1m");
        assert_eq!(
            said(budget, 3, 40),
            "3 to 40 rounds in 1m (of 500 at most), until p99 is known to 5 %"
        );
        let few = "1 round in 1m, no more begin then: too few to say whether p99 is known to 5 %, \
                   which takes 3 to 500 rounds";
        assert_eq!(said(budget, 1, 1), few);
    }

    #[test]
    fn a_plan_without_a_cell_has_no_rounds() {
        assert_eq!(extent(&Estimate::default()), "no cell");
        let cells = Estimate {
            cells: 2,
            rounds: Range { least: 3, most: 3 },
            trials: Range { least: 6, most: 6 },
            ..Estimate::default()
        };
        assert_eq!(extent(&cells), "2 cells in 3 rounds = 6 trials, about 0 s");
        let profiled = Estimate { profiles: 2, ..cells };
        let told = "2 cells in 3 rounds = 6 trials and 2 profiles, about 0 s";
        assert_eq!(extent(&profiled), told);
    }
}
