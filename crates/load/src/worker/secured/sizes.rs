//! How much is encrypted, sent and received at once.

use std::sync::{Arc, LazyLock};

use super::session;
use super::side::Side;
use crate::worker::filler;

/// Most bytes of one receive: a whole record of the largest size, as servers of much data send it.
pub(crate) const RECEIVE_BYTES: usize = 17 * 1024;
/// The content of a record, at most, bytes.
pub(crate) const RECORD_BYTES: usize = 16 * 1024;
/// Most bytes of a flow that are encrypted at once: four records.
pub(crate) const MOST_PLAIN: usize = 4 * RECORD_BYTES;

/// What so many bytes of a flow become in records that have so many more, bytes.
pub(super) fn on_wire(plain_bytes: usize, beyond_bytes: usize) -> usize {
    plain_bytes + plain_bytes.div_ceil(RECORD_BYTES) * beyond_bytes
}

/// What so many bytes of a flow become on the wire, at most, in whole records.
pub(crate) fn most_on_wire(plain_bytes: usize) -> usize {
    on_wire(plain_bytes, session::MOST_BEYOND_BYTES)
}

/// What of a flow fits into a packet of so many bytes, in records that have so many more, bytes.
pub(super) fn plain_in(packet_bytes: usize, beyond_bytes: usize) -> usize {
    packet_bytes.saturating_sub((packet_bytes / RECORD_BYTES + 1) * beyond_bytes)
}

/// Bytes of a flow that are encrypted at once, at most.
pub(super) fn most_plain_bytes(side: &Side) -> usize {
    match side {
        Side::Client(_) => MOST_PLAIN,
        Side::Server(server) => server.most_plain_bytes,
    }
}

/// The filler that flows over TLS send: the same for all of them.
pub(super) fn common_filler() -> &'static [u8] {
    static FILLER: LazyLock<Arc<[u8]>> = LazyLock::new(|| filler::filler(MOST_PLAIN));
    &FILLER
}
