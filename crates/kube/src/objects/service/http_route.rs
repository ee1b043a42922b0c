//! The HTTPRoute of a path: what a Gateway takes goes to a Service of the run.

use hopbench_model::ParentGateway;
use serde_json::{Value, json};

use super::gateway::VERSION;
use crate::api::labels::RunIdentity;

/// The route with the name of its Service, for all requests that `listener` of the Gateway takes.
pub(crate) fn http_route(
    run: &RunIdentity,
    parent: &ParentGateway,
    listener: &str,
    service: &str,
    port: u16,
) -> Value {
    json!({
        "apiVersion": VERSION,
        "kind": "HTTPRoute",
        "metadata": run.metadata(service),
        "spec": {
            "parentRefs": [
                {"namespace": parent.namespace, "name": parent.name, "sectionName": listener},
            ],
            "rules": [{"backendRefs": [{"name": service, "port": port}]}],
        },
    })
}
