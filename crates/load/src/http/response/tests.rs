//! Responses as servers send them, whole, in pieces, and broken.

use proptest::prelude::*;

use super::corpus::{CASES, Case, UNTIL_CLOSE};
use super::*;

/// What a connection came to.
#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    ends: Vec<ResponseEnd>,
    failed: bool,
}

/// Plays a connection: `bytes` arrive cut at `cuts` (lengths, used in turn), then it is closed.
/// `heads` says for each request in turn whether it was `HEAD`.
fn play(parser: &mut ResponseParser, bytes: &[u8], cuts: &[usize], heads: &[bool]) -> Parsed {
    let mut outcome = Parsed { ends: Vec::new(), failed: false };
    let is_head = |n: usize| heads.get(n).copied().unwrap_or(false);
    parser.reset(is_head(0));
    let (mut at, mut turn, mut since_end) = (0, 0, 0);
    while at < bytes.len() {
        let cut = cuts.get(turn % cuts.len().max(1)).copied().unwrap_or(bytes.len()).max(1);
        turn += 1;
        let mut piece = &bytes[at..bytes.len().min(at + cut)];
        at += piece.len();
        while !piece.is_empty() {
            match parser.feed(piece) {
                Err(error) => {
                    assert!(error.to_string().contains("found"), "{error}");
                    outcome.failed = true;
                    return outcome;
                }
                Ok(ResponseStep { consumed, state: ResponseState::NeedMore }) => {
                    assert_eq!(consumed, piece.len(), "waits for more and leaves bytes");
                    since_end += consumed;
                    piece = &[];
                }
                Ok(ResponseStep { consumed, state: ResponseState::Complete(end) }) => {
                    since_end += consumed;
                    assert_eq!(
                        end.header_bytes + end.body_bytes,
                        since_end as u64,
                        "every byte is counted once"
                    );
                    assert!(since_end > 0 && !parser.is_inside());
                    since_end = 0;
                    piece = &piece[consumed..];
                    outcome.ends.push(end);
                    parser.reset(is_head(outcome.ends.len()));
                }
            }
            assert!(
                parser.heads.held_bytes() <= 2 * MOST_HEAD_BYTES,
                "{}",
                parser.heads.held_bytes()
            );
        }
    }
    match parser.eof() {
        Ok(end) => outcome.ends.extend(end),
        Err(_) => outcome.failed = true,
    }
    outcome
}

fn stream(cases: &[Case]) -> (Vec<u8>, Vec<bool>, Parsed) {
    (
        cases.iter().flat_map(|c| c.text.bytes()).collect(),
        cases.iter().map(|c| c.head).collect(),
        Parsed { ends: cases.iter().map(Case::end).collect(), failed: false },
    )
}

#[test]
fn real_responses_whole_and_byte_by_byte() {
    for case in CASES.iter().chain(UNTIL_CLOSE) {
        let (bytes, heads, expected) = stream(&[*case]);
        for cut in 1..=bytes.len() {
            assert_eq!(
                play(&mut ResponseParser::new(false), &bytes, &[cut], &heads),
                expected,
                "{case:?} by {cut}"
            );
        }
    }
}

#[test]
fn surplus_is_left_to_the_caller() {
    for case in CASES {
        let mut parser = ResponseParser::new(case.head);
        let text = format!("{}surplus", case.text);
        let step = parser.feed(text.as_bytes()).unwrap();
        assert_eq!(
            step,
            ResponseStep { consumed: case.text.len(), state: ResponseState::Complete(case.end()) },
            "{case:?}"
        );
    }
}

#[test]
fn a_cut_short_response_fails_at_every_byte() {
    for case in CASES {
        for length in 0..case.text.len() {
            let mut parser = ResponseParser::new(case.head);
            let step = parser.feed(&case.text.as_bytes()[..length]).unwrap();
            assert_eq!(
                step,
                ResponseStep { consumed: length, state: ResponseState::NeedMore },
                "{case:?} at {length}"
            );
            match parser.eof() {
                Ok(end) => assert_eq!((end, length), (None, 0)),
                Err(error) => assert_eq!(error.reason(), "response_truncated"),
            }
        }
    }
}

#[test]
fn what_is_ambiguous_or_garbage_is_refused() {
    for (text, part) in [
        ("SSH-2.0-OpenSSH_9.2\r\n", "`SSH-2.0-OpenSSH_9.2\\r\\n`"),
        ("HTTP/2 200\r\n\r\n", "not HTTP/1.x"),
        ("HTTP/1.1 2x0 OK\r\n\r\n", "invalid status"),
        ("HTTP/1.1 099 Low\r\n\r\n", "found 99"),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", "empty line"),
        ("<html>", "`<html>`"),
        ("HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "invalid field name"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", "invalid field name"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "found 1 and 2"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "`-1`"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "expected one of them",
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "`gzip`"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello", "in a chunk size"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "found 101"),
    ] {
        let error = ResponseParser::new(false).feed(text.as_bytes()).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(part) && said.contains("found") && said.contains("expected"),
            "{text:?}: {said}"
        );
    }
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(33);
    assert_eq!(
        ResponseParser::new(false).feed(interim.as_bytes()),
        Err(ResponseError::TooManyInterim)
    );
    let fields = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(129));
    assert!(ResponseParser::new(false).feed(fields.as_bytes()).is_err());
}

