//! Requests as clients send them, whole, in pieces, and broken, and what the target answers.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::admission::memory::MemoryLimit;
use crate::http::{Credential, ResponseParser, ResponseState};

/// Requests and what has to be understood of each: method, target, keep-alive, body.
#[rustfmt::skip]
const CASES: &[(&str, Method, &str, bool, &str)] = &[
    // wrk, curl, Envoy, ab
    ("GET / HTTP/1.1\r\nHost: 10.0.0.1:7474\r\n\r\n", Method::Get, "/", true, ""),
    ("GET /?size=1KiB HTTP/1.1\r\nHost: h\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
        Method::Get, "/?size=1KiB", true, ""),
    ("POST / HTTP/1.1\r\nhost: h\r\nx-forwarded-proto: http\r\nx-request-id: 1\r\n\
      content-type: text/plain\r\n\
      transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n",
        Method::Post, "/", true, "abcde"),
    ("HEAD /healthz HTTP/1.0\r\nUser-Agent: ApacheBench/2.3\r\n\r\n",
        Method::Head, "/healthz", false, ""),
    ("GET /x HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: h\r\n\r\n", Method::Get, "/x", true, ""),
    ("PUT /?status=503 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody",
        Method::Put, "/?status=503", true, "body"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        Method::Post, "/", false, ""),
    ("GET http://h:80/?size=1 HTTP/1.1\r\nHost: h\r\n\r\n", Method::Get, "/?size=1", true, ""),
    ("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", Method::Get, "/", true, ""),
    ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", Method::Other, "*", true, ""),
    ("\r\nGET / HTTP/1.1\r\nHost:\r\n\r\n", Method::Get, "/", true, ""),
    ("GET / HTTP/1.1\nHost: h\n\n", Method::Get, "/", true, ""),
    ("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nok",
        Method::Post, "/", true, "ok"),
    ("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
        Method::Post, "/", true, ""),
];

/// A request as it was understood.
type SeenRequest = (Method, String, bool, Vec<u8>);

#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    seen: Vec<SeenRequest>,
    failed: bool,
}

/// Plays a connection: `bytes` arrive cut at `cuts` (lengths, used in turn), then it is closed.
fn play(bytes: &[u8], cuts: &[usize]) -> Parsed {
    let mut parser = RequestParser::new();
    let mut responder = Responder::default();
    let mut outcome = Parsed { seen: Vec::new(), failed: false };
    let (mut at, mut turn) = (0, 0);
    while at < bytes.len() {
        let cut = cuts.get(turn % cuts.len().max(1)).copied().unwrap_or(bytes.len()).max(1);
        turn += 1;
        let mut piece = &bytes[at..bytes.len().min(at + cut)];
        at += piece.len();
        while !piece.is_empty() {
            let step = match parser.feed(piece) {
                Ok(step) => step,
                Err(error) => {
                    assert_refusal(&error);
                    outcome.failed = true;
                    return outcome;
                }
            };
            match step.state {
                RequestState::NeedMore => {
                    assert_eq!(step.consumed, piece.len(), "waits and leaves bytes");
                }
                RequestState::Continue => {
                    assert!(parser.is_inside() && step.consumed == piece.len());
                }
                RequestState::Complete => {
                    let r = parser.request();
                    assert!(!parser.is_inside());
                    assert_answer(&mut responder, r);
                    outcome.seen.push((
                        r.method(),
                        r.target().to_owned(),
                        r.keep_alive(),
                        r.body().to_vec(),
                    ));
                }
            }
            assert!(
                parser.held_bytes() <= 16 * 16 * 1024 + 2 * bytes.len(),
                "{}",
                parser.held_bytes()
            );
            piece = &piece[step.consumed..];
        }
    }
    outcome.failed = parser.is_inside();
    outcome
}

/// Our own client must understand whatever the target says.
fn assert_answer(responder: &mut Responder, request: &Request) {
    let mut out = Vec::new();
    let answer = responder.respond(request, 0, &mut out);
    let mut client = ResponseParser::new(request.method() == Method::Head);
    let body = match answer.body {
        Body::None => 0,
        Body::Echo => request.body().len(),
        Body::Filler(length) => usize::try_from(length).unwrap().min(1 << 16),
    };
    out.resize(out.len() + body, b'x');
    let step =
        client.feed(&out).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)));
    assert_eq!(step.consumed, out.len());
    match step.state {
        ResponseState::Complete(end) => assert_eq!(end.close, answer.close),
        ResponseState::NeedMore => assert!(matches!(answer.body, Body::Filler(n) if n > 1 << 16)),
    }
}

