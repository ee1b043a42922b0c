//! The traffic of a trial: what must have crossed every link at least.

use hopbench_model::{Counter, EndReport, HttpVersion, Pattern};
use hopbench_testbed::placement::Endpoints;
use hopbench_testbed::{AgentId, Seen};

use crate::topology::packet_path::Way;

/// The traffic of a trial, from its start to its end, warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrialTraffic {
    pub(super) out_bytes: u64,
    pub(super) back_bytes: u64,
    /// Packets to the servers at least.
    pub(super) out_packets: u64,
    /// The same on the way back.
    pub(super) back_packets: u64,
    pub(super) connections: u64,
}

impl TrialTraffic {
    pub(super) fn of(endpoints: &Endpoints, seen: &Seen<'_>) -> Self {
        let completed: u64 = sum(seen.clients, Counter::Completed);
        let opened: u64 = sum(seen.clients, Counter::Connects);
        let (out_bytes, back_bytes) = Self::payload(endpoints, seen);
        let kind = seen.job.kind();
        // A probe is a packet each way; whatever else was completed took one of all.
        let packets = if kind.pattern == Pattern::Probes { completed.max(1) } else { 1 };
        // Nobody answers a datagram; what came back was the answer to its flow's registration.
        let is_unanswered = seen.stood && kind.is_one_way_udp();
        Self {
            out_bytes,
            back_bytes,
            out_packets: packets,
            back_packets: if is_unanswered { 0 } else { packets },
            // Each client opens all the connections of the job, if they did not stand; not every
            // workload counts them.
            connections: if seen.stood {
                opened
            } else {
                opened.max(u64::from(seen.job.connections) * seen.clients.len() as u64)
            },
        }
    }

    /// Payload that crossed every link, at least.
    fn payload(endpoints: &Endpoints, seen: &Seen<'_>) -> (u64, u64) {
        let (out_bytes, back_bytes) =
            (sum(seen.servers, Counter::ReceivedBytes), sum(seen.clients, Counter::ReceivedBytes));
        if !seen.job.shows_requests() || !endpoints.path.is_proxied() || seen.job.bypasses_proxies()
        {
            return (out_bytes, back_bytes);
        }
        // Proxies write headers of their own: behind them a message is longer than on the link
        // before. HTTP/2 packs headers: only bodies are sure to cross, and only those of the window
        // are known.
        let variant = endpoints.path.variant.as_ref();
        let is_translated = variant.is_some_and(|variant| variant.upstream == HttpVersion::Http2);
        if is_translated || seen.job.is_over_http2() {
            let bodies =
                seen.clients.iter().filter_map(|(_, end)| end.extra.get("body_bytes")).sum::<f64>();
            return (0, bodies as u64);
        }
        let least = |ends: [u64; 2]| ends.into_iter().filter(|bytes| *bytes > 0).min().unwrap_or(0);
        (
            least([out_bytes, sum(seen.clients, Counter::SentBytes)]),
            least([back_bytes, sum(seen.servers, Counter::SentBytes)]),
        )
    }

    pub(super) fn packets(self, way: Way) -> u64 {
        match way {
            Way::Out => self.out_packets,
            Way::Back => self.back_packets,
        }
    }

    pub(super) fn bytes(self, way: Way) -> u64 {
        match way {
            Way::Out => self.out_bytes,
            Way::Back => self.back_bytes,
        }
    }
}

/// The sum of a counter of all ends of one side.
fn sum(ends: &[(AgentId, EndReport)], counter: Counter) -> u64 {
    ends.iter().map(|(_, end)| end.drained.of(counter)).sum()
}
