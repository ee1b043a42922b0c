//! HTTP requests at our target: the same requests and the same end however reads cut the bytes.
#![no_main]

use hopbench_fuzz::Pieces;
use hopbench_load::http::{Body, RequestError, RequestParser, RequestState, Responder, refuse};
use libfuzzer_sys::fuzz_target;

/// What the target says to all of it.
fn talk<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<u8>, Option<RequestError>) {
    let (mut parser, mut responder, mut said) = (RequestParser::new(), Responder::default(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            let step = match parser.feed(piece) {
                Ok(step) => step,
                Err(error) => {
                    refuse(&error, &mut said);
                    return (said, Some(error));
                }
            };
            assert!(step.consumed <= piece.len());
            piece = &piece[step.consumed..];
            match step.state {
                RequestState::NeedMore => assert!(piece.is_empty(), "{} bytes were left", piece.len()),
                // Whether a client waits depends on what has come already.
                RequestState::Continue => {}
                RequestState::Complete => {
                    let answer = responder.respond(parser.request(), 0, &mut said);
                    assert!(answer.delay_ns <= 60_000_000_000, "{} ns", answer.delay_ns);
                    if let Body::Filler(bytes) = answer.body {
                        assert!(bytes <= 1 << 30, "{bytes}");
                    }
                    if answer.close {
                        return (said, None);
                    }
                }
            }
        }
    }
    (said, None)
}

fuzz_target!(|input: &[u8]| {
    let whole = talk(input.get(1..).into_iter());
    assert_eq!(talk(Pieces::of(input)), whole);
});
