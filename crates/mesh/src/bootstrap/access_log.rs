//! Access logs: a line, a report and statistics of each request or connection.

use hopbench_model::{Nanos, SECOND};
use serde_json::{Value, json};

use super::parts::extension;
use super::services;
use crate::{ProxyRoute, ProxySpec};

/// A line about a request: when and what, how it ended, how long it took, who spoke with whom.
const REQUEST: &str = concat!(
    "[%START_TIME%] %REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL% ",
    "status=%RESPONSE_CODE% flags=%RESPONSE_FLAGS% why=%RESPONSE_CODE_DETAILS% ",
    "received=%BYTES_RECEIVED% sent=%BYTES_SENT% ms=%DURATION% upstream_ms=%RESPONSE_DURATION% ",
    "agent=\"%REQ(USER-AGENT)%\" id=%REQ(X-REQUEST-ID)% authority=%REQ(:AUTHORITY)% ",
    "upstream=%UPSTREAM_HOST% cluster=%UPSTREAM_CLUSTER% upstream_local=%UPSTREAM_LOCAL_ADDRESS% ",
    "local=%DOWNSTREAM_LOCAL_ADDRESS% remote=%DOWNSTREAM_REMOTE_ADDRESS% \
     peer=%DOWNSTREAM_PEER_URI_SAN%\n",
);

/// A line about a connection.
const CONNECTION: &str = concat!(
    "[%START_TIME%] tcp flags=%RESPONSE_FLAGS% why=%CONNECTION_TERMINATION_DETAILS% ",
    "received=%BYTES_RECEIVED% sent=%BYTES_SENT% ms=%DURATION% ",
    "upstream=%UPSTREAM_HOST% cluster=%UPSTREAM_CLUSTER% upstream_local=%UPSTREAM_LOCAL_ADDRESS% ",
    "local=%DOWNSTREAM_LOCAL_ADDRESS% remote=%DOWNSTREAM_REMOTE_ADDRESS% \
     peer=%DOWNSTREAM_PEER_URI_SAN%\n",
);

/// How long a report waits for others, ns. Envoy's own second would be waited for after each short
/// trial. Under load a batch is full earlier.
pub const BATCH_NS: Nanos = SECOND / 10;

/// The logs of HTTP routes.
pub(super) fn http(route: &ProxyRoute, proxy: &ProxySpec) -> Value {
    logs(route, proxy, REQUEST, "http", "HttpGrpcAccessLogConfig")
}

/// The logs of TCP routes.
pub(super) fn tcp(route: &ProxyRoute, proxy: &ProxySpec) -> Value {
    logs(route, proxy, CONNECTION, "tcp", "TcpGrpcAccessLogConfig")
}

fn logs(route: &ProxyRoute, proxy: &ProxySpec, line: &str, kind: &str, message: &str) -> Value {
    let mut logs = Vec::new();
    if proxy.variant.access_log {
        logs.push(extension(
            "envoy.access_loggers.file",
            "envoy.extensions.access_loggers.file.v3.FileAccessLog",
            json!({
                "path": proxy.access_log,
                "log_format": {"text_format_source": {"inline_string": line}},
            }),
        ));
    }
    if proxy.variant.policy_report {
        logs.push(extension(
            &format!("envoy.access_loggers.{kind}_grpc"),
            &format!("envoy.extensions.access_loggers.grpc.v3.{message}"),
            json!({"common_config": {
                "log_name": proxy.name,
                "transport_api_version": "V3",
                "grpc_service": services::telemetry(route, proxy),
                "buffer_flush_interval": format!("{}s", BATCH_NS as f64 / SECOND as f64),
            }}),
        ));
    }
    if proxy.variant.stats {
        logs.push(peers(kind));
    }
    logs.into()
}

/// Statistics for each pair of peers: what Istio's own filter counts in its sidecars.
fn peers(kind: &str) -> Value {
    let tags = json!([
        {"name": "route", "value_format": "%FILTER_CHAIN_NAME%"},
        {"name": "client", "value_format": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"},
        {"name": "server", "value_format": "%UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"},
        {"name": "status", "value_format": "%RESPONSE_CODE%"},
        {"name": "flags", "value_format": "%RESPONSE_FLAGS%"},
    ]);
    let stat = |name: &str| json!({"name": name, "tags": tags});
    let histogram = |name: &str, unit: &str, value: &str| {
        json!({
            "stat": stat(name), "unit": unit, "value_format": value,
        })
    };
    extension(
        "envoy.access_loggers.stats",
        "envoy.extensions.access_loggers.stats.v3.Config",
        json!({
            "stats_scope": {"prefix": format!("peers_{kind}")},
            "counters": [{"stat": stat("total"), "value_fixed": 1}],
            "histograms": [
                histogram("duration", "Milliseconds", "%DURATION%"),
                histogram("received", "Bytes", "%BYTES_RECEIVED%"),
                histogram("sent", "Bytes", "%BYTES_SENT%"),
            ],
        }),
    )
}
