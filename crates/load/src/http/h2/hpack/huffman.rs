//! The Huffman code of HPACK (RFC 7541, appendix B).
//!
//! The code is canonical: codes of one length follow each other in the order of their symbols, and
//! shorter ones come before longer ones. So the lengths tell all of it.

/// Bits of each byte's code.
#[rustfmt::skip]
const BITS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

/// The longest code, bits.
const MOST_BITS: usize = 30;
/// Codes up to this length are found at once.
const QUICK_BITS: u32 = 8;

/// The code, ready to be used.
struct Code {
    /// Each byte's code.
    codes: [u32; 256],
    /// The first code of each length, and how many there are.
    first: [u32; MOST_BITS + 1],
    count: [u16; MOST_BITS + 1],
    /// Where the bytes with codes of each length begin in `sorted`.
    offset: [u16; MOST_BITS + 1],
    /// The bytes in the order of their codes.
    sorted: [u8; 256],
    /// By the next eight bits: the byte, and the length of its code; 0: it is longer.
    quick: [(u8, u8); 1 << QUICK_BITS],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut out = Code {
        codes: [0; 256],
        first: [0; MOST_BITS + 1],
        count: [0; MOST_BITS + 1],
        offset: [0; MOST_BITS + 1],
        sorted: [0; 256],
        quick: [(0, 0); 1 << QUICK_BITS],
    };
    let (mut next, mut place, mut bits) = (0_u32, 0_u16, 1);
    while bits <= MOST_BITS {
        next <<= 1;
        (out.first[bits], out.offset[bits]) = (next, place);
        let mut byte = 0;
        while byte < 256 {
            if BITS[byte] as usize == bits {
                out.codes[byte] = next;
                out.sorted[place as usize] = byte as u8;
                if bits as u32 <= QUICK_BITS {
                    let free = QUICK_BITS - bits as u32;
                    let (from, to) = (next << free, (next + 1) << free);
                    let mut at = from;
                    while at < to {
                        out.quick[at as usize] = (byte as u8, bits as u8);
                        at += 1;
                    }
                }
                next += 1;
                place += 1;
                out.count[bits] += 1;
            }
            byte += 1;
        }
        bits += 1;
    }
    out
}

/// Bytes that a text takes when it is encoded.
pub(super) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(BITS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

/// Appends a text, encoded.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut kept, mut bits) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(BITS[usize::from(*byte)]);
        kept = kept << length | u64::from(CODE.codes[usize::from(*byte)]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            out.push((kept >> bits) as u8);
        }
    }
    if bits > 0 {
        // The rest is the beginning of the code for the end, which is all ones.
        out.push((kept << (8 - bits)) as u8 | 0xff >> bits);
    }
}

/// Appends the text that was encoded. `None`: it is not of this code, or its padding is wrong.
pub(super) fn decode(encoded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // The bits that are not read yet stand at the top of `kept`.
    let (mut kept, mut bits) = (0_u64, 0_u32);
    let mut encoded = encoded.iter();
    loop {
        while bits <= 56
            && let Some(byte) = encoded.next()
        {
            kept |= u64::from(*byte) << (56 - bits);
            bits += 8;
        }
        if bits == 0 {
            return Some(());
        }
        let (byte, length) = match CODE.quick[(kept >> (64 - QUICK_BITS)) as usize] {
            (byte, length) if length > 0 && u32::from(length) <= bits => (byte, u32::from(length)),
            _ => match long(kept, bits) {
                Some(found) => found,
                // What is left is shorter than any code that it may begin: padding of ones.
                None => return (bits < 8 && kept >> (64 - bits) == (1 << bits) - 1).then_some(()),
            },
        };
        out.push(byte);
        kept <<= length;
        bits -= length;
    }
}

/// The byte at the top of `kept`, of which so many bits are there, and the length of its code.
fn long(kept: u64, there: u32) -> Option<(u8, u32)> {
    let last = (there as usize).min(MOST_BITS);
    (1..=last).find_map(|bits| {
        let code = (kept >> (64 - bits)) as u32;
        let number = code.checked_sub(CODE.first[bits])?;
        if number >= u32::from(CODE.count[bits]) {
            return None;
        }
        Some((CODE.sorted[CODE.offset[bits] as usize + number as usize], bits as u32))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(text, &mut out);
        out
    }

    fn decoded(encoded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(encoded, &mut out).map(|()| out)
    }

    /// Of RFC 7541, appendix C.
    #[test]
    fn examples_of_the_standard() {
        for (text, hex) in [
            ("www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
            ("no-cache", "a8eb10649cbf"),
            ("custom-key", "25a849e95ba97d7f"),
            ("custom-value", "25a849e95bb8e8b4bf"),
            ("302", "6402"),
            ("private", "aec3771a4b"),
            ("Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"),
            ("https://www.example.com", "9d29ad171863c78f0b97c8e9ae82ae43d3"),
            ("gzip", "9bd9ab"),
        ] {
            let bytes: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            assert_eq!(encoded(text.as_bytes()), bytes, "{text}");
            assert_eq!(decoded(&bytes).as_deref(), Some(text.as_bytes()), "{text}");
            assert_eq!(encoded_len(text.as_bytes()), bytes.len(), "{text}");
        }
    }

    #[test]
    fn padding_must_be_ones_and_short() {
        // `0` is 00000.
        assert_eq!(decoded(&[0b0000_0111]), Some(b"0".to_vec()));
        assert_eq!(decoded(&[0b0000_0110]), None, "zeros");
        assert_eq!(decoded(&[0b0000_0111, 0xff]), None, "a whole byte of padding");
        assert_eq!(decoded(&[0xff; 4]), None, "the end itself");
        assert_eq!(decoded(&[]), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_read(text in proptest::collection::vec(any::<u8>(), 0..80)) {
            let bytes = encoded(&text);
            prop_assert_eq!(bytes.len(), encoded_len(&text));
            prop_assert_eq!(decoded(&bytes), Some(text));
        }

        /// There is one encoding of a text only.
        #[test]
        fn what_is_read_was_encoded_like_that(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            if let Some(text) = decoded(&bytes) {
                prop_assert_eq!(encoded(&text), bytes);
            }
        }
    }
}
