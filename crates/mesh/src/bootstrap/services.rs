//! The services that a mesh's proxies ask: policy before, telemetry after.

use hopbench_model::HttpVersion;
use serde_json::{Value, json};

use super::{cluster, extension};
use crate::{Proxy, stats};

/// How long the policy service may take to answer; without an answer the request is refused.
const CHECK_TIMEOUT: &str = "1s";

/// Their clusters, as far as the variant needs them.
pub(super) fn clusters(proxy: &Proxy) -> Vec<Value> {
    let wanted = [
        (proxy.variant.policy_check, stats::POLICY, proxy.policy),
        (proxy.variant.policy_report, stats::TELEMETRY, proxy.telemetry),
    ];
    let clusters = wanted.into_iter().filter(|(wanted, ..)| *wanted).map(|(_, name, at)| {
        // Envoy refuses an empty address, but not a report to a cluster that is not there.
        let (ip, port) = at.map_or((String::new(), 0), |at| (at.ip().to_string(), at.port()));
        json!({
            "name": name,
            "type": "STATIC",
            "connect_timeout": CHECK_TIMEOUT,
            "circuit_breakers": cluster::limits(None),
            "load_assignment": cluster::assignment(name, [(ip, port)].into_iter()),
            "typed_extension_protocol_options": cluster::speaks(HttpVersion::Http2),
        })
    });
    clusters.collect()
}

/// Asks before each request. What the service refuses is answered with its status, or 403; what it did not answer, 503.
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

/// The telemetry service, as access logs reach it.
pub(super) fn telemetry() -> Value {
    json!({"envoy_grpc": {"cluster_name": stats::TELEMETRY}})
}

fn policy() -> Value {
    json!({"envoy_grpc": {"cluster_name": stats::POLICY}, "timeout": CHECK_TIMEOUT})
}
