//! HTTP/2 at our target, calls of gRPC among it: the same requests and the same end however reads
//! cut the bytes, and every answer can be written.
#![no_main]

use hopbench_fuzz::Pieces;
use hopbench_load::http::Responder;
use hopbench_load::http::h2::{Farewell, PREFACE, Serving, ServingBounds};
use libfuzzer_sys::fuzz_target;

/// The longest body that is taken, bytes.
const MOST_BODY_BYTES: u64 = 4096;
/// Bytes that a connection may hold at most: fields, bodies, and what is to be sent.
const MOST_HELD_BYTES: usize = 16 << 20;

/// The requests that are complete, and why the connection ends.
type Heard = (Vec<(u32, String, Vec<u8>, bool)>, Option<Farewell>);

fn listen<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Heard {
    let mut serving = Serving::new(ServingBounds::of_strangers(MOST_BODY_BYTES));
    let end =
        std::iter::once(PREFACE).chain(pieces).find_map(|piece| serving.receive(piece, 0).err());
    let (mut requests, mut answered) = (Vec::new(), 0);
    let (mut responder, filler) = (Responder::default(), [b'x'; 5000]);
    // The peer takes all that the windows allow. Messages of a call have their answers in turn.
    for _ in 0..1000 {
        while let Some((number, request, is_refused)) = serving.next_request(0) {
            let (target, body) = (request.target().to_owned(), request.body().to_vec());
            requests.push((number, target, body, is_refused));
        }
        for (number, ..) in &requests[answered..] {
            serving.answer(*number, &mut responder, 0);
        }
        answered = requests.len();
        serving.write(&filler, 64 * 1024);
        let bytes = serving.outgoing().len();
        if bytes == 0 {
            break;
        }
        serving.sent(bytes);
    }
    assert!(serving.held_bytes() <= MOST_HELD_BYTES, "{}", serving.held_bytes());
    if let Some(why) = end {
        serving.end(why);
        assert!(serving.outgoing().len() >= 17, "the peer is told");
    }
    (requests, end)
}

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = (listen(input.get(1..).into_iter()), listen(Pieces::of(input)));
    assert_eq!(whole, pieces);
});
