//! How many rounds: `rounds: 3` for every cell, or with `stop:` as many as each needs.
//!
//! ```yaml
//! stop: {ci: 2%, metric: throughput, min-rounds: 3, max-rounds: 20, budget: 10m}
//! ```

use std::ops::RangeInclusive;

use hopbench_model::units::Span;
use hopbench_model::{SECOND, StopRule};
use hopbench_stats::FEWEST_TO_STOP;

use crate::fields::Fields;
use crate::node::{At, Node, quoted};
use crate::problem::{Problems, nearest};
use crate::share;

/// Passes over all cells.
pub(crate) const ROUNDS: RangeInclusive<u32> = 1..=1000;
/// The keys of `stop:`.
pub(crate) const STOP_KEYS: &[&str] = &["ci", "metric", "min-rounds", "max-rounds", "budget"];
/// Rounds after which a cell may end at the earliest.
pub(crate) const MIN_ROUNDS: u32 = FEWEST_TO_STOP as u32;
/// The most rounds where `stop` does not say.
pub(crate) const MAX_ROUNDS: u32 = 20;
/// Metrics that have a word; the others are called as in the records.
pub(crate) const METRICS: &[&str] = &["throughput", "p50", "p90", "p99", "p999"];
/// Rounds where the scenario says none.
const DEFAULT_ROUNDS: u32 = 3;
/// Half the width of an interval, as a share.
const WIDTH: RangeInclusive<f64> = 0.001..=0.5;

const FORM: &str = "a mapping like {ci: 2%, metric: throughput, max-rounds: 20, budget: 10m}";

/// The rounds of each cell, and when they end earlier; `over` is the command line's number, exactly that many.
pub(crate) fn read(fields: &Fields<'_>, over: Option<u32>, problems: &mut Problems) -> (u32, Option<StopRule>) {
    let rounds = fields.checked("rounds", "1 to 1000", |rounds| ROUNDS.contains(rounds), problems);
    let stop = fields.get("stop").map(|node| {
        if fields.get("rounds").is_some() {
            let expected = "only one of the two: `rounds` is as many for every cell, `stop` as many as each needs";
            problems.add(node.at, "stop", "`stop` beside `rounds`", expected);
        }
        stop(node, problems)
    });
    match (over, stop.flatten()) {
        (Some(rounds), _) => {
            if !ROUNDS.contains(&rounds) {
                problems.add(At::default(), "--rounds", format!("`{rounds}`"), "1 to 1000");
            }
            (rounds, None)
        }
        (None, Some((most, rule))) => (most, Some(rule)),
        (None, None) => (rounds.unwrap_or(DEFAULT_ROUNDS), None),
    }
}

/// The most rounds, and when they end earlier.
fn stop(node: &Node, problems: &mut Problems) -> Option<(u32, StopRule)> {
    let fields = Fields::read(node, "stop", STOP_KEYS, FORM, problems)?;
    let expected = "how narrow is enough, like 2% or 0.02: half the interval as a share of the figure, 0.1% to 50%";
    if fields.get("ci").is_none() {
        problems.add(fields.at, "stop", "no `ci`", expected);
    }
    let ci = share::read(&fields, "ci", &WIDTH, expected, problems);
    let metric = metric(&fields, problems);
    let expected = "a whole number from 3 to 1000: fewer rounds show no interval to stop by";
    let least = fields.checked("min-rounds", expected, |n| (MIN_ROUNDS..=*ROUNDS.end()).contains(n), problems);
    let most: Option<u32> = fields.checked("max-rounds", "1 to 1000", |n| ROUNDS.contains(n), problems);
    let expected = "a time from 1s on, like 10m";
    let budget = fields.checked("budget", expected, |budget: &Span| budget.0 >= SECOND, problems);
    let min_rounds = least.unwrap_or(MIN_ROUNDS);
    let rounds = most.unwrap_or_else(|| MAX_ROUNDS.max(min_rounds));
    if rounds < min_rounds
        && let Some(node) = fields.get("max-rounds")
    {
        let expected = format!("at least min-rounds, {min_rounds}");
        problems.add(node.at, &fields.path_of("max-rounds"), node.shown(), expected);
    }
    let rule =
        StopRule { half_width_share: ci?, metric: metric?, min_rounds, budget_ns: budget.map(|budget| budget.0) };
    Some((rounds, rule))
}

/// What the interval is of.
fn metric(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let Some(node) = fields.get("metric") else {
        return Some(METRICS[0].to_owned());
    };
    let key = fields.path_of("metric");
    let text: String = fields.parsed("metric", "the name of a metric, like throughput or p99", problems)?;
    let percentile = |digits: &str| digits.starts_with(|c: char| c.is_ascii_digit());
    match text.trim() {
        "p99.9" => return Some("p999".to_owned()),
        word if METRICS.contains(&word) => return Some(word.to_owned()),
        // Records have no other percentiles.
        word if word.strip_prefix('p').is_some_and(percentile) => problems.unknown(node.at, &key, word, METRICS),
        word if !word.is_empty() && word.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')) => {
            // No metric of a record is called nearly like that.
            if !word.contains('_') && nearest(word, &METRICS[..1]).is_some() {
                problems.unknown(node.at, &key, word, METRICS);
            } else {
                return Some(word.to_owned());
            }
        }
        word => {
            let expected =
                format!("one of {}, or a metric as records call it, like requests_per_s", METRICS.join(", "));
            problems.add(node.at, &key, quoted(word), expected);
        }
    }
    None
}
