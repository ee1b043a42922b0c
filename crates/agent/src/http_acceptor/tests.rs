//! Tests of the HTTP acceptor: connections that come, and where they go.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use hopbench_load::Timeouts;
use hopbench_load::http::CREDENTIAL_FIELD;
use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;

use super::*;

const MS: Nanos = 1_000_000;

/// Somebody who answers each connection with a name, and reads nothing.
fn named(name: &'static str) -> TargetAcceptor {
    Arc::new(move |socket: Socket, _| {
        socket.send(name.as_bytes()).unwrap();
        // A client that is not done sends into the void; what it wrote before is read here.
        let _ = socket.recv(&mut [0; 4096]);
    })
}

/// A connection to the acceptor that sends `bytes` first.
fn knock(http_acceptor: &HttpAcceptor, bytes: &[u8]) -> TcpStream {
    knock_from(1, http_acceptor, bytes)
}

/// The same, from 127.0.0.`last`.
fn knock_from(last: u8, http_acceptor: &HttpAcceptor, bytes: &[u8]) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = SocketAddr::from(([127, 0, 0, last], 0));
    let to = listener.local_addr().unwrap();
    let socket = Socket::tcp(to).unwrap();
    socket.bind(local).unwrap();
    socket.connect(to).unwrap();
    socket.wait_connected(Duration::from_secs(5));
    let mut ours = TcpStream::from(OwnedFd::from(socket));
    ours.set_nonblocking(false).unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    ours.write_all(bytes).unwrap();
    let theirs = listener.accept().unwrap().0;
    theirs.set_nonblocking(true).unwrap();
    http_acceptor.enter(Socket::from(OwnedFd::from(theirs)));
    ours
}

