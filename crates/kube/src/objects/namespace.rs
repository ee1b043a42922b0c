//! The namespace of a run.

use serde_json::{Value, json};

use crate::labels::{Run, labels};
use crate::objects::security::Level;

/// What the cluster's Pod Security admission holds the pods of the run to: what they need, and no more.
pub(crate) fn namespace(run: &Run, level: Level) -> Value {
    let mut labels = labels(&run.name);
    for mode in ["enforce", "warn", "audit"] {
        labels.insert(format!("pod-security.kubernetes.io/{mode}"), level.name().to_owned());
    }
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": run.namespace, "labels": labels}})
}
