//! The wire format of a datagram of `udp`, and the figures that the server reports.

/// Bytes of a datagram's header.
pub(super) const HEADER: usize = 16;

/// Figures in the reports of the ends.
pub(super) const JITTER_SUM: &str = "jitter_sum_ns";
pub(super) const JITTER_FLOWS: &str = "jitter_flows";
pub(super) const FOREIGN: &str = "foreign_datagrams";
