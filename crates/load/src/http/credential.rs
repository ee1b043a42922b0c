//! The credential of a trial, which each of its HTTP requests carries.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

/// The field of a request that has the credential; lower case, as HTTP/2 between proxies wants it.
pub const CREDENTIAL_FIELD: &str = "x-hopbench-run";

/// What a protocol begins with that shows a credential.
const CREDENTIAL_PROTOCOL: &[u8] = b"hopbench-run:";

/// The secret text that all requests of one trial carry in the field [`CREDENTIAL_FIELD`].
///
/// It can only be compared by [`Credential::is`], which takes the same time for every text of the
/// same length.
#[derive(Clone)]
pub struct Credential(Arc<str>);

impl Credential {
    /// The credential with this text, which must be visible ASCII.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Whether a field's value is this credential. How long it takes tells the length, and nothing
    /// else.
    pub fn is(&self, value: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differs = own.iter().zip(value).fold(0, |seen, (a, b)| black_box(seen | (a ^ b)));
        own.len() == value.len() && black_box(differs) == 0
    }

    /// The protocol that a client offers in a handshake of TLS (ALPN), by which the port knows the
    /// trial: the request itself is encrypted.
    pub fn protocol(&self) -> Vec<u8> {
        [CREDENTIAL_PROTOCOL, self.0.as_bytes()].concat()
    }

    /// The credential that an offered protocol shows.
    pub fn of_protocol(protocol: &[u8]) -> Option<&[u8]> {
        protocol.strip_prefix(CREDENTIAL_PROTOCOL)
    }

    /// The text, to be sent.
    pub(in crate::http) fn text(&self) -> &str {
        &self.0
    }
}

/// Hides the text.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_text_is_it() {
        let credential = Credential::new("0000002a-0123456789abcdef");
        assert!(credential.is(b"0000002a-0123456789abcdef"));
        for other in [
            "",
            "0",
            "0000002a-0123456789abcde",
            "0000002a-0123456789abcdef0",
            "0000002A-0123456789abcdef",
        ] {
            assert!(!credential.is(other.as_bytes()), "{other}");
        }
        for at in 0..25 {
            let mut other = *b"0000002a-0123456789abcdef";
            other[at] ^= 1;
            assert!(!credential.is(&other), "byte {at}");
        }
        assert_eq!(format!("{credential:?}"), "Credential(..)");
    }
}
