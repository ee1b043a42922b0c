//! Peers that break the rules: each gets a status or is cut off, and the next peer is served.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::*;

const SHORT: Duration = Duration::from_millis(400);
/// What a client of HTTP/2 says first, and settings without any.
const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

fn impatient() -> ServerLimits {
    ServerLimits { patience: SHORT, ..ServerLimits::default() }
}

fn refused(grpc: u8) -> Answer {
    Answer { http: 200, body: Vec::new(), grpc: Some(grpc) }
}

fn is_well<S: Service>(running: &Running<S>, message: &[u8]) {
    assert_eq!(running.client().call(S::METHOD, &[&frame(message)]).grpc, Some(0));
}

/// Lets so much time pass.
fn pass(time: Duration) {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(async { sleep(time).await });
}

/// Whether the other end closes it, having sent anything or nothing.
fn is_closed(mut stream: TcpStream) -> bool {
    stream.set_read_timeout(Some(client::PATIENCE)).unwrap();
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn calls_that_are_wrong_end_in_a_status() {
    let running = Running::new(Policy::new(), ServerLimits::default());
    let client = running.client();
    let call = |pieces: &[&[u8]]| client.call(Policy::METHOD, pieces);
    assert_eq!(call(&[&frame(b"\xff\xff\xff")]), refused(3), "no message of that kind");
    assert_eq!(call(&[&frame(b"")]), refused(3), "nothing that could be checked");
    assert_eq!(call(&[b"\x07garbage that is no frame"]), refused(13));
    assert_eq!(call(&[&frame(CHECK)[..6]]), refused(13), "cut");
    assert_eq!(call(&[]), refused(13), "no message");
    assert_eq!(call(&[&frame(CHECK), &frame(CHECK)]), refused(13), "two messages");
    assert_eq!(call(&[b"\x01\x00\x00\x00\x02\x0a\x00"]), refused(12), "compressed");
    assert_eq!(
        client.call(Telemetry::METHOD, &[&frame(REPORT)]),
        refused(12),
        "a method that it does not have"
    );

    // Whoever says that much is coming gets the answer before any of it came.
    let mut huge = client.open(Policy::METHOD);
    huge.send(b"\x00\xff\xff\xff\xff");
    assert_eq!(huge.answer(), refused(8));

    let http = |http| Answer { http, body: Vec::new(), grpc: None };
    let get = http::Request::get(Policy::METHOD).header("content-type", "application/grpc");
    assert_eq!(client.request(get).end(), http(405));
    let json = http::Request::post(Policy::METHOD).header("content-type", "application/json");
    assert_eq!(client.request(json).end(), http(415));

    assert_eq!(
        (running.total("failed_calls"), running.total("checks")),
        (11, 1),
        "the first of two was a check"
    );
    assert_eq!(call(&[&frame(CHECK)]).grpc, Some(0), "on the same connection");
}

#[test]
fn a_slow_message_is_given_up_and_a_quiet_stream_is_not() {
    let running = Running::new(Telemetry::default(), impatient());
    let client = running.client();
    let mut quiet = client.open(Telemetry::METHOD);
    quiet.send(&frame(REPORT));
    let mut slow = client.open(Telemetry::METHOD);
    slow.send(&frame(REPORT));
    slow.send(&frame(REPORT)[..3]);
    assert_eq!(slow.answer(), refused(4));
    // The quiet one has been open at least as long.
    quiet.send(&frame(REPORT));
    assert_eq!(quiet.end().grpc, Some(0));
    assert_eq!(running.total("reports"), 3);

    let running = Running::new(Policy::new(), impatient());
    let client = running.client();
    assert_eq!(
        client.open(Policy::METHOD).answer(),
        refused(4),
        "a call of one message that never comes"
    );
}

/// One byte now and then does not buy more time.
#[test]
fn a_trickle_is_given_up() {
    let running = Running::new(Telemetry::default(), impatient());
    let client = running.client();
    let mut stream = client.open(Telemetry::METHOD);
    stream.send(b"\x00\x00\x10\x00\x00");
    // Ends when it was given up; a wait for each byte would last longer than `until` does.
    client::until(|| {
        stream.send(b"x");
        running.total("failed_calls") == 1
    });
    assert_eq!(stream.answer(), refused(4));
}

#[test]
fn large_messages_share_the_room() {
    let running = Running::new(
        Telemetry::default(),
        ServerLimits { pending_bytes: 1_000, ..ServerLimits::default() },
    );
    let client = running.client();
    let message = frame(&[0x0a; 900]);
    let mut first = client.open(Telemetry::METHOD);
    first.send(&message[..800]);
    client::until(|| !running.server.pending.holder().set(300));
    let mut second = client.open(Telemetry::METHOD);
    second.send(&message[..800]);
    assert_eq!(second.answer(), refused(8));
    drop(first);
    client::until(|| running.server.pending.holder().set(1_000));
}

#[test]
fn what_is_not_http2_is_cut_off() {
    let running = Running::new(Policy::new(), impatient());
    let settings_of_16_mib = [HELLO, b"\xff\xff\xff\x04\x00\x00\x00\x00\x00"].concat();
    let data_on_no_stream = [HELLO, b"\x00\x00\x01\x00\x00\x00\x00\x00\x05x"].concat();
    let bad_headers = [HELLO, b"\x00\x00\x04\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff"].concat();
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        &[0xa5; 5000],
        b"",
        &HELLO[..10],
        &settings_of_16_mib,
        &data_on_no_stream,
        &bad_headers,
    ] {
        let mut stream = TcpStream::connect(running.address).unwrap();
        stream.write_all(bytes).unwrap();
        assert!(is_closed(stream), "{:?}", &bytes[..bytes.len().min(40)]);
    }
    is_well(&running, CHECK);
}

