//! Linkerd's sidecars: their annotations, and their metrics.

use std::collections::BTreeMap;

use hopbench_model::Variant;
use hopbench_testbed::placement::AGENT_PORT;

use super::super::ports::{Ports, list};
use crate::objects::sidecar::Sidecar;

/// The port of a proxy's metrics.
pub(super) const METRICS: u16 = 4191;

/// The annotations of a pod. Linkerd takes everything but what it is told to skip.
pub(super) fn sidecar(ports: &Ports, variant: &Variant) -> Sidecar {
    let passed_in = ports.all.keys().copied().filter(|port| !ports.inbound.contains(port));
    let passed_in = passed_in.chain([AGENT_PORT]).collect();
    let passed_out = ports.passed.iter().copied().chain([AGENT_PORT]).collect();
    let annotations = [
        ("linkerd.io/inject", "enabled".to_owned()),
        ("config.linkerd.io/skip-inbound-ports", list(&passed_in)),
        ("config.linkerd.io/skip-outbound-ports", list(&passed_out)),
        // Without a word it looks at the first bytes, and waits for them.
        ("config.linkerd.io/opaque-ports", list(&ports.bytes)),
        ("config.linkerd.io/proxy-cpu-limit", variant.concurrency.to_string()),
        ("config.linkerd.io/proxy-await", "enabled".to_owned()),
    ];
    Sidecar {
        annotations: annotations.map(|(name, value)| (name.to_owned(), value)).into(),
        ..Sidecar::default()
    }
}

/// The counters of a proxy by our names: on its way out (`outbound`) or in.
pub(super) fn counters(answer: &[u8], outbound: bool) -> Result<BTreeMap<String, u64>, String> {
    const NAMES: [&str; 4] =
        ["downstream_connections", "upstream_connections", "requests", "retries"];
    let text = String::from_utf8_lossy(answer);
    let direction = if outbound { "direction=\"outbound\"" } else { "direction=\"inbound\"" };
    let mut sums: BTreeMap<String, u64> =
        NAMES.iter().map(|name| ((*name).to_owned(), 0)).collect();
    let mut found = false;
    for line in text.lines().filter(|line| line.contains(direction)) {
        let Some((name, _)) = line.split_once('{') else { continue };
        let counter = match name {
            "tcp_open_total" if line.contains("peer=\"src\"") => "downstream_connections",
            "tcp_open_total" if line.contains("peer=\"dst\"") => "upstream_connections",
            "request_total" => "requests",
            _ => continue,
        };
        found = true;
        let value = line.rsplit_once(' ').and_then(|(_, value)| value.parse::<u64>().ok());
        *sums.entry(counter.to_owned()).or_default() += value
            .ok_or_else(|| format!("in the proxy's metrics a line cannot be read: {line:?}"))?;
    }
    let is_linkerds = found || text.lines().any(|line| line.starts_with("# HELP tcp_open_total"));
    // A proxy that took nothing yet has no such lines.
    if is_linkerds || text.contains("process_start_time_seconds") {
        Ok(sums)
    } else {
        Err("the answer is not the metrics of a Linkerd proxy".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of the proxy's documentation.
    const ANSWER: &[u8] = br#"# HELP request_total Total count of HTTP requests.
# TYPE request_total counter
request_total{direction="inbound",tls="true",target_addr="10.1.2.3:17010"} 40
request_total{direction="outbound",tls="true",authority="10.1.2.4:17012"} 7
tcp_open_total{direction="inbound",peer="src",tls="true"} 3
tcp_open_total{direction="inbound",peer="src",tls="no_identity"} 2
tcp_open_total{direction="inbound",peer="dst"} 4
tcp_open_total{direction="outbound",peer="src"} 9
"#;

    #[test]
    fn each_direction_has_its_counters() {
        let of = |outbound| {
            let found = counters(ANSWER, outbound).unwrap();
            ["downstream_connections", "upstream_connections", "requests"].map(|name| found[name])
        };
        assert_eq!((of(false), of(true)), ([5, 4, 40], [9, 0, 7]));
        assert!(counters(b"# HELP other\n", false).is_err());
    }
}
