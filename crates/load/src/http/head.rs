//! The collector of a message's head from pieces of input.

/// Heads up to this length are remembered.
const MOST_REMEMBERED_BYTES: usize = 1024;
/// A carry buffer that grew beyond this is given back once its head is done.
const MOST_KEPT_BYTES: usize = 8 * 1024;

/// Most fields in a head.
pub(super) const MOST_FIELDS: usize = 128;

/// Why no head can be made of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadFault {
    /// No end within the limit, which is in bytes.
    TooLong(usize),
    /// There is an empty line, but not where the head ends.
    Malformed,
}

/// Finds heads and remembers the last one.
///
/// A head that lies in one piece of input is parsed where it is. Only when it is split are its
/// bytes copied together. A head can repeat the last one byte for byte: a target's answers within
/// one second do, as do a load generator's requests. It is recognised by comparison, which costs
/// far less than parsing it.
#[derive(Debug)]
pub(super) struct HeadBuffer<T> {
    carry: Vec<u8>,
    /// Up to here `carry` holds no empty line.
    scanned: usize,
    last: Vec<u8>,
    /// What the head in `last` means; `None` when nothing is remembered.
    meaning: Option<T>,
    most_bytes: usize,
}

impl<T: Copy> HeadBuffer<T> {
    /// For heads of at most `most_bytes`.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { carry: Vec::new(), scanned: 0, last: Vec::new(), meaning: None, most_bytes }
    }

    /// Whether no byte of a head has been taken yet.
    pub(super) fn is_empty(&self) -> bool {
        self.carry.is_empty()
    }

    /// Drops a head under way.
    pub(super) fn clear(&mut self) {
        self.carry.clear();
        if self.carry.capacity() > MOST_KEPT_BYTES {
            self.carry = Vec::new();
        }
    }

    /// Takes a head from `input`, which continues what earlier calls got: its meaning and how many
    /// bytes of `input` it took. `None`: all of `input` was taken and the head goes on.
    ///
    /// `parse` gets bytes from the head's first on and gives the meaning and the length of the
    /// head, or `None` when it is not complete. It is not called for a head that repeats the last
    /// one. The first byte of a head must not be a line break.
    #[inline]
    pub(super) fn take<E: From<HeadFault>>(
        &mut self,
        input: &[u8],
        parse: impl FnOnce(&[u8]) -> Result<Option<(T, usize)>, E>,
    ) -> Result<Option<(T, usize)>, E> {
        if self.carry.is_empty() {
            if let Some(meaning) = self.meaning
                && input.starts_with(&self.last)
            {
                return Ok(Some((meaning, self.last.len())));
            }
            self.take_whole(input, parse)
        } else {
            self.take_split(input, parse)
        }
    }

    fn take_whole<E: From<HeadFault>>(
        &mut self,
        input: &[u8],
        parse: impl FnOnce(&[u8]) -> Result<Option<(T, usize)>, E>,
    ) -> Result<Option<(T, usize)>, E> {
        self.meaning = None;
        let window = &input[..input.len().min(self.most_bytes)];
        if let Some((meaning, length)) = parse(window)? {
            self.remember(&window[..length], meaning);
            return Ok(Some((meaning, length)));
        }
        if window.len() == self.most_bytes {
            return Err(HeadFault::TooLong(self.most_bytes).into());
        }
        self.carry.extend_from_slice(input);
        self.scanned = 0;
        Ok(None)
    }

    fn take_split<E: From<HeadFault>>(
        &mut self,
        input: &[u8],
        parse: impl FnOnce(&[u8]) -> Result<Option<(T, usize)>, E>,
    ) -> Result<Option<(T, usize)>, E> {
        self.meaning = None;
        let before = self.carry.len();
        let room = self.most_bytes - before;
        self.carry.extend_from_slice(&input[..input.len().min(room)]);
        // The parser would start over with every piece; looking for the end first keeps the work
        // linear.
        let Some(end) = end_of_head(&self.carry, self.scanned) else {
            if self.carry.len() == self.most_bytes {
                return Err(HeadFault::TooLong(self.most_bytes).into());
            }
            self.scanned = self.carry.len().saturating_sub(2);
            return Ok(None);
        };
        let parsed = parse(&self.carry[..end])?;
        let (Some((meaning, length)), Some(taken)) = (parsed, end.checked_sub(before)) else {
            return Err(HeadFault::Malformed.into());
        };
        if length != end {
            return Err(HeadFault::Malformed.into());
        }
        let carry = std::mem::take(&mut self.carry);
        self.remember(&carry[..end], meaning);
        self.carry = carry;
        self.clear();
        Ok(Some((meaning, taken)))
    }

    fn remember(&mut self, head: &[u8], meaning: T) {
        if head.len() <= MOST_REMEMBERED_BYTES {
            self.last.clear();
            self.last.extend_from_slice(head);
            self.meaning = Some(meaning);
        }
    }

    /// Bytes of memory held.
    pub(super) fn held_bytes(&self) -> usize {
        self.carry.capacity() + self.last.capacity()
    }
}

