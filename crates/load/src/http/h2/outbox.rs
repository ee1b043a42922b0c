//! The bytes that an end of a connection has to send.

/// Bytes to be sent, the first of which were.
#[derive(Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Begins with these.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, sent: 0 }
    }

    /// Where more are appended.
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Those that are not sent yet.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// So many of them were sent; whether these were all.
    pub(super) fn sent(&mut self, bytes: usize) -> bool {
        self.sent += bytes;
        let is_done = self.sent == self.bytes.len();
        if is_done {
            self.bytes.clear();
            self.sent = 0;
        }
        is_done
    }

    /// Whether a part of them was sent.
    pub(super) fn has_begun(&self) -> bool {
        self.sent > 0
    }

    /// Bytes of memory that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}
