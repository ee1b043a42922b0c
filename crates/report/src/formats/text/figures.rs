//! The metrics of a record, and which of them the page has shown.

use std::collections::BTreeSet;

use hopbench_model::{Record, Unit};

use super::page::Page;
use crate::number::{by_name, counted};

/// Metrics by name; what was taken is not listed again.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) record: &'a Record,
    taken: BTreeSet<&'a str>,
}

/// Figures of an interval that show how a trial went: the first that there is.
fn over_time(unit: Unit) -> &'static [&'static str] {
    match unit {
        Unit::Bits => &["received_bits_per_s", "sent_bits_per_s"],
        Unit::Messages => &["messages_per_s", "received_bits_per_s"],
        Unit::Packets => &["received_packets_per_s", "received_bits_per_s", "sent_bits_per_s"],
        Unit::Requests | Unit::Connections | Unit::Echoes => &["requests_per_s", "completed_per_s"],
    }
}

impl<'a> Figures<'a> {
    pub(super) fn new(record: &'a Record) -> Self {
        Self { record, taken: BTreeSet::new() }
    }

    /// The value of a metric, which then counts as shown.
    pub(super) fn take(&mut self, name: &str) -> Option<f64> {
        let (name, value) = self.record.metrics.get_key_value(name)?;
        self.taken.insert(name);
        Some(*value)
    }

    /// The metric scaled by the unit in its name.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name).map(|value| by_name(name, value))
    }

    /// The metric with a word, where there is one: `0.12 % lost`.
    pub(super) fn phrase(&mut self, name: &str, words: &str) -> Option<String> {
        self.text(name).map(|text| format!("{text} {words}"))
    }

    /// Writes the metric under a label.
    pub(super) fn field(&mut self, page: &mut Page, label: &str, name: &str) {
        if let Some(text) = self.text(name) {
            page.field(label, &text);
        }
    }

    /// The range of the main rate over the window's intervals.
    pub(super) fn over_time(&self, page: &mut Page) {
        let intervals = &self.record.intervals;
        let Some(name) = over_time(self.record.kind().unit)
            .iter()
            .find(|name| intervals.iter().any(|i| i.contains_key(**name)))
        else {
            return;
        };
        let values: Vec<f64> = intervals
            .iter()
            .filter_map(|i| i.get(*name))
            .copied()
            .filter(|v| v.is_finite())
            .collect();
        if values.len() < 2 {
            return;
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        page.field(
            "over time",
            &format!(
                "{} to {} in {}",
                by_name(name, least),
                by_name(name, most),
                counted(values.len() as u64, "interval", "intervals")
            ),
        );
    }

    /// Everything that was not taken, with the names that the record has.
    pub(super) fn rest(&self, page: &mut Page) {
        let metrics = self.record.metrics.iter();
        let left = metrics.filter(|(name, _)| !self.taken.contains(name.as_str()));
        let texts: Vec<_> =
            left.map(|(name, value)| format!("{name} {}", by_name(name, *value))).collect();
        page.field("also", &texts.join(", "));
    }
}
