//! Lines of `records.jsonl`, one at a time.

use std::io::{self, BufRead, Read as _};

/// Bytes that a line may have: no record comes near.
pub(super) const MOST_LINE: usize = 64 << 20;

/// One line with its place.
#[derive(Debug)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Offset of its first byte.
    pub(super) start: u64,
    /// Its bytes, the line feed included where there is one.
    pub(super) bytes: Vec<u8>,
    /// Whether nothing follows it.
    pub(super) last: bool,
}

impl Line {
    /// Whether its line feed was written: the last thing that is written of a record.
    pub(super) fn is_whole(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }
}

/// Reads lines; one that was never finished is a line too. One of more than [`MOST_LINE`] bytes is
/// an error of kind [`io::ErrorKind::InvalidData`].
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, number: 0, offset: 0 }
    }

    fn take(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        if self.source.by_ref().take(MOST_LINE as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.len() > MOST_LINE {
            let why = format!("line {} is longer than 64 MiB, expected a record", self.number);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let start = self.offset;
        self.offset += bytes.len() as u64;
        let last = self.source.fill_buf()?.is_empty();
        Ok(Some(Line { number: self.number, start, bytes, last }))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn a_line_without_end_is_given_up() {
        let of = |bytes: usize| {
            let source = io::Cursor::new(b"one\n").chain(io::repeat(b'x').take(bytes as u64));
            Lines::new(BufReader::with_capacity(1 << 16, source))
                .map(|line| line.map(|line| line.bytes.len()))
        };
        let whole: Vec<_> = of(MOST_LINE).map(Result::unwrap).collect();
        assert_eq!(whole, [4, MOST_LINE]);
        let error = of(MOST_LINE + 1).nth(1).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "line 2 is longer than 64 MiB, expected a record");
    }
}
