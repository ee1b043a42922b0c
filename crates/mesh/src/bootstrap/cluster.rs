//! Clusters: where the connections of a route go on to.

use hopbench_model::{HttpVersion, Variant};
use serde_json::{Value, json};

use super::parts::{UNLIMITED, address, typed};
use super::tls;
use crate::{Protocol, ProxyIdentity, ProxyRoute, Upstream};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: &str = "5s";
/// How long a destination that nobody asks for is remembered. Forgetting it closes its idle
/// connections, which clients with pauses between their requests would see as connection times.
const REMEMBERED: &str = "86400s";

/// The cluster of a route, named like it.
pub(super) fn of(route: &ProxyRoute, variant: &Variant, identity: Option<&ProxyIdentity>) -> Value {
    let mut cluster = json!({
        "name": route.name,
        "connect_timeout": CONNECT_TIMEOUT,
        "circuit_breakers": limits(variant.max_connections),
    });
    match &route.upstream {
        Upstream::Original(port) => {
            cluster["type"] = "ORIGINAL_DST".into();
            cluster["lb_policy"] = "CLUSTER_PROVIDED".into();
            cluster["cleanup_interval"] = REMEMBERED.into();
            if let Some(port) = port {
                cluster["original_dst_lb_config"] = json!({"upstream_port_override": port});
            }
        }
        Upstream::Endpoints(endpoints) => {
            cluster["type"] = "STATIC".into();
            cluster["lb_policy"] = "ROUND_ROBIN".into();
            let endpoints =
                endpoints.iter().map(|endpoint| (endpoint.ip().to_string(), endpoint.port()));
            cluster["load_assignment"] = assignment(&route.name, endpoints);
        }
    }
    if route.protocol.is_http() {
        let spoken = match (route.protocol, variant.upstream, route.to_proxy) {
            (Protocol::Http2, ..) | (_, HttpVersion::Http2, true) => Spoken::Http2,
            (_, HttpVersion::Http1, _) => Spoken::AsTheClient,
            (_, HttpVersion::Http2, false) => Spoken::Http1,
        };
        cluster["typed_extension_protocol_options"] = speaks(spoken);
    }
    if variant.mtls && route.to_proxy {
        cluster["transport_socket"] = tls::upstream(route, variant, identity);
    }
    if variant.stats {
        cluster["track_cluster_stats"] = json!({
            "timeout_budgets": true, "request_response_sizes": true, "per_endpoint_stats": true,
        });
    }
    cluster
}

/// The endpoints of a cluster.
pub(super) fn assignment(cluster: &str, endpoints: impl Iterator<Item = (String, u16)>) -> Value {
    let endpoints: Vec<Value> =
        endpoints.map(|(ip, port)| json!({"endpoint": {"address": address(&ip, port)}})).collect();
    json!({"cluster_name": cluster, "endpoints": [{"lb_endpoints": endpoints}]})
}

/// No limit but that of the variant. Beyond it requests wait for a connection (each worker may have
/// one in any case), and TCP connections are closed.
pub(super) fn limits(max_connections: Option<u32>) -> Value {
    json!({"thresholds": [{
        "max_connections": max_connections.unwrap_or(UNLIMITED),
        "max_pending_requests": UNLIMITED,
        "max_requests": UNLIMITED,
        "max_retries": UNLIMITED,
    }]})
}

/// The version of HTTP that is spoken with a cluster.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spoken {
    Http1,
    Http2,
    /// The one in which the request came.
    AsTheClient,
}

/// The options of a cluster with which this is spoken; its connections stay open however long they
/// are idle.
pub(super) fn speaks(spoken: Spoken) -> Value {
    let (key, options) = match spoken {
        Spoken::Http1 => ("explicit_http_config", json!({"http_protocol_options": {}})),
        Spoken::Http2 => ("explicit_http_config", json!({"http2_protocol_options": {}})),
        Spoken::AsTheClient => (
            "use_downstream_protocol_config",
            json!({"http_protocol_options": {}, "http2_protocol_options": {}}),
        ),
    };
    let message = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let config = json!({"common_http_protocol_options": {"idle_timeout": "0s"}, key: options});
    json!({message: typed(message, config)})
}
