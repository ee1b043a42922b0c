//! HTTP responses of any server: the same answers and the same end however reads cut the bytes.
#![no_main]

use hopbench_fuzz::Pieces;
use hopbench_load::http::{ResponseEnd, ResponseError, ResponseParser, ResponseState};
use libfuzzer_sys::fuzz_target;

/// Every answer, why reading ended, and what the end of the connection means.
type Heard =
    (Vec<ResponseEnd>, Option<ResponseError>, Option<Result<Option<ResponseEnd>, ResponseError>>);

fn listen<'a>(pieces: impl Iterator<Item = &'a [u8]>, head: bool) -> Heard {
    let (mut parser, mut answers) = (ResponseParser::new(head), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            let step = match parser.feed(piece) {
                Ok(step) => step,
                Err(error) => return (answers, Some(error), None),
            };
            assert!(step.consumed <= piece.len());
            piece = &piece[step.consumed..];
            match step.state {
                ResponseState::NeedMore => {
                    assert!(piece.is_empty(), "{} bytes were left", piece.len())
                }
                ResponseState::Complete(end) => {
                    assert!((200..=999).contains(&end.status), "{}", end.status);
                    answers.push(end);
                    if end.close {
                        return (answers, None, None);
                    }
                }
            }
        }
    }
    let end = parser.eof();
    (answers, None, Some(end))
}

/// The same but for the time and the words of an error: who reads all at once is told of it
/// earlier, and shows more.
fn same(one: &Heard, other: &Heard) -> bool {
    let kind = |heard: &Heard| heard.1.as_ref().map(ResponseError::reason);
    let is_unfinished = |heard: &Heard| matches!(heard.2, Some(Err(_)));
    let ends = match (kind(one), kind(other)) {
        (None, None) => one.2 == other.2,
        (Some(one), Some(other)) => one == other,
        (Some(_), None) => is_unfinished(other),
        (None, Some(_)) => is_unfinished(one),
    };
    one.0 == other.0 && ends
}

fuzz_target!(|input: &[u8]| {
    for head in [false, true] {
        let (whole, pieces) =
            (listen(input.get(1..).into_iter(), head), listen(Pieces::of(input), head));
        assert!(same(&whole, &pieces), "{whole:?}\n{pieces:?}");
    }
});
