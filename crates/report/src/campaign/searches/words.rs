//! Loads, values and outcomes of searches in words.

use hopbench_model::{SearchGoal, SearchOutcome};

use super::Unit;
use super::bracket::Bracket;
use crate::number::{by_name, counted, plain};

/// Below this a rate is not whole.
const SMALL: f64 = 100.0;

/// A load without its unit: `4979`, `0.5`.
pub(crate) fn number(load: f64) -> String {
    if load.is_finite() && load >= SMALL { format!("{load:.0}") } else { plain(load) }
}

/// A load with its unit: `4979/s`, `32 connections`.
pub(crate) fn load(parameter: &str, load: f64) -> String {
    match parameter {
        "rate" => format!("{}/s", number(load)),
        other if load == 1.0 => format!("1 {}", other.trim_end_matches('s')),
        other => format!("{} {other}", number(load)),
    }
}

/// What a search came to, after this many trials; with what was not decided, and what was seen at the load above.
pub(super) fn outcome(
    ended: Option<(SearchOutcome, Bracket)>,
    goal: &SearchGoal,
    unit: Unit<'_>,
    trials: usize,
    undecided: &str,
    seen: &str,
) -> String {
    let doubt = if undecided.is_empty() { String::new() } else { format!("; {undecided}") };
    let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
    let trials = counted(trials as u64, "trial", "trials");
    let knee = matches!(goal, SearchGoal::Knee { .. });
    let Some((outcome, bracket)) = ended else {
        return format!("not ended, after {trials}");
    };
    match outcome {
        SearchOutcome::Found { load: found, .. } => {
            let high = Some(bracket.high).filter(|high| high.is_finite());
            format!("{}{}{doubt}", unit.text(found), Unit::ends(Some(bracket.low), high))
        }
        SearchOutcome::AboveHighest if knee => {
            let grows = if undecided.is_empty() { "still grows" } else { "seems to grow still" };
            format!("throughput {grows} at {}, the most that were asked for{doubt}", unit.text(bracket.low))
        }
        SearchOutcome::AboveHighest => {
            format!("even {} is not too high, the highest that was asked for", unit.text(bracket.low))
        }
        SearchOutcome::BelowLowest => {
            format!("even {} is too high, the lowest that was asked for{seen}", unit.text(bracket.high))
        }
        SearchOutcome::GaveUp { low, high } => {
            let end = |load: Option<f64>, none: &str| load.map_or_else(|| none.to_owned(), |at| unit.text(at));
            let (low, high) = (end(low, "nothing that was low enough"), end(high, "nothing that was too high"));
            format!("given up after {trials}: between {low} and {high}")
        }
    }
}

/// What a figure of a search is called: `response p99` for `response_ns p99`.
pub(crate) fn figure(name: &str) -> String {
    match name {
        "cpu_share" => return "CPU".to_owned(),
        "loss" => return "lost".to_owned(),
        _ => {}
    }
    let (base, percentile) = name.split_once(' ').unwrap_or((name, ""));
    let base = ["_bits_per_s", "_per_s", "_ns", "_ratio", "_share"].iter().find_map(|unit| base.strip_suffix(unit));
    let base = base.unwrap_or_else(|| name.split(' ').next().unwrap_or(name)).replace('_', " ");
    format!("{base} {percentile}").trim_end().to_owned()
}

/// A name with the unit of a figure of a search, as the names of other figures have it.
pub(crate) fn unit_name(name: &str) -> &'static str {
    let base = name.split(' ').next().unwrap_or(name);
    let known = ["bits_per_s", "packets_per_s", "_per_s", "_ns", "_ratio"];
    match base {
        "cpu_share" | "loss" => "_ratio",
        _ => known.into_iter().find(|unit| base.ends_with(unit)).unwrap_or_default(),
    }
}

/// A value of the figure of a search with its unit.
pub(crate) fn value(figure: &str, value: f64) -> String {
    by_name(unit_name(figure), value)
}

#[cfg(test)]
mod tests {
    use hopbench_model::{RateRange, SearchSpec};

    use super::*;

    #[test]
    fn outcomes_have_words() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 5e4 };
        let slo = SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates, precision: 0.02 };
        let knee = SearchGoal::Knee { connections: vec![8, 64], threads: vec![], least_growth: 0.05 };
        let unit = |parameter| Unit { parameter, datagram_bits: None };
        let of = |what: SearchOutcome, goal: &SearchGoal, parameter| {
            let spec = SearchSpec { goal: goal.clone(), repeats: 1, errors_share: 0.01, equal_load: false };
            (what, Bracket::of(what, &spec, parameter, &[]))
        };
        let said = |what: Option<SearchOutcome>| {
            outcome(what.map(|what| of(what, &slo, "rate")), &slo, unit("rate"), 24, "", "")
        };
        let found = SearchOutcome::Found { load: 4979.4, low: 4979.4, high: Some(5078.2) };
        assert_eq!(said(Some(found)), "4979/s [4979, 5078]");
        assert_eq!(said(None), "not ended, after 24 trials");
        assert_eq!(said(Some(SearchOutcome::BelowLowest)), "even 100/s is too high, the lowest that was asked for");
        let given_up = SearchOutcome::GaveUp { low: None, high: Some(300.0) };
        assert_eq!(said(Some(given_up)), "given up after 24 trials: between nothing that was low enough and 300/s");
        assert_eq!(
            outcome(Some(of(SearchOutcome::AboveHighest, &knee, "connections")), &knee, unit("connections"), 9, "", ""),
            "throughput still grows at 64 connections, the most that were asked for"
        );
    }

    #[test]
    fn figures_have_words_and_units() {
        for (name, words, unit) in [
            ("response_ns p99", "response p99", "_ns"),
            ("requests_per_s", "requests", "_per_s"),
            ("received_bits_per_s", "received", "bits_per_s"),
            ("cpu_share", "CPU", "_ratio"),
            ("loss", "lost", "_ratio"),
            ("something", "something", ""),
        ] {
            assert_eq!((figure(name).as_str(), unit_name(name)), (words, unit));
        }
        assert_eq!(value("response_ns p99", 4.9e6), "4.90 ms");
        assert_eq!((load("threads", 1.0), load("rate", 12.5)), ("1 thread".to_owned(), "12.50/s".to_owned()));
    }
}
