//! Frames of a control session: what a reader gives out does not depend on how reads cut the bytes.
#![no_main]

use hopbench_fuzz::Pieces;
use hopbench_wire::{FrameError, FrameReader, FromAgent, ToAgent, encode};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Every message that comes out, and how it ends.
fn all<'a, T: DeserializeOwned>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<T>, Option<FrameError>) {
    let (mut reader, mut messages) = (FrameReader::new(), Vec::new());
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => {
                    // It stays broken.
                    reader.push(piece);
                    assert_eq!(reader.next::<T>().err().as_ref(), Some(&error));
                    return (messages, Some(error));
                }
            }
        }
    }
    (messages, None)
}

fn look<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(input: &[u8]) {
    let (messages, error) = all::<T>(Pieces::of(input));
    let whole = all::<T>(input.get(1..).into_iter());
    assert_eq!((&messages, &error), (&whole.0, &whole.1));
    for message in messages {
        let again = encode(&message).expect("what was read can be written");
        let (read, error) = all::<T>(std::iter::once(&again[..]));
        assert!(error.is_none(), "{error:?}");
        assert_eq!(read, [message]);
    }
}

fuzz_target!(|input: &[u8]| {
    look::<ToAgent>(input);
    look::<FromAgent>(input);
});
