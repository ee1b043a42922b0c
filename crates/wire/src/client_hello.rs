//! The first message of a TLS handshake, as far as it says whom it is for.
//!
//! A conductor names nobody. A client of an HTTP target offers protocols (ALPN) or names a server
//! (SNI), as RFC 7301 and RFC 6066 say it.

/// Type of a record with a message of a handshake.
const HANDSHAKE: u8 = 22;
/// Type of the message.
const CLIENT_HELLO: u8 = 1;
/// Bytes of version and random number.
const FIXED_BYTES: usize = 34;
const SERVER_NAME: u16 = 0;
const PROTOCOLS: u16 = 16;

/// What a client says first over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientHello<'a> {
    names_server: bool,
    protocols: &'a [u8],
}

impl<'a> ClientHello<'a> {
    /// Reads the first record of a connection; `None`: it is not one, or not all of the message.
    pub fn read(record: &'a [u8]) -> Option<Self> {
        let mut record = Cursor(record);
        let kind = record.byte()?;
        record.take(2)?;
        let mut record = Cursor(record.sized(2)?);
        if kind != HANDSHAKE || record.byte()? != CLIENT_HELLO {
            return None;
        }
        let mut hello = Cursor(record.sized(3)?);
        hello.take(FIXED_BYTES)?;
        // The session, the cipher suites, the compression.
        hello.sized(1)?;
        hello.sized(2)?;
        hello.sized(1)?;
        let mut found = Self { names_server: false, protocols: &[] };
        if hello.0.is_empty() {
            return Some(found);
        }
        let mut extensions = Cursor(hello.sized(2)?);
        while !extensions.0.is_empty() {
            let kind = extensions.number(2)?;
            let content = extensions.sized(2)?;
            match u16::try_from(kind) {
                Ok(SERVER_NAME) => found.names_server = true,
                Ok(PROTOCOLS) => found.protocols = Cursor(content).sized(2)?,
                _ => {}
            }
        }
        Some(found)
    }

    /// Whether it says whom it is for.
    pub fn names_somebody(&self) -> bool {
        self.names_server || !self.protocols.is_empty()
    }

    /// The protocols that it offers, up to one that is cut off.
    pub fn protocols(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = Cursor(self.protocols);
        std::iter::from_fn(move || rest.sized(1))
    }
}

/// The rest of a text.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// A number of so many bytes, the highest first.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// What stands behind its own length, which has so many bytes.
    fn sized(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sized(bytes: usize, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_be_bytes();
        [&length[4 - bytes..], content].concat()
    }

    fn record(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let extensions: Vec<u8> = extensions
            .iter()
            .flat_map(|(kind, content)| [&kind.to_be_bytes()[..], &sized(2, content)].concat())
            .collect();
        let hello = [
            vec![3; FIXED_BYTES],
            sized(1, &[7; 32]),
            sized(2, &[0x13, 1]),
            sized(1, &[0]),
            sized(2, &extensions),
        ];
        let message = [vec![CLIENT_HELLO], sized(3, &hello.concat())].concat();
        [vec![HANDSHAKE, 3, 1], sized(2, &message)].concat()
    }

    #[test]
    fn whom_it_is_for_is_read() {
        let name = (SERVER_NAME, sized(2, &[&[0][..], &sized(2, b"host.test")].concat()));
        let protocols = (PROTOCOLS, sized(2, &[sized(1, b"h2"), sized(1, b"http/1.1")].concat()));
        let other = (43, vec![2, 3, 4]);
        let read = |extensions: &[(u16, Vec<u8>)]| {
            let record = record(extensions);
            let hello = ClientHello::read(&record).expect("a hello");
            let all: Vec<Vec<u8>> = hello.protocols().map(<[u8]>::to_vec).collect();
            (hello.names_somebody(), all)
        };
        assert_eq!(read(std::slice::from_ref(&other)), (false, vec![]));
        assert_eq!(read(&[name, other.clone()]), (true, vec![]));
        assert_eq!(read(&[other, protocols]), (true, vec![b"h2".to_vec(), b"http/1.1".to_vec()]));
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_nothing() {
        let whole = record(&[(PROTOCOLS, sized(2, &sized(1, b"h2")))]);
        for end in 0..whole.len() {
            assert_eq!(ClientHello::read(&whole[..end]), None, "{end} bytes");
        }
        let mut other = whole.clone();
        other[0] = 23;
        assert_eq!(ClientHello::read(&other), None);
        other.clone_from(&whole);
        other[5] = 2;
        assert_eq!(ClientHello::read(&other), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(hello) = ClientHello::read(&bytes) {
                hello.protocols().for_each(drop);
            }
        }

        #[test]
        fn a_changed_byte_does_not_make_it_panic(at in 0_usize..120, byte in any::<u8>()) {
            let mut bytes = record(&[(PROTOCOLS, sized(2, &sized(1, b"h2")))]);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Some(hello) = ClientHello::read(&bytes) {
                hello.protocols().for_each(drop);
            }
        }
    }
}
