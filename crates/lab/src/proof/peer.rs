//! Proofs of trials that tools of others made. A tool says little, but the links count.

use hopbench_model::{Pattern, Point, Proof, Record};
use hopbench_testbed::Counters;

use super::facts::WayFacts;
use super::growth::Grown;
use super::links;
use super::trial_traffic::TrialTraffic;

/// The share of what a tool states that must have crossed each link: it rounds its figures, and
/// times them by its own clock.
const CERTAIN: f64 = 0.9;

/// Evidence from the counters of Services and links.
pub(crate) fn prove_peer(
    way: &WayFacts<'_>,
    before: &Counters,
    after: &Counters,
    point: &Point,
    record: &Record,
) -> Vec<Proof> {
    let grown = Grown { before, after };
    let traffic = stated(point, record);
    let bypassed = point.job.bypasses_proxies();
    let mut proofs: Vec<Proof> =
        links::translated(way, &grown, traffic, bypassed).into_iter().collect();
    proofs.extend(links::carried(&way.packet_path, &grown, traffic));
    proofs.push(links::still(way, &grown, traffic, bypassed));
    proofs
}

/// The traffic of a trial as far as the tool states it.
fn stated(point: &Point, record: &Record) -> TrialTraffic {
    let metric = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
    let bytes = |name: &str| (metric(name) / 8.0 * record.window_s * CERTAIN) as u64;
    let size = point.job.size().map_or(0, |size| size.0);
    let kind = point.job.kind();
    let mut packets = 1;
    let (out_bytes, back_bytes) = match (kind.pattern, point.job.params["direction"].as_str()) {
        (Pattern::OneWay, Some("both")) => {
            (bytes("to_server_received_bits_per_s"), bytes("from_server_received_bits_per_s"))
        }
        (Pattern::OneWay, Some("from-server")) => (0, bytes("received_bits_per_s")),
        (Pattern::OneWay, _) => (bytes("received_bits_per_s"), 0),
        (Pattern::Probes, _) => {
            packets = (metric("received") as u64).max(1);
            (packets * size, packets * size)
        }
        (Pattern::Exchanges, _) => {
            let counted =
                if kind.connects_for_each() { "connections_per_s" } else { "requests_per_s" };
            let all = (metric(counted) * record.window_s * CERTAIN) as u64;
            let answer = match kind.is_http() {
                true => point.server.response_bytes,
                false => point.job.response().map(|bytes| bytes.0),
            };
            (all.saturating_mul(size), all.saturating_mul(answer.unwrap_or(size)))
        }
    };
    TrialTraffic {
        out_bytes,
        back_bytes,
        out_packets: packets,
        back_packets: packets,
        connections: 1,
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::{Value, json};

    use super::*;

    fn traffic(kind: &str, params: Value, metrics: &[(&str, f64)]) -> [u64; 3] {
        let job = Job { kind: Some(WorkloadKind::of(kind)), ..fixture::job("", params) };
        let mut point = fixture::point("w", job);
        point.server.response_bytes = Some(1000);
        let record = Record { window_s: 2.0, ..fixture::record(metrics) };
        let TrialTraffic { out_bytes, back_bytes, out_packets, .. } = stated(&point, &record);
        [out_bytes, back_bytes, out_packets]
    }

    #[test]
    fn what_a_tool_states_must_have_crossed() {
        let stream = |direction: &str| {
            let params = json!({"size": "1KiB", "direction": direction});
            let metrics = [
                ("received_bits_per_s", 8e6),
                ("to_server_received_bits_per_s", 4e6),
                ("from_server_received_bits_per_s", 8e6),
            ];
            traffic("stream", params, &metrics)
        };
        assert_eq!(stream("to-server"), [1_800_000, 0, 1]);
        assert_eq!(stream("from-server"), [0, 1_800_000, 1]);
        assert_eq!(stream("both"), [900_000, 1_800_000, 1]);
        let rate = [("requests_per_s", 100.0), ("received", 7.0)];
        assert_eq!(traffic("rr", json!({"size": "10B"}), &rate), [1800, 1800, 1]);
        let answers = json!({"size": "10B", "response": "1B"});
        assert_eq!(traffic("rr", answers, &rate), [1800, 180, 1]);
        let connections = [("connections_per_s", 100.0)];
        assert_eq!(traffic("crr", json!({"size": "10B"}), &connections), [1800, 1800, 1]);
        assert_eq!(traffic("http", json!({}), &rate), [0, 180_000, 1]);
        assert_eq!(traffic("ping", json!({"size": "56B"}), &rate), [392, 392, 7]);
        assert_eq!(traffic("rr", json!({"size": "10B"}), &[]), [0, 0, 1], "it stated nothing");
    }
}
