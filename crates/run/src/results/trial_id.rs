//! Which trial a record is of.

use std::collections::BTreeMap;

use hopbench_model::Record;
use serde_json::Value;

/// One cell in one round: what no two complete records of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as [`point_text`] writes it.
    pub point: String,
    /// The round, from 1.
    pub round: u32,
}

impl TrialId {
    /// The trial of a record.
    pub fn of(record: &Record) -> Self {
        Self {
            path: record.path.clone(),
            workload: record.workload.clone(),
            point: point_text(&record.point),
            round: record.round,
        }
    }
}

/// A point in one line, as the reports write it: `connections=4 size=64B`; empty where nothing varies.
pub fn point_text(point: &BTreeMap<String, Value>) -> String {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs: Vec<_> = point.iter().map(|(name, v)| format!("{name}={}", value(v))).collect();
    pairs.join(" ")
}
