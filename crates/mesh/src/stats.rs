//! The counters and gauges of a proxy, as its admin endpoint tells them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

mod line;

use line::{Line, lines};

/// The cluster of the policy service.
pub(crate) const POLICY: &str = "policy";
/// The cluster of the telemetry service; what those of further ones begin with.
pub(crate) const TELEMETRY: &str = "telemetry";
/// What Envoy calls its own HTTP connection manager.
const ADMIN: &str = "admin";

/// The path to ask the admin endpoint for, with GET; [`counters`] and [`gauges`] read the answer.
///
/// Counters are those of the moment. Gauges and the times of connecting are as of the question
/// before. An answer makes Envoy bring them up to date, and does not wait for that. Who needs them
/// as of now asks twice, some milliseconds apart.
pub const STATS: &str = concat!(
    "/stats/prometheus?histogram_buckets=cumulative&filter=(%5C.(",
    "downstream_cx_(total%7Cactive)%7Cdownstream_rq_(total%7C5xx)",
    "%7Cupstream_cx_(total%7Cactive%7Cconnect_fail%7Cconnect_ms%7Coverflow",
    "%7Cdestroy_remote_with_active_rq)",
    "%7Cupstream_rq_(total%7Crx_reset%7Cretry)",
    "%7Cssl%5C.(handshake%7Cconnection_error%7Cfail_verify_.*)",
    "%7Clogs_dropped%7Cgrpc_entries_flushed%7Cwrite_failed",
    "%7Cmemory_allocated%7Cmemory_heap_size%7Cconcurrency%7Cuptime)",
    "%7Cext_authz%5C.(policy%5C.)?(total%7Cok%7Cdenied%7Cerror))$",
);

/// Envoy's configuration of its statistics.
///
/// Unless `all` are to exist, those exist that are read here and no more, as in Istio's sidecars.
/// What is left out costs neither memory nor time. Of the histogram, count and sum are read; one
/// bucket keeps the answer short.
pub(crate) fn config(all: bool) -> Value {
    let mut config = json!({
        "histogram_bucket_settings": [{"match": {"suffix": CONNECT_MS}, "buckets": [1000]}],
    });
    if !all {
        config["stats_matcher"] = json!({"inclusion_list": {"patterns": metered()}});
    }
    config
}

const CONNECT_MS: &str = ".upstream_cx_connect_ms";

fn metered() -> Vec<Value> {
    #[rustfmt::skip]
    const ENDS: [&str; 21] = [
        ".downstream_cx_total", ".downstream_cx_active", ".downstream_rq_total",
        ".downstream_rq_5xx", ".upstream_cx_total", ".upstream_cx_active",
        ".upstream_cx_connect_fail", CONNECT_MS, ".upstream_cx_overflow",
        ".upstream_cx_destroy_remote_with_active_rq", ".upstream_rq_total", ".upstream_rq_rx_reset",
        ".upstream_rq_retry", ".ssl.handshake", ".ssl.connection_error", ".ssl.fail_verify_no_cert",
        ".ssl.fail_verify_error", ".ssl.fail_verify_san", ".logs_dropped", ".grpc_entries_flushed",
        ".write_failed",
    ];
    let mut patterns: Vec<Value> = ENDS.iter().map(|end| json!({"suffix": end})).collect();
    patterns.push(json!({"contains": "ext_authz."}));
    patterns.push(json!({"prefix": "server."}));
    patterns
}

/// The counters of a proxy since its start, from its answer to [`STATS`]. Every name is always
/// there.
///
/// - `downstream_connections`: taken from clients; `requests`: HTTP requests that came in them;
/// - `upstream_connections`: begun towards applications and other proxies; `upstream_connects`: of
///   these, come about, with the sum of the time that took in `upstream_connect_us_total`. It is in
///   µs; Envoy rounds each down to milliseconds, so what takes less counts as nothing.
///   `upstream_connect_failures`: not come about;
/// - `upstream_requests`: HTTP requests sent on; `upstream_resets`: that ended because the other
///   side reset or closed; `retries`: sent once more;
/// - `upstream_overflows`: how often the variant's limit of connections stood in the way: a request
///   that waits, a TCP connection that is closed;
/// - `tls_handshakes` completed and `tls_failures`, on both sides;
/// - `responses_5xx`: HTTP answers to clients with such a status, whoever made them;
/// - `policy_checks` begun, `policy_denied`, `policy_errors` without a valid answer;
/// - `log_write_failures`: of its access log, parts that could not be written and are lost;
/// - `reports`: entries sent to the telemetry service, which Envoy does every 100 ms;
///   `reports_lost`: thrown away.
///
/// What the proxy does with its admin endpoint and with the policy and telemetry services is left
/// out.
///
/// # Errors
/// The answer cannot be read, or is not Envoy's.
pub fn counters(body: &[u8]) -> Result<BTreeMap<String, u64>, String> {
    let lines = envoys(body)?;
    // Envoy counts a TCP connection that it passes on as a request, too.
    let http: BTreeSet<&str> =
        lines.iter().filter_map(|line| line.label("envoy_http_conn_manager_prefix")).collect();
    let mut sums: BTreeMap<String, f64> =
        COUNTERS.iter().map(|name| ((*name).to_owned(), 0.0)).collect();
    for line in &lines {
        let (names, value) = adds_to(line, &http);
        for name in names {
            *sums.entry((*name).to_owned()).or_default() += value;
        }
    }
    Ok(sums.into_iter().map(|(name, sum)| (name, sum.round() as u64)).collect())
}

