//! The fields of a result, in fortio's order.

use std::collections::BTreeMap;

use hopbench_model::{Job, Latency, MeshMode};
use hopbench_stats::Histogram;
use serde::Serialize;
use serde_json::Value;

use super::histogram::{CountOnly, HistogramData};
use crate::export::Trial;

/// Longest name of a result, characters.
const LONGEST_ID: usize = 96;

/// A result of an HTTP run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Object<'a> {
    run_type: &'static str,
    labels: &'a str,
    start_time: &'a str,
    #[serde(rename = "RequestedQPS")]
    requested_qps: String,
    requested_duration: String,
    #[serde(rename = "ActualQPS")]
    actual_qps: f64,
    /// ns.
    actual_duration: u64,
    num_threads: u32,
    version: String,
    duration_histogram: HistogramData,
    errors_duration_histogram: CountOnly,
    exactly: i64,
    jitter: bool,
    uniform: bool,
    no_catch_up: bool,
    #[serde(rename = "RunID")]
    run_id: i64,
    access_logger_info: &'static str,
    #[serde(rename = "ID")]
    id: String,
    ret_codes: BTreeMap<String, u64>,
    #[serde(rename = "IPCountMap")]
    ip_count_map: BTreeMap<String, u32>,
    insecure: bool,
    #[serde(rename = "MTLS")]
    mtls: bool,
    #[serde(rename = "CACert")]
    ca_cert: &'static str,
    cert: &'static str,
    key: &'static str,
    unix_domain_socket: &'static str,
    #[serde(rename = "URL")]
    url: String,
    num_connections: u32,
    compression: bool,
    disable_fast_client: bool,
    #[serde(rename = "HTTP10")]
    http10: bool,
    h2: bool,
    disable_keep_alive: bool,
    allow_half_close: bool,
    follow_redirects: bool,
    resolve: &'static str,
    /// ns.
    #[serde(rename = "HTTPReqTimeOut")]
    http_req_timeout: u64,
    user_credentials: &'static str,
    content_type: &'static str,
    payload: Option<String>,
    method_override: String,
    log_errors: bool,
    sequential_warmup: bool,
    conn_reuse_range: [u32; 2],
    no_resolve_each_conn: bool,
    /// ns.
    offset: u64,
    /// s; that of the histogram in the record.
    resolution: f64,
    sizes: HistogramData,
    header_sizes: HistogramData,
    sockets: Option<Vec<u32>>,
    socket_count: u64,
    connection_stats: HistogramData,
    abort_on: i32,
    hopbench: Hopbench<'a>,
}

/// What fortio has no field for.
#[derive(Debug, Serialize)]
struct Hopbench<'a> {
    run_id: &'a str,
    path: &'a str,
    workload: &'a str,
    point: &'a BTreeMap<String, Value>,
    round: u32,
    session: u32,
    way: String,
    mesh: MeshMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    limited_by: &'a str,
    /// All latencies, with their whole histograms (HDR V2, base64), ns.
    latency: &'a BTreeMap<String, Latency>,
    /// Failures by reason.
    errors: &'a BTreeMap<String, u64>,
}

