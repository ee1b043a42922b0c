//! The rules that a client may break, and the cost: its stream or its connection (RFC 9113, 5-8).

use super::*;

/// The fields of a request without anything special.
const PLAIN: [(&str, &str); 3] = [(":method", "GET"), (":scheme", "http"), (":path", "/?size=5")];
const CANCEL: &[u8] = &[0, 0, 0, 8];

/// What a server did about a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// It answered.
    Answers,
    /// It ended the stream for a breach of the rules, and the connection goes on.
    Resets(Farewell),
    /// It ended the connection.
    Ends(Farewell),
    /// It did nothing.
    Ignores,
}
use Reaction::{Answers, Ends, Ignores, Resets};

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    fields.iter().for_each(|(name, value)| write_plain(name, value, &mut block));
    block
}

impl Peer {
    fn head(&mut self, stream: u32, flags: u8, fields: &[(&str, &str)]) -> Result<(), Farewell> {
        self.frame(FrameKind::Headers, END_HEADERS | flags, stream, &block(fields))
    }

    fn data(&mut self, stream: u32, flags: u8, body: &[u8]) -> Result<(), Farewell> {
        self.frame(FrameKind::Data, flags, stream, body)
    }

    /// What the server does with a stream when it gets what `act` sends.
    fn reaction(
        &mut self,
        stream: u32,
        act: impl FnOnce(&mut Self) -> Result<(), Farewell>,
    ) -> Reaction {
        self.heard.clear();
        if let Err(why) = act(self) {
            return Ends(why);
        }
        let heard = std::mem::take(&mut self.heard);
        let (mut rest, mut reaction) = (&heard[..], Ignores);
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = FrameHead::read(head);
            let content = &behind[..head.length];
            rest = &behind[head.length..];
            match head.kind {
                FrameKind::Reset if head.stream == stream => {
                    let codes = [Farewell::Protocol, Farewell::FlowControl, Farewell::FrameSize];
                    let code = frame::number(content).unwrap();
                    let why = codes.into_iter().find(|why| *why as u32 == code);
                    reaction = Resets(why.unwrap_or_else(|| panic!("{}", code_name(code))));
                }
                FrameKind::Headers if head.stream == stream => reaction = Answers,
                _ => {}
            }
        }
        reaction
    }
}

/// A request with other fields than it may have costs its stream, and nothing else.
#[test]
fn a_malformed_request_ends_its_stream_alone() {
    let with = |name, value| [&PLAIN[..], &[(name, value)]].concat();
    let without = |at: usize| [&PLAIN[..at], &PLAIN[at + 1..]].concat();
    let refused = Resets(Farewell::Protocol);
    let mut cases = vec![
        (PLAIN.to_vec(), Answers),
        ([&[(":authority", "h")][..], &PLAIN].concat(), Answers),
        // First fields that are missing, empty or late.
        (without(0), refused),
        (without(1), refused),
        (without(2), refused),
        ([&PLAIN[..2], &[(":path", "")]].concat(), refused),
        ([&[("x-test", "ok")][..], &PLAIN].concat(), refused),
        ([&PLAIN[..2], &[("x-test", "ok"), (":path", "/")]].concat(), refused),
        ([&with(":authority", "h")[..], &[(":authority", "h")]].concat(), refused),
        (vec![], refused),
    ];
    cases.extend(PLAIN.map(|(name, value)| (with(name, value), refused)));
    let others = [
        ("x-test", "ok", Answers),
        ("host", "h", Answers),
        ("te", "trailers", Answers),
        ("content-length", "0", Answers),
        ("content-type", "text/plain", Answers),
        ("X-TEST", "ok", refused),
        ("x-Test", "ok", refused),
        ("", "ok", refused),
        ("x test", "ok", refused),
        ("x:test", "ok", refused),
        ("x-t\u{e9}st", "ok", refused),
        // Unknown ones, and those of answers.
        (":test", "ok", refused),
        (":status", "200", refused),
        (":protocol", "websocket", refused),
        // Those of a connection of HTTP/1.1.
        ("connection", "keep-alive", refused),
        ("keep-alive", "timeout=5", refused),
        ("proxy-connection", "keep-alive", refused),
        ("transfer-encoding", "chunked", refused),
        ("upgrade", "h2c", refused),
        ("te", "trailers, deflate", refused),
        // No body follows.
        ("content-length", "1", refused),
        ("content-length", "+0", refused),
        ("content-length", "", refused),
        ("content-type", "text/plain\r\nx: y", refused),
    ];
    cases.extend(others.map(|(name, value, expected)| (with(name, value), expected)));
    for path in ["/\r", "/\n"] {
        cases.push(([&PLAIN[..2], &[(":path", path)]].concat(), refused));
    }
    cases.push(([&with("content-length", "0")[..], &[("content-length", "1")]].concat(), refused));
    for (fields, expected) in cases {
        let mut peer = Peer::new();
        let got = peer.reaction(1, |peer| peer.head(1, END_STREAM, &fields));
        assert_eq!(got, expected, "{fields:?}");
        let next = peer.reaction(3, |peer| peer.head(3, END_STREAM, &PLAIN));
        assert_eq!((next, peer.server.open()), (Answers, 0), "after {fields:?}");
    }
}

