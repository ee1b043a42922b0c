//! The answer to a call, as a client sees it come.

use super::messages::PREFIX_BYTES;

/// The answer as far as it is there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallProgress {
    status: Option<u32>,
    messages: u32,
    /// Bytes of a message's prefix that came.
    prefix: usize,
    /// Its length as far as it is known, and then what is to come of it.
    left: u32,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEnd {
    /// Its status, 0 where it succeeded; `None`: the server did not say.
    pub status: Option<u32>,
    /// Messages of the answer.
    pub messages: u32,
    /// Whether the last one is all there.
    pub is_whole: bool,
}

impl CallProgress {
    /// Bytes of messages came.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.prefix < PREFIX_BYTES {
                // The first byte says whether it is compressed; nobody looks into it.
                if self.prefix > 0 {
                    self.left = self.left << 8 | u32::from(*first);
                }
                self.prefix += 1;
                bytes = rest;
            } else {
                let part = bytes.len().min(self.left as usize);
                self.left -= part as u32;
                bytes = &bytes[part..];
            }
            if self.prefix == PREFIX_BYTES && self.left == 0 {
                self.messages = self.messages.saturating_add(1);
                self.prefix = 0;
            }
        }
    }

    /// Messages that are all there.
    pub(crate) fn messages(&self) -> u32 {
        self.messages
    }

    /// The server said the status.
    pub(crate) fn ends_with(&mut self, status: u32) {
        self.status = Some(status);
    }

    /// The end.
    pub(crate) fn end(&self) -> CallEnd {
        CallEnd { status: self.status, messages: self.messages, is_whole: self.prefix == 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::framed;
    use super::*;

    #[test]
    fn a_message_that_is_cut_off_is_not_whole() {
        let message = framed(b"abc");
        for length in 0..message.len() {
            let mut call = CallProgress::default();
            call.feed(&message[..length]);
            let end = CallEnd { status: None, messages: 0, is_whole: length == 0 };
            assert_eq!(call.end(), end, "{length}");
        }
    }

    proptest! {
        /// However the bytes are cut, the messages are the same.
        #[test]
        fn messages_are_counted(
            sizes in prop::collection::vec(0_usize..300, 0..6),
            cut in 1_usize..9,
        ) {
            let all: Vec<u8> = sizes.iter().flat_map(|size| framed(&vec![7; *size])).collect();
            let mut call = CallProgress::default();
            all.chunks(cut).for_each(|chunk| call.feed(chunk));
            call.ends_with(0);
            let end = CallEnd { status: Some(0), messages: sizes.len() as u32, is_whole: true };
            prop_assert_eq!(call.end(), end);
        }
    }
}
