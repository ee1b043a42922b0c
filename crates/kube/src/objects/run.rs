//! The object that owns all others of a run.

use serde_json::{Value, json};

use crate::labels::{OWNER, Run};

/// Says whose the namespace is, for whoever finds it.
pub(crate) fn run(run: &Run, scenario: &str, version: &str, conductor: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": run.metadata(OWNER),
        "data": {"scenario": scenario, "version": version, "conductor": conductor},
    })
}