/// The table of fields is that of the client, whatever became of its requests.
#[test]
fn what_a_malformed_request_put_into_the_table_is_there() {
    let mut peer = Peer::new();
    // GET, http, and a path that goes into the table; then a name in upper case.
    let path = [&[0x82, 0x86, 0x44, 8][..], b"/?size=7"].concat();
    let malformed = [&path[..], &[0, 1, b'X', 1, b'y']].concat();
    let flags = END_HEADERS | END_STREAM;
    let got = peer.reaction(1, |peer| peer.frame(FrameKind::Headers, flags, 1, &malformed));
    assert_eq!(got, Resets(Farewell::Protocol));
    peer.frame(FrameKind::Headers, flags, 3, &[0x82, 0x86, 0xbe]).unwrap();
    let answer = [&[0, 0, 7, 0, 1, 0, 0, 0, 3][..], b"xxxxxxx"].concat();
    assert!(peer.heard.ends_with(&answer), "{:?}", peer.heard);
}

/// A body is as long as its head said, and trailers are the end.
#[test]
fn a_body_that_is_not_as_long_as_it_said_ends_its_stream_alone() {
    type Act = fn(&mut Peer) -> Result<(), Farewell>;
    let says_four = [&PLAIN[..], &[("content-length", "4")]].concat();
    let acts: [(Act, Reaction); 11] = [
        (|peer| peer.data(1, END_STREAM, b"1234"), Answers),
        (|peer| peer.data(1, 0, b"12").and_then(|()| peer.data(1, END_STREAM, b"34")), Answers),
        (|peer| peer.data(1, 0, b"1234").and_then(|()| peer.data(1, END_STREAM, b"")), Answers),
        (
            |peer| {
                peer.data(1, 0, b"1234")?;
                peer.head(1, END_STREAM, &[("x-test", "ok")])
            },
            Answers,
        ),
        (|peer| peer.data(1, END_STREAM, b"123"), Resets(Farewell::Protocol)),
        (|peer| peer.data(1, 0, b"12345"), Resets(Farewell::Protocol)),
        (
            |peer| peer.data(1, 0, b"1234").and_then(|()| peer.data(1, END_STREAM, b"5")),
            Resets(Farewell::Protocol),
        ),
        (
            |peer| {
                peer.data(1, 0, b"12")?;
                peer.head(1, END_STREAM, &[("x-test", "ok")])
            },
            Resets(Farewell::Protocol),
        ),
        (
            |peer| peer.data(1, 0, b"1234").and_then(|()| peer.head(1, 0, &[("x-test", "ok")])),
            Resets(Farewell::Protocol),
        ),
        (
            |peer| {
                peer.data(1, 0, b"1234")?;
                peer.head(1, END_STREAM, &[(":method", "POST")])
            },
            Resets(Farewell::Protocol),
        ),
        (
            |peer| {
                peer.data(1, 0, b"1234")?;
                peer.head(1, END_STREAM, &[("connection", "close")])
            },
            Resets(Farewell::Protocol),
        ),
    ];
    for (at, (act, expected)) in acts.into_iter().enumerate() {
        let mut peer = Peer::new();
        peer.head(1, 0, &says_four).unwrap();
        assert_eq!(peer.reaction(1, act), expected, "{at}");
        if expected != Answers {
            // What was under way is no error.
            let late = peer.reaction(1, |peer| peer.data(1, END_STREAM, b"more"));
            assert_eq!(late, Ignores, "{at}");
        }
        let next = peer.reaction(3, |peer| peer.head(3, END_STREAM, &PLAIN));
        assert_eq!((next, peer.server.open()), (Answers, 0), "{at}");
    }
}

