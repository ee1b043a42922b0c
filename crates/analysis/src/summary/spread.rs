//! A figure over the rounds: its median and interval.

use hopbench_stats::summary::{mean, median};
use hopbench_stats::{CONFIDENCE, Interval, Look, difference_interval, rounds_interval};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A figure over the rounds with its interval; flattened into whatever has one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The median over the rounds. Of a smallest or largest value it is the smallest or largest of
    /// all rounds, and of a share of losses or errors the mean.
    pub median: f64,
    /// Lower end of its interval; absent with one round, and of a smallest or largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: usize,
}

impl Spread {
    /// Whether there is an interval, and it does not hold the value.
    pub fn leaves_out(&self, value: f64) -> bool {
        self.low.zip(self.high).is_some_and(|(low, high)| !(low..=high).contains(&value))
    }

    /// Of the values that are numbers; `None` where there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        Some(Self::with(median(&values)?, rounds_interval(&values, CONFIDENCE), values.len()))
    }

    /// The same of values that may lie around 0, as differences do.
    pub(crate) fn around_zero(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        Some(Self::with(median(&values)?, difference_interval(&values, CONFIDENCE), values.len()))
    }

    /// The mean of values of which a few can be all that matters, as of shares that were lost: a
    /// median would hide what hits fewer than half of the rounds. The interval is that of the
    /// median, widened until it holds the mean.
    pub(crate) fn mean(values: &[f64]) -> Option<Self> {
        let of_median = Self::of(values.iter().copied())?;
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let middle = mean(&finite)?;
        let low = of_median.low.map(|low| low.min(middle));
        let high = of_median.high.map(|high| high.max(middle));
        Some(Self { median: middle, low, high, ..of_median })
    }

    /// The figure of a look at the rounds; `None` without a round.
    pub(crate) fn looked(look: &Look) -> Option<Self> {
        Some(Self::with(look.median?, look.interval, look.rounds))
    }

    /// A median that was taken elsewhere.
    pub(crate) fn with(median: f64, interval: Option<Interval>, rounds: usize) -> Self {
        let (low, high) =
            (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
        Self { median, low, high, rounds }
    }

    /// Of one value, which `choose` picks among those of all rounds; `None` where there are none.
    /// It has no interval: the next round can always exceed it.
    pub(crate) fn extreme(values: &[f64], choose: fn(f64, f64) -> f64) -> Option<Self> {
        let chosen = values.iter().copied().reduce(choose)?;
        Some(Self::with(chosen, None, values.len()))
    }
}

/// Writes a spread whose median is called `y`, without the number of rounds.
pub(crate) fn as_y<S: Serializer>(spread: &Spread, out: S) -> Result<S::Ok, S::Error> {
    renamed(spread, "y", out)
}

/// Writes a spread whose median is called `cpu_ns`, without the number of rounds.
pub(crate) fn as_cpu_ns<S: Serializer>(spread: &Spread, out: S) -> Result<S::Ok, S::Error> {
    renamed(spread, "cpu_ns", out)
}

fn renamed<S: Serializer>(spread: &Spread, name: &'static str, out: S) -> Result<S::Ok, S::Error> {
    let mut map = out.serialize_map(None)?;
    map.serialize_entry(name, &spread.median)?;
    for (name, end) in [("low", spread.low), ("high", spread.high)] {
        if let Some(end) = end {
            map.serialize_entry(name, &end)?;
        }
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::summary::{Added, CurvePoint, Estimate, ProxyShare, RatioSummary};

    use super::*;

    fn text(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    /// What `hopbench.summary/1` has looked like since before there was a type for it.
    #[test]
    fn in_json_it_is_a_part_of_what_it_is_about() {
        let spread = Spread { median: 2.5, low: Some(1.5), high: Some(4.5), rounds: 3 };
        let alone = Spread::of([2.5]).unwrap();
        let ratio = |spread| RatioSummary {
            spread: Some(spread),
            p: None,
            q: None,
            test: None,
            noise_floor: None,
            verdict: None,
        };
        let estimate = |spread, ratio| Estimate {
            name: "x_ns",
            spread,
            ratio,
            outliers: Vec::new(),
            note: String::new(),
        };
        let added = |spread| Added { name: "x_ns", label: "x", spread };
        let share = |spread| ProxyShare { name: "gateway".to_owned(), spread };
        let point =
            |spread| CurvePoint { point: BTreeMap::new(), x: 9.5, saturated_per_s: None, spread };
        for (value, text) in [
            (
                text(&estimate(spread, Some(ratio(spread)))),
                concat!(
                    r#"{"name":"x_ns","median":2.5,"low":1.5,"high":4.5,"rounds":3,"#,
                    r#""ratio":{"median":2.5,"low":1.5,"high":4.5,"rounds":3}}"#
                ),
            ),
            (text(&estimate(alone, None)), r#"{"name":"x_ns","median":2.5,"rounds":1}"#),
            (
                text(&added(spread)),
                r#"{"name":"x_ns","label":"x","median":2.5,"low":1.5,"high":4.5,"rounds":3}"#,
            ),
            (text(&share(spread)), r#"{"name":"gateway","cpu_ns":2.5,"low":1.5,"high":4.5}"#),
            (text(&share(alone)), r#"{"name":"gateway","cpu_ns":2.5}"#),
            (text(&point(spread)), r#"{"point":{},"x":9.5,"y":2.5,"low":1.5,"high":4.5}"#),
            (text(&point(alone)), r#"{"point":{},"x":9.5,"y":2.5}"#),
        ] {
            assert_eq!(value, text);
        }
    }

    #[test]
    fn an_extreme_is_one_of_the_values_and_has_no_interval() {
        let values = [5.0, 9.0, 7.0];
        let spread = |chosen| Spread { median: chosen, low: None, high: None, rounds: 3 };
        assert_eq!(Spread::extreme(&values, f64::max), Some(spread(9.0)));
        assert_eq!(Spread::extreme(&values, f64::min), Some(spread(5.0)));
        assert_eq!(Spread::extreme(&[], f64::max), None);
    }
}
