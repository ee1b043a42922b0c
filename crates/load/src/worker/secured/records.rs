//! The records of a TLS connection: received and not read, to be sent, and what was read.

/// Memory that a connection at rest keeps in each buffer, bytes.
const KEPT_BYTES: usize = 4 * 1024;

/// The buffers of a connection.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Received, and not all of a record, or not looked at.
    pub(super) incoming: Vec<u8>,
    pub(super) outgoing: Outgoing,
    /// Decrypted; its first `taken` bytes are with the flow.
    pub(super) decrypted: Vec<u8>,
    taken: usize,
}

/// Records to be sent. The buffer keeps its length, so that nothing is filled in twice.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    buffer: Vec<u8>,
    sent: usize,
    end: usize,
}

impl Outgoing {
    /// Appends what `write` puts into a space of this size. `write` says how much that was.
    pub(super) fn append<E>(
        &mut self,
        bytes: usize,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let needed = self.end + bytes;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
        self.end += write(&mut self.buffer[self.end..needed])?;
        Ok(())
    }
}

impl Records {
    /// Nothing of an earlier connection.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// These bytes are sent ahead of all records.
    pub(super) fn put_ahead(&mut self, bytes: &[u8]) {
        let Ok(()) = self.outgoing.append(bytes.len(), |room| {
            room.copy_from_slice(bytes);
            Ok::<usize, std::convert::Infallible>(bytes.len())
        });
    }

    /// These bytes came.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
    }

    /// So many bytes at the front of what came are read.
    pub(super) fn discard(&mut self, bytes: usize) {
        if bytes >= self.incoming.len() {
            self.incoming.clear();
        } else {
            self.incoming.drain(..bytes);
        }
    }

    /// Up to so many decrypted bytes; `None`: there are none.
    pub(super) fn plain(&self, most: usize) -> Option<&[u8]> {
        let left = &self.decrypted[self.taken..];
        let left = &left[..left.len().min(most)];
        (!left.is_empty()).then_some(left)
    }

    /// The flow has so many of them.
    pub(super) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        if self.taken < self.decrypted.len() {
            return;
        }
        self.taken = 0;
        self.decrypted.clear();
    }

    /// Gives back the memory of buffers that are empty and large.
    pub(super) fn rest(&mut self) {
        for buffer in [&mut self.decrypted, &mut self.incoming] {
            if buffer.is_empty() && buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        if !self.has_outgoing() && self.outgoing.buffer.capacity() > KEPT_BYTES {
            self.outgoing = Outgoing::default();
        }
    }

    /// The records that are to be sent.
    pub(super) fn outgoing(&self) -> &[u8] {
        &self.outgoing.buffer[self.outgoing.sent..self.outgoing.end]
    }

    /// Whether there are any.
    pub(super) fn has_outgoing(&self) -> bool {
        self.outgoing.sent < self.outgoing.end
    }

    /// So many bytes of them were sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        let outgoing = &mut self.outgoing;
        outgoing.sent += bytes;
        if outgoing.sent >= outgoing.end {
            (outgoing.sent, outgoing.end) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_and_taken_is_gone() {
        let mut records = Records::default();
        let put = |room: &mut [u8]| -> Result<usize, ()> {
            room[..3].copy_from_slice(b"abc");
            Ok(3)
        };
        records.outgoing.append(10, put).unwrap();
        records.sent(1);
        assert_eq!(records.outgoing(), b"bc");
        records.outgoing.append(3, put).unwrap();
        assert_eq!(records.outgoing(), b"bcabc");
        records.sent(5);
        assert!(!records.has_outgoing() && records.outgoing().is_empty());
        records.decrypted.extend_from_slice(b"hello");
        assert_eq!(records.plain(2), Some(&b"he"[..]));
        records.take(2);
        assert_eq!(records.plain(9), Some(&b"llo"[..]));
        records.take(3);
        assert_eq!(records.plain(9), None);
        records.received(b"xyz");
        records.discard(2);
        assert_eq!(records.incoming, b"z");
        records.discard(1);
        assert!(records.incoming.is_empty());
    }
}
