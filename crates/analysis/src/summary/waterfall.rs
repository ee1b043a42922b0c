//! The waterfall of proxies: what each of them adds to a path.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::spread::{self, Spread};

/// The first character of the label of the step from the first path to the last.
pub(crate) const WHOLE: char = '=';

/// The cost of each proxy of a family of paths, at one point of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct WaterfallSummary {
    /// The workload's name.
    pub workload: String,
    /// The point.
    pub point: BTreeMap<String, Value>,
    /// The point as reports write it.
    #[serde(skip)]
    pub point_label: String,
    /// The common part of its paths: `bridge@a → bridge@b, direct`.
    pub family: String,
    /// The variant of their proxies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The subject of all paths; absent: the run has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The steps; the first is the path with the fewest proxies, with its own figures.
    pub steps: Vec<WaterfallStep>,
    /// A note on every step; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A path, against one with fewer proxies.
#[derive(Debug, Clone, Serialize)]
pub struct WaterfallStep {
    /// In words: `no proxy`, `+ server sidecar`, `= both sidecars`.
    pub label: String,
    /// The path.
    pub path: String,
    /// The path that it is compared with; absent: these are its own figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Whether it is one of those that lead from the first path to the one with most proxies, each
    /// against the one before.
    pub in_chain: bool,
    /// The rate at which the path is saturated, a second: then its latency is not compared. Absent
    /// where the rate was kept, and where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_per_s: Option<f64>,
    /// The increase of each figure: median and 99th percentile of the latency, CPU time of all ends
    /// and proxies for a unit of work.
    pub added: Vec<Added>,
    /// CPU time of the proxies of the path for a unit of work, those of one kind together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyShare>,
    /// A doubt about the figures; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The increase of a figure by a step.
#[derive(Debug, Clone, Serialize)]
pub struct Added {
    /// The figure, with its unit: `response_p50_ns`, `cpu_per_request_ns`.
    pub name: &'static str,
    /// Its label for people.
    pub label: &'static str,
    /// By how much, over the rounds that have both paths.
    #[serde(flatten)]
    pub spread: Spread,
}

/// CPU time of the proxies of one kind for a unit of work of the whole path.
#[derive(Debug, Clone, Serialize)]
pub struct ProxyShare {
    /// Their kind: the name on the path without a number.
    pub name: String,
    /// CPU time for a unit of work over the rounds, ns; in JSON its median is `cpu_ns`.
    #[serde(flatten, serialize_with = "spread::as_cpu_ns")]
    pub spread: Spread,
}

impl WaterfallSummary {
    /// The steps that lead to the figure of the last path, each from the one before. Where one
    /// between lacks the figure, one step leads from the first to the last.
    pub fn way(&self, name: &str) -> Vec<(&WaterfallStep, &Added)> {
        let mut out: Vec<(&WaterfallStep, &Added)> = Vec::new();
        for step in self.steps.iter().filter(|step| step.in_chain) {
            match step.of(name) {
                Some(added) if out.last().map(|(last, _)| &last.path) == step.against.as_ref() => {
                    out.push((step, added));
                }
                _ => break,
            }
        }
        let whole = self
            .steps
            .iter()
            .find(|step| step.is_whole())
            .and_then(|step| Some((step, step.of(name)?)));
        let goes_on = |whole: &(&WaterfallStep, _)| {
            out.last().is_some_and(|(last, _)| last.path != whole.0.path)
        };
        if let Some(whole) = whole.filter(goes_on) {
            out.truncate(1);
            out.push(whole);
        }
        out
    }

    /// The figures of the steps, in the order of columns.
    pub fn figures(&self) -> Vec<(&'static str, &'static str)> {
        let mut out: Vec<(&str, &str)> = Vec::new();
        for added in self.steps.iter().flat_map(|step| &step.added) {
            if !out.contains(&(added.name, added.label)) {
                out.push((added.name, added.label));
            }
        }
        out
    }

    /// Its name among those of the workload: `bridge@a → bridge@b, direct, variant stats at
    /// rate=1000`.
    pub fn name(&self) -> String {
        let mut out = self.family.clone();
        if let Some(variant) =
            self.variant.as_ref().filter(|name| *name != hopbench_model::Variant::PLAIN)
        {
            out.push_str(&format!(", variant {variant}"));
        }
        if let Some(subject) = &self.subject {
            out.push_str(&format!(", subject {subject}"));
        }
        if !self.point_label.is_empty() {
            out.push_str(&format!(" at {}", self.point_label));
        }
        out
    }
}

impl WaterfallStep {
    /// Whether it leads from the first path to the last at once, passing others by.
    fn is_whole(&self) -> bool {
        self.label.starts_with(WHOLE)
    }

    /// Its increase of a figure.
    pub fn of(&self, name: &str) -> Option<&Added> {
        self.added.iter().find(|added| added.name == name)
    }
}
