//! The services that a mesh's proxies ask: policy before, telemetry after.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::cluster::{self, Spoken};
use super::parts::extension;
use crate::{ProxyRoute, ProxySpec, stats};

/// How long the policy service may take to answer; without an answer the request is refused.
const CHECK_TIMEOUT: &str = "1s";

/// Their clusters, as far as the variant needs them.
pub(super) fn clusters(proxy: &ProxySpec) -> Vec<Value> {
    let asks = proxy.variant.policy_check && proxy.routes().any(|route| route.checked);
    let mut wanted = Vec::new();
    wanted.extend(asks.then(|| (stats::POLICY.to_owned(), proxy.policy)));
    if proxy.variant.policy_report {
        wanted.extend(told(proxy).into_iter().map(|at| (telemetry_of(proxy, at), at)));
    }
    let clusters = wanted.into_iter().map(|(name, at)| {
        // Envoy refuses an empty address, but not a report to a cluster that is not there.
        let (ip, port) = at.map_or((String::new(), 0), |at| (at.ip().to_string(), at.port()));
        json!({
            "name": name,
            "type": "STATIC",
            "connect_timeout": CHECK_TIMEOUT,
            "circuit_breakers": cluster::limits(None),
            "load_assignment": cluster::assignment(&name, [(ip, port)].into_iter()),
            "typed_extension_protocol_options": cluster::speaks(Spoken::Http2),
        })
    });
    clusters.collect()
}

/// The telemetry services of all routes, each once.
fn told(proxy: &ProxySpec) -> Vec<Option<SocketAddr>> {
    let mut told = Vec::new();
    for route in proxy.routes() {
        if !told.contains(&route.telemetry) {
            told.push(route.telemetry);
        }
    }
    told
}

/// The cluster of one of them: `telemetry`, `telemetry-2`.
fn telemetry_of(proxy: &ProxySpec, at: Option<SocketAddr>) -> String {
    match told(proxy).iter().position(|told| *told == at) {
        None | Some(0) => stats::TELEMETRY.to_owned(),
        Some(more) => format!("{}-{}", stats::TELEMETRY, more + 1),
    }
}

/// Asks before each request. What the service refuses is answered with its status, or 403; what it
/// did not answer, 503.
pub(super) fn http_check() -> Value {
    extension(
        "envoy.filters.http.ext_authz",
        "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
        json!({
            "transport_api_version": "V3",
            "grpc_service": policy(),
            "failure_mode_allow": false,
            "status_on_error": {"code": "ServiceUnavailable"},
        }),
    )
}

/// Asks before the first bytes of each connection.
pub(super) fn tcp_check() -> Value {
    extension(
        "envoy.filters.network.ext_authz",
        "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
        json!({
            "stat_prefix": stats::POLICY,
            "transport_api_version": "V3",
            "grpc_service": policy(),
            "failure_mode_allow": false,
        }),
    )
}

/// The telemetry service of a route, as its access log reaches it.
pub(super) fn telemetry(route: &ProxyRoute, proxy: &ProxySpec) -> Value {
    json!({"envoy_grpc": {"cluster_name": telemetry_of(proxy, route.telemetry)}})
}

fn policy() -> Value {
    json!({"envoy_grpc": {"cluster_name": stats::POLICY}, "timeout": CHECK_TIMEOUT})
}