fn assert_refusal(error: &RequestError) {
    let mut out = Vec::new();
    refuse(error, &mut out);
    let step = ResponseParser::new(false).feed(&out).unwrap();
    assert_eq!(step.consumed, out.len());
    assert!(matches!(
        step.state,
        ResponseState::Complete(end) if end.status == error.status() && end.close,
    ));
    assert!(
        error.to_string().contains("found") && error.to_string().contains("expected"),
        "{error}"
    );
}

fn expected(cases: &[(&str, Method, &str, bool, &str)]) -> Parsed {
    let seen = |&(_, method, target, keep_alive, body): &(&str, Method, &str, bool, &str)| {
        (method, target.to_owned(), keep_alive, body.as_bytes().to_vec())
    };
    Parsed { seen: cases.iter().map(seen).collect(), failed: false }
}

#[test]
fn real_requests_whole_and_byte_by_byte() {
    for case in CASES {
        for cut in 1..=case.0.len() {
            assert_eq!(play(case.0.as_bytes(), &[cut]), expected(&[*case]), "{case:?} by {cut}");
        }
    }
}

#[test]
fn leave_to_send_a_body_is_given_once_and_only_to_who_waits() {
    let head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    let step = |consumed, state| Ok(RequestStep { consumed, state });
    let mut parser = RequestParser::new();
    assert_eq!(parser.feed(head.as_bytes()), step(head.len(), RequestState::Continue));
    assert_eq!(parser.feed(b"o"), step(1, RequestState::NeedMore));
    assert_eq!(parser.feed(b"kGET"), step(1, RequestState::Complete));
    assert_eq!(parser.request().body(), b"ok");
    let whole = format!("{head}ok");
    assert_eq!(parser.feed(whole.as_bytes()), step(whole.len(), RequestState::Complete));
    let old = head.replace("1.1", "1.0");
    assert_eq!(parser.feed(old.as_bytes()), step(old.len(), RequestState::NeedMore));
}

