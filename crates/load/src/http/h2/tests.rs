//! Both ends of a connection against each other, and a server against peers that mean harm.

mod rules;

use std::sync::Arc;

use hopbench_model::Nanos;
use proptest::prelude::*;

use super::frame::{self, END_HEADERS, END_STREAM, FrameHead, FrameKind, Setting, code_name};
use super::hpack::write_plain;
use super::{Connection, ConnectionPlan, Farewell, Heard, PREFACE, Serving, ServingBounds};
use crate::http::grpc::{
    BIDI_STREAM, EchoRequest, INTERNAL, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, SERVER_STREAM,
    UNIMPLEMENTED,
};
use crate::http::{CallEnd, Credential, Responder};

const FILLER: [u8; 5000] = [b'x'; 5000];
const MOST_BODY_BYTES: u64 = 1 << 20;

fn plan(target: &str, body: usize, streams: usize, window_bytes: u32) -> Arc<ConnectionPlan> {
    let method = if body > 0 { "POST" } else { "GET" };
    let fields = [
        (":method", method),
        (":scheme", "http"),
        (":authority", "h"),
        (":path", target),
        ("x-hopbench-run", "secret"),
    ];
    Arc::new(ConnectionPlan {
        is_call: false,
        turns: 1,
        fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: vec![b'b'; body].into(),
        is_head: false,
        streams,
        window_bytes,
        is_compressed: true,
        credential: Some(Credential::new("secret")),
    })
}

fn of_trial() -> ServingBounds {
    ServingBounds {
        credential: Some(Credential::new("secret")),
        most_body_bytes: MOST_BODY_BYTES,
        most_streams: 150,
        window_bytes: 100_000,
    }
}

/// The server's part: it answers what is complete.
fn serve(server: &mut Serving, responder: &mut Responder, bytes: &[u8]) -> Result<(), Farewell> {
    serve_at(0, server, responder, bytes)
}

/// The same at this time.
fn serve_at(
    now: Nanos,
    server: &mut Serving,
    responder: &mut Responder,
    bytes: &[u8],
) -> Result<(), Farewell> {
    let read = server.receive(bytes, now);
    loop {
        while let Some((number, ..)) = server.next_request(now) {
            server.answer(number, responder, now);
        }
        server.write(&FILLER, 64 * 1024);
        if server.take_turned().is_none() {
            return read;
        }
    }
}

/// Asks so many times, over a connection that carries `cuts` bytes at a time; the status and the
/// length of each answer.
fn asked(plan: &Arc<ConnectionPlan>, times: usize, cuts: &[usize]) -> Vec<(u16, u64)> {
    let mut client = Connection::new(Arc::clone(plan));
    let mut server = Serving::new(of_trial());
    let mut responder = Responder::default();
    let mut cuts = cuts.iter().copied().cycle();
    let (mut begun, mut got) = (0, Vec::new());
    for _ in 0..1_000_000 {
        if got.len() == times {
            // What the client wrote last, an update of its window for example, may be cut in two.
            let rest = client.outgoing().to_vec();
            client.sent(rest.len());
            serve(&mut server, &mut responder, &rest).unwrap();
            assert_eq!((server.open(), server.take_completed()), (0, times as u64));
            assert!(!server.is_inside());
            return got;
        }
        while client.is_ready() && client.has_room() && begun < times {
            client.ask(begun);
            begun += 1;
        }
        let cut = cuts.next().unwrap().min(client.outgoing().len());
        let bytes = client.outgoing()[..cut].to_vec();
        client.sent(cut);
        serve(&mut server, &mut responder, &bytes).unwrap();
        let cut = cuts.next().unwrap().min(server.outgoing().len());
        let bytes = server.outgoing()[..cut].to_vec();
        server.sent(cut);
        client.receive(&bytes).unwrap();
        while let Some(heard) = client.heard() {
            match heard {
                Heard::Answer(_, end) => got.push((end.status, end.body_bytes)),
                other => panic!("{other:?}"),
            }
        }
    }
    panic!("{} of {times} answers", got.len());
}

