//! A stand-in for the protocol: flows say their number, and nothing is secret.

use hopbench_load::{HandshakeAnswer, HandshakeCodec};

pub(crate) const ACCEPTED: [u8; 8] = *b"welcome!";
pub(crate) const COOKIE: [u8; 16] = [0x5a; 16];

#[derive(Debug)]
pub(crate) struct Plain;

impl HandshakeCodec for Plain {
    fn tcp(&self, flow: u32) -> [u8; 32] {
        let mut header = [0; 32];
        header[..4].copy_from_slice(b"FLOW");
        header[4..8].copy_from_slice(&flow.to_be_bytes());
        header[16..].copy_from_slice(&[b't'; 16]);
        header
    }

    fn udp(&self, flow: u32, cookie: Option<[u8; 16]>) -> [u8; 64] {
        let mut datagram = [0; 64];
        datagram[..32].copy_from_slice(&self.tcp(flow));
        datagram[32..48].copy_from_slice(&cookie.unwrap_or_default());
        datagram
    }

    fn read(&self, flow: u32, answer: &[u8]) -> HandshakeAnswer {
        match answer.split_first() {
            _ if answer == ACCEPTED => HandshakeAnswer::Accepted,
            Some((b'A', number)) if number == flow.to_be_bytes() => HandshakeAnswer::Accepted,
            Some((b'C', cookie)) => {
                cookie.try_into().map_or(HandshakeAnswer::Unknown, HandshakeAnswer::Challenge)
            }
            _ => HandshakeAnswer::Unknown,
        }
    }
}

/// The flow that a header belongs to.
pub(crate) fn flow_of(header: &[u8]) -> Option<u32> {
    let number = header.strip_prefix(b"FLOW")?.first_chunk()?;
    Some(u32::from_be_bytes(*number))
}

/// A server's answer to a registration, and the flow to register if it is complete.
pub(crate) fn answer(datagram: &[u8; 64]) -> Option<(Vec<u8>, Option<u32>)> {
    let flow = flow_of(datagram)?;
    if datagram[32..48] == COOKIE {
        let answer = [&b"A"[..], &flow.to_be_bytes()].concat();
        return Some((answer, Some(flow)));
    }
    Some(([&b"C"[..], &COOKIE].concat(), None))
}