#[test]
fn bad_requests_are_refused_with_the_right_status() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(16 * 1024));
    let fields = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(128));
    let chunks = format!("1000000\r\n{}\r\n1\r\nx\r\n", "x".repeat(16 << 20));
    let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (text, status) in [
        ("GET /\r\n\r\n", 400),
        ("\x16\x03\x01\x02\x00", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nA B: c\r\n\r\n", 400),
        ("\r\n\r\n\r\n\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16777217\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417),
        (&format!("{chunked}zz\r\n"), 400),
        (&format!("{chunked}1000001\r\n"), 413),
        (&format!("{chunked}{chunks}"), 413),
        (&long, 431),
        (&fields, 431),
    ] {
        let error = RequestParser::new().feed(text.as_bytes()).unwrap_err();
        assert_eq!(error.status(), status, "{text:.60?}: {error}");
        assert_refusal(&error);
    }
}

#[test]
fn no_longer_body_is_taken_than_the_bound() {
    let status = |text: &str| {
        let mut parser = RequestParser::new().with_bodies_up_to(4);
        parser.feed(text.as_bytes()).map(|_| ()).map_err(|error| error.status())
    };
    let post = |length, body| {
        format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    assert_eq!((status(&post(4, "abcd")), status(&post(5, ""))), (Ok(()), Err(413)));
    let chunked = |chunks| {
        format!("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")
    };
    assert_eq!(status(&chunked("4\r\nabcd\r\n0\r\n\r\n")), Ok(()));
    assert_eq!(status(&chunked("4\r\nabcd\r\n1\r\ne\r\n0\r\n\r\n")), Err(413));
}

#[test]
fn a_body_costs_memory_only_as_it_arrives() {
    let mut parser = RequestParser::new();
    let head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16777216\r\n\r\n";
    parser.feed(head).unwrap();
    assert!(parser.held_bytes() < 4096, "{}", parser.held_bytes());
    let body = vec![b'x'; 16 << 20];
    assert_eq!(parser.feed(&body).unwrap().state, RequestState::Complete);
    assert_eq!(parser.request().body().len(), 16 << 20);
    parser.feed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert!(parser.held_bytes() < 4096, "{}", parser.held_bytes());
}

/// A request that shows this credential.
fn showing(shown: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nHost: h\r\nX-Hopbench-Run: {shown}\r\nContent-Length: {length}\r\n\r\n\
         {body}"
    )
}

#[test]
fn every_request_shows_the_credential_or_nothing_of_its_body_is_taken() {
    let guarded = || RequestParser::with(Some(Credential::new("0000002a-right")), None);
    let complete = |parser: &mut RequestParser, text: &str| -> Result<(), RequestError> {
        let step = parser.feed(text.as_bytes())?;
        assert_eq!(step, RequestStep { consumed: text.len(), state: RequestState::Complete });
        Ok(())
    };
    let right = showing("0000002a-right", "body");
    let body = "x".repeat(100_000);
    let twice = right.replace("Host", "x-hopbench-run: 0000002a-wrong\r\nHost");
    for wrong in [
        &showing("0000002a-wrong", &body),
        &showing("0000002a-righ", &body),
        &showing("", &body),
        &twice,
        &format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        // What is wrong with a stranger's request otherwise is not looked into.
        "GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut parser = guarded();
        assert_eq!(parser.feed(wrong.as_bytes()), Err(RequestError::Unauthorized), "{wrong:.120}");
        assert!(!parser.is_known() && parser.held_bytes() < 4096, "{} bytes", parser.held_bytes());
        // After right ones, too, on a connection that somebody shares.
        let mut parser = guarded();
        for _ in 0..3 {
            assert_eq!(complete(&mut parser, &right), Ok(()));
            assert!(parser.is_known());
        }
        assert_eq!(parser.feed(wrong.as_bytes()), Err(RequestError::Unauthorized), "{wrong:.120}");
        assert!(!parser.is_known());
    }
    assert_refusal(&RequestError::Unauthorized);
    // Where nobody asks for it, it is a field like any other.
    assert_eq!(complete(&mut RequestParser::new(), &twice), Ok(()));
}

#[test]
fn the_credential_of_a_request_that_repeats_costs_no_memory() {
    let mut parser = RequestParser::with(Some(Credential::new("0000002a-right")), None);
    let request = showing("0000002a-right", "body");
    parser.feed(request.as_bytes()).unwrap();
    let (held, at) = (parser.held_bytes(), parser.request().body().as_ptr());
    for _ in 0..1000 {
        parser.feed(request.as_bytes()).unwrap();
        assert_eq!((parser.held_bytes(), parser.request().body().as_ptr()), (held, at));
    }
}

#[test]
fn what_strangers_hold_comes_out_of_their_room_and_goes_back() {
    let memory = MemoryLimit::new(100_000);
    let parser = || RequestParser::with(None, Some(Arc::clone(&memory)));
    let (mut first, mut second) = (parser(), parser());
    let head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n";
    for parser in [&mut first, &mut second] {
        parser.feed(head).unwrap();
    }
    assert!(
        memory.used_bytes() < 1000,
        "{} bytes for what was only announced",
        memory.used_bytes()
    );
    let piece = [b'x'; 10_000];
    let feed = |parser: &mut RequestParser| (0..6).find_map(|_| parser.feed(&piece).err());
    assert_eq!(feed(&mut first), None);
    assert_eq!(feed(&mut second), Some(RequestError::NoRoom));
    assert!((60_000..=100_000).contains(&memory.used_bytes()), "{}", memory.used_bytes());
    assert_refusal(&RequestError::NoRoom);
    drop(second);
    assert_eq!(first.request().body().len(), 60_000);
    first.answered();
    assert!(memory.used_bytes() < 1000, "{} bytes after the answer", memory.used_bytes());
    // Heads count as well, but for 4 KiB of each connection.
    let mut heads: Vec<_> = (0..20).map(|_| parser()).collect();
    let half = format!("GET /{}", "x".repeat(10_000));
    let refused = heads
        .iter_mut()
        .map(|parser| parser.feed(half.as_bytes()))
        .filter(|step| *step == Err(RequestError::NoRoom))
        .count();
    assert!((2..=14).contains(&refused), "{refused} of 20");
    drop((first, heads));
    assert_eq!(memory.used_bytes(), 0);
}

#[test]
fn answers() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: ";
    let octets = "application/octet-stream\r\nContent-Length: ";
    for (request, head, body) in [
        (
            "GET /?size=2KiB HTTP/1.1\r\nHost: h",
            format!("{ok}{octets}2048\r\n\r\n"),
            Body::Filler(2048),
        ),
        ("HEAD /?size=2KiB HTTP/1.1\r\nHost: h", format!("{ok}{octets}2048\r\n\r\n"), Body::None),
        ("GET / HTTP/1.0", format!("{ok}{octets}0\r\nConnection: close\r\n\r\n"), Body::None),
        (
            "GET /?size=1 HTTP/1.0\r\nConnection: keep-alive",
            format!("{ok}{octets}1\r\nConnection: keep-alive\r\n\r\n"),
            Body::Filler(1),
        ),
        (
            "GET /healthz HTTP/1.1\r\nHost: h",
            format!("{ok}text/plain\r\nContent-Length: 2\r\n\r\nok"),
            Body::None,
        ),
        (
            "GET /?status=204 HTTP/1.1\r\nHost: h",
            "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
            Body::None,
        ),
        (
            "PUT /?status=503 HTTP/1.1\r\nHost: h\r\nContent-Type: a/b\r\nContent-Length: 0",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: a/b\r\nContent-Length: 0\r\n\r\n"
                .to_owned(),
            Body::None,
        ),
        (
            "DELETE / HTTP/1.1\r\nHost: h",
            "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain\r\nContent-Length: 59\r\n\
             Allow: GET, HEAD, POST, PUT\r\n\r\n\
             method: found another one, expected GET, HEAD, POST or PUT\n"
                .to_owned(),
            Body::None,
        ),
        (
            "GET /x HTTP/1.1\r\nHost: h",
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 45\r\n\r\n\
             path: found `/x`, expected `/` or `/healthz`\n"
                .to_owned(),
            Body::None,
        ),
    ] {
        let mut parser = RequestParser::new();
        parser.feed(format!("{request}\r\n\r\n").as_bytes()).unwrap();
        let mut out = Vec::new();
        let answer = Responder::default().respond(parser.request(), 0, &mut out);
        assert_eq!(
            (String::from_utf8_lossy(&out).into_owned(), answer.body),
            (head, body),
            "{request}",
        );
        assert_eq!(answer.close, request.contains("1.0") && !request.contains("keep-alive"));
    }
}

