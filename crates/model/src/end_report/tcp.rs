//! Totals of TCP connections, from the kernel.

use serde::{Deserialize, Serialize};

/// Sums over connections of what `TCP_INFO` and the socket queues say at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpTotals {
    /// Connections that were read.
    pub connections: u64,
    /// Bytes acknowledged by the peer (`tcpi_bytes_acked`).
    pub acked_bytes: u64,
    /// Bytes received in order from the peer (`tcpi_bytes_received`).
    pub received_bytes: u64,
    /// Bytes put on the wire, retransmissions included (`tcpi_bytes_sent`).
    pub sent_bytes: u64,
    /// Bytes sent again (`tcpi_bytes_retrans`).
    pub retransmitted_bytes: u64,
    /// Segments sent again (`tcpi_total_retrans`).
    pub retransmitted_segments: u64,
    /// Bytes written that the peer has not acknowledged (`SIOCOUTQ`).
    pub send_queue_bytes: u64,
    /// Bytes written that were never sent (`tcpi_notsent_bytes`); part of the send queue.
    pub not_sent_bytes: u64,
    /// Bytes received that the application has not read (`SIOCINQ`).
    pub receive_queue_bytes: u64,
    /// Time spent busy sending, summed over connections, ns.
    pub busy_ns: u64,
    /// Part of `busy_ns` in which the peer's window was the limit, ns.
    pub receive_window_limited_ns: u64,
    /// Part of `busy_ns` in which the send buffer was the limit, ns.
    pub send_buffer_limited_ns: u64,
    /// Mean smoothed round-trip time over connections, ns.
    pub smoothed_rtt_ns: u64,
    /// Smallest round-trip time that any connection saw, ns.
    pub min_rtt_ns: u64,
}

impl TcpTotals {
    /// The growth since `earlier`; queues and round-trip times stay as they are now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let d = |now: u64, then: u64| now.saturating_sub(then);
        Self {
            acked_bytes: d(self.acked_bytes, earlier.acked_bytes),
            received_bytes: d(self.received_bytes, earlier.received_bytes),
            sent_bytes: d(self.sent_bytes, earlier.sent_bytes),
            retransmitted_bytes: d(self.retransmitted_bytes, earlier.retransmitted_bytes),
            retransmitted_segments: d(self.retransmitted_segments, earlier.retransmitted_segments),
            busy_ns: d(self.busy_ns, earlier.busy_ns),
            receive_window_limited_ns: d(
                self.receive_window_limited_ns,
                earlier.receive_window_limited_ns,
            ),
            send_buffer_limited_ns: d(self.send_buffer_limited_ns, earlier.send_buffer_limited_ns),
            ..*self
        }
    }
}
