//! The messages of gRPC: five bytes with the length in front of each.

/// Bytes in front of a message: whether it is compressed, and its length.
pub(crate) const PREFIX_BYTES: usize = 5;

/// The prefix of a message of so many bytes.
pub(super) fn prefix(bytes: usize) -> [u8; PREFIX_BYTES] {
    let [a, b, c, d] = (bytes as u32).to_be_bytes();
    [0, a, b, c, d]
}

/// A message with its prefix.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    [&prefix(message.len())[..], message].concat()
}

/// How long the first message of a body is with its prefix; `None`: it is not all there. One that
/// is compressed ends with its prefix: nobody reads it.
pub(crate) fn first_bytes(body: &[u8]) -> Option<usize> {
    let ([flag, length @ ..], behind) = body.split_first_chunk::<PREFIX_BYTES>()?;
    if *flag != 0 {
        return Some(PREFIX_BYTES);
    }
    let length = u32::from_be_bytes(*length) as usize;
    (length <= behind.len()).then_some(PREFIX_BYTES + length)
}

/// Whether a message of a body is compressed.
pub(crate) fn is_compressed(mut body: &[u8]) -> bool {
    while let Some((_, behind)) = split(body) {
        body = behind;
    }
    body.first().is_some_and(|flag| *flag != 0)
}

/// The messages in the body of a request. `None`: one is compressed or cut off.
pub(crate) fn messages(mut body: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let all = body;
    while !body.is_empty() {
        (_, body) = split(body)?;
    }
    let mut rest = all;
    Some(std::iter::from_fn(move || {
        let (message, behind) = split(rest)?;
        rest = behind;
        Some(message)
    }))
}

fn split(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let ([0, length @ ..], behind) = body.split_first_chunk::<PREFIX_BYTES>()? else {
        return None;
    };
    behind.split_at_checked(u32::from_be_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_is_found_when_it_is_all_there() {
        let body = [framed(b"ab"), framed(b"c")].concat();
        for length in 0..7 {
            assert_eq!(first_bytes(&body[..length]), None, "{length}");
        }
        assert_eq!(first_bytes(&body[..7]), Some(7));
        assert_eq!(first_bytes(&body), Some(7));
        assert_eq!(first_bytes(&[1, 0, 0, 0, 9]), Some(5));
        assert_eq!(first_bytes(&[0, 255, 255, 255, 255, 1]), None);
    }

    #[test]
    fn the_messages_of_a_body_are_found() {
        let body = [framed(b"ab"), framed(b""), framed(b"c")].concat();
        let found: Vec<&[u8]> = messages(&body).unwrap().collect();
        assert_eq!(found, [&b"ab"[..], b"", b"c"]);
        assert_eq!(messages(b"").unwrap().count(), 0);
        for wrong in [&body[..body.len() - 1], &body[..3], &[1, 0, 0, 0, 0]] {
            assert!(messages(wrong).is_none(), "{wrong:?}");
        }
    }
}
