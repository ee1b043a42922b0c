//! HTTP: the connection manager, a variant's script and the router.

use hopbench_model::FLAGS_HEADER;
use serde_json::{Value, json};

use super::parts::extension;
use super::{access_log, services};
use crate::{Listener, ProxyRoute, ProxySpec};

/// The network filters of an HTTP route.
///
/// No timeouts and no retries: a request takes what it takes, and what fails is seen. Headers that
/// only other parts of a mesh would read (`server`, `x-envoy-*`) are not written, as in Istio's
/// sidecars; `x-request-id` is, as there.
pub(super) fn filters(route: &ProxyRoute, listener: &Listener, proxy: &ProxySpec) -> Value {
    let mut http_filters = Vec::new();
    if proxy.variant.policy_check && route.checked {
        http_filters.push(services::http_check());
    }
    if let Some(script) = &proxy.variant.lua {
        http_filters.push(extension(
            "envoy.filters.http.lua",
            "envoy.extensions.filters.http.lua.v3.Lua",
            json!({"default_source_code": {"inline_string": script}}),
        ));
    }
    http_filters.push(extension(
        "envoy.filters.http.router",
        "envoy.extensions.filters.http.router.v3.Router",
        json!({"suppress_envoy_headers": true}),
    ));
    let manager = json!({
        "stat_prefix": route.name,
        "codec_type": "AUTO",
        "server_header_transformation": "PASS_THROUGH",
        // A gateway is the edge: it trusts no x-forwarded-for but writes its own, and
        // x-envoy-external-address with it.
        "use_remote_address": listener.edge,
        "stream_idle_timeout": "0s",
        "common_http_protocol_options": {"idle_timeout": "0s"},
        "route_config": {
            "name": route.name, "virtual_hosts": [virtual_host(route, proxy.variant.stats)],
        },
        "http_filters": http_filters,
        "local_reply_config": flags_in_own_replies(),
        "access_log": access_log::http(route, proxy),
    });
    json!([extension(
        "envoy.filters.network.http_connection_manager",
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        manager,
    )])
}

fn virtual_host(route: &ProxyRoute, stats: bool) -> Value {
    let mut everything = json!({
        "name": route.name,
        "match": {"prefix": "/"},
        "route": {"cluster": route.name, "timeout": "0s"},
    });
    let mut host = json!({"name": route.name, "domains": ["*"]});
    if stats {
        everything["stat_prefix"] = "all".into();
        host["virtual_clusters"] = ["GET", "POST"].map(method).to_vec().into();
    }
    host["routes"] = json!([everything]);
    host
}

/// Statistics for the requests with this method.
fn method(name: &str) -> Value {
    json!({"name": name, "headers": [{"name": ":method", "string_match": {"exact": name}}]})
}

/// An error reply that Envoy makes itself says why. One that comes from the other side is passed on
/// as it is: it has the header already when a proxy there made it.
fn flags_in_own_replies() -> Value {
    json!({"mappers": [{
        "filter": {"status_code_filter": {"comparison": {
            "op": "GE",
            "value": {"default_value": 400, "runtime_key": "hopbench.own_reply"},
        }}},
        "headers_to_add": [{
            "header": {"key": FLAGS_HEADER, "value": "%RESPONSE_FLAGS%"},
            "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
        }],
    }]})
}