/// Calls a method, whose answer comes through a window of so many bytes: how the call ends.
fn called(method: &str, body: Vec<u8>, turns: u32, window: u32) -> CallEnd {
    let mut plan = ConnectionPlan::clone(&plan(method, 0, 1, window));
    plan.fields[0].1 = "POST".to_owned();
    plan.fields.push(("content-type".to_owned(), "application/grpc+proto".to_owned()));
    (plan.is_call, plan.body, plan.turns) = (true, body.into(), turns);
    let mut client = Connection::new(Arc::new(plan));
    let mut server = Serving::new(of_trial());
    let mut responder = Responder::default();
    client.ask(());
    let heard = (0..200_000).find_map(|_| {
        let bytes = client.outgoing().to_vec();
        client.sent(bytes.len());
        serve(&mut server, &mut responder, &bytes).unwrap();
        let bytes = server.outgoing().to_vec();
        server.sent(bytes.len());
        client.receive(&bytes).unwrap();
        client.heard()
    });
    let Some(Heard::Answer((), end)) = heard else { panic!("{method}, {window}: {heard:?}") };
    assert_eq!((end.status, server.open()), (200, 0), "{method}, {window}");
    end.call.unwrap()
}

/// Whatever a window lets through at once, whole messages and their trailers arrive.
#[test]
fn an_answer_of_grpc_fits_through_any_window() {
    for (window, count, payload_bytes) in [(1, 2, 7), (3, 1, 300), (6, 3, 0), (16_384, 3, 20_000)] {
        let call = EchoRequest { response_bytes: payload_bytes, count, ..EchoRequest::default() };
        let end = called(SERVER_STREAM, call.message(b"payload"), 1, window);
        let expected = CallEnd { status: Some(0), messages: count, is_whole: true };
        assert_eq!(end, expected, "{window}");
        let call = EchoRequest { count: 0, ..call };
        let end = called(BIDI_STREAM, call.message(b"payload"), count, window);
        assert_eq!(end, expected, "{window}, message by message");
    }
}

/// Messages that come before the one ahead of them is answered wait for their turn.
#[test]
fn messages_are_answered_one_by_one() {
    let asks = |status| EchoRequest { response_bytes: 9, status, ..EchoRequest::default() };
    let (one, ill) = (asks(0).message(&[1; 300]), asks(5).message(b""));
    let cut = &one[..one.len() - 1];
    for (body, status, messages) in [
        (one.repeat(3), 0, 3),
        (one.repeat(5000), 0, 5000),
        ([&one[..], &ill, &one].concat(), 5, 1),
        ([&one[..], cut].concat(), INTERNAL, 1),
        ([&one[..], &[1, 0, 0, 0, 9]].concat(), UNIMPLEMENTED, 1),
        ([&one[..], &[0, 0, 0, 0, 1, 0xff]].concat(), INVALID_ARGUMENT, 1),
    ] {
        let expected = CallEnd { status: Some(status), messages, is_whole: true };
        assert_eq!(called(BIDI_STREAM, body, 1, 65_535), expected);
    }
}

/// All of a stream may be longer than a body may; a message may not.
#[test]
fn a_message_is_no_longer_than_a_body() {
    let message = |bytes: u64| EchoRequest::default().message(&vec![1; bytes as usize]);
    let end = called(BIDI_STREAM, message(MOST_BODY_BYTES / 2), 5, 65_535);
    assert_eq!(end, CallEnd { status: Some(0), messages: 5, is_whole: true });
    // What came behind a message is of the next one.
    let both = [message(MOST_BODY_BYTES - 100), message(10_000)].concat();
    let end = called(BIDI_STREAM, both, 1, 65_535);
    assert_eq!(end, CallEnd { status: Some(0), messages: 2, is_whole: true });
    let both = [message(9), message(MOST_BODY_BYTES + 20_000)].concat();
    let end = called(BIDI_STREAM, both, 1, 65_535);
    assert_eq!(end, CallEnd { status: Some(RESOURCE_EXHAUSTED), messages: 1, is_whole: true });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_request_is_answered_however_the_bytes_are_cut(
        cuts in prop::collection::vec(1_usize..20_000, 1..20),
        streams in 1_usize..200,
        window_bytes in 1_u32..200_000,
        body in prop_oneof![Just(0_usize), 1_usize..100_000],
        size in prop_oneof![Just(None), (0_u64..100_000).prop_map(Some)],
        times in 1_usize..20,
    ) {
        let target = size.map_or_else(|| "/".to_owned(), |size| format!("/?size={size}"));
        let got = asked(&plan(&target, body, streams, window_bytes), times, &cuts);
        prop_assert_eq!(got, vec![(200, size.unwrap_or(body as u64)); times]);
    }

    #[test]
    fn no_bytes_make_a_server_hold_much_or_panic(
        frames in prop::collection::vec(
            (0_u8..11, any::<u8>(), 0_u32..6, prop::collection::vec(any::<u8>(), 0..40)),
            0..60,
        ),
    ) {
        let mut server = Serving::new(ServingBounds::of_strangers(MOST_BODY_BYTES));
        let mut responder = Responder::default();
        let mut bytes = PREFACE.to_vec();
        for (kind, flags, stream, content) in frames {
            bytes.extend_from_slice(&(content.len() as u32).to_be_bytes()[1..]);
            bytes.extend_from_slice(&[kind, flags]);
            bytes.extend_from_slice(&stream.to_be_bytes());
            bytes.extend_from_slice(&content);
        }
        if let Err(why) = serve(&mut server, &mut responder, &bytes) {
            server.end(why);
        }
        prop_assert!(server.held_bytes() < 64 * 1024, "{}", server.held_bytes());
        prop_assert!(server.outgoing().len() < 128 * 1024, "{}", server.outgoing().len());
    }
}

