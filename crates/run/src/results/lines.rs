//! Lines of `records.jsonl`, one at a time.

use std::io::{self, BufRead};

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

/// Reads lines; one that was never finished is a line too.
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
        if self.source.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
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
