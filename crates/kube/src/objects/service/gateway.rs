//! The Gateway of a run, which the controller of its class brings into being.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::labels::RunIdentity;
use crate::plan::traffic::Traffic;

/// The version of the Gateway API.
pub(crate) const VERSION: &str = "gateway.networking.k8s.io/v1";
/// The label of the pods and Services of a Gateway, with its name as the value.
pub(crate) const GATEWAY_NAME: &str = "gateway.networking.k8s.io/gateway-name";
/// The ports of the listeners for HTTP and for TLS.
const HTTP_PORT: u16 = 80;
const TLS_PORT: u16 = 443;
/// The port of the first listener for TCP. The others follow.
const TCP_PORT: u16 = 9000;

/// The Gateway of this name and class, with a listener for each of these: HTTP and TLS have one for
/// all routes, and bytes one for each. It takes the routes of its own namespace.
pub(crate) fn gateway(run: &RunIdentity, name: &str, class: &str, wanted: &[Traffic]) -> Value {
    json!({
        "apiVersion": VERSION,
        "kind": "Gateway",
        "metadata": run.metadata(name),
        "spec": {"gatewayClassName": class, "listeners": listeners(wanted)},
    })
}

fn listeners(wanted: &[Traffic]) -> Vec<Value> {
    let listener = |name: &str, protocol: &str, port: u16| {
        json!({
            "name": name,
            "protocol": protocol,
            "port": port,
            "allowedRoutes": {"namespaces": {"from": "Same"}},
        })
    };
    let protocols: BTreeSet<&str> = wanted.iter().map(|traffic| traffic.protocol()).collect();
    let mut all = Vec::new();
    if protocols.contains(Traffic::Http.protocol()) {
        all.push(listener("web", Traffic::Http.protocol(), HTTP_PORT));
    }
    if protocols.contains(Traffic::Tls.protocol()) {
        let mut passed = listener("tls", Traffic::Tls.protocol(), TLS_PORT);
        passed["tls"] = json!({"mode": "Passthrough"});
        all.push(passed);
    }
    let bytes = wanted.iter().filter(|traffic| **traffic == Traffic::Tcp);
    let of_bytes = |(number, _): (u16, &Traffic)| {
        listener(&format!("tcp-{number}"), Traffic::Tcp.protocol(), TCP_PORT + number)
    };
    all.extend((0u16..).zip(bytes).map(of_bytes));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_listens_for_what_is_sent_and_for_nothing_else() {
        let told = |wanted: &[Traffic]| -> Vec<String> {
            let word = |one: &Value| {
                format!("{} {} {}", one["name"], one["protocol"], one["port"]).replace('"', "")
            };
            listeners(wanted).iter().map(word).collect()
        };
        assert_eq!(told(&[Traffic::Http, Traffic::Grpc, Traffic::Http2]), ["web HTTP 80"]);
        assert_eq!(
            told(&[Traffic::Tcp, Traffic::Tls, Traffic::Tls, Traffic::Tcp]),
            ["tls TLS 443", "tcp-0 TCP 9000", "tcp-1 TCP 9001"]
        );
        let tls = &listeners(&[Traffic::Tls])[0];
        assert_eq!(tls["tls"], json!({"mode": "Passthrough"}));
        assert_eq!(tls["allowedRoutes"], json!({"namespaces": {"from": "Same"}}));
    }
}
