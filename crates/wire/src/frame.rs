//! Frames: a `u32` big-endian length and as many bytes of JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::{Zeroize, Zeroizing};

/// The most bytes of JSON that one frame may hold: 8 MiB.
pub const MAX_FRAME: usize = 8 << 20;

/// The most bytes of JSON that an agent takes of a conductor over a network: 1 MiB. Reports, which
/// go the other way, may be longer.
pub const MAX_ORDER: usize = 1 << 20;

/// Bytes of the length before the JSON.
const LENGTH_BYTES: usize = 4;

/// An empty buffer that once held more than this gives its memory back.
const KEPT_CAPACITY: usize = 64 << 10;

/// Why bytes are not a frame, or a value does not fit into one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame of no bytes: JSON has at least one.
    #[error("frame of 0 bytes")]
    Empty,
    /// More than [`MAX_FRAME`], or than the reader takes.
    #[error("frame of {announced} bytes is longer than the {most} that are allowed")]
    TooLong {
        /// Bytes of JSON that were announced, or that the value takes.
        announced: usize,
        /// Bytes of JSON that are allowed.
        most: usize,
    },
    /// The JSON is not the message that was expected.
    #[error("frame does not hold the expected message: {why}")]
    Json {
        /// What the parser says.
        why: String,
    },
    /// A value that JSON cannot hold.
    #[error("message cannot be written as a frame: {why}")]
    Unwritable {
        /// What the serializer says.
        why: String,
    },
}

/// One value as a frame.
///
/// # Errors
/// When the value takes more than [`MAX_FRAME`] bytes, which the other end would refuse, or cannot
/// be written as JSON.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut frame, value)
        .map_err(|e| FrameError::Unwritable { why: e.to_string() })?;
    let length = checked(frame.len() - LENGTH_BYTES, MAX_FRAME)?;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// The length as it is written, when it is allowed.
fn checked(length: usize, most: usize) -> Result<u32, FrameError> {
    match u32::try_from(length) {
        Ok(0) => Err(FrameError::Empty),
        Ok(short) if length <= most => Ok(short),
        _ => Err(FrameError::TooLong { announced: length, most }),
    }
}

/// Cuts a stream of bytes into frames, however the stream was cut into reads.
///
/// Memory grows with bytes that arrived, never with a length that was announced. Call
/// [`next`](Self::next) until it gives `None` after every [`push`](Self::push): then at most one
/// unfinished frame is held. After an error the stream has no known position, so the reader drops
/// what it holds and repeats the error for ever.
///
/// Messages may carry keys. So bytes that were given out are overwritten, and none are left behind
/// where the buffer was.
#[derive(Debug)]
pub struct FrameReader {
    /// Bytes of JSON that a frame may hold.
    most: usize,
    buffer: Zeroizing<Vec<u8>>,
    /// Where the first byte that was not yet given out is.
    at: usize,
    failed: Option<FrameError>,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self { most: MAX_FRAME, buffer: Zeroizing::default(), at: 0, failed: None }
    }
}