#[test]
fn errors_are_told_with_the_status_of_http_1() {
    for (target, body, status) in
        [("/nowhere", 0, 404), ("/?status=503", 0, 503), ("/", 2 << 20, 413)]
    {
        let got = asked(&plan(target, body, 1, 65_535), 1, &[10_000]);
        assert_eq!(got[0].0, status, "{target}");
    }
}

/// A peer that writes what it likes.
struct Peer {
    server: Serving,
    responder: Responder,
    stream: u32,
    /// The time of the server.
    now: Nanos,
    /// What the server has said.
    heard: Vec<u8>,
}

impl Peer {
    fn new() -> Self {
        Self::of(ServingBounds::of_strangers(MOST_BODY_BYTES))
    }

    fn of(bounds: ServingBounds) -> Self {
        let (server, responder) = (Serving::new(bounds), Responder::default());
        let mut peer = Self { server, responder, stream: 1, now: 0, heard: Vec::new() };
        let mut first = PREFACE.to_vec();
        frame::write_settings(&[], &mut first);
        peer.say(&first).unwrap();
        peer
    }

    fn say(&mut self, bytes: &[u8]) -> Result<(), Farewell> {
        let said = serve_at(self.now, &mut self.server, &mut self.responder, bytes);
        self.heard.extend_from_slice(self.server.outgoing());
        let sent = self.server.outgoing().len();
        self.server.sent(sent);
        said
    }

    /// The frames of a stream that the server has said since this was asked: their kinds, and
    /// whether the stream ends with them.
    fn heard(&mut self, stream: u32) -> Vec<(FrameKind, bool)> {
        let (heard, mut frames) = (std::mem::take(&mut self.heard), Vec::new());
        let mut rest = &heard[..];
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = FrameHead::read(head);
            if head.stream == stream {
                frames.push((head.kind, head.has(END_STREAM)));
            }
            rest = &behind[head.length..];
        }
        frames
    }

    /// Calls the method whose messages are answered one by one; the number of its stream.
    fn call(&mut self, fields: &[(&str, &str)]) -> u32 {
        let mut block = Vec::new();
        let all = [(":method", "POST"), (":scheme", "http"), (":path", BIDI_STREAM)];
        for (name, value) in all.iter().chain(&[("content-type", "application/grpc")]).chain(fields)
        {
            write_plain(name, value, &mut block);
        }
        let stream = self.stream;
        self.stream += 2;
        self.frame(FrameKind::Headers, END_HEADERS, stream, &block).unwrap();
        stream
    }

    fn frame(
        &mut self,
        kind: FrameKind,
        flags: u8,
        stream: u32,
        content: &[u8],
    ) -> Result<(), Farewell> {
        let mut out = Vec::new();
        frame::write(kind, flags, stream, content, &mut out);
        self.say(&out)
    }

    /// Asks for a page on the next stream; its number.
    fn ask(&mut self, target: &str, flags: u8) -> Result<u32, Farewell> {
        let mut block = Vec::new();
        for (name, value) in [(":method", "GET"), (":scheme", "http"), (":path", target)] {
            write_plain(name, value, &mut block);
        }
        let stream = self.stream;
        self.stream += 2;
        self.frame(FrameKind::Headers, END_HEADERS | flags, stream, &block).map(|()| stream)
    }

    /// The first refusal of what is done again and again.
    fn refused(&mut self, mut act: impl FnMut(&mut Self) -> Result<(), Farewell>) -> Farewell {
        for _ in 0..100_000 {
            if let Err(why) = act(self) {
                return why;
            }
            assert!(self.server.held_bytes() < 4 << 20, "{}", self.server.held_bytes());
        }
        panic!("it is never refused");
    }
}

