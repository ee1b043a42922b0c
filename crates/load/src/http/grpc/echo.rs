//! The service of the target, as docs/echo.proto defines it.

use hopbench_model::units::{Bytes, Span};
use hopbench_model::{Nanos, SECOND};

use super::messages::framed;

/// One request, one response.
pub(crate) const UNARY: &str = "/hopbench.v1.Echo/Unary";
/// One request, several responses.
pub(crate) const SERVER_STREAM: &str = "/hopbench.v1.Echo/ServerStream";
/// Several requests, one response.
pub(crate) const CLIENT_STREAM: &str = "/hopbench.v1.Echo/ClientStream";
/// A response to each request, as soon as it is there.
pub(crate) const BIDI_STREAM: &str = "/hopbench.v1.Echo/BidiStream";
/// Whether the server is well, as every server may answer it.
pub(crate) const HEALTH: &str = "/grpc.health.v1.Health/Check";

/// The payloads of all responses of a call together, at most, bytes.
const MOST_RESPONSE_BYTES: u64 = 1 << 30;
/// The longest delay.
const MOST_DELAY_NS: Nanos = 60 * SECOND;
/// Most responses of a call.
const MOST_COUNT: u64 = 1_000_000;
/// The last status that has a name.
const MOST_STATUS: u64 = 16;

/// The fields of a request by their numbers.
const PAYLOAD: u64 = 1;
const RESPONSE_BYTES: u64 = 2;
const DELAY_US: u64 = 3;
const STATUS: u64 = 4;
const COUNT: u64 = 5;

/// What a request asks for, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EchoRequest {
    /// Bytes of the payload of each response.
    pub(crate) response_bytes: u32,
    /// How long to wait before the response, us.
    pub(crate) delay_us: u64,
    /// The status that the call ends with.
    pub(crate) status: u32,
    /// Responses of `ServerStream`; 0 stands for 1.
    pub(crate) count: u32,
}

/// A part of a query that asks for something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryError {
    pub(crate) found: String,
    pub(crate) expected: &'static str,
}

impl EchoRequest {
    /// The request that a query asks for: `size`, `delay`, `status` and `count`, as in
    /// `size=1KiB&delay=5ms`.
    ///
    /// # Errors
    /// The part that is wrong.
    pub(crate) fn of_query(query: &str) -> Result<Self, QueryError> {
        let mut request = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let wrong = |expected| QueryError { found: pair.to_owned(), expected };
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let number = |most| value.parse().ok().filter(|number: &u64| *number <= most);
            match name {
                "size" => {
                    let size = value.parse().ok().filter(|Bytes(n)| *n <= MOST_RESPONSE_BYTES);
                    let Bytes(size) =
                        size.ok_or_else(|| wrong("a size like size=1KiB, at most 1GiB"))?;
                    request.response_bytes = size as u32;
                }
                "delay" => {
                    let fits = |Span(ns): &Span| *ns <= MOST_DELAY_NS && ns.is_multiple_of(1000);
                    let delay = value.parse().ok().filter(fits);
                    let expected = "a time like delay=5ms, whole microseconds, at most 60s";
                    let Span(ns) = delay.ok_or_else(|| wrong(expected))?;
                    request.delay_us = ns / 1000;
                }
                "status" => {
                    let status =
                        number(MOST_STATUS).ok_or_else(|| wrong("a status from 0 to 16"))?;
                    request.status = status as u32;
                }
                "count" => {
                    let count = number(MOST_COUNT).filter(|count| *count > 0);
                    request.count = count.ok_or_else(|| wrong("a count from 1 to 1000000"))? as u32;
                }
                _ => return Err(wrong("size, delay, status or count")),
            }
        }
        if !request.is_bounded() {
            let expected = "at most 1GiB in all responses: size times count";
            return Err(QueryError { found: query.to_owned(), expected });
        }
        Ok(request)
    }

    /// Whether all responses together are no longer than they may be.
    fn is_bounded(&self) -> bool {
        u64::from(self.response_bytes) * u64::from(self.count.max(1)) <= MOST_RESPONSE_BYTES
    }

    /// The message with this payload, and its prefix.
    pub(crate) fn message(&self, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(payload.len() + 32);
        if !payload.is_empty() {
            varint(PAYLOAD << 3 | 2, &mut |byte| out.push(byte));
            varint(payload.len() as u64, &mut |byte| out.push(byte));
            out.extend_from_slice(payload);
        }
        for (field, value) in [
            (RESPONSE_BYTES, u64::from(self.response_bytes)),
            (DELAY_US, self.delay_us),
            (STATUS, u64::from(self.status)),
            (COUNT, u64::from(self.count)),
        ] {
            if value > 0 {
                varint(field << 3, &mut |byte| out.push(byte));
                varint(value, &mut |byte| out.push(byte));
            }
        }
        framed(&out)
    }

    /// Reads a message. Fields that are not known are passed over. `None`: it is none, or asks for
    /// more than it gets.
    pub(crate) fn read(mut message: &[u8]) -> Option<Self> {
        let mut request = Self::default();
        let within = |value: u64, most: u64| (value <= most).then_some(value);
        while !message.is_empty() {
            let tag = read_varint(&mut message)?;
            match (tag >> 3, tag & 7) {
                (0, _) => return None,
                (field, 0) => {
                    let value = read_varint(&mut message)?;
                    match field {
                        RESPONSE_BYTES => {
                            request.response_bytes = within(value, MOST_RESPONSE_BYTES)? as u32;
                        }
                        DELAY_US => request.delay_us = within(value, MOST_DELAY_NS / 1000)?,
                        STATUS => request.status = within(value, MOST_STATUS)? as u32,
                        COUNT => request.count = within(value, MOST_COUNT)? as u32,
                        _ => {}
                    }
                }
                (_, 1) => skip(&mut message, 8)?,
                (_, 2) => {
                    let length = read_varint(&mut message)?;
                    skip(&mut message, length)?;
                }
                (_, 5) => skip(&mut message, 4)?,
                _ => return None,
            }
        }
        request.is_bounded().then_some(request)
    }
}

