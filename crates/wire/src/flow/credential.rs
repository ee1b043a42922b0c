//! The credential of a run's HTTP requests, which carry no flow header.

use std::fmt::Write;

use super::key::FlowKey;
use crate::tag::tag;

/// What the tag covers besides the run: no flow header and no cookie begins like it.
const PURPOSE: &[u8] = b"hopbench http requests of run ";

/// Characters of a credential: the run as 8 hex digits, a hyphen, 32 hex digits.
pub const CREDENTIAL_CHARS: usize = 41;

impl FlowKey {
    /// The text that shows an HTTP request to be of this run, [`CREDENTIAL_CHARS`] visible ASCII
    /// characters. They are the run and the first 16 bytes of an HMAC-SHA256 under this key. It is
    /// the same for all requests of a run.
    pub fn credential(&self, run: u32) -> String {
        let mut text = format!("{run:08x}-");
        for byte in tag(&self.key, &[PURPOSE, &run.to_be_bytes()]) {
            // Writing into a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_the_run_and_its_tag() {
        let text = FlowKey::new([7; 32]).credential(0xab);
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[7; 32]);
        let signed = ring::hmac::sign(&key, b"hopbench http requests of run \0\0\0\xab");
        let hex: String = signed.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text, format!("000000ab-{hex}"));
        assert_eq!(text.len(), CREDENTIAL_CHARS);
    }

    #[test]
    fn each_run_and_each_key_has_its_own() {
        let text = FlowKey::new([7; 32]).credential(1);
        assert_ne!(text[9..], FlowKey::new([7; 32]).credential(2)[9..]);
        assert_ne!(text[9..], FlowKey::new([8; 32]).credential(1)[9..]);
        // Nor is it the token of any flow: those cover a header.
        assert_eq!(crate::flow::header::PLAIN_BYTES, 16);
        assert!(PURPOSE.len() + 4 > crate::flow::header::PLAIN_BYTES);
    }
}