#[test]
fn the_longest_idle_connection_makes_room() {
    let running =
        Running::new(Policy::new(), ServerLimits { connections: 3, ..ServerLimits::default() });
    let busy = running.client();
    client::until(|| running.total("connections") == 1);
    // Peers that said hello and then nothing, for as long as they like.
    let silent: Vec<_> = (2..=6)
        .map(|count| {
            let mut stream = TcpStream::connect(running.address).unwrap();
            stream.write_all(HELLO).unwrap();
            client::until(|| running.total("connections") == count);
            // Time is told in milliseconds here.
            pass(Duration::from_millis(5));
            assert_eq!(
                busy.call(Policy::METHOD, &[&frame(CHECK)]).grpc,
                Some(0),
                "who asks is never idle"
            );
            stream
        })
        .collect();
    assert_eq!((running.total("dropped_connections"), running.server.connections.taken()), (3, 3));
    let mut silent = silent.into_iter();
    assert!(silent.by_ref().take(3).all(is_closed), "the first to fall silent is the first to go");
    is_well(&running, CHECK);
    assert!(is_closed(silent.next().unwrap()));
    assert_eq!(busy.call(Policy::METHOD, &[&frame(CHECK)]).grpc, Some(0));
    drop((busy, silent));
    client::until(|| running.server.connections.taken() == 0);
}

#[test]
fn peers_that_call_in_turn_displace_no_proxy_from_elsewhere() {
    let running =
        Running::new(Policy::new(), ServerLimits { connections: 4, ..ServerLimits::default() });
    let resting = Client::connect_from(std::net::Ipv4Addr::new(127, 0, 0, 2), running.address);
    let call = |client: &Client| client.call(Policy::METHOD, &[&frame(CHECK)]).grpc;
    assert_eq!(call(&resting), Some(0));
    let chatty: Vec<_> = (0..8)
        .map(|_| {
            // Time is told in milliseconds here.
            pass(Duration::from_millis(5));
            let client = running.client();
            assert_eq!(call(&client), Some(0));
            client
        })
        .collect();
    assert_eq!((running.total("dropped_connections"), running.server.connections.taken()), (5, 4));
    assert_eq!(call(&resting), Some(0), "it rested the longest, and nobody else is from there");
    drop(chatty);
}

/// A stream that says nothing for long is a connection's business; a connection without any is
/// nobody's.
#[test]
fn a_connection_without_calls_is_given_up_and_a_quiet_stream_is_not() {
    let running = Running::new(Telemetry::default(), ServerLimits { idle: SHORT, ..impatient() });
    let client = running.client();
    let mut quiet = client.open(Telemetry::METHOD);
    quiet.send(&frame(REPORT));
    let began = tokio::time::Instant::now();
    let mut idle = TcpStream::connect(running.address).unwrap();
    idle.write_all(HELLO).unwrap();
    assert!(is_closed(idle));
    assert!((SHORT..client::PATIENCE).contains(&began.elapsed()), "{:?}", began.elapsed());
    pass(3 * SHORT);
    quiet.send(&frame(REPORT));
    assert_eq!(quiet.end().grpc, Some(0));
    client::until(|| running.server.connections.taken() == 0);
}

/// The values that docs/method.md promises.
#[test]
fn peers_get_so_much_and_no_more() {
    let ServerLimits { connections, calls, pending_bytes, patience, idle } =
        ServerLimits::default();
    assert_eq!((connections, calls, pending_bytes), (512, 256, 64 << 20));
    assert_eq!((patience, idle), (Duration::from_secs(10), Duration::from_secs(600)));
}
