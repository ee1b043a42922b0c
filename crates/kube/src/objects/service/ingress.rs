//! The Ingress of a path: what the controller of its class takes goes to a Service of the run.

use serde_json::{Value, json};

use crate::api::labels::RunIdentity;

/// The version of Ingresses and their classes.
pub(crate) const VERSION: &str = "networking.k8s.io/v1";

/// The Ingress with the name of its Service, for all requests to `host`.
pub(crate) fn ingress(
    run: &RunIdentity,
    class: &str,
    host: &str,
    service: &str,
    port: u16,
) -> Value {
    let backend = json!({"service": {"name": service, "port": {"number": port}}});
    json!({
        "apiVersion": VERSION,
        "kind": "Ingress",
        "metadata": run.metadata(service),
        "spec": {
            "ingressClassName": class,
            "rules": [{
                "host": host,
                "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]},
            }],
        },
    })
}
