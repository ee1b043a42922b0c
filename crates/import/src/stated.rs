//! The contents of one file of another tool: what it states of its test, and nothing else.

use std::collections::BTreeMap;

use hopbench_model::{Cost, Interval, Transport, Warning, WorkloadKind, printable};
use serde_json::{Map, Value};

use crate::kinds::TestKind;

/// Characters of a text of others that a record keeps.
const MOST_KEPT: usize = 200;
/// Figures that a record of others has at most.
const MOST_FIGURES: usize = 64;
/// Reasons of failures that are kept apart.
const MOST_REASONS: usize = 16;
/// The name of all further ones.
const OTHER_REASONS: &str = "others";
/// 2^53: up to here a number of whole units is one exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A test as a file states it.
#[derive(Debug)]
pub(crate) struct Stated {
    /// The kind of test.
    pub(crate) kind: TestKind,
    /// Its start, seconds since 1970; `None` where the format has none.
    pub(crate) started_s: Option<u64>,
    /// Its length, s; 0 where the format has none.
    pub(crate) window_s: f64,
    /// Time before that which does not count, s.
    pub(crate) warmup_s: f64,
    /// Its connections; `None` where the format has none.
    pub(crate) connections: Option<u32>,
    /// The other settings that were asked for.
    pub(crate) params: Map<String, Value>,
    /// Figures, with their units in their names.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// Figures by time.
    pub(crate) intervals: Vec<Interval>,
    /// CPU of both ends.
    pub(crate) cost: Cost,
    /// Answers by status.
    pub(crate) statuses: BTreeMap<String, u64>,
    /// Failures by reason.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Facts about the test that change no figure by themselves.
    pub(crate) settings: BTreeMap<String, String>,
    /// Sentences on the figures.
    pub(crate) explanation: Vec<String>,
    /// Caveats.
    pub(crate) warnings: Vec<Warning>,
    /// Facts of the client's machine.
    pub(crate) client: BTreeMap<String, String>,
}

impl Stated {
    /// A test of which nothing is known yet.
    pub(crate) fn of(kind: TestKind) -> Self {
        Self {
            kind,
            started_s: None,
            window_s: 0.0,
            warmup_s: 0.0,
            connections: None,
            params: Map::new(),
            metrics: BTreeMap::new(),
            intervals: Vec::new(),
            cost: Cost::default(),
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            settings: BTreeMap::new(),
            explanation: Vec::new(),
            warnings: Vec::new(),
            client: BTreeMap::new(),
        }
    }

    /// The traits of its jobs: those of its kind, and UDP if the file names it.
    pub(crate) fn traits(&self) -> WorkloadKind {
        let of_kind = self.kind.traits();
        let protocol = self.params.get("protocol").and_then(Value::as_str);
        let is_udp = protocol.is_some_and(|protocol| protocol.eq_ignore_ascii_case("UDP"));
        let transport = if is_udp { Transport::Udp } else { of_kind.transport };
        WorkloadKind { transport, ..of_kind }
    }

    /// Adds a figure.
    pub(crate) fn metric(&mut self, name: &str, value: f64) {
        let has_room = self.metrics.len() < MOST_FIGURES || self.metrics.contains_key(name);
        // A product of large numbers may be none.
        if value.is_finite() && has_room {
            self.metrics.insert(name.to_owned(), value);
        }
    }

    /// Adds a point of the latency, by its name: `mean`, `max`.
    pub(crate) fn latency(&mut self, point: &str, ns: f64) {
        self.latency_of(self.kind.latency(), point, ns);
    }

    /// Adds a percentile of the latency.
    pub(crate) fn percentile(&mut self, percent: f64, ns: f64) {
        self.percentile_of(self.kind.latency(), percent, ns);
    }

    /// The same of the latency of this name: `service`.
    pub(crate) fn percentile_of(&mut self, latency: &str, percent: f64, ns: f64) {
        if percent == 100.0 {
            self.latency_of(latency, "max", ns);
        } else if (10.0..100.0).contains(&percent) {
            // 99.9 is `p999`.
            self.latency_of(latency, &format!("p{percent}").replace('.', ""), ns);
        }
    }

    fn latency_of(&mut self, latency: &str, point: &str, ns: f64) {
        self.metric(&format!("{latency}_{point}_ns"), ns);
    }

    /// Adds what was counted of exchanges: those that were answered, and how many failed of all.
    pub(crate) fn exchanges(&mut self, answered: f64, per_s: f64, failed: f64, all: f64) {
        self.metric("requests", answered);
        self.metric("requests_per_s", per_s);
        self.metric("errors", failed);
        if all > 0.0 {
            self.metric("error_ratio", (failed / all).min(1.0));
        }
    }

