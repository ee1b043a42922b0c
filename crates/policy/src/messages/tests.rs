use proptest::prelude::*;
use prost::Message;

use super::access_log::{Duration, HttpEntry, StreamAccessLogsMessage, TcpEntry};
use super::check::{CheckRequest, CheckResponse};

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field of any message: its number and what is in it, with a length.
fn field(number: usize, inside: &[u8]) -> Vec<u8> {
    [&varint(number << 3 | 2), &varint(inside.len()), inside].concat()
}

/// A field of any message: its number and a number.
fn number(field: usize, value: usize) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn address(ip: &str, port: usize) -> Vec<u8> {
    // The protocol (field 1) comes first and is skipped.
    field(1, &[number(1, 0), field(2, ip.as_bytes()), number(3, port)].concat())
}

/// Written field by field from Envoy's files: `external_auth.proto`, `attribute_context.proto`,
/// `address.proto`.
#[test]
fn a_check_of_a_request_from_known_bytes() {
    let header = |name: &str, value: &str| {
        field(3, &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat())
    };
    let http = [
        field(1, b"an id"),
        field(2, b"GET"),
        header(":path", "/a?n=1"),
        header("x-hopbench-deny", "1"),
        field(4, b"/a?n=1"),
        field(5, b"host"),
        field(10, b"HTTP/1.1"),
    ];
    let request = [field(1, &number(1, 9)), field(2, &http.concat())];
    let source = [field(1, &address("10.0.0.1", 40_000)), field(4, b"spiffe://hopbench/a")];
    let attributes = [
        field(1, &source.concat()),
        field(2, &field(1, &address("10.0.0.2", 80))),
        field(4, &request.concat()),
        field(11, b""),
    ];
    let check = CheckRequest::decode(&*field(1, &attributes.concat())).unwrap().attributes.unwrap();
    let source = check.source.unwrap();
    assert_eq!(source.principal, "spiffe://hopbench/a");
    assert_eq!(source.address.unwrap().ip(), "10.0.0.1".parse().ok());
    assert_eq!(check.destination.unwrap().address.unwrap().port(), Some(80));
    let http = check.request.unwrap().http.unwrap();
    assert_eq!((&*http.method, &*http.path), ("GET", "/a?n=1"));
    assert_eq!(http.headers["x-hopbench-deny"], "1");
}

/// Written field by field from Envoy's files: `als.proto`, `accesslog.proto`.
#[test]
fn entries_of_a_log_from_known_bytes() {
    let common =
        [field(2, &address("10.0.0.1", 40_000)), field(23, &[number(1, 1), number(2, 5)].concat())]
            .concat();
    let request = [number(1, 1), field(5, b"/a"), number(11, 100), number(12, 7)].concat();
    let response = [field(1, &number(1, 503)), number(2, 60), number(3, 3)].concat();
    let http = field(
        1,
        &[field(1, &common), number(2, 2), field(3, &request), field(4, &response)].concat(),
    );
    let message = StreamAccessLogsMessage::decode(&*field(2, &http)).unwrap();
    assert!(message.tcp_logs.is_none());
    let [entry] = &message.http_logs.unwrap().log_entry[..] else { panic!("one entry") };
    let entry = HttpEntry::decode(&**entry).unwrap();
    let common = entry.common_properties.as_ref().unwrap();
    assert_eq!(common.downstream_remote_address.as_ref().unwrap().ip(), "10.0.0.1".parse().ok());
    assert_eq!(common.duration.unwrap().ns(), 1_000_000_005);
    assert!(!common.intermediate_log_entry);
    let request = entry.request.as_ref().unwrap();
    assert_eq!(
        (&*request.path, request.request_headers_bytes, request.request_body_bytes),
        ("/a", 100, 7)
    );
    let response = entry.response.as_ref().unwrap();
    assert_eq!(response.response_code.unwrap().value, 503);
    assert_eq!((response.response_headers_bytes, response.response_body_bytes), (60, 3));

    let tcp = field(
        1,
        &[field(1, &number(27, 1)), field(2, &[number(1, 5), number(2, 6)].concat())].concat(),
    );
    let message = StreamAccessLogsMessage::decode(&*field(3, &tcp)).unwrap();
    let [entry] = &message.tcp_logs.unwrap().log_entry[..] else { panic!("one entry") };
    let entry = TcpEntry::decode(&**entry).unwrap();
    assert!(entry.common_properties.as_ref().unwrap().intermediate_log_entry);
    let bytes = entry.connection_properties.unwrap();
    assert_eq!((bytes.received_bytes, bytes.sent_bytes), (5, 6));
}

#[test]
fn durations() {
    assert_eq!(Duration { seconds: -1, nanos: 999_999_999 }.ns(), 0);
    assert_eq!(Duration { seconds: 2, nanos: -1 }.ns(), 1_999_999_999);
    assert_eq!(Duration { seconds: i64::MAX, nanos: 0 }.ns(), u64::MAX);
}

proptest! {
    /// Any bytes, and right bytes with one that is not, are decoded or refused.
    #[test]
    fn no_bytes_break_a_decoder(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        at in any::<prop::sample::Index>(),
    ) {
        let _ = CheckRequest::decode(&*bytes);
        let _ = StreamAccessLogsMessage::decode(&*bytes);
        let _ = (HttpEntry::decode(&*bytes), TcpEntry::decode(&*bytes));
        let _ = CheckResponse::decode(&*bytes);
        let entry = field(1, &field(23, &number(1, 1)));
        bytes.splice(..bytes.len().min(entry.len()), entry);
        *at.get_mut(&mut bytes) ^= 0xff;
        let _ = HttpEntry::decode(&*bytes);
    }
}
