//! The chunked transfer coding (RFC 9112, section 7.1), decoded as it arrives.

/// Most bytes of one chunk's size line after the size: extensions that nobody reads.
const MOST_EXTENSION_BYTES: u32 = 4096;
/// Most bytes of all trailer fields.
const MOST_TRAILER_BYTES: u32 = 16 * 1024;
/// Most digits of a chunk's size: what fits 64 bits.
const MOST_DIGITS: u8 = 16;

/// Why bytes are not a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// The size of a chunk is not a hexadecimal number of 1 to 16 digits.
    #[error(
        "chunked body: found byte {0:#04x} in a chunk size, expected 1 to 16 hexadecimal digits"
    )]
    Size(u8),
    /// A line or a chunk does not end where it has to.
    #[error(
        "chunked body: found byte {0:#04x}, expected the line break that ends a chunk or its size"
    )]
    LineBreak(u8),
    /// The chunk extensions or the trailer fields have no end.
    #[error("chunked body: found extensions over 4 KiB or trailers over 16 KiB, expected less")]
    TooLong,
    /// The body is longer than this end accepts.
    #[error("chunked body: found more than {0} bytes, expected at most that")]
    BodyTooLong(u64),
}

/// What became of one piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decoded {
    /// Bytes of the input that belong to this body.
    pub(super) consumed: usize,
    /// Whether the body, trailers included, is complete.
    pub(super) done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { digits: u8 },
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineStart,
    Trailer,
    EndLf,
}

/// Decodes one chunked body.
#[derive(Debug)]
pub(super) struct ChunkDecoder {
    state: State,
    /// The size of the chunk under way, or what is left of it.
    left: u64,
    /// Bytes of the extension, or of all trailers, so far.
    skipped: u32,
    /// Body bytes that were announced so far.
    total: u64,
    most_bytes: u64,
}

