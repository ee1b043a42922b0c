//! HdrHistogram V2 as text, and what is checked before such a text is believed.
//!
//! The text is base64. Records have the compressed form where it is shorter, which other readers of
//! HdrHistogram take, too: cookie (u32), length (u32), and the plain form in zlib's format. Agents
//! send the plain form.
//!
//! The plain form is big-endian: cookie (u32), length of the counts in bytes (u32), normalising
//! offset (u32, 0), significant digits (u32), lowest value (u64), highest value (u64), conversion
//! ratio (f64, 1.0), then the counts in ascending order of value. Each number is zig-zag encoded in
//! 1 to 9 bytes of 7 bits (the ninth has 8). Here n ≥ 0 is a count, n < 0 stands for -n counts of
//! zero.
//!
//! The header sizes the reader's memory, a run length can be any number, and a few compressed bytes
//! can stand for many. So a text is inflated to no more than one histogram, and walked once against
//! our own range, before any of its counts is taken.

use std::borrow::Cow;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer, V2Serializer};

/// The counts; the range is the same everywhere, so any two can be merged.
pub(super) type Counts = hdrhistogram::Histogram<u64>;

/// The largest value that is kept: 1 hour, ns.
pub(super) const HIGHEST_NS: u64 = 3_600 * hopbench_model::SECOND;
const LOWEST_NS: u64 = 1;
const DIGITS: u8 = 3;

/// Values that have a count of their own.
const SINGLE: u64 = 2048;
/// Counts while values double, above these.
const SLOTS_A_DOUBLING: u64 = 1024;
/// Counts in the array.
const SLOTS: u64 = SINGLE + 31 * SLOTS_A_DOUBLING;
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const HEADER_BYTES: usize = 40;
const MAX_BYTES: usize = HEADER_BYTES + 9 * SLOTS as usize;
/// Longest text that a histogram of ours can have, characters: zlib adds less than a hundredth to
/// what it cannot compress.
const MAX_TEXT: usize = (MAX_BYTES + MAX_BYTES / 100).div_ceil(3) * 4;
/// At a thousand million samples a second it takes three days to get there. Far enough from the
/// end of u64 that sums over thousands of such histograms do not overflow.
const MAX_SAMPLES: u64 = 1 << 48;

/// Why a text is not a histogram of this range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HistogramError {
    /// Longer than any histogram of this range.
    #[error("histogram text has {characters} characters, expected at most {MAX_TEXT}")]
    TooLong {
        /// Length of the text, bytes.
        characters: usize,
    },
    /// Not standard base64 with padding.
    #[error("histogram text is not base64: {0}")]
    Base64(base64::DecodeError),
    /// Too short for a header, or with another cookie.
    #[error("histogram is not in the HdrHistogram V2 format")]
    NotV2,
    /// What is compressed in it cannot be inflated to a histogram of this range.
    #[error("histogram cannot be inflated: {0}")]
    Compressed(String),
    /// Of another range or precision.
    #[error(
        "histogram has {digits} digits from {lowest} to {highest}, expected {DIGITS} digits from \
         {LOWEST_NS} to {HIGHEST_NS}"
    )]
    Range {
        /// Significant decimal digits.
        digits: u32,
        /// Lowest discernible value.
        lowest: u64,
        /// Highest trackable value.
        highest: u64,
    },
    /// Shifted or scaled, which the format allows and this reader does not.
    #[error("histogram is shifted or scaled")]
    Scaled,
    /// The counts are cut off, or something follows them.
    #[error("histogram holds {found} bytes of counts, its header says {expected}")]
    Length {
        /// Bytes that the header announces.
        expected: u32,
        /// Bytes that follow the header.
        found: usize,
    },
    /// The counts make no sense.
    #[error("histogram counts are malformed: {0}")]
    Counts(&'static str),
}

/// An empty histogram of the one range there is.
pub(super) fn empty() -> Counts {
    Counts::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
        .expect("1 ns to 1 hour in 3 digits is a valid range")
}

/// Writes a histogram as text.
pub(super) fn encode(counts: &Counts) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(counts, &mut bytes)
        .expect("a vector takes all bytes, and no count comes near 2^63");
    STANDARD.encode(bytes)
}

/// Writes a histogram as text, in the shorter of both forms.
pub(super) fn shorter(counts: &Counts) -> String {
    let (plain, compressed) = (encode(counts), compressed(counts));
    if compressed.len() < plain.len() { compressed } else { plain }
}

/// Writes a histogram as text, compressed.
fn compressed(counts: &Counts) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(counts, &mut bytes)
        .expect("a vector takes all bytes, and no count comes near 2^63");
    STANDARD.encode(bytes)
}

/// The smallest and the largest value that samples of a text stand for, ns.
pub(super) type Ends = (u64, u64);