#[test]
fn a_body_comes_back_and_the_last_target_is_not_confused() {
    let mut parser = RequestParser::new();
    let mut responder = Responder::default();
    let mut respond = |target: &str, now_ns| {
        let text = format!(
            "POST {target} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Type: t\r\n\r\nabc"
        );
        assert_eq!(parser.feed(text.as_bytes()).unwrap().consumed, text.len());
        let mut out = Vec::new();
        let answer = responder.respond(parser.request(), now_ns, &mut out);
        (String::from_utf8(out).unwrap(), answer)
    };
    let echo = "HTTP/1.1 200 OK\r\nContent-Type: t\r\nContent-Length: 3\r\n\r\n";
    let stall = "/?stall=100ms&every=1s";
    for (target, now_ns, delay_ns, body) in [
        ("/", 5, 0, Body::Echo),
        (stall, 30_000_000, 70_000_000, Body::Echo),
        (stall, 1_090_000_000, 10_000_000, Body::Echo),
        (stall, 1_500_000_000, 0, Body::Echo),
        ("/?size=9", 0, 0, Body::Filler(9)),
        ("/", 0, 0, Body::Echo),
    ] {
        let (head, answer) = respond(target, now_ns);
        assert_eq!(answer, TargetAnswer { delay_ns, body, close: false }, "{target}");
        assert_eq!(head == echo, body == Body::Echo, "{head}");
    }
    assert!(respond("/?size=x", 0).0.starts_with("HTTP/1.1 400 "));
    assert!(respond("/?size=x", 0).0.starts_with("HTTP/1.1 400 "), "also when it is remembered");
}

#[test]
fn nothing_of_a_request_is_left_for_the_next() {
    let mut parser = RequestParser::new();
    for round in 0..20 {
        let typed =
            b"\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Type: a/b\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(parser.feed(typed).unwrap().consumed, typed.len(), "round {round}");
        assert_eq!(
            (parser.request().content_type(), parser.request().body()),
            (&b"a/b"[..], &b"x"[..])
        );
        let plain = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(parser.feed(plain).unwrap().consumed, plain.len(), "round {round}");
        assert_eq!(
            (parser.request().content_type(), parser.request().body()),
            (&b""[..], &b""[..])
        );
    }
}

fn some_cases()
-> impl Strategy<Value = Vec<(&'static str, Method, &'static str, bool, &'static str)>> {
    proptest::collection::vec(proptest::sample::select(CASES), 1..6)
}

fn some_cuts() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![1usize..4, 1usize..300], 0..12)
}

proptest! {
    #[test]
    fn cuts_do_not_matter(cases in some_cases(), cuts in some_cuts()) {
        let bytes: Vec<u8> = cases.iter().flat_map(|c| c.0.bytes()).collect();
        prop_assert_eq!(play(&bytes, &cuts), expected(&cases));
    }

    /// Broken input comes to the same end however it is cut, and `play` checks every step and every
    /// answer.
    #[test]
    fn broken_streams_are_survived(
        cases in some_cases(),
        edits in proptest::collection::vec(any::<(usize, u8, u8)>(), 1..6),
        cuts in some_cuts(),
    ) {
        let mut bytes: Vec<u8> = cases.iter().flat_map(|c| c.0.bytes()).collect();
        crate::http::mutation::mutate(&mut bytes, &edits);
        prop_assert_eq!(play(&bytes, &[]), play(&bytes, &cuts));
    }

    #[test]
    fn noise_is_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        cuts in some_cuts(),
    ) {
        prop_assert_eq!(play(&bytes, &[]), play(&bytes, &cuts));
    }
}