    /// Adds a setting that was asked for.
    pub(crate) fn param(&mut self, name: &str, value: impl Into<Value>) {
        self.params.insert(name.to_owned(), value.into());
    }

    /// Adds one that is a number.
    pub(crate) fn number(&mut self, name: &str, value: f64) {
        if value.fract() == 0.0 && (0.0..EXACT).contains(&value) {
            self.param(name, value as u64);
        } else {
            self.param(name, value);
        }
    }

    /// Adds one that is a text of the file.
    pub(crate) fn word(&mut self, name: &str, value: &str) {
        self.param(name, printable::excerpt(value, MOST_KEPT));
    }

    /// Adds a fact, if the file states it.
    pub(crate) fn setting(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.settings.insert(name.to_owned(), printable::excerpt(value, MOST_KEPT));
        }
    }

    /// Adds the address that the traffic went to. Names, passwords and queries of URLs are left
    /// out: they may be secrets.
    pub(crate) fn target(&mut self, url: Option<&str>) {
        let url = url.map(|url| url.split(['?', '#']).next().unwrap_or(url));
        let plain = url.map(|url| match url.split_once("://") {
            Some((scheme, rest)) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let host = rest[..end].rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}{}", &rest[end..])
            }
            None => url.to_owned(),
        });
        self.setting("target", plain.as_deref());
    }

    /// Adds the tool with its version, and its own words about the machine.
    pub(crate) fn machine(&mut self, tool: Option<String>, system: Option<&str>) {
        let system = system.map(|system| printable::excerpt(system, MOST_KEPT));
        let tool = tool.map(|tool| printable::excerpt(&tool, MOST_KEPT));
        for (name, fact) in [("tool", tool), ("system", system)] {
            self.client.extend(fact.map(|fact| (name.to_owned(), fact)));
        }
    }

    /// Adds answers of a status.
    pub(crate) fn status(&mut self, status: &str, count: u64) {
        add(&mut self.statuses, status, count);
    }

    /// Adds failures of a reason.
    pub(crate) fn error(&mut self, reason: &str, count: u64) {
        add(&mut self.errors, reason, count);
    }
}

/// Adds to a count, if there is anything to add.
fn add(counts: &mut BTreeMap<String, u64>, name: &str, count: u64) {
    if count == 0 {
        return;
    }
    let name = printable::excerpt(name, MOST_KEPT);
    let is_full = counts.len() >= MOST_REASONS && !counts.contains_key(&name);
    let total = counts.entry(if is_full { OTHER_REASONS.to_owned() } else { name }).or_default();
    *total = total.saturating_add(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_the_names_that_records_have() {
        let mut stated = Stated::of(TestKind::Http);
        for percent in [50.0, 99.0, 99.9, 99.99, 100.0, 9.9] {
            stated.percentile(percent, percent);
        }
        let names: Vec<&str> = stated.metrics.keys().map(String::as_str).collect();
        let expected = ["max", "p50", "p9999", "p999", "p99"];
        assert_eq!(names, expected.map(|point| format!("service_{point}_ns")));
    }

    #[test]
    fn what_is_no_number_is_no_figure() {
        let mut stated = Stated::of(TestKind::Http);
        stated.exchanges(0.0, 0.0, 0.0, 0.0);
        stated.metric("sent_bits_per_s", f64::INFINITY);
        let names: Vec<&str> = stated.metrics.keys().map(String::as_str).collect();
        assert_eq!(names, ["errors", "requests", "requests_per_s"]);
    }

    #[test]
    fn an_address_has_no_secrets() {
        let mut stated = Stated::of(TestKind::Http);
        stated.target(Some("http://me:secret@10.0.0.2:80/a@b?token=1"));
        assert_eq!(stated.settings["target"], "http://10.0.0.2:80/a@b");
    }

    #[test]
    fn counts_stay_counts() {
        let mut stated = Stated::of(TestKind::Http);
        (0..100).for_each(|at| stated.metric(&format!("figure {at}"), 1.0));
        assert_eq!(stated.metrics.len(), MOST_FIGURES);
        (0..100).for_each(|reason| stated.error(&format!("reason {reason}"), u64::MAX));
        assert_eq!(stated.errors.len(), MOST_REASONS + 1);
        assert_eq!(stated.errors[OTHER_REASONS], u64::MAX);
        stated.number("qps", 4000.0);
        stated.number("share", 0.5);
        assert_eq!(stated.params["qps"], 4000);
        assert_eq!(stated.params["share"], 0.5);
    }
}
