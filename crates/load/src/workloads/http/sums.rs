//! The sums of a connection over its answers, and the names under which records carry them.

use crate::http::ResponseEnd;
use crate::measure::recorder::Recorder;

/// Figure: bytes of the bodies of the answers that were counted.
pub(super) const BODY_BYTES: &str = "body_bytes";
/// Figure: bytes of their heads, chunk sizes and trailers.
pub(super) const HEADER_BYTES: &str = "header_bytes";
/// Figure: those whose body was not as long as expected.
pub(super) const UNEXPECTED_SIZES: &str = "unexpected_sizes";
/// Figure: requests of the window that were sent again because their connection had been closed at
/// rest.
pub(super) const RECONNECTS: &str = "reconnects";
/// The same of the whole trial, for whoever compares with counters of the whole trial.
pub(super) const RECONNECTS_DRAINED: &str = "reconnects_drained";
/// Figure: answers of the window after whose end more bytes came.
pub(super) const SURPLUS: &str = "surplus_answers";
/// Figure: connections whose server takes fewer requests at once than there could be.
pub(super) const LIMITED: &str = "limited_connections";

/// Figure: messages of gRPC in the answers that were counted.
pub(super) const MESSAGES: &str = "response_messages_sum";

/// Sums of one connection: plain numbers, so that an exchange costs a few additions.
#[derive(Default)]
pub(super) struct Sums {
    body_bytes: u64,
    header_bytes: u64,
    unexpected_sizes: u64,
    /// `None`: there were no calls of gRPC.
    messages: Option<u64>,
    /// See [`RECONNECTS`].
    pub(super) reconnects: u64,
    /// See [`RECONNECTS_DRAINED`].
    pub(super) reconnects_drained: u64,
    /// See [`SURPLUS`].
    pub(super) surplus: u64,
    /// See [`LIMITED`].
    pub(super) limited: u64,
}

impl Sums {
    /// Adds an answer that was counted.
    #[inline]
    pub(super) fn add(&mut self, end: &ResponseEnd, expected_body_bytes: Option<u64>) {
        self.body_bytes += end.body_bytes;
        self.header_bytes += end.header_bytes;
        let unexpected = expected_body_bytes.is_some_and(|n| n != end.body_bytes);
        self.unexpected_sizes += u64::from(unexpected);
        if let Some(call) = &end.call {
            *self.messages.get_or_insert(0) += u64::from(call.messages);
        }
    }

    /// Writes the sums down and starts over.
    pub(super) fn flush(&mut self, out: &mut Recorder) {
        let sums = std::mem::take(self);
        for (name, value) in [
            (BODY_BYTES, sums.body_bytes),
            (HEADER_BYTES, sums.header_bytes),
            (UNEXPECTED_SIZES, sums.unexpected_sizes),
            (RECONNECTS, sums.reconnects),
            (RECONNECTS_DRAINED, sums.reconnects_drained),
            (SURPLUS, sums.surplus),
            (LIMITED, sums.limited),
        ] {
            if value > 0 {
                out.add_extra(name, value as f64);
            }
        }
        if let Some(messages) = sums.messages {
            out.add_extra(MESSAGES, messages as f64);
        }
    }
}
