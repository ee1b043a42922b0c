//! HPACK (RFC 7541): fields of HTTP/2 in short. It reads any block, and writes those that our own
//! requests and answers need.

mod huffman;

use std::collections::VecDeque;

/// What a table entry counts beyond its name and value, bytes (RFC 7541, 4.1).
const ENTRY_BYTES: usize = 32;
/// The size of the dynamic table that both sides begin with, bytes.
pub(super) const TABLE_BYTES: usize = 4096;

/// The static table (RFC 7541, appendix A), from index 1 on.
#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
    ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
    ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
    ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
    ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
    ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""),
    ("via", ""), ("www-authenticate", ""),
];

/// Why a block of fields cannot be read. Its connection is over: the table is not known any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// It ends in the middle of a field.
    #[error("a block of fields is cut off")]
    CutOff,
    /// A number is larger than any that is used.
    #[error("a number in a block of fields is too large")]
    Number,
    /// There is no such entry in the tables.
    #[error("a field names entry {0} of the tables, which is not there")]
    Index(usize),
    /// A text is not of the Huffman code.
    #[error("a text in a block of fields is not of the code")]
    Code,
    /// The table was to be larger than it may be, or not at the beginning of a block.
    #[error("a change of the table's size that is not allowed")]
    Table,
    /// All fields of a block together are longer than they may be.
    #[error("the fields of a message are longer than {0} bytes")]
    TooLong(usize),
}

/// A name and a value.
type Field = (Box<[u8]>, Box<[u8]>);

/// Reads the blocks of one side of a connection.
#[derive(Debug)]
pub(super) struct HpackDecoder {
    table: VecDeque<Field>,
    /// Its size, as the standard counts it.
    bytes: usize,
    /// How large it may be now, and at most.
    limit: usize,
    most: usize,
    /// All fields of a block together, at most.
    most_fields: usize,
    /// Where names and values are decoded.
    name: Vec<u8>,
    value: Vec<u8>,
}

impl HpackDecoder {
    /// With a table of the usual size. The fields of a block may be so long together, bytes.
    pub(super) fn new(most_fields: usize) -> Self {
        Self {
            table: VecDeque::new(),
            bytes: 0,
            limit: TABLE_BYTES,
            most: TABLE_BYTES,
            most_fields,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes + self.name.capacity() + self.value.capacity()
    }

    /// Gives back what reading takes.
    pub(super) fn rest(&mut self) {
        (self.name, self.value) = (Vec::new(), Vec::new());
    }

    /// Reads a block, and shows each field.
    ///
    /// # Errors
    /// A block that is wrong, or too long.
    pub(super) fn read(
        &mut self,
        block: &[u8],
        mut each: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        let mut block = Block(block);
        let (mut all, mut begun) = (0, false);
        while let Some(first) = block.0.first().copied() {
            let is_size = first >> 5 == 0b001;
            if is_size {
                let size = block.number(5)?;
                if begun || size > self.most {
                    return Err(HpackError::Table);
                }
                self.limit = size;
                self.evict(0);
                continue;
            }
            begun = true;
            if first & 0x80 != 0 {
                let index = block.number(7)?;
                let (name, value) = self.entry(index)?;
                all += name.len() + value.len() + ENTRY_BYTES;
                if all > self.most_fields {
                    return Err(HpackError::TooLong(self.most_fields));
                }
                each(name, value);
                continue;
            }
            let is_kept = first & 0x40 != 0;
            let index = block.number(if is_kept { 6 } else { 4 })?;
            let (mut name, mut value) =
                (std::mem::take(&mut self.name), std::mem::take(&mut self.value));
            name.clear();
            value.clear();
            let left = self.most_fields.saturating_sub(all);
            let read = if index > 0 {
                self.entry(index).map(|(known, _)| name.extend_from_slice(known))
            } else {
                block.text(&mut name, left)
            };
            let read = read.and_then(|()| block.text(&mut value, left));
            if read.is_ok() {
                all += name.len() + value.len() + ENTRY_BYTES;
                if all <= self.most_fields {
                    each(&name, &value);
                    if is_kept {
                        self.keep(&name, &value);
                    }
                }
            }
            (self.name, self.value) = (name, value);
            read?;
            if all > self.most_fields {
                return Err(HpackError::TooLong(self.most_fields));
            }
        }
        Ok(())
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let wrong = HpackError::Index(index);
        let at = index.checked_sub(1).ok_or(wrong)?;
        if let Some((name, value)) = STATIC.get(at) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let (name, value) = self.table.get(at - STATIC.len()).ok_or(wrong)?;
        Ok((name, value))
    }

    fn keep(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + ENTRY_BYTES;
        self.evict(size);
        // One that is larger than the table empties it.
        if size <= self.limit {
            self.bytes += size;
            self.table.push_front((name.into(), value.into()));
        }
    }

    /// Makes room for so many bytes.
    fn evict(&mut self, room: usize) {
        while self.bytes + room > self.limit
            && let Some((name, value)) = self.table.pop_back()
        {
            self.bytes -= name.len() + value.len() + ENTRY_BYTES;
        }
    }
}

/// The rest of a block.
struct Block<'a>(&'a [u8]);