/// A stream that is over takes nothing more, unless its client could not know.
#[test]
fn what_comes_for_a_stream_that_is_over_depends_on_who_ended_it() {
    type Act = fn(&mut Peer) -> Result<(), Farewell>;
    let ends: [(Act, Reaction); 5] = [
        // Answered.
        (|peer| peer.head(5, END_STREAM, &PLAIN), Ends(Farewell::StreamClosed)),
        // Taken back.
        (
            |peer| {
                peer.head(5, 0, &PLAIN)?;
                peer.frame(FrameKind::Reset, 0, 5, CANCEL)
            },
            Ends(Farewell::StreamClosed),
        ),
        // Complete, and its answer waits for the window.
        (
            |peer| {
                let mut shut = Vec::new();
                frame::write_settings(&[Setting::Window(0)], &mut shut);
                peer.say(&shut)?;
                peer.head(5, END_STREAM, &PLAIN)
            },
            Ends(Farewell::StreamClosed),
        ),
        // Refused before all of it was there.
        (|peer| peer.head(5, 0, &[]), Ignores),
        // Passed over by a later one.
        (|peer| peer.head(7, END_STREAM, &PLAIN), Ends(Farewell::Protocol)),
    ];
    for (at, (end, expected)) in ends.into_iter().enumerate() {
        let acts: [Act; 2] =
            [|peer| peer.data(5, 0, b"late"), |peer| peer.head(5, END_STREAM, &PLAIN)];
        for act in acts {
            let mut peer = Peer::new();
            end(&mut peer).unwrap();
            assert_eq!(peer.reaction(5, act), expected, "{at}");
        }
        // What may come at any time.
        let mut peer = Peer::new();
        end(&mut peer).unwrap();
        for (kind, content) in [
            (FrameKind::Priority, &[0; 5][..]),
            (FrameKind::WindowUpdate, &[0, 0, 0, 1]),
            (FrameKind::Reset, CANCEL),
        ] {
            peer.frame(kind, 0, 5, content).unwrap_or_else(|why| panic!("{at} {kind:?}: {why:?}"));
        }
    }
}

/// Frames of a wrong place, length or content.
#[test]
fn a_frame_that_is_wrong_costs_as_little_as_it_can() {
    use FrameKind::{
        Continuation, Data, GoAway, Headers, Ping, Priority, PushPromise, Reset, Settings,
        WindowUpdate,
    };
    const MOST: &[u8] = &[0x7f, 0xff, 0xff, 0xff];
    let protocol = Ends(Farewell::Protocol);
    let size = Ends(Farewell::FrameSize);
    // Stream 1 is open, and 3 has not begun.
    let cases: [(FrameKind, u8, u32, &[u8], Reaction); 34] = [
        (Data, 0, 0, b"x", protocol),
        (Headers, END_HEADERS, 0, &[0x82], protocol),
        (Priority, 0, 0, &[0; 5], protocol),
        (Reset, 0, 0, CANCEL, protocol),
        (PushPromise, 0, 0, &[0; 4], protocol),
        (Continuation, END_HEADERS, 0, &[0x82], protocol),
        (Settings, 0, 1, &[], protocol),
        (Ping, 0, 1, &[0; 8], protocol),
        (Ping, 0, 3, &[0; 8], protocol),
        (GoAway, 0, 1, &[0; 8], protocol),
        (GoAway, 0, 0, &[0; 8], Ignores),
        (GoAway, 0, 0, &[0; 7], size),
        (Settings, frame::ACK, 0, &[], Ignores),
        (Settings, frame::ACK, 0, &[0], size),
        (Settings, 0, 0, &[0; 5], size),
        (Settings, 0, 0, &[0, 2, 0, 0, 0, 0], Ignores),
        (Settings, 0, 0, &[0, 2, 0, 0, 0, 1], Ignores),
        (Settings, 0, 0, &[0, 2, 0, 0, 0, 2], protocol),
        (Reset, 0, 1, &[0; 3], size),
        (Reset, 0, 2, CANCEL, protocol),
        (Reset, 0, 3, CANCEL, protocol),
        (Priority, 0, 1, &[0; 5], Ignores),
        (Priority, 0, 3, &[0; 5], Ignores),
        (Priority, 0, 1, &[0; 4], Resets(Farewell::FrameSize)),
        (Priority, 0, 3, &[0; 4], size),
        (Priority, 0, 1, &[0x80, 0, 0, 1, 9], Resets(Farewell::Protocol)),
        (Priority, 0, 3, &[0, 0, 0, 3, 9], protocol),
        (WindowUpdate, 0, 0, &[0; 4], protocol),
        (WindowUpdate, 0, 0, MOST, Ends(Farewell::FlowControl)),
        (WindowUpdate, 0, 1, &[0; 3], size),
        (WindowUpdate, 0, 1, &[0; 4], Resets(Farewell::Protocol)),
        (WindowUpdate, 0, 1, MOST, Resets(Farewell::FlowControl)),
        (WindowUpdate, 0, 2, &[0, 0, 0, 1], protocol),
        (WindowUpdate, 0, 3, &[0, 0, 0, 1], protocol),
    ];
    for (kind, flags, stream, content, expected) in cases {
        let mut peer = Peer::new();
        peer.head(1, 0, &PLAIN).unwrap();
        let got = peer.reaction(stream, |peer| peer.frame(kind, flags, stream, content));
        assert_eq!(got, expected, "{kind:?} {flags} {stream} {content:?}");
        if !matches!(got, Ends(_)) {
            let next = peer.reaction(3, |peer| peer.head(3, END_STREAM, &PLAIN));
            assert_eq!(next, Answers, "after {kind:?} {flags} {stream} {content:?}");
        }
    }
}