impl ChunkDecoder {
    /// A decoder for one body of at most `most_bytes`.
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { state: State::Size { digits: 0 }, left: 0, skipped: 0, total: 0, most_bytes }
    }

    /// Decodes a piece of input; `sink` gets the body's bytes in order. Without `done`, all of it
    /// was consumed.
    pub(super) fn decode(
        &mut self,
        input: &[u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Result<Decoded, ChunkError> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            if self.state == State::Data {
                let rest = &input[at..];
                let taken =
                    usize::try_from(self.left).map_or(rest.len(), |left| left.min(rest.len()));
                sink(&rest[..taken]);
                at += taken;
                self.left -= taken as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                continue;
            }
            at += 1;
            if self.control(byte)? {
                return Ok(Decoded { consumed: at, done: true });
            }
        }
        Ok(Decoded { consumed: at, done: false })
    }

    /// Takes one byte that is not data; true at the end of the body.
    fn control(&mut self, byte: u8) -> Result<bool, ChunkError> {
        self.state = match (self.state, byte) {
            (State::Size { digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                if digits < MOST_DIGITS =>
            {
                let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                self.left = self.left << 4 | digit;
                State::Size { digits: digits + 1 }
            }
            (State::Size { digits: 1.. }, b'\r') => State::SizeLf,
            (State::Size { digits: 1.. }, b';' | b' ' | b'\t') => State::Extension,
            (State::Size { .. }, other) => return Err(ChunkError::Size(other)),
            (State::Extension, b'\r') => State::SizeLf,
            (State::Extension, b'\n') => return Err(ChunkError::LineBreak(byte)),
            (State::Extension, _) => self.skip(MOST_EXTENSION_BYTES, State::Extension)?,
            (State::SizeLf, b'\n') => self.start_chunk()?,
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { digits: 0 },
            (State::LineStart, b'\r') => State::EndLf,
            (State::LineStart, b'\n') => return Err(ChunkError::LineBreak(byte)),
            (State::Trailer, b'\n') => self.skip(MOST_TRAILER_BYTES, State::LineStart)?,
            (State::LineStart | State::Trailer, _) => {
                self.skip(MOST_TRAILER_BYTES, State::Trailer)?
            }
            (State::EndLf, b'\n') => return Ok(true),
            (_, other) => return Err(ChunkError::LineBreak(other)),
        };
        Ok(false)
    }

    fn skip(&mut self, most: u32, next: State) -> Result<State, ChunkError> {
        self.skipped += 1;
        if self.skipped > most { Err(ChunkError::TooLong) } else { Ok(next) }
    }

    fn start_chunk(&mut self) -> Result<State, ChunkError> {
        self.skipped = 0;
        if self.left == 0 {
            return Ok(State::LineStart);
        }
        match self.total.checked_add(self.left) {
            Some(total) if total <= self.most_bytes => self.total = total,
            _ => return Err(ChunkError::BodyTooLong(self.most_bytes)),
        }
        Ok(State::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(input: &[u8], piece: usize) -> Result<(Vec<u8>, Decoded), ChunkError> {
        let mut decoder = ChunkDecoder::new(1000);
        let mut body = Vec::new();
        let mut consumed = 0;
        for part in input.chunks(piece) {
            let decoded = decoder.decode(part, |data| body.extend_from_slice(data))?;
            consumed += decoded.consumed;
            if decoded.done {
                return Ok((body, Decoded { consumed, done: true }));
            }
        }
        Ok((body, Decoded { consumed, done: false }))
    }

    #[test]
    fn bodies_are_decoded_in_any_pieces() {
        let trailers = "5\r\nhello\r\n00;a=\"b c\";d\r\nA: b\r\nC: d\r\n\r\n";
        for (input, body, length) in [
            ("0\r\n\r\nsurplus", "", 5),
            ("5\r\nhello\r\n0\r\n\r\n", "hello", 15),
            ("5\r\nhello\r\nA \r\n0123456789\r\n0\r\n\r\nHTTP/1.1", "hello0123456789", 31),
            (trailers, "hello", trailers.len()),
        ] {
            for piece in 1..=input.len() {
                let (found, decoded) = decode(input.as_bytes(), piece).unwrap();
                assert_eq!(found, body.as_bytes(), "{input:?} by {piece}");
                assert_eq!(
                    decoded,
                    Decoded { consumed: length, done: true },
                    "{input:?} by {piece}"
                );
            }
        }
        assert!(
            !decode(b"5\r\nhello\r\n0\r\n", 99).unwrap().1.done,
            "the trailer's end is missing"
        );
    }

    #[test]
    fn faults_are_named() {
        let extension = format!("1;{}\r\n", "x".repeat(5000));
        let trailer = format!("0\r\n{}", "A: b\r\n".repeat(4000));
        for (input, error) in [
            ("\r\n", ChunkError::Size(b'\r')),
            ("x\r\n", ChunkError::Size(b'x')),
            ("-1\r\n", ChunkError::Size(b'-')),
            ("5\nhello", ChunkError::Size(b'\n')),
            ("00000000000000001\r\n", ChunkError::Size(b'1')),
            ("5\rhello", ChunkError::LineBreak(b'h')),
            ("5;a\nhello", ChunkError::LineBreak(b'\n')),
            ("5\r\nhelloX", ChunkError::LineBreak(b'X')),
            ("0\r\n\n", ChunkError::LineBreak(b'\n')),
            ("0\r\n\rX", ChunkError::LineBreak(b'X')),
            ("3e9\r\n", ChunkError::BodyTooLong(1000)),
            ("1\r\na\r\nffffffffffffffff\r\n", ChunkError::BodyTooLong(1000)),
            (&extension, ChunkError::TooLong),
            (&trailer, ChunkError::TooLong),
        ] {
            for piece in [1, 2, 7, 100_000] {
                assert_eq!(decode(input.as_bytes(), piece), Err(error), "{input:.20?} by {piece}");
            }
        }
    }
}