/// Connections to upstreams that are neither made nor given up, or whose time of connecting these
/// counters do not tell yet: see [`STATS`].
pub fn untold(counters: &BTreeMap<String, u64>) -> u64 {
    let of = |counter: &str| counters.get(counter).copied().unwrap_or(0);
    of("upstream_connections")
        .saturating_sub(of("upstream_connects") + of("upstream_connect_failures"))
}

/// The gauges of a proxy at the moment, from its answer to [`STATS`]. Every name is always there.
///
/// `allocated_bytes` and `heap_bytes` (asked of the system) of its allocator, `workers` (threads),
/// `uptime_s` (whole seconds; 0 in the first answer). `active_connections` from clients,
/// `upstream_active_connections` to applications and other proxies.
///
/// # Errors
/// The answer cannot be read, or is not Envoy's.
pub fn gauges(body: &[u8]) -> Result<BTreeMap<String, f64>, String> {
    let mut sums: BTreeMap<String, f64> =
        GAUGES.iter().map(|(_, name)| ((*name).to_owned(), 0.0)).collect();
    for line in envoys(body)?.iter().filter(|line| !is_of_service(line)) {
        if let Some((_, name)) = GAUGES.iter().find(|(theirs, _)| *theirs == line.name) {
            *sums.entry((*name).to_owned()).or_default() += line.value;
        }
    }
    Ok(sums)
}

#[rustfmt::skip]
const COUNTERS: [&str; 19] = [
    "downstream_connections", "log_write_failures", "policy_checks", "policy_denied",
    "policy_errors", "reports", "reports_lost", "requests", "responses_5xx", "retries",
    "tls_failures", "tls_handshakes", "upstream_connect_failures", "upstream_connect_us_total",
    "upstream_connections", "upstream_connects", "upstream_overflows", "upstream_requests",
    "upstream_resets",
];

const GAUGES: [(&str, &str); 6] = [
    (ALWAYS, "workers"),
    ("envoy_listener_downstream_cx_active", "active_connections"),
    ("envoy_cluster_upstream_cx_active", "upstream_active_connections"),
    ("envoy_server_memory_allocated", "allocated_bytes"),
    ("envoy_server_memory_heap_size", "heap_bytes"),
    ("envoy_server_uptime", "uptime_s"),
];

/// What every answer of an Envoy to [`STATS`] has.
const ALWAYS: &str = "envoy_server_concurrency";

fn envoys(body: &[u8]) -> Result<Vec<Line<'_>>, String> {
    let lines = lines(body)?;
    match lines.iter().any(|line| line.name == ALWAYS) {
        true => Ok(lines),
        false => Err(format!(
            "the proxy's answer is not the statistics of an Envoy: {ALWAYS} is not among them"
        )),
    }
}

/// Which of our counters a line adds to, and how much.
fn adds_to(line: &Line<'_>, http: &BTreeSet<&str>) -> (&'static [&'static str], f64) {
    let cluster = line.label("envoy_cluster_name");
    if is_of_service(line) || line.label("envoy_http_conn_manager_prefix") == Some(ADMIN) {
        return (&[], 0.0);
    }
    let is_http = cluster.is_some_and(|name| http.contains(name));
    let names: &[&str] = match line.name {
        // The admin endpoint's listener has another name.
        "envoy_listener_downstream_cx_total" => &["downstream_connections"],
        "envoy_http_downstream_rq_total" => &["requests"],
        "envoy_http_downstream_rq_xx" if line.label("envoy_response_code_class") == Some("5") => {
            &["responses_5xx"]
        }
        "envoy_cluster_upstream_cx_total" => &["upstream_connections"],
        "envoy_cluster_upstream_cx_connect_fail" => &["upstream_connect_failures"],
        "envoy_cluster_upstream_cx_connect_ms_count" => &["upstream_connects"],
        "envoy_cluster_upstream_cx_connect_ms_sum" => {
            return (&["upstream_connect_us_total"], line.value * 1000.0);
        }
        "envoy_cluster_upstream_cx_overflow" => &["upstream_overflows"],
        "envoy_cluster_upstream_rq_total" if is_http => &["upstream_requests"],
        "envoy_cluster_upstream_rq_rx_reset" => &["upstream_resets"],
        "envoy_cluster_upstream_cx_destroy_remote_with_active_rq" if is_http => {
            &["upstream_resets"]
        }
        "envoy_cluster_upstream_rq_retry" => &["retries"],
        "envoy_listener_ssl_handshake" | "envoy_cluster_ssl_handshake" => &["tls_handshakes"],
        "envoy_http_ext_authz_ok" | "envoy_ext_authz_policy_total" => &["policy_checks"],
        "envoy_http_ext_authz_denied" => &["policy_checks", "policy_denied"],
        "envoy_http_ext_authz_error" => &["policy_checks", "policy_errors"],
        "envoy_ext_authz_policy_denied" => &["policy_denied"],
        "envoy_ext_authz_policy_error" => &["policy_errors"],
        "envoy_access_logs_grpc_access_log_grpc_entries_flushed" => &["reports"],
        "envoy_access_logs_grpc_access_log_logs_dropped" => &["reports_lost"],
        "envoy_filesystem_write_failed" => &["log_write_failures"],
        name if is_tls_failure(name) => &["tls_failures"],
        _ => &[],
    };
    (names, line.value)
}

/// Whether a line is about the connections to the policy and telemetry services.
fn is_of_service(line: &Line<'_>) -> bool {
    line.label("envoy_cluster_name")
        .is_some_and(|name| name == POLICY || name.starts_with(TELEMETRY))
}

fn is_tls_failure(name: &str) -> bool {
    let end = name
        .strip_prefix("envoy_listener_ssl_")
        .or_else(|| name.strip_prefix("envoy_cluster_ssl_"));
    end.is_some_and(|end| end == "connection_error" || end.starts_with("fail_verify_"))
}
