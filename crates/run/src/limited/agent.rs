//! Whether an agent held a trial to its own limit.

use std::collections::BTreeMap;

use hopbench_model::units::BitRate;

use super::{Verdict, verdict};
use crate::words;

/// More of what an agent allows than this is all of it: a ceiling is kept from below.
const MOSTLY: f64 = 0.8;

/// The limit that an agent said it keeps (`said`, in its words), if the trial came up to it. One that was far below it
/// was limited by something else, as is one that shared the agent's allowance with others.
pub(crate) fn held(metrics: &BTreeMap<String, f64>, said: &[String]) -> Option<Verdict> {
    let metric = |name: &str| metrics.get(name).copied();
    // An agent counts what it moves in both directions; in a transfer both ends count the same bytes.
    let answers = if metrics.contains_key("requests_per_s") { metric("sent_bits_per_s") } else { None };
    let moved = metric("received_bits_per_s")? + answers.unwrap_or(0.0);
    said.iter().find_map(|words| {
        let most = ceiling(words)?;
        (moved >= MOSTLY * most).then(|| verdict("agent_limit", format!("{} moved; {words}", words::bit_rate(moved))))
    })
}

/// The rate in an agent's words: `the agent moves at most 50Mbit/s over all trials (--max-rate)`.
fn ceiling(words: &str) -> Option<f64> {
    let rate = |word: &str| word.strip_suffix("/s")?.parse::<BitRate>().ok();
    words.split_whitespace().find_map(rate).map(|rate| rate.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(said: &[&str], metrics: &[(&str, f64)]) -> Option<String> {
        let said: Vec<String> = said.iter().map(|words| (*words).to_owned()).collect();
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        held(&metrics, &said).map(|(name, why)| format!("{name}: {why}"))
    }

    const CUT: &str = "the agent moves at most 50Mbit/s over all trials (--max-rate)";

    #[test]
    fn a_ceiling_that_was_reached_is_the_limit() {
        let said = by(&[CUT], &[("received_bits_per_s", 49e6), ("sent_bits_per_s", 49e6)]);
        assert_eq!(said.as_deref(), Some(&*format!("agent_limit: 49.00 Mbit/s moved; {CUT}")));
        assert_eq!(by(&[CUT], &[("received_bits_per_s", 20e6), ("sent_bits_per_s", 20e6)]), None, "far below it");
        let exchanges = [("received_bits_per_s", 24e6), ("sent_bits_per_s", 24e6), ("requests_per_s", 3e3)];
        assert!(by(&[CUT], &exchanges).is_some(), "both directions are the agent's");
        assert_eq!(by(&[], &[("received_bits_per_s", 49e6)]), None);
        assert_eq!(by(&["at most 5 flows"], &[("received_bits_per_s", 49e6)]), None);
    }
}
