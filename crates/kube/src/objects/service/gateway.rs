//! The Gateway of a run, which the controller of its class brings into being.

use serde_json::{Value, json};

use crate::api::labels::RunIdentity;

/// The version of the Gateway API.
pub(crate) const VERSION: &str = "gateway.networking.k8s.io/v1";
/// The label of the pods and Services of a Gateway, with its name as the value.
pub(crate) const GATEWAY_NAME: &str = "gateway.networking.k8s.io/gateway-name";
/// The name of the listener.
const LISTENER: &str = "web";
/// The port of the listener.
const PORT: u16 = 80;

/// The Gateway of this name and class, with one listener for HTTP. It takes the routes of its own
/// namespace.
pub(crate) fn gateway(run: &RunIdentity, name: &str, class: &str) -> Value {
    json!({
        "apiVersion": VERSION,
        "kind": "Gateway",
        "metadata": run.metadata(name),
        "spec": {
            "gatewayClassName": class,
            "listeners": [{
                "name": LISTENER,
                "protocol": "HTTP",
                "port": PORT,
                "allowedRoutes": {"namespaces": {"from": "Same"}},
            }],
        },
    })
}
