//! The wire format of a message of `push`, and the figures that both ends report.

use hopbench_model::Nanos;

/// Bytes of a message's header.
pub(super) const HEADER: usize = 16;
/// Bytes of one call, at most.
pub(super) const CHUNK: usize = 256 * 1024;
/// From here on a message counts as late, ns.
pub(super) const LATE: Nanos = 1_000_000;

/// Figures in the reports of the ends.
pub(super) const LATE_MESSAGES: &str = "late_messages";
pub(super) const CLEAN_CLOSES: &str = "clean_closes";
pub(super) const MIN_MESSAGES: &str = "min_messages_per_connection";
pub(super) const MAX_MESSAGES: &str = "max_messages_per_connection";
