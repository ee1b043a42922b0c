//! Registration of UDP flows.
//!
//! A server keeps nothing for, and says nothing to, an address that has not shown two things. They
//! are a valid token, and that it receives what is sent to it (the cookie). The datagram that
//! registers is longer than any answer, so a forged source address gains an attacker nothing.
//!
//! A registration can be repeated: the same datagram is accepted again while the server's secret
//! lives. Accepting is therefore to be idempotent for a pair of address and flow.

mod cookie;

use std::net::{IpAddr, SocketAddr};

pub use cookie::{Cookie, CookieJar, NO_COOKIE};

use crate::flow::{FLOW_HEADER_BYTES, FlowHeader, FlowKey, FlowKind};

/// Bytes of a registration: the flow header, a cookie, padding of zeros.
pub const REGISTER_BYTES: usize = 64;

/// Bytes of a challenge: its magic, run, flow, cookie.
pub const CHALLENGE_BYTES: usize = 28;

/// Bytes of an acceptance: its magic, run, flow.
pub const ACCEPTED_BYTES: usize = 12;

const CHALLENGE_MAGIC: [u8; 4] = *b"HOPC";
const ACCEPTED_MAGIC: [u8; 4] = *b"HOPA";

/// Where the cookie ends and the padding starts.
const COOKIE_END: usize = FLOW_HEADER_BYTES + 16;

// No amplification, whatever is changed here.
const _: () = assert!(CHALLENGE_BYTES < REGISTER_BYTES && ACCEPTED_BYTES < REGISTER_BYTES);

/// The datagram with which a client registers: [`NO_COOKIE`] at first, then the challenge's cookie.
pub fn register(header: &FlowHeader, key: &FlowKey, cookie: &Cookie) -> [u8; REGISTER_BYTES] {
    let mut out = [0; REGISTER_BYTES];
    out[..FLOW_HEADER_BYTES].copy_from_slice(&header.encode(key));
    out[FLOW_HEADER_BYTES..COOKIE_END].copy_from_slice(cookie);
    out
}

/// The answer of a server to a registration, as the client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerReply {
    /// Register again with this cookie.
    Challenge {
        /// The run of the registration.
        run: u32,
        /// The flow of the registration.
        flow: u32,
        /// To be sent back.
        cookie: Cookie,
    },
    /// The flow is registered.
    Accepted {
        /// The run of the registration.
        run: u32,
        /// The flow of the registration.
        flow: u32,
    },
}

impl ServerReply {
    /// Reads an answer; `None` for any other datagram. It is not authenticated: compare run and
    /// flow with what was sent.
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let (magic, rest) = datagram.split_first_chunk::<4>()?;
        let (run, rest) = rest.split_first_chunk::<4>()?;
        let (flow, rest) = rest.split_first_chunk::<4>()?;
        let (run, flow) = (u32::from_be_bytes(*run), u32::from_be_bytes(*flow));
        match *magic {
            CHALLENGE_MAGIC => {
                rest.try_into().ok().map(|cookie| Self::Challenge { run, flow, cookie })
            }
            ACCEPTED_MAGIC if rest.is_empty() => Some(Self::Accepted { run, flow }),
            _ => None,
        }
    }
}

/// What a server does with a datagram from an address that has not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationReply {
    /// Nothing, and says nothing.
    Ignore,
    /// Sends this back and forgets.
    Challenge([u8; CHALLENGE_BYTES]),
    /// Registers the flow at the peer's address, if the run wants it, and then sends this back.
    Accept(FlowHeader, [u8; ACCEPTED_BYTES]),
}

/// Judges a datagram that `peer` sent to `local`.
///
/// `key` gives the flow key of a run that this agent takes part in. Only a whole registration of a
/// UDP flow with a valid token gets an answer.
pub fn answer<'k>(
    datagram: &[u8],
    peer: SocketAddr,
    local: IpAddr,
    key: impl FnOnce(u32) -> Option<&'k FlowKey>,
    jar: &CookieJar,
) -> RegistrationReply {
    let Some((header, cookie)) = authentic(datagram, key) else {
        return RegistrationReply::Ignore;
    };
    if jar.verify(peer, local, &header, cookie) {
        let mut out = [0; ACCEPTED_BYTES];
        name(&mut out, ACCEPTED_MAGIC, &header);
        return RegistrationReply::Accept(header, out);
    }
    let mut out = [0; CHALLENGE_BYTES];
    name(&mut out, CHALLENGE_MAGIC, &header);
    out[ACCEPTED_BYTES..].copy_from_slice(&jar.cookie(peer, local, &header));
    RegistrationReply::Challenge(out)
}

/// The header and cookie of a registration whose token is valid.
fn authentic<'d, 'k>(
    datagram: &'d [u8],
    key: impl FnOnce(u32) -> Option<&'k FlowKey>,
) -> Option<(FlowHeader, &'d Cookie)> {
    let datagram: &[u8; REGISTER_BYTES] = datagram.try_into().ok()?;
    let (header, rest) = datagram.split_first_chunk()?;
    let (cookie, padding) = rest.split_first_chunk()?;
    if padding.iter().any(|&byte| byte != 0) {
        return None;
    }
    let (header, token) = FlowHeader::parse(header).ok()?;
    if header.kind != FlowKind::Udp {
        return None;
    }
    key(header.run)?.verify(&header, &token).then_some((header, cookie))
}

/// Writes what every answer starts with.
fn name(out: &mut [u8], magic: [u8; 4], header: &FlowHeader) {
    out[..4].copy_from_slice(&magic);
    out[4..8].copy_from_slice(&header.run.to_be_bytes());
    out[8..12].copy_from_slice(&header.flow.to_be_bytes());
}

#[cfg(test)]
mod tests;