/// Where the first empty line at or after `from` ends. Lines may end with LF alone, as the parser
/// has it.
pub(super) fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(step) = bytes[at..].iter().position(|b| *b == b'\n') {
        at += step + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meaning of a head here is its first byte.
    fn parse(bytes: &[u8]) -> Result<Option<(u8, usize)>, HeadFault> {
        Ok(end_of_head(bytes, 0).map(|end| (bytes[0], end)))
    }

    #[test]
    fn the_end_is_the_first_empty_line() {
        for (text, end) in [
            ("a\r\n\r\nb", Some(5)),
            ("a\n\nb\n\n", Some(3)),
            ("a\r\n\r", None),
            ("a\n\r\n", Some(4)),
        ] {
            assert_eq!(end_of_head(text.as_bytes(), 0), end, "{text:?}");
        }
    }

    #[test]
    fn a_split_head_is_put_together() {
        let text = b"abc\r\ndef\r\n\r\nrest";
        for piece in 1..=text.len() {
            let mut heads = HeadBuffer::new(64);
            let mut at = 0;
            let meaning = loop {
                let part = &text[at..text.len().min(at + piece)];
                assert!(!part.is_empty(), "no head was found by {piece}");
                match heads.take(part, parse).unwrap() {
                    Some((meaning, taken)) => {
                        at += taken;
                        break meaning;
                    }
                    None => at += part.len(),
                }
            };
            assert_eq!((meaning, at), (b'a', 12), "by {piece}");
            assert!(heads.is_empty());
        }
    }

    #[test]
    fn only_an_exact_repetition_is_recognised() {
        let mut heads = HeadBuffer::new(4096);
        assert_eq!(heads.take(b"abc\n\nrest", parse).unwrap(), Some((b'a', 5)));
        let unused =
            |_: &[u8]| -> Result<Option<(u8, usize)>, HeadFault> { panic!("parsed a known head") };
        assert_eq!(heads.take(b"abc\n\n", unused).unwrap(), Some((b'a', 5)));
        assert_eq!(heads.take(b"bbc\n\n", parse).unwrap(), Some((b'b', 5)));
        // A head that is too long to be remembered must not leave the one before it in place.
        let long = format!("c{}\n\n", "x".repeat(2000));
        assert_eq!(heads.take(long.as_bytes(), parse).unwrap(), Some((b'c', 2003)));
        let mut parsed = false;
        let seen = heads.take(b"bbc\n\n", |bytes| {
            parsed = true;
            parse(bytes)
        });
        assert_eq!((seen.unwrap(), parsed), (Some((b'b', 5)), true));
    }

    #[test]
    fn length_is_limited_in_one_piece_and_in_many() {
        for piece in [1, 7, 100, 5000] {
            for (length, fits) in [(100, true), (101, false)] {
                let mut heads = HeadBuffer::new(100);
                let text = format!("{}\n\n{}", "x".repeat(length - 2), "y".repeat(500));
                let found = text
                    .as_bytes()
                    .chunks(piece)
                    .find_map(|part| heads.take(part, parse).transpose());
                assert_eq!(found.expect("an end").is_ok(), fits, "{length} by {piece}");
                assert!(heads.held_bytes() < 1024);
            }
        }
    }
}
