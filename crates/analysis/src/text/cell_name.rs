//! The names of cells and points, for people and as keys.

use std::collections::BTreeMap;

use hopbench_model::point_label;
use serde_json::Value;

/// The key of a point: JSON with sorted names.
pub(crate) fn key(point: &BTreeMap<String, Value>) -> String {
    serde_json::to_string(point).unwrap_or_default()
}

/// A cell for people: `bridge latency size=64B`.
pub(crate) fn cell_text(path: &str, workload: &str, point: &BTreeMap<String, Value>) -> String {
    let point = point_label(point);
    if point.is_empty() {
        format!("{path} {workload}")
    } else {
        format!("{path} {workload} {point}")
    }
}