/// The bytes of a response in front of its payload, and how many they are.
pub(super) fn payload_head(payload_bytes: u32) -> ([u8; 6], usize) {
    let (mut head, mut length) = ([0; 6], 0);
    let mut push = |byte| {
        head[length] = byte;
        length += 1;
    };
    if payload_bytes > 0 {
        varint(PAYLOAD << 3 | 2, &mut push);
        varint(u64::from(payload_bytes), &mut push);
    }
    (head, length)
}

fn varint(mut value: u64, push: &mut impl FnMut(u8)) {
    while value >= 0x80 {
        push(value as u8 | 0x80);
        value >>= 7;
    }
    push(value as u8);
}

fn skip(bytes: &mut &[u8], length: u64) -> Option<()> {
    (_, *bytes) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    Some(())
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(first & 0x7f);
        // The tenth byte has room for one bit.
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::messages;
    use super::*;

    fn read(framed: &[u8]) -> Option<EchoRequest> {
        EchoRequest::read(messages(framed)?.next()?)
    }

    #[test]
    fn messages_are_those_of_protobuf() {
        let request = EchoRequest { response_bytes: 1024, delay_us: 5000, status: 14, count: 2 };
        // Worked out by hand from the encoding's rules.
        let expected = [
            &[0, 0, 0, 0, 14][..],
            &[0x0a, 2, b'a', b'b'],
            &[0x10, 0x80, 0x08, 0x18, 0x88, 0x27, 0x20, 14, 0x28, 2],
        ];
        assert_eq!(request.message(b"ab"), expected.concat()[..].to_vec());
        assert_eq!(EchoRequest::default().message(b""), [0; 5]);
        assert_eq!(payload_head(0).1, 0);
        assert_eq!(payload_head(1), ([0x0a, 1, 0, 0, 0, 0], 2));
        assert_eq!(payload_head(300), ([0x0a, 0xac, 0x02, 0, 0, 0], 3));
        assert_eq!(payload_head(1 << 30), ([0x0a, 0x80, 0x80, 0x80, 0x80, 0x04], 6));
    }

    #[test]
    fn unknown_fields_are_passed_over_and_wrong_ones_refused() {
        // A fixed64, a fixed32, and a number of other fields, and the status.
        let more = [0x31, 1, 2, 3, 4, 5, 6, 7, 8, 0x3d, 1, 2, 3, 4, 0x40, 9, 0x20, 5];
        assert_eq!(EchoRequest::read(&more).map(|request| request.status), Some(5));
        for wrong in [
            &[0x20][..],                                             // no value
            &[0x20, 17],                                             // no such status
            &[0x10, 0x80, 0x80, 0x80, 0x80, 0x08],                   // more than 1 GiB
            &[0x0a, 3, b'a', b'b'],                                  // a payload that is cut off
            &[0x00, 1],                                              // field 0
            &[0x0b],                                                 // a group
            &[0x20, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], // more than 64 bits
        ] {
            assert_eq!(EchoRequest::read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn queries_are_those_of_the_target() {
        let read = EchoRequest::of_query("size=1KiB&delay=5ms&status=14&count=3").unwrap();
        let expected = EchoRequest { response_bytes: 1024, delay_us: 5000, status: 14, count: 3 };
        assert_eq!(read, expected);
        assert_eq!(EchoRequest::of_query(""), Ok(EchoRequest::default()));
        for wrong in [
            "size=2GiB",
            "size=1MiB&count=1025",
            "delay=500ns",
            "size",
            "delay=2m",
            "status=17",
            "count=0",
            "stall=1s",
        ] {
            let error = EchoRequest::of_query(wrong).unwrap_err();
            assert_eq!(error.found, wrong);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            response_bytes in 0_u32..1000, delay_us in 0_u64..60_000_000, status in 0_u32..17,
            count in 0_u32..1_000_000, payload in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let request = EchoRequest { response_bytes, delay_us, status, count };
            prop_assert_eq!(read(&request.message(&payload)), Some(request));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = EchoRequest::read(&bytes);
            if let Some(all) = messages(&bytes) {
                prop_assert!(all.map(<[u8]>::len).sum::<usize>() <= bytes.len());
            }
        }
    }
}