#[test]
fn heads_over_64_kib_are_refused() {
    let with_head = |bytes: usize| {
        let frame = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: \r\n\r\n";
        let text = frame.replace("X: ", &format!("X: {}", "y".repeat(bytes - frame.len())));
        text + "!"
    };
    for cut in [1000, 1 << 20] {
        let fits = play(&mut ResponseParser::new(false), with_head(65_536).as_bytes(), &[cut], &[]);
        assert_eq!(fits.ends.iter().map(|e| e.header_bytes).collect::<Vec<_>>(), [65_536]);
        let mut parser = ResponseParser::new(false);
        assert!(play(&mut parser, with_head(65_537).as_bytes(), &[cut], &[]).failed);
    }
    let mut parser = ResponseParser::new(false);
    let error = (0..70).find_map(|_| parser.feed(&[b'H'; 1024]).err());
    assert!(error.is_some(), "an endless head was read to the end");
}

#[test]
fn a_reset_drops_what_was_under_way() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
    for length in 0..whole.len() {
        let mut parser = ResponseParser::new(false);
        parser.feed(&whole.as_bytes()[..length]).unwrap();
        parser.reset(false);
        let step = parser.feed(whole.as_bytes()).unwrap();
        let ResponseState::Complete(end) = step.state else { panic!("{step:?} at {length}") };
        assert_eq!((end.header_bytes, end.body_bytes), (38, 3), "at {length}");
    }
}

#[test]
fn memory_for_a_long_head_is_given_back() {
    let text = format!("HTTP/1.1 204 No Content\r\nX: {}\r\n\r\n", "y".repeat(60_000));
    let mut parser = ResponseParser::new(false);
    for part in text.as_bytes().chunks(4096) {
        parser.feed(part).unwrap();
    }
    assert!(!parser.is_inside());
    assert!(parser.heads.held_bytes() < 16 * 1024, "{}", parser.heads.held_bytes());
}

#[test]
fn a_repeated_head_is_understood_in_its_own_place() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
    let mut parser = ResponseParser::new(false);
    for (method_head, length) in [(false, 41), (false, 41), (true, 38), (true, 38), (false, 41)] {
        parser.reset(method_head);
        let step = parser.feed(text.as_bytes()).unwrap();
        assert_eq!(step.consumed, length);
        assert!(
            matches!(step.state, ResponseState::Complete(end) if end.status == 200 && !end.close)
        );
    }
    // The same head up to its last byte, with another one after it.
    let close = text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let step = parser.feed(close.as_bytes()).unwrap();
    assert!(matches!(step.state, ResponseState::Complete(end) if end.close));
}

#[test]
fn a_proxy_says_why_it_answered() {
    let answer = |status: &str, fields: &str| {
        format!("HTTP/1.1 {status}\r\n{fields}Content-Length: 3\r\n\r\nwhy")
    };
    let interim = "HTTP/1.1 103 Early Hints\r\nx-hopbench-flags: DC\r\n\r\n";
    let cases = [
        (answer("503 Service Unavailable", "x-hopbench-flags: UF,URX\r\n"), "UF,URX"),
        (answer("503 Service Unavailable", "X-Hopbench-Flags:  UH \r\n"), "UH"),
        (answer("429 Too Many Requests", "x-hopbench-flags: -\r\nx-hopbench-flags: RL\r\n"), "RL"),
        // What was said of one answer is not said of the next.
        (answer("503 Service Unavailable", ""), ""),
        (answer("200 OK", "x-hopbench-flags: UF\r\n"), ""),
        (answer("503 Service Unavailable", "x-hopbench-flags: <b>\r\n"), ""),
        (interim.to_owned() + &answer("504 Gateway Timeout", ""), ""),
        (interim.to_owned() + &answer("504 Gateway Timeout", "x-hopbench-flags: UT\r\n"), "UT"),
    ];
    let flags =
        |outcome: &Parsed| outcome.ends.iter().map(|end| end.flags.to_string()).collect::<Vec<_>>();
    for (text, expected) in &cases {
        for cut in 1..=text.len() {
            // Twice: the second head is known from the first.
            let seen =
                play(&mut ResponseParser::new(false), text.repeat(2).as_bytes(), &[cut], &[]);
            assert_eq!(flags(&seen), [*expected; 2], "{text:?} by {cut}");
        }
    }
    let all: String = cases.iter().map(|(text, _)| text.as_str()).collect();
    let seen = play(&mut ResponseParser::new(false), all.as_bytes(), &[], &[]);
    assert_eq!(flags(&seen), cases.each_ref().map(|(_, flags)| *flags));
}

fn some_cases() -> impl Strategy<Value = Vec<Case>> {
    let closing = proptest::option::of(proptest::sample::select(UNTIL_CLOSE));
    (proptest::collection::vec(proptest::sample::select(CASES), 1..6), closing).prop_map(
        |(mut cases, last)| {
            cases.extend(last);
            cases
        },
    )
}

fn some_cuts() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![1usize..4, 1usize..400], 0..12)
}

proptest! {
    #[test]
    fn cuts_do_not_matter(cases in some_cases(), cuts in some_cuts()) {
        let (bytes, heads, expected) = stream(&cases);
        prop_assert_eq!(play(&mut ResponseParser::new(false), &bytes, &cuts, &heads), expected);
    }

    /// Broken input comes to the same end however it is cut, and `play` checks every step of it.
    #[test]
    fn broken_streams_are_survived(
        cases in some_cases(),
        edits in proptest::collection::vec(any::<(usize, u8, u8)>(), 1..6),
        cuts in some_cuts(),
    ) {
        let (mut bytes, heads, _) = stream(&cases);
        crate::http::mutation::mutate(&mut bytes, &edits);
        let whole = play(&mut ResponseParser::new(false), &bytes, &[], &heads);
        let cut = play(&mut ResponseParser::new(false), &bytes, &cuts, &heads);
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn noise_is_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        cuts in some_cuts(),
    ) {
        let mut parser = ResponseParser::new(false);
        prop_assert!(play(&mut parser, &bytes, &cuts, &[]).ends.is_empty());
    }
}