/// A head whose stream depends on itself, in one frame or in two.
#[test]
fn a_head_that_depends_on_itself_ends_its_stream_alone() {
    let fields = block(&PLAIN);
    for (padding, parent, expected) in [
        (&[0_u8][..], 1_u8, Resets(Farewell::Protocol)),
        (&[], 1, Resets(Farewell::Protocol)),
        (&[], 0, Answers),
        (&[0], 3, Answers),
    ] {
        let padded = if padding.is_empty() { 0 } else { frame::PADDED };
        let flags = END_STREAM | frame::PRIORITY | padded;
        let content = [padding, &[0, 0, 0, parent, 9], &fields[..]].concat();
        let (first, rest) = content.split_at(padding.len() + 6);
        let mut peer = Peer::new();
        let whole = peer
            .reaction(1, |peer| peer.frame(FrameKind::Headers, flags | END_HEADERS, 1, &content));
        let mut peer = Peer::new();
        let cut = peer.reaction(1, |peer| {
            peer.frame(FrameKind::Headers, flags, 1, first)?;
            peer.frame(FrameKind::Continuation, END_HEADERS, 1, rest)
        });
        assert_eq!((whole, cut), (expected, expected), "{parent}");
        let next = peer.reaction(3, |peer| peer.head(3, END_STREAM, &PLAIN));
        assert_eq!(next, Answers, "{parent}");
    }
}

/// Whatever a client begins with, the server begins with its settings.
#[test]
fn settings_come_ahead_of_a_farewell() {
    for first in [&b"PRI * HTTP/2.0\r\n\r\nXX"[..], b"GET / HTTP/1.1\r\n\r\n"] {
        let mut server = Serving::new(ServingBounds::of_strangers(0));
        let why = server.receive(first, 0).unwrap_err();
        server.end(why);
        let kind = |at: usize| {
            let head = server.outgoing()[at..].first_chunk().unwrap();
            FrameHead::read(head)
        };
        let settings = kind(0);
        assert_eq!((why, settings.kind), (Farewell::Protocol, FrameKind::Settings));
        assert_eq!(kind(9 + settings.length).kind, FrameKind::GoAway);
    }
}

/// However many streams a connection had, it holds what it held.
#[test]
fn streams_that_are_over_take_no_memory() {
    let mut peer = Peer::new();
    let mut after = Vec::new();
    for n in 0..3000 {
        let stream = 1 + 2 * n;
        peer.head(stream, END_STREAM, &PLAIN).unwrap();
        peer.heard.clear();
        if n == 1000 {
            after.push(peer.server.held_bytes());
        }
    }
    after.push(peer.server.held_bytes());
    assert_eq!(after[0], after[1]);
}