/// A call that is refused has one answer, and no message brings another.
#[test]
fn a_call_that_shows_nothing_is_answered_once() {
    let mut peer = Peer::of(of_trial());
    let call = peer.call(&[]);
    let message = EchoRequest::default().message(b"x");
    for flags in [0, 0, END_STREAM] {
        peer.frame(FrameKind::Data, flags, call, &message).unwrap();
    }
    let heard = peer.heard(call);
    assert_eq!(heard, [(FrameKind::Headers, false), (FrameKind::Data, true)]);
    assert_eq!((peer.server.open(), peer.server.held_bytes() < 64 * 1024), (0, true));
}

/// What a client had sent before it learned that its call is over, in however small frames.
#[test]
fn what_was_under_way_to_a_call_that_ended_ends_nothing_else() {
    let mut peer = Peer::new();
    let call = peer.call(&[]);
    let asks = |status| EchoRequest { status, ..EchoRequest::default() }.message(b"");
    peer.frame(FrameKind::Data, 0, call, &asks(5)).unwrap();
    for _ in 0..5000 {
        peer.frame(FrameKind::Data, 0, call, &asks(0)).unwrap();
    }
    // It is not for ever.
    let why = peer.refused(|peer| peer.frame(FrameKind::Data, 0, call, &[0]));
    assert_eq!(why, Farewell::EnhanceYourCalm);
}

/// A call that is taken back when it was answered so far costs nothing.
#[test]
fn calls_may_be_left_between_two_messages() {
    let mut peer = Peer::new();
    let message = EchoRequest::default().message(b"");
    for _ in 0..500 {
        let call = peer.call(&[]);
        peer.frame(FrameKind::Data, 0, call, &message).unwrap();
        peer.frame(FrameKind::Reset, 0, call, &[0, 0, 0, 8]).unwrap();
    }
    let why = peer.refused(|peer| {
        let call = peer.call(&[]);
        peer.frame(FrameKind::Reset, 0, call, &[0, 0, 0, 8])
    });
    assert_eq!(why, Farewell::EnhanceYourCalm);
}

/// The server says that it takes no more of a call that it has ended.
#[test]
fn a_call_that_ends_early_is_reset_without_an_error() {
    let mut peer = Peer::new();
    let call = peer.call(&[]);
    let asks = |status| EchoRequest { status, ..EchoRequest::default() }.message(b"");
    peer.frame(FrameKind::Data, 0, call, &asks(0)).unwrap();
    assert_eq!(peer.heard(call), [(FrameKind::Headers, false), (FrameKind::Data, false)]);
    peer.frame(FrameKind::Data, 0, call, &asks(5)).unwrap();
    assert_eq!(peer.heard(call), [(FrameKind::Headers, true), (FrameKind::Reset, false)]);
    // What was under way.
    peer.frame(FrameKind::Data, END_STREAM, call, &asks(0)).unwrap();
    assert_eq!((peer.heard(call), peer.server.open()), (vec![], 0));
}

/// Who says how long a call may take says it of all its messages.
#[test]
fn the_messages_of_a_call_have_its_time_together() {
    let mut peer = Peer::new();
    let call = peer.call(&[("grpc-timeout", "25m")]);
    let message = EchoRequest { delay_us: 10_000, ..EchoRequest::default() }.message(b"");
    for _ in 0..2 {
        peer.frame(FrameKind::Data, 0, call, &message).unwrap();
        peer.now += 10_000_000;
    }
    assert_eq!(peer.heard(call).len(), 3);
    peer.frame(FrameKind::Data, 0, call, &message).unwrap();
    assert_eq!(peer.heard(call), [(FrameKind::Headers, true), (FrameKind::Reset, false)]);
}

