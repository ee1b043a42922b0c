//! Cookies: proof that an address receives what is sent to it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::flow::FlowHeader;
use crate::tag::{TAG_BYTES, same, tag};

/// The bytes that a client must send back.
pub type Cookie = [u8; TAG_BYTES];

/// The cookie of a first registration.
pub const NO_COOKIE: Cookie = [0; TAG_BYTES];

/// Makes cookies and knows its own again, without keeping any.
///
/// A cookie is good for one flow between two addresses, as long as the jar lives.
#[derive(Clone)]
pub struct CookieJar {
    key: ring::hmac::Key,
}

impl CookieJar {
    /// A jar with its own secret. It must be random in every process, and not made from the token
    /// that clients know. Whoever can make cookies can register an address that is not theirs.
    pub fn new(secret: [u8; 32]) -> Self {
        Self { key: ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &secret) }
    }

    /// The cookie for a flow from `peer` to `local`. IPv4 addresses mapped into IPv6 count as the
    /// IPv4 addresses they are.
    pub fn cookie(&self, peer: SocketAddr, local: IpAddr, header: &FlowHeader) -> Cookie {
        tag(
            &self.key,
            &[&octets(peer.ip()), &peer.port().to_be_bytes(), &octets(local), &header.plain()],
        )
    }

    /// Whether this jar gave the cookie to that flow, in constant time.
    pub fn verify(
        &self,
        peer: SocketAddr,
        local: IpAddr,
        header: &FlowHeader,
        cookie: &Cookie,
    ) -> bool {
        same(&self.cookie(peer, local, header), cookie)
    }
}

/// Hides the secret.
impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieJar(..)")
    }
}

/// One form of 16 bytes for every address, so that all parts have a fixed length.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