/// Adds what a text counts, which may come from anywhere; `None`: it has no samples. What is
/// refused adds nothing.
///
/// The library's own reader makes a whole histogram for each text. Most texts have some hundred
/// counts, and such a histogram has 33 792.
pub(super) fn add(counts: &mut Counts, text: &str) -> Result<Option<Ends>, HistogramError> {
    if text.len() > MAX_TEXT {
        return Err(HistogramError::TooLong { characters: text.len() });
    }
    let bytes = STANDARD.decode(text).map_err(HistogramError::Base64)?;
    let plain = inflated(&bytes)?;
    let numbers = check_header(&plain)?;
    check_counts(numbers)?;
    let mut ends: Option<Ends> = None;
    for (slot, samples) in in_use(numbers) {
        let (low, high) = limits(slot);
        let refused = |_| HistogramError::Counts("the library refuses them");
        counts.record_n(low, samples).map_err(refused)?;
        ends = Some((ends.map_or(low, |(first, _)| first), high));
    }
    // The last slot ends above the range.
    Ok(ends.map(|(low, high)| (low.min(HIGHEST_NS), high.min(HIGHEST_NS))))
}

/// The slots that have samples, ascending, and how many.
fn in_use(mut bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let (number, rest) = next_number(bytes)?;
            bytes = rest;
            let slot = next;
            if number > 0 {
                next += 1;
                return Some((slot, number.unsigned_abs()));
            }
            next += number.unsigned_abs().max(1);
        }
    })
}

/// The smallest and the largest value of a slot, ns.
fn limits(slot: u64) -> Ends {
    if slot < SINGLE {
        return (slot, slot);
    }
    let doubling = (slot - SINGLE) / SLOTS_A_DOUBLING + 1;
    let low = (SLOTS_A_DOUBLING + slot % SLOTS_A_DOUBLING) << doubling;
    (low, low + (1 << doubling) - 1)
}

/// The plain form of either form, of at most [`MAX_BYTES`].
fn inflated(bytes: &[u8]) -> Result<Cow<'_, [u8]>, HistogramError> {
    let Some((header, packed)) = bytes
        .split_first_chunk::<8>()
        .filter(|(h, _)| h.starts_with(&COMPRESSED_COOKIE.to_be_bytes()))
    else {
        return Ok(Cow::Borrowed(bytes));
    };
    let expected = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    if expected as usize != packed.len() {
        return Err(HistogramError::Length { expected, found: packed.len() });
    }
    let wrong = |why: &str| HistogramError::Compressed(why.to_owned());
    let mut plain = Vec::new();
    let mut source = ZlibDecoder::new(packed);
    let read = source.by_ref().take(MAX_BYTES as u64 + 1).read_to_end(&mut plain);
    read.map_err(|error| wrong(&error.to_string()))?;
    if plain.len() > MAX_BYTES {
        return Err(wrong(&format!("it has more than {MAX_BYTES} bytes")));
    }
    if source.total_in() != packed.len() as u64 {
        return Err(wrong("something follows it"));
    }
    Ok(Cow::Owned(plain))
}

/// Checks that the header says what ours say; returns what follows it.
fn check_header(bytes: &[u8]) -> Result<&[u8], HistogramError> {
    let (header, counts) =
        bytes.split_first_chunk::<HEADER_BYTES>().ok_or(HistogramError::NotV2)?;
    let (words, _) = header.as_chunks::<4>();
    let word = |at: usize| u32::from_be_bytes(words[at]);
    let double = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 1));

    if word(0) != COOKIE {
        return Err(HistogramError::NotV2);
    }
    let (digits, lowest, highest) = (word(3), double(4), double(6));
    if (digits, lowest, highest) != (DIGITS.into(), LOWEST_NS, HIGHEST_NS) {
        return Err(HistogramError::Range { digits, lowest, highest });
    }
    if word(2) != 0 || double(8) != 1f64.to_bits() {
        return Err(HistogramError::Scaled);
    }
    if word(1) as usize != counts.len() {
        return Err(HistogramError::Length { expected: word(1), found: counts.len() });
    }
    Ok(counts)
}

/// Checks that the counts fit the array and that their sum is a plausible number of samples.
fn check_counts(mut bytes: &[u8]) -> Result<(), HistogramError> {
    let mut slot = 0u64;
    let mut samples = 0u64;
    while !bytes.is_empty() {
        let (number, rest) =
            next_number(bytes).ok_or(HistogramError::Counts("the last number is cut off"))?;
        bytes = rest;
        let slots = if number < 0 { number.unsigned_abs() } else { 1 };
        slot = slot.saturating_add(slots);
        if slot > SLOTS {
            return Err(HistogramError::Counts("they go beyond 1 hour"));
        }
        samples = samples.saturating_add(number.max(0).unsigned_abs());
        if samples > MAX_SAMPLES {
            return Err(HistogramError::Counts("their sum is beyond 2^48"));
        }
    }
    Ok(())
}

/// Takes one number off the front; `None` when it is cut off.
fn next_number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut raw = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        let last = at == 8;
        let bits = if last { *byte } else { byte & 0x7f };
        raw |= u64::from(bits) << (7 * at);
        if last || byte & 0x80 == 0 {
            let number = (raw >> 1).cast_signed() ^ -(raw & 1).cast_signed();
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests;