fn said(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

fn request(shown: Option<&str>) -> String {
    let field = shown.map(|shown| format!("{CREDENTIAL_FIELD}: {shown}\r\n")).unwrap_or_default();
    format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n")
}

fn ask(http_acceptor: &HttpAcceptor, shown: Option<&str>) -> String {
    said(knock(http_acceptor, request(shown).as_bytes()))
}

#[test]
fn each_connection_goes_to_its_trial_and_strangers_to_who_answers_them() {
    let http_acceptor = HttpAcceptor::default();
    assert_eq!(ask(&http_acceptor, Some("one")), "", "nobody is there");
    let one = http_acceptor.open_to(Credential::new("one"), named("first trial"));
    let two = http_acceptor.open_to(Credential::new("two"), named("second trial"));
    assert_eq!(ask(&http_acceptor, Some("one")), "first trial");
    assert_eq!(ask(&http_acceptor, Some("two")), "second trial");
    for shown in [None, Some("three"), Some("")] {
        let refusal = ask(&http_acceptor, shown);
        assert!(refusal.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{shown:?}: {refusal}");
        assert!(refusal.contains("\r\nConnection: close\r\n"), "{refusal}");
    }
    drop(two);
    assert!(ask(&http_acceptor, Some("two")).starts_with("HTTP/1.1 401 "), "its trial is over");
    let everybody = http_acceptor.open(named("everybody"));
    let later = http_acceptor.open(named("later"));
    assert_eq!(
        (ask(&http_acceptor, None), ask(&http_acceptor, Some("one"))),
        ("later".to_owned(), "first trial".to_owned())
    );
    drop(later);
    assert_eq!(ask(&http_acceptor, Some("two")), "everybody");
    drop(one);
    assert_eq!(ask(&http_acceptor, Some("one")), "everybody");
    drop(everybody);
    assert_eq!(ask(&http_acceptor, None), "");
}

#[test]
fn a_head_in_pieces_and_one_that_is_long_find_their_trial() {
    let http_acceptor = HttpAcceptor::default();
    let _trial = http_acceptor.open_to(Credential::new("one"), named("trial"));
    let long = request(Some("one"))
        .replace("Host: h\r\n", &format!("Host: h\r\nCookie: {}\r\n", "c".repeat(9000)));
    for text in [request(Some("one")), long] {
        for cut in [3, 20, text.len() - 1] {
            let mut stream = knock(&http_acceptor, &text.as_bytes()[..cut]);
            clock::sleep_until(clock::now() + 20 * MS);
            stream.write_all(&text.as_bytes()[cut..]).unwrap();
            assert_eq!(said(stream), "trial", "{} bytes, cut at {cut}", text.len());
        }
    }
    // A body as long as it likes comes behind the refusal, which arrives all the same.
    let posts = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 40000\r\n\r\n".to_owned()
        + &"x".repeat(40_000);
    assert!(said(knock(&http_acceptor, posts.as_bytes())).starts_with("HTTP/1.1 401 "));
    assert!(
        said(knock(&http_acceptor, &b"x".repeat(20_000))).starts_with("HTTP/1.1 401 "),
        "no head at all"
    );
}

#[test]
fn a_head_has_its_time_and_bytes_do_not_renew_it() {
    let pending_limits = PendingLimits { head_ns: 300 * MS, ..PendingLimits::default() };
    let http_acceptor = HttpAcceptor::waiting(pending_limits);
    let _trial = http_acceptor.open_to(Credential::new("one"), named("trial"));
    let began = clock::now();
    let mut slow = knock(&http_acceptor, b"GET / HTTP/1.1\r\n");
    let silent = knock(&http_acceptor, b"GET /");
    while clock::now() < began + 3 * SECOND && slow.write_all(b"x").is_ok() {
        clock::sleep_until(clock::now() + 20 * MS);
    }
    let took = clock::now() - began;
    assert!(
        (300 * MS..3 * SECOND).contains(&took),
        "the slow one was closed after {} ms",
        took / MS
    );
    assert_eq!(said(silent), "");
    assert_eq!(ask(&http_acceptor, Some("one")), "trial");
}

#[test]
fn in_a_full_lobby_the_longest_idle_makes_room() {
    let http_acceptor =
        HttpAcceptor::waiting(PendingLimits { most: 8, ..PendingLimits::default() });
    let _trial = http_acceptor.open_to(Credential::new("one"), named("trial"));
    let mut first = knock(&http_acceptor, b"GET / HTTP/1.1\r\n");
    let mut others: Vec<_> = (0..7).map(|_| knock(&http_acceptor, b"GET / HTTP/1.1\r\n")).collect();
    // All of them are in, in their order; then the first one moves.
    clock::sleep_until(clock::now() + 100 * MS);
    first.write_all(b"Host: h\r\n").unwrap();
    clock::sleep_until(clock::now() + 100 * MS);
    let mut late = knock(&http_acceptor, b"GET / HTTP/1.1\r\n");
    assert_eq!(said(others.remove(0)), "", "it was idle longest");
    for stream in [&mut first, &mut late, &mut others[0]] {
        stream.write_all(format!("{CREDENTIAL_FIELD}: one\r\n\r\n").as_bytes()).unwrap();
    }
    assert_eq!([said(first), said(late), said(others.remove(0))], ["trial", "trial", "trial"]);
}

#[test]
fn one_source_displaces_no_other_in_the_lobby() {
    let http_acceptor =
        HttpAcceptor::waiting(PendingLimits { most: 4, ..PendingLimits::default() });
    let _trial = http_acceptor.open_to(Credential::new("one"), named("trial"));
    // It is idle for longer than anybody else.
    let mut participant = knock_from(2, &http_acceptor, b"GET / HTTP/1.1\r\n");
    clock::sleep_until(clock::now() + 50 * MS);
    let strangers: Vec<_> = (0..40).map(|_| knock(&http_acceptor, b"GET / HTTP/1.1\r\n")).collect();
    clock::sleep_until(clock::now() + 100 * MS);
    participant.write_all(format!("{CREDENTIAL_FIELD}: one\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(said(participant), "trial");
    assert_eq!(said(strangers.into_iter().next().unwrap()), "", "it made room for its like");
}

/// The values that docs/by-hand.md promises.
#[test]
fn heads_have_ten_seconds_in_a_lobby_of_1024() {
    assert_eq!(
        PendingLimits::default(),
        PendingLimits { most: 1024, head_ns: 10 * SECOND, leave_ns: 2 * SECOND }
    );
    assert_eq!(Timeouts::STRANGERS.head_ns, 10 * SECOND);
}
