//! Loads of searches, the figures that are searched by, and bounds that were broken, as texts.

use hopbench_model::number::{by_name, percent, plain};
use hopbench_model::{BrokenBound, SearchBound};

/// Below this a rate is not whole.
const SMALL: f64 = 100.0;

/// A load without its unit: `4979`, `0.5`.
pub fn number(load: f64) -> String {
    if load.is_finite() && load >= SMALL { format!("{load:.0}") } else { plain(load) }
}

/// A load with its unit: `4979/s`, `32 connections`.
pub fn load(parameter: &str, load: f64) -> String {
    match parameter {
        "rate" => format!("{}/s", number(load)),
        other if load == 1.0 => format!("1 {}", other.trim_end_matches('s')),
        other => format!("{} {other}", number(load)),
    }
}

/// A path that did not carry the rate that was asked for: `saturated at 3909/s`.
pub fn saturated(per_s: f64) -> String {
    format!("saturated at {}", load("rate", per_s))
}

/// The label of a search's figure: `response p99` for `response_ns p99`.
pub fn figure(name: &str) -> String {
    match name {
        "cpu_share" => return "CPU".to_owned(),
        "loss" => return "lost".to_owned(),
        _ => {}
    }
    let (base, percentile) = name.split_once(' ').unwrap_or((name, ""));
    let base = ["_bits_per_s", "_per_s", "_ns", "_ratio", "_share"]
        .iter()
        .find_map(|unit| base.strip_suffix(unit));
    let base = base.unwrap_or_else(|| name.split(' ').next().unwrap_or(name)).replace('_', " ");
    format!("{base} {percentile}").trim_end().to_owned()
}

/// A name with the unit of a figure of a search, as the names of other figures have it.
pub fn unit_name(name: &str) -> &'static str {
    let base = name.split(' ').next().unwrap_or(name);
    let known = ["bits_per_s", "packets_per_s", "_per_s", "_ns", "_ratio"];
    match base {
        "cpu_share" | "loss" => "_ratio",
        _ => known.into_iter().find(|unit| base.ends_with(unit)).unwrap_or_default(),
    }
}

/// A value of the figure of a search with its unit.
pub fn value(figure: &str, value: f64) -> String {
    by_name(unit_name(figure), value)
}

/// The bounds that a trial of a search broke besides that of its figure: `3.10 % never left the
/// sender`; empty without any.
pub fn broken_text(broken: &[BrokenBound]) -> String {
    let one = |BrokenBound { bound, share }: &BrokenBound| {
        let what = match bound {
            SearchBound::Unanswered => "of what was due had no answer",
            SearchBound::Queued => "of the asked rate was not done in the window: a queue grew",
            SearchBound::NotDone => "of the asked rate was not done in the window",
            SearchBound::NotSent => "never left the sender",
            SearchBound::NotArrived => "had not arrived by the end of the window: a queue grew",
            SearchBound::Failed => "failed",
        };
        format!("{} {what}", percent(*share))
    };
    broken.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_words() {
        let text = |bound| broken_text(&[BrokenBound { bound, share: 0.12 }]);
        assert_eq!(text(SearchBound::Unanswered), "12.0 % of what was due had no answer");
        assert_eq!(
            text(SearchBound::NotDone),
            "12.0 % of the asked rate was not done in the window"
        );
        assert_eq!(
            text(SearchBound::Queued),
            format!("{}: a queue grew", text(SearchBound::NotDone))
        );
        assert_eq!(
            text(SearchBound::NotArrived),
            "12.0 % had not arrived by the end of the window: a queue grew"
        );
        let both = [(SearchBound::NotSent, 0.031), (SearchBound::Failed, 0.5)];
        let both = both.map(|(bound, share)| BrokenBound { bound, share });
        assert_eq!(broken_text(&both), "3.10 % never left the sender, 50.0 % failed");
        assert_eq!(broken_text(&[]), "");
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
        assert_eq!(
            (load("threads", 1.0), load("rate", 12.5)),
            ("1 thread".to_owned(), "12.50/s".to_owned())
        );
    }
}