/// A call with a deadline whose request is not all there is told of, and has run out at it.
#[test]
fn a_call_counts_from_its_head() {
    let mut peer = Peer::new();
    let message = EchoRequest::default().message(b"x");
    peer.now = 5;
    let calls: Vec<u32> = (0..4).map(|_| peer.call(&[("grpc-timeout", "20m")])).collect();
    let until = 20_000_005;
    peer.frame(FrameKind::Data, END_STREAM, calls[0], &message).unwrap();
    assert_eq!(peer.server.open(), 3, "one had what it needs");
    let timed: Vec<(Nanos, u32)> = peer.server.take_timed().collect();
    assert_eq!(timed, [(until, calls[1]), (until, calls[2]), (until, calls[3])]);
    assert_eq!(peer.server.take_timed().count(), 0, "once");
    // Before its time it is not answered, and what comes late is.
    peer.server.answer(calls[1], &mut peer.responder, until - 1);
    assert_eq!(peer.server.open(), 3);
    peer.server.answer(calls[1], &mut peer.responder, until);
    peer.now = until;
    peer.frame(FrameKind::Data, END_STREAM, calls[2], &message).unwrap();
    // One of several messages has its answer, and the next one does not come.
    peer.now = until - 1;
    peer.frame(FrameKind::Data, 0, calls[3], &message).unwrap();
    peer.server.answer(calls[3], &mut peer.responder, until);
    peer.say(&[]).unwrap();
    assert_eq!(peer.server.open(), 0);
    let heard = peer.heard.clone();
    let mut status = Vec::new();
    write_plain("grpc-status", "4", &mut status);
    let ended = heard.windows(status.len()).filter(|bytes| *bytes == &status[..]).count();
    assert_eq!(ended, 3, "{heard:?}");
}

/// What comes behind a message that waits is held, and no more than a window of it.
#[test]
fn a_window_is_given_back_when_the_message_ahead_is_answered() {
    let mut peer = Peer::new();
    let call = peer.call(&[]);
    let message = EchoRequest::default().message(&[1; 10_000]);
    let mut out = Vec::new();
    (0..5).for_each(|_| frame::write(FrameKind::Data, 0, call, &message, &mut out));
    peer.server.receive(&out, 0).unwrap();
    peer.say(&[]).unwrap();
    let heard = peer.heard(call);
    let answers = heard.iter().filter(|(kind, _)| *kind == FrameKind::Data).count();
    let windows = heard.iter().filter(|(kind, _)| *kind == FrameKind::WindowUpdate).count();
    assert_eq!((answers, windows), (5, 1), "{heard:?}");
    assert_eq!(heard.last(), Some(&(FrameKind::WindowUpdate, false)), "{heard:?}");
}

#[test]
fn what_costs_much_and_asks_for_little_ends_the_connection() {
    let no_window = |peer: &mut Peer| {
        let mut out = Vec::new();
        frame::write_settings(&[Setting::Window(0)], &mut out);
        peer.say(&out).unwrap();
    };
    // CVE-2023-44487: requests that are taken back.
    let mut peer = Peer::new();
    no_window(&mut peer);
    let why = peer.refused(|peer| {
        let stream = peer.ask("/?size=10", END_STREAM)?;
        peer.frame(FrameKind::Reset, 0, stream, &[0, 0, 0, 8])
    });
    assert_eq!(why, Farewell::EnhanceYourCalm);
    // CVE-2019-9512 and its kin: pings, settings, empty frames.
    for (kind, stream, content) in [
        (FrameKind::Ping, 0, &[0; 8][..]),
        (FrameKind::Settings, 0, &[]),
        (FrameKind::Priority, 1, &[0; 5]),
        (FrameKind::Other(99), 0, &[]),
    ] {
        let why = Peer::new().refused(|peer| peer.frame(kind, 0, stream, content));
        assert_eq!(why, Farewell::EnhanceYourCalm, "{kind:?}");
    }
    let mut peer = Peer::new();
    let stream = peer.ask("/", 0).unwrap();
    let why = peer.refused(|peer| peer.frame(FrameKind::Data, 0, stream, &[]));
    assert_eq!(why, Farewell::EnhanceYourCalm);
    // CVE-2025-8671: requests that the server has to take back itself.
    for zero in [FrameKind::WindowUpdate, FrameKind::Priority] {
        let why = Peer::new().refused(|peer| {
            let stream = peer.ask("/", 0)?;
            peer.frame(zero, 0, stream, &[0; 4])
        });
        assert_eq!(why, Farewell::EnhanceYourCalm);
    }
    // Those that are malformed.
    let why = Peer::new().refused(|peer| peer.ask("", END_STREAM).map(drop));
    assert_eq!(why, Farewell::EnhanceYourCalm);
    // Streams beyond the bound, again and again.
    let mut peer = Peer::new();
    no_window(&mut peer);
    let why = peer.refused(|peer| peer.ask("/?size=10", END_STREAM).map(drop));
    assert_eq!(why, Farewell::EnhanceYourCalm);
    // CVE-2024-27316: a block of fields without an end.
    let mut peer = Peer::new();
    peer.frame(FrameKind::Headers, 0, 1, &[0x82]).unwrap();
    let why = peer.refused(|peer| peer.frame(FrameKind::Continuation, 0, 1, &[0x82; 100]));
    assert_eq!(why, Farewell::EnhanceYourCalm);
    // A body without an end, which nobody keeps.
    let mut peer = Peer::new();
    let stream = peer.ask("/", 0).unwrap();
    let why = peer.refused(|peer| peer.frame(FrameKind::Data, 0, stream, &[0; 10_000]));
    assert_eq!(why, Farewell::EnhanceYourCalm);
}

