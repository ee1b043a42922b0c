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

/// Bytes on the wire of `plain_bytes` in records, each with `beyond_bytes` beside its content.
pub(super) fn on_wire(plain_bytes: usize, beyond_bytes: usize) -> usize {
    plain_bytes + plain_bytes.div_ceil(RECORD_BYTES) * beyond_bytes
}

/// Bytes on the wire of `plain_bytes`, at most.
pub(crate) fn most_on_wire(plain_bytes: usize) -> usize {
    on_wire(plain_bytes, session::MOST_BEYOND_BYTES)
}

/// Bytes of a flow whose records fill a packet, each with `beyond_bytes` beside its content.
pub(super) fn plain_in(packet_bytes: usize, beyond_bytes: usize) -> usize {
    let records = packet_bytes.div_ceil(RECORD_BYTES + beyond_bytes);
    packet_bytes.saturating_sub(records * beyond_bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fill_a_packet() {
        for packet_bytes in [65_160, 62_636, 65_483, 49_152, 16_406, 16_407, 1000] {
            for beyond_bytes in [21, 22, 29] {
                let plain_bytes = plain_in(packet_bytes, beyond_bytes);
                let left = packet_bytes - on_wire(plain_bytes, beyond_bytes);
                // One more byte would begin a record that has no room.
                assert!(left <= beyond_bytes, "{packet_bytes} {beyond_bytes}: {left} left");
            }
        }
        assert_eq!(on_wire(plain_in(65_160, 22), 22), 65_160);
    }
}
