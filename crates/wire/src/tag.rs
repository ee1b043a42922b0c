//! Authentication tags of 16 bytes.

use std::hint::black_box;

/// Bytes of a tag.
pub(crate) const TAG_BYTES: usize = 16;

/// The first 16 bytes of HMAC-SHA256 over the parts, one after the other.
pub(crate) fn tag(key: &ring::hmac::Key, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
    let mut context = ring::hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    let mut out = [0; TAG_BYTES];
    out.copy_from_slice(&context.sign().as_ref()[..TAG_BYTES]);
    out
}

/// Whether two tags are equal, in a time that does not depend on where they differ.
///
/// Both are compared as one integer: there is no byte-wise loop that could stop early.
pub(crate) fn same(a: &[u8; TAG_BYTES], b: &[u8; TAG_BYTES]) -> bool {
    black_box(u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_truncated_hmac_sha256() {
        // RFC 4231, test case 2.
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"Jefe");
        let expected = [
            0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95,
            0x75, 0xc7,
        ];
        assert_eq!(tag(&key, &[b"what do ya want for nothing?"]), expected);
        assert_eq!(tag(&key, &[b"what do ya ", b"want for nothing?"]), expected);
    }

    #[test]
    fn every_bit_counts() {
        let a = [0x5a; TAG_BYTES];
        assert!(same(&a, &a.clone()));
        for bit in 0..TAG_BYTES * 8 {
            let mut b = a;
            b[bit / 8] ^= 1 << (bit % 8);
            assert!(!same(&a, &b), "bit {bit}");
        }
    }
}