impl FrameReader {
    /// A reader at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes frames of at most `most` bytes of JSON from here on; never more than [`MAX_FRAME`].
    pub fn set_most(&mut self, most: usize) {
        self.most = most.min(MAX_FRAME);
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        // Moves at most as many bytes as were given out since the last move.
        if self.at > self.buffer.len() / 2 {
            let held = self.buffer.len() - self.at;
            self.buffer.copy_within(self.at.., 0);
            self.buffer[held..].zeroize();
            self.buffer.truncate(held);
            self.at = 0;
        }
        let needed = self.buffer.len() + bytes.len();
        if needed > self.buffer.capacity() {
            // A buffer that grows by itself leaves its old memory as it is.
            let mut larger =
                Zeroizing::new(Vec::with_capacity(needed.max(2 * self.buffer.capacity())));
            larger.extend_from_slice(&self.buffer);
            self.buffer = larger;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, or `None` when more bytes are needed for it.
    ///
    /// # Errors
    /// When the frame is empty, too long (known from its length alone), or not a `T`.
    #[expect(
        clippy::should_implement_trait,
        reason = "the type of a message differs from call to call"
    )]
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.take().inspect_err(|error| {
            self.failed = Some(error.clone());
            self.buffer = Zeroizing::default();
            self.at = 0;
        })
    }

    /// Whether the stream stands between two frames: a good place for it to end.
    pub fn is_empty(&self) -> bool {
        self.at == self.buffer.len()
    }

    fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some((length, rest)) = self.buffer[self.at..].split_first_chunk::<LENGTH_BYTES>()
        else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        checked(length, self.most)?;
        let Some(json) = rest.get(..length) else {
            return Ok(None);
        };
        let value =
            serde_json::from_slice(json).map_err(|e| FrameError::Json { why: e.to_string() })?;
        let end = self.at + LENGTH_BYTES + length;
        self.buffer[self.at..end].zeroize();
        self.at = end;
        if self.is_empty() {
            self.at = 0;
            self.buffer.clear();
            if self.buffer.capacity() > KEPT_CAPACITY {
                self.buffer = Zeroizing::default();
            }
        }
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drain(reader: &mut FrameReader) -> Vec<String> {
        std::iter::from_fn(|| reader.next::<String>().unwrap()).collect()
    }

    #[test]
    fn a_length_that_is_not_allowed_fails_before_any_content() {
        for (length, error) in [
            (0, FrameError::Empty),
            (
                MAX_FRAME as u32 + 1,
                FrameError::TooLong { announced: MAX_FRAME + 1, most: MAX_FRAME },
            ),
            (u32::MAX, FrameError::TooLong { announced: u32::MAX as usize, most: MAX_FRAME }),
        ] {
            let mut reader = FrameReader::new();
            reader.push(&length.to_be_bytes()[..3]);
            assert_eq!(reader.next::<String>(), Ok(None));
            reader.push(&length.to_be_bytes()[3..]);
            assert_eq!(reader.next::<String>(), Err(error));
            assert_eq!(reader.buffer.capacity(), 0);
        }
    }

    #[test]
    fn a_reader_takes_no_longer_frames_than_it_is_told() {
        let frame = encode(&"12345678").unwrap();
        let mut reader = FrameReader::new();
        reader.set_most(10);
        reader.push(&frame);
        assert_eq!(reader.next::<String>(), Ok(Some("12345678".to_owned())));
        reader.set_most(9);
        reader.push(&frame[..LENGTH_BYTES]);
        assert_eq!(reader.next::<String>(), Err(FrameError::TooLong { announced: 10, most: 9 }));
    }

    #[test]
    fn an_announced_length_takes_no_memory() {
        let mut reader = FrameReader::new();
        reader.push(&(MAX_FRAME as u32).to_be_bytes());
        reader.push(b"\"");
        assert_eq!(reader.next::<String>(), Ok(None));
        assert!(reader.buffer.capacity() < 1024, "{}", reader.buffer.capacity());
    }

    #[test]
    fn a_failed_reader_stays_failed_and_holds_nothing() {
        let mut reader = FrameReader::new();
        reader.push(&encode(&1).unwrap());
        let error = reader.next::<String>().unwrap_err();
        assert!(matches!(error, FrameError::Json { .. }), "{error}");
        reader.push(&encode(&"good").unwrap());
        assert_eq!(reader.next::<String>(), Err(error));
        assert_eq!(reader.buffer.capacity(), 0);
    }

    #[test]
    fn the_longest_frame_passes_and_one_byte_more_does_not() {
        // A string takes two bytes of JSON more than it has.
        let text = "x".repeat(MAX_FRAME - 2);
        let mut reader = FrameReader::new();
        for chunk in encode(&text).unwrap().chunks(1 << 16) {
            reader.push(chunk);
        }
        assert_eq!(reader.next::<String>(), Ok(Some(text)));
        assert!(reader.buffer.capacity() <= KEPT_CAPACITY, "memory of a long frame is kept");
        let longer = "x".repeat(MAX_FRAME - 1);
        assert_eq!(
            encode(&longer),
            Err(FrameError::TooLong { announced: MAX_FRAME + 1, most: MAX_FRAME })
        );
    }

    #[test]
    fn a_message_that_was_given_out_is_overwritten() {
        let secret = "a key that nobody may find";
        let stream =
            [encode(&secret).unwrap(), encode(&secret).unwrap(), encode(&"next").unwrap()].concat();
        let (last, rest) = stream.split_last().unwrap();
        let mut reader = FrameReader::new();
        reader.push(rest);
        assert_eq!(drain(&mut reader), [secret, secret]);
        assert!(reader.at > 0 && reader.buffer[..reader.at].iter().all(|byte| *byte == 0));
        // What is held moves to the front and is still whole.
        reader.push(&[*last]);
        assert_eq!((reader.at, drain(&mut reader)), (0, vec!["next".to_owned()]));
    }

    #[test]
    fn a_value_without_json_is_an_error() {
        let keyed_by_a_list = std::collections::BTreeMap::from([(vec![1], 1)]);
        let error = encode(&keyed_by_a_list).unwrap_err();
        assert!(matches!(error, FrameError::Unwritable { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            messages in prop::collection::vec(".{0,40}", 0..20),
            cuts in prop::collection::vec(1usize..60, 1..40),
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|m| encode(m).unwrap()).collect();
            let mut reader = FrameReader::new();
            let mut got = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at(rest.len().min(*cut));
                reader.push(chunk);
                got.extend(drain(&mut reader));
                rest = after;
            }
            prop_assert_eq!(&got, &messages);
            prop_assert!(reader.is_empty());
            // And all at once.
            let mut reader = FrameReader::new();
            reader.push(&stream);
            prop_assert_eq!(drain(&mut reader), messages);
        }
    }
}
