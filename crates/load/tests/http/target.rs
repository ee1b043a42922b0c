//! Our target, byte by byte.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use hopbench_model::Counter;

use crate::ours::Ours;

/// Sends `pieces` one after the other and reads until the target closes.
fn exchange(ours: &Ours, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(ours.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        stream.write_all(piece).unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let ours = Ours::start();
    let requests = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\none\
        GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n\
        POST /?delay=20ms HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\ntwo\r\n0\r\n\r\n\
        GET /?size=5000 HTTP/1.1\r\nHost: h\r\n\r\n\
        GET /nowhere HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let whole = exchange(&ours, &[requests]);
    let at: Vec<_> =
        ["\r\n\r\none", "\r\n\r\nok", "\r\n\r\ntwo", "Content-Length: 5000", "404 Not Found"]
            .iter()
            .map(|part| whole.find(part).unwrap_or_else(|| panic!("{part} in {whole:?}")))
            .collect();
    assert!(at.is_sorted(), "{at:?}");
    // The same in pieces of every small size.
    for size in [1, 2, 7, 64] {
        let pieces: Vec<&[u8]> = requests.chunks(size).collect();
        assert_eq!(exchange(&ours, &pieces).len(), whole.len(), "{size}");
    }
    let counts = ours.stop();
    assert_eq!((counts.of(Counter::Completed), counts.of(Counter::Errors)), (25, 0));
}

#[test]
fn more_pipelined_than_one_receive_holds() {
    let ours = Ours::start();
    let mut requests = b"GET /?size=100 HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2000);
    requests.extend_from_slice(b"GET / HTTP/1.0\r\n\r\n");
    assert!(requests.len() > 64 * 1024);
    let answers = exchange(&ours, &[&requests]);
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2001);
    assert_eq!(ours.stop().of(Counter::Completed), 2001);
}

#[test]
fn who_asks_for_leave_gets_it() {
    let ours = Ours::start();
    let mut stream = TcpStream::connect(ours.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
        .write_all(
            b"PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        )
        .unwrap();
    let mut leave = [0; 25];
    stream.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"body").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\nbody"), "{answer}");
    assert_eq!(ours.stop().of(Counter::Completed), 1);
}

#[test]
fn what_cannot_be_read_is_refused_and_the_refusal_arrives() {
    let ours = Ours::start();
    let garbage = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello?\r\n\r\n";
    let large = format!(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n{}",
        "x".repeat(100_000)
    );
    for (request, status) in [
        (&garbage[..], "HTTP/1.1 400 "),
        (large.as_bytes(), "HTTP/1.1 413 "),
        (b"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
        (&b"X".repeat(20_000), "HTTP/1.1 431 "),
    ] {
        let mut stream = TcpStream::connect(ours.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(status), "{status}: {answer}");
    }
    // Connections that end within a request, or without one, are nobody's error.
    for unfinished in
        [&b""[..], b"GET / HT", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf"]
    {
        let mut stream = TcpStream::connect(ours.address).unwrap();
        stream.write_all(unfinished).unwrap();
    }
    let counts = ours.stop();
    assert_eq!((counts.of(Counter::Completed), counts.of(Counter::Errors)), (0, 4));
}
