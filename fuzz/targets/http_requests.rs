//! HTTP requests at our target: the same requests and the same end however reads cut the bytes.
#![no_main]

use hopbench_fuzz::Pieces;
use hopbench_load::http::{Body, RequestError, RequestParser, RequestState, Responder, refuse};
use libfuzzer_sys::fuzz_target;

/// What the target said to whole requests, what broke the connection, and whether a request is
/// unfinished.
type Said = (Vec<u8>, Option<RequestError>, bool);

fn talk<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Said {
    let (mut parser, mut responder, mut said) =
        (RequestParser::new(), Responder::default(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            let step = match parser.feed(piece) {
                Ok(step) => step,
                Err(error) => {
                    let mut last = Vec::new();
                    refuse(&error, &mut last);
                    assert!(last.starts_with(b"HTTP/1.1 ") && !last.contains(&0x1b));
                    return (said, Some(error), false);
                }
            };
            assert!(step.consumed <= piece.len());
            piece = &piece[step.consumed..];
            match step.state {
                RequestState::NeedMore => {
                    assert!(piece.is_empty(), "{} bytes were left", piece.len())
                }
                // Whether a client waits depends on what has come already.
                RequestState::Continue => {}
                RequestState::Complete => {
                    let answer = responder.respond(parser.request(), 0, &mut said);
                    assert!(answer.delay_ns <= 60_000_000_000, "{} ns", answer.delay_ns);
                    if let Body::Filler(bytes) = answer.body {
                        assert!(bytes <= 1 << 30, "{bytes}");
                    }
                    if answer.close {
                        return (said, None, false);
                    }
                }
            }
        }
    }
    (said, None, parser.is_inside())
}

/// The same but for the time and the words of an error: who reads all at once is told of it
/// earlier.
fn same(one: &Said, other: &Said) -> bool {
    let ends = match (&one.1, &other.1) {
        (None, None) => one.2 == other.2,
        (Some(one), Some(other)) => one.status() == other.status(),
        (Some(_), None) => other.2,
        (None, Some(_)) => one.2,
    };
    one.0 == other.0 && ends
}

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = (talk(input.get(1..).into_iter()), talk(Pieces::of(input)));
    assert!(same(&whole, &pieces), "{whole:?}\n{pieces:?}");
});