#[test]
fn what_breaks_the_protocol_ends_the_connection_with_its_code() {
    type Act = fn(&mut Peer) -> Result<(), Farewell>;
    let acts: [(Act, Farewell); 12] = [
        (|peer| peer.frame(FrameKind::Headers, END_HEADERS, 2, &[]), Farewell::Protocol),
        (|peer| peer.frame(FrameKind::Headers, END_HEADERS, 1, &[0xff; 9]), Farewell::Compression),
        (|peer| peer.frame(FrameKind::Data, 0, 1, &[1]), Farewell::Protocol),
        (|peer| peer.frame(FrameKind::Ping, 0, 0, &[1]), Farewell::FrameSize),
        (|peer| peer.frame(FrameKind::Settings, 0, 0, &[1]), Farewell::FrameSize),
        (|peer| peer.frame(FrameKind::WindowUpdate, 0, 0, &[0; 4]), Farewell::Protocol),
        (
            |peer| {
                peer.frame(FrameKind::WindowUpdate, 0, 0, &[0x7f; 4])
                    .and_then(|()| peer.frame(FrameKind::WindowUpdate, 0, 0, &[0x7f; 4]))
            },
            Farewell::FlowControl,
        ),
        (|peer| peer.frame(FrameKind::WindowUpdate, 0, 9, &[0, 0, 0, 1]), Farewell::Protocol),
        (|peer| peer.frame(FrameKind::PushPromise, 0, 1, &[0; 4]), Farewell::Protocol),
        (|peer| peer.frame(FrameKind::Continuation, 0, 1, &[1]), Farewell::Protocol),
        (|peer| peer.frame(FrameKind::Reset, 0, 9, &[0; 4]), Farewell::Protocol),
        (|peer| peer.say(&[0xff; 9]), Farewell::FrameSize),
    ];
    for (at, (act, expected)) in acts.into_iter().enumerate() {
        let mut peer = Peer::new();
        assert_eq!(act(&mut peer), Err(expected), "{at}");
        peer.server.end(expected);
        let said = peer.server.outgoing();
        let code = *said.last().unwrap();
        assert_eq!((said[3], u32::from(code)), (7, expected as u32), "{}", code_name(code.into()));
    }
    let mut server = Serving::new(ServingBounds::of_strangers(0));
    assert_eq!(server.receive(b"PRI * HTTP/2.0\r\n\r\nXX", 0), Err(Farewell::Protocol));
}

#[test]
fn a_slow_stream_keeps_no_other_waiting_and_windows_hold() {
    let mut peer = Peer::new();
    let mut out = Vec::new();
    frame::write_settings(&[Setting::Window(10)], &mut out);
    peer.say(&out).unwrap();
    let slow = peer.ask("/?size=1000", END_STREAM).unwrap();
    peer.ask("/?size=10", END_STREAM).unwrap();
    assert_eq!(peer.server.take_completed(), 1, "the one that its window has room for");
    assert_eq!(peer.server.open(), 1);

    peer.frame(FrameKind::WindowUpdate, 0, slow, &[0, 0, 3, 0xde]).unwrap();
    assert_eq!(peer.server.take_completed(), 1);
}
