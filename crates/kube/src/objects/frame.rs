//! The frame of a run: its namespace, and the object in it that owns all others.

use serde_json::{Value, json};

use crate::api::labels::{OWNER, RunIdentity, labels};
use crate::objects::security::Level;

/// The namespace, with the level of Pod Security that its pods need, and no more.
pub(crate) fn namespace(run: &RunIdentity, level: Level) -> Value {
    let mut labels = labels(&run.name);
    for mode in ["enforce", "warn", "audit"] {
        labels.insert(format!("pod-security.kubernetes.io/{mode}"), level.name().to_owned());
    }
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": run.namespace, "labels": labels},
    })
}

/// The owner of all others. Its data tells readers about the run.
pub(crate) fn owner(run: &RunIdentity, scenario: &str, version: &str, conductor: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": run.metadata(OWNER),
        "data": {"scenario": scenario, "version": version, "conductor": conductor},
    })
}
