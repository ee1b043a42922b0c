//! The outcome of a search in words.

use hopbench_model::number::counted;
use hopbench_model::{SearchGoal, SearchOutcome};

use crate::summary::Bracket;
use crate::text::LoadUnit;

/// The outcome of a search after this many trials, with undecided steps, and the figure at the load
/// above.
pub(crate) fn text(
    ended: Option<(SearchOutcome, Bracket)>,
    goal: &SearchGoal,
    unit: LoadUnit<'_>,
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
            format!("{}{}{doubt}", unit.text(found), LoadUnit::ends(Some(bracket.low), high))
        }
        SearchOutcome::AboveHighest if knee => {
            let grows = if undecided.is_empty() { "still grows" } else { "seems to grow still" };
            format!(
                "throughput {grows} at {}, the most that were asked for{doubt}",
                unit.text(bracket.low)
            )
        }
        SearchOutcome::AboveHighest => {
            format!(
                "even {} is not too high, the highest that was asked for",
                unit.text(bracket.low)
            )
        }
        SearchOutcome::BelowLowest => {
            format!(
                "even {} is too high, the lowest that was asked for{seen}",
                unit.text(bracket.high)
            )
        }
        SearchOutcome::GaveUp { low, high } => {
            let end = |load: Option<f64>, none: &str| {
                load.map_or_else(|| none.to_owned(), |at| unit.text(at))
            };
            let (low, high) =
                (end(low, "nothing that was low enough"), end(high, "nothing that was too high"));
            format!("given up after {trials}: between {low} and {high}")
        }
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{RateRange, fixture};

    use super::*;
    use crate::search::bracket;

    #[test]
    fn outcomes_have_words() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 5e4 };
        let slo = SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates, precision: 0.02 };
        let knee =
            SearchGoal::Knee { connections: vec![8, 64], threads: vec![], least_growth: 0.05 };
        let unit = |parameter| LoadUnit { parameter, datagram_bits: None };
        let of = |what: SearchOutcome, goal: &SearchGoal, parameter| {
            (what, bracket::of(what, &fixture::search(goal.clone()), parameter, &[]))
        };
        let said = |what: Option<SearchOutcome>| {
            text(what.map(|what| of(what, &slo, "rate")), &slo, unit("rate"), 24, "", "")
        };
        let found = SearchOutcome::Found { load: 4979.4, low: 4979.4, high: Some(5078.2) };
        assert_eq!(said(Some(found)), "4979/s [4979, 5078]");
        assert_eq!(said(None), "not ended, after 24 trials");
        assert_eq!(
            said(Some(SearchOutcome::BelowLowest)),
            "even 100/s is too high, the lowest that was asked for"
        );
        let given_up = SearchOutcome::GaveUp { low: None, high: Some(300.0) };
        assert_eq!(
            said(Some(given_up)),
            "given up after 24 trials: between nothing that was low enough and 300/s"
        );
        assert_eq!(
            text(
                Some(of(SearchOutcome::AboveHighest, &knee, "connections")),
                &knee,
                unit("connections"),
                9,
                "",
                ""
            ),
            "throughput still grows at 64 connections, the most that were asked for"
        );
    }
}
