//! The messages of an answer that are still to be sent.

use super::echo::payload_head;
use super::messages::{PREFIX_BYTES, prefix};

/// Most bytes in front of the filler of an answer: the prefix, the field's tag and its length.
const MOST_LEAD_BYTES: usize = PREFIX_BYTES + 6;

/// The messages of an answer: each has a payload of filler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Messages {
    /// How many.
    pub(crate) count: u32,
    /// Bytes of the payload of each.
    pub(crate) payload_bytes: u32,
}

/// What is left of the messages of an answer.
#[derive(Debug)]
pub(crate) struct MessagesToSend {
    lead: [u8; MOST_LEAD_BYTES],
    lead_bytes: usize,
    payload_bytes: usize,
    /// Bytes of the lead of this message that were sent, and of its payload that were not.
    lead_sent: usize,
    left: usize,
    /// Messages behind this one.
    behind: u32,
}

impl MessagesToSend {
    /// All of them; `None`: there are none.
    pub(crate) fn of(messages: Messages) -> Option<Self> {
        let behind = messages.count.checked_sub(1)?;
        let payload_bytes = messages.payload_bytes as usize;
        let (head, head_bytes) = payload_head(messages.payload_bytes);
        let head = &head[..head_bytes];
        let mut lead = [0; MOST_LEAD_BYTES];
        lead[..PREFIX_BYTES].copy_from_slice(&prefix(head.len() + payload_bytes));
        lead[PREFIX_BYTES..PREFIX_BYTES + head.len()].copy_from_slice(head);
        Some(Self {
            lead,
            lead_bytes: PREFIX_BYTES + head.len(),
            payload_bytes,
            lead_sent: 0,
            left: payload_bytes,
            behind,
        })
    }

    /// Appends the next bytes of them, at most so many; how many there were, and whether these are
    /// the last.
    pub(crate) fn write(&mut self, most: usize, filler: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
        let mut written = 0;
        loop {
            let to = self.lead_bytes.min(self.lead_sent + most - written);
            out.extend_from_slice(&self.lead[self.lead_sent..to]);
            written += to - self.lead_sent;
            self.lead_sent = to;
            let part = self.left.min(most - written).min(filler.len());
            out.extend_from_slice(&filler[..part]);
            (written, self.left) = (written + part, self.left - part);
            if self.lead_sent < self.lead_bytes || self.left > 0 {
                if written == most || filler.is_empty() {
                    return (written, false);
                }
                continue;
            }
            if self.behind == 0 {
                return (written, true);
            }
            self.behind -= 1;
            (self.lead_sent, self.left) = (0, self.payload_bytes);
            if written == most {
                return (written, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::messages;
    use super::*;

    proptest! {
        /// However little may be sent at once, whole messages arrive.
        #[test]
        fn all_is_sent(count in 0_u32..4, payload_bytes in 0_u32..400, most in 1_usize..50) {
            let mut sent = Vec::new();
            let mut to_send = MessagesToSend::of(Messages { count, payload_bytes });
            while let Some(messages) = &mut to_send {
                let before = sent.len();
                let (written, is_last) = messages.write(most, &[b'x'; 16], &mut sent);
                prop_assert_eq!(sent.len(), before + written);
                prop_assert!(written == most || is_last && written < most);
                if is_last {
                    to_send = None;
                }
            }
            let all: Vec<&[u8]> = messages(&sent).unwrap().collect();
            prop_assert_eq!(all.len(), count as usize);
            for message in all {
                let payload = message.iter().filter(|byte| **byte == b'x').count();
                prop_assert!(
                    payload >= payload_bytes as usize && payload <= payload_bytes as usize + 2
                );
            }
        }
    }
}