impl<'a> Block<'a> {
    fn byte(&mut self) -> Result<u8, HpackError> {
        let (first, rest) = self.0.split_first().ok_or(HpackError::CutOff)?;
        self.0 = rest;
        Ok(*first)
    }

    /// A number of which the first byte has so many bits.
    fn number(&mut self, bits: u32) -> Result<usize, HpackError> {
        let mask = (1_usize << bits) - 1;
        let mut number = usize::from(self.byte()?) & mask;
        if number < mask {
            return Ok(number);
        }
        // Four more bytes are enough for anything that fits into a frame.
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            number += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(HpackError::Number)
    }

    /// A text, which may be at most so long when it is decoded.
    fn text(&mut self, out: &mut Vec<u8>, most: usize) -> Result<(), HpackError> {
        let is_encoded = self.0.first().ok_or(HpackError::CutOff)? & 0x80 != 0;
        let length = self.number(7)?;
        let (bytes, rest): (&'a [u8], _) =
            self.0.split_at_checked(length).ok_or(HpackError::CutOff)?;
        self.0 = rest;
        if length > most {
            return Err(HpackError::TooLong(most));
        }
        if is_encoded {
            huffman::decode(bytes, out).ok_or(HpackError::Code)
        } else {
            out.extend_from_slice(bytes);
            Ok(())
        }
    }
}

/// Appends a number after a pattern, of which it leaves so many bits.
fn number(pattern: u8, bits: u32, number: usize, out: &mut Vec<u8>) {
    let mask = (1_usize << bits) - 1;
    if number < mask {
        out.push(pattern | number as u8);
        return;
    }
    out.push(pattern | mask as u8);
    let mut rest = number - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a text, encoded where that makes it shorter.
fn text(text: &[u8], out: &mut Vec<u8>) {
    let encoded = huffman::encoded_len(text);
    if encoded < text.len() {
        number(0x80, 7, encoded, out);
        huffman::encode(text, out);
    } else {
        number(0, 7, text.len(), out);
        out.extend_from_slice(text);
    }
}

/// The index of a field in the static table, or of its name alone.
fn known(name: &str, value: &str) -> (Option<usize>, Option<usize>) {
    let at = |fits: &dyn Fn(&(&str, &str)) -> bool| STATIC.iter().position(fits).map(|at| at + 1);
    (at(&|entry| *entry == (name, value)), at(&|entry| entry.0 == name))
}

/// Appends a field that no table keeps.
pub(super) fn write_plain(name: &str, value: &str, out: &mut Vec<u8>) {
    match known(name, value) {
        (Some(index), _) => number(0x80, 7, index, out),
        (None, named) => literal(0, 4, named, (name, value), out),
    }
}

fn literal(
    pattern: u8,
    bits: u32,
    named: Option<usize>,
    (name, value): (&str, &str),
    out: &mut Vec<u8>,
) {
    number(pattern, bits, named.unwrap_or(0), out);
    if named.is_none() {
        text(name.as_bytes(), out);
    }
    text(value.as_bytes(), out);
}

/// Fields that are the same in each message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConstantFields {
    /// The block of the first message; the peer's table keeps what it can.
    pub(super) first: Vec<u8>,
    /// The block of each message after that: one or two bytes a field.
    pub(super) next: Vec<u8>,
}

impl ConstantFields {
    /// The blocks of these fields. `is_kept`: the peer has a table of the usual size, and is to
    /// keep them; otherwise both blocks are the same.
    pub(super) fn new(fields: &[(String, String)], is_kept: bool) -> Self {
        let size = |(name, value): &(String, String)| name.len() + value.len() + ENTRY_BYTES;
        let fits = fields.iter().map(size).sum::<usize>() <= TABLE_BYTES;
        let (mut first, mut next) = (Vec::new(), Vec::new());
        if !is_kept || !fits {
            fields.iter().for_each(|(name, value)| write_plain(name, value, &mut first));
            return Self { next: first.clone(), first };
        }
        let in_table = |(name, value): &&(String, String)| known(name, value).0.is_none();
        let entries = fields.iter().filter(in_table).count();
        let mut kept = 0;
        for (name, value) in fields {
            match known(name, value) {
                (Some(index), _) => {
                    number(0x80, 7, index, &mut first);
                    number(0x80, 7, index, &mut next);
                }
                (None, named) => {
                    literal(0x40, 6, named, (name, value), &mut first);
                    kept += 1;
                    // The last one that was kept comes first in the table.
                    number(0x80, 7, STATIC.len() + 1 + entries - kept, &mut next);
                }
            }
        }
        Self { first, next }
    }
}

#[cfg(test)]
mod tests;