impl<'a> Object<'a> {
    pub(super) fn of(trial: &'a Trial<'_>, histogram: &Histogram) -> Self {
        let (record, job, connections) = (trial.record, &trial.point.job, trial.connections());
        let metric = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
        let parameter = |name: &str| record.job.get("params").and_then(|params| params.get(name));
        let text = |name: &str| parameter(name).and_then(Value::as_str).map(str::to_owned);
        let calls = trial.calls();
        let header = metric("response_header_bytes");
        let reconnects = metric("reconnects") as u64;
        let connect = record
            .latency
            .get("connect_ns")
            .and_then(|latency| Histogram::from_base64(&latency.hdr).ok());
        Self {
            run_type: "HTTP",
            labels: &trial.label,
            start_time: &record.started_at,
            requested_qps: trial.asked_per_s().map_or_else(|| "max".to_owned(), significant),
            requested_duration: duration(job.timing.window_ns),
            actual_qps: trial.calls_per_s(),
            actual_duration: (record.window_s * 1e9).round() as u64,
            num_threads: connections,
            version: trial
                .run
                .environment
                .get("version")
                .cloned()
                .unwrap_or_else(|| "hopbench".to_owned()),
            duration_histogram: HistogramData::of(histogram),
            errors_duration_histogram: CountOnly::of(trial.failed()),
            exactly: 0,
            jitter: false,
            uniform: false,
            no_catch_up: false,
            run_id: 0,
            access_logger_info: "",
            id: id(trial),
            ret_codes: trial.codes(),
            ip_count_map: record
                .settings
                .get("address")
                .map(|to| (to.clone(), connections))
                .into_iter()
                .collect(),
            insecure: false,
            mtls: false,
            ca_cert: "",
            cert: "",
            key: "",
            unix_domain_socket: "",
            url: text("url").unwrap_or_else(|| trial.point.server.request.clone()),
            num_connections: connections,
            compression: false,
            disable_fast_client: false,
            http10: false,
            h2: false,
            disable_keep_alive: parameter("no_keep_alive")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            allow_half_close: false,
            follow_redirects: false,
            resolve: "",
            http_req_timeout: job.timing.timeout_ns,
            user_credentials: "",
            content_type: "",
            payload: None,
            method_override: text("method").filter(|method| method != "GET").unwrap_or_default(),
            log_errors: false,
            sequential_warmup: false,
            conn_reuse_range: [0, 0],
            no_resolve_each_conn: false,
            offset: 0,
            resolution: 1e-9,
            sizes: HistogramData::of_mean(calls, header + metric("response_body_bytes")),
            header_sizes: HistogramData::of_mean(calls, header),
            // Which connection was opened again is not known.
            sockets: (reconnects == 0 && connections <= Job::MOST_CONNECTIONS)
                .then(|| vec![1; connections as usize]),
            socket_count: u64::from(connections) + reconnects,
            connection_stats: connect
                .map_or_else(HistogramData::default, |connect| HistogramData::of(&connect)),
            abort_on: 0,
            hopbench: Hopbench {
                run_id: &record.run_id,
                path: &record.path,
                workload: &record.workload,
                point: &record.point,
                round: record.round,
                session: record.session,
                way: trial.path.way(),
                mesh: trial.path.mesh,
                variant: trial.path.variant.as_ref().map(|variant| variant.name.as_str()),
                limited_by: &record.limited_by,
                latency: &record.latency,
                errors: &record.errors,
            },
        }
    }
}

/// A rate with at most nine significant digits and no zeros at the end.
fn significant(rate: f64) -> String {
    let whole = rate.abs().max(1.0).log10().floor() as usize + 1;
    let text = format!("{rate:.*}", 9usize.saturating_sub(whole));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A time as Go writes it: `4m0s`, `1.5s`, `500ms`.
fn duration(ns: u64) -> String {
    let unit = |size: u64, name: &str| {
        let text = format!(
            "{}.{:09}",
            ns / size,
            u128::from(ns % size) * 1_000_000_000 / u128::from(size)
        );
        format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.'))
    };
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => unit(1, "ns"),
        1_000..1_000_000 => unit(1_000, "µs"),
        1_000_000..1_000_000_000 => unit(1_000_000, "ms"),
        _ => {
            let (minutes, rest) = (ns / 60_000_000_000, ns % 60_000_000_000);
            let seconds = format!("{}.{:09}", rest / 1_000_000_000, rest % 1_000_000_000);
            let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// `2026-03-01-120000_58e0ae13_qps_1000_c_16_1024_plain_both`: the time to the second, and the
/// label's letters and digits.
pub(super) fn id(trial: &Trial<'_>) -> String {
    let time = &trial.record.started_at;
    let digits = |from: usize, to: usize| time.get(from..to).unwrap_or_default().replace(':', "");
    let mut out = format!("{}-{}_", digits(0, 10), digits(11, 19));
    for c in trial.label.chars() {
        match c.is_ascii_alphanumeric() {
            true => out.push(c),
            false if !out.ends_with('_') => out.push('_'),
            false => {}
        }
    }
    out.chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(LONGEST_ID)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_are_written_as_go_does() {
        for (ns, text) in [
            (240_000_000_000, "4m0s"),
            (1_500_000_000, "1.5s"),
            (500_000_000, "500ms"),
            (2_000_000_000, "2s"),
            (3_661_000_000_000, "1h1m1s"),
            (1_500, "1.5µs"),
            (60_250_000_000, "1m0.25s"),
            (0, "0s"),
        ] {
            assert_eq!(duration(ns), text);
        }
        for (rate, text) in
            [(1000.0, "1000"), (0.5, "0.5"), (33.333_333_333_3, "33.3333333"), (1e8, "100000000")]
        {
            assert_eq!(significant(rate), text);
        }
    }
}
