//! The end of a message and of its connection, as the fields of its head give it.

use super::excerpt;

/// Why the end of a message cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// A `Content-Length` that is not a number of bytes.
    #[error("content-length: found `{0}`, expected a decimal number of bytes")]
    Length(String),
    /// Two lengths that differ.
    #[error("content-length: found {0} and {1}, expected one length")]
    LengthsDiffer(u64, u64),
    /// A length and a chunked body: proxies disagree on which one counts.
    #[error("found content-length and transfer-encoding in one message, expected one of them")]
    LengthAndCoding,
    /// A transfer coding that nobody asked for.
    #[error("transfer-encoding: found `{0}`, expected `chunked`")]
    Coding(String),
}

/// The framing fields of one head, read field by field.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Framing {
    /// The value of `Content-Length`.
    pub(super) length: Option<u64>,
    /// Whether the body is chunked.
    pub(super) chunked: bool,
    /// Whether `Connection` says `close`.
    pub(super) close: bool,
    /// Whether `Connection` says `keep-alive`.
    pub(super) keep_alive: bool,
}

impl Framing {
    /// Takes note of one field; fields of no interest are passed over.
    pub(super) fn read(&mut self, name: &str, value: &[u8]) -> Result<(), FramingError> {
        // The length of the name tells nearly all fields apart before a byte is compared.
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case("content-length") => self.content_length(value)?,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                self.transfer_encoding(value)?;
            }
            _ => return Ok(()),
        }
        if self.chunked && self.length.is_some() {
            Err(FramingError::LengthAndCoding)
        } else {
            Ok(())
        }
    }

    /// Whether the connection ends after the message, by the version's default and the fields.
    pub(super) fn closes(&self, http_1_0: bool) -> bool {
        // HTTP/1.0 does not know chunked: whoever sends both is not to be trusted with the next
        // message (RFC 9112, 6.1).
        self.close || (http_1_0 && (!self.keep_alive || self.chunked))
    }

    fn connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), FramingError> {
        for item in list(value) {
            let length = decimal(item).ok_or_else(|| FramingError::Length(excerpt(value)))?;
            match self.length {
                Some(other) if other != length => {
                    return Err(FramingError::LengthsDiffer(other, length));
                }
                _ => self.length = Some(length),
            }
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), FramingError> {
        if self.chunked || !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
            return Err(FramingError::Coding(excerpt(value)));
        }
        self.chunked = true;
        Ok(())
    }
}

/// The members of a comma-separated value.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|b| *b == b',').map(<[u8]>::trim_ascii)
}

/// Digits only: neither sign nor blank, no overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|d| *d <= 9)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> Result<Framing, FramingError> {
        let mut framing = Framing::default();
        fields.iter().try_for_each(|(name, value)| framing.read(name, value.as_bytes()))?;
        Ok(framing)
    }

    #[test]
    fn lengths() {
        for (value, length) in
            [("0", 0), ("42", 42), ("7, 7", 7), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(read(&[("CONTENT-length", value)]).unwrap().length, Some(length));
        }
        for bad in ["", "x", "+1", "-1", "1 2", "0x10", "1,", "18446744073709551616", "1.0"] {
            assert!(
                matches!(read(&[("Content-Length", bad)]), Err(FramingError::Length(_))),
                "{bad}"
            );
        }
        assert_eq!(
            read(&[("Content-Length", "1"), ("Content-Length", "1")]).unwrap().length,
            Some(1)
        );
        for bad in
            [&[("Content-Length", "1"), ("Content-Length", "2")][..], &[("Content-Length", "1, 2")]]
        {
            assert_eq!(read(bad).unwrap_err(), FramingError::LengthsDiffer(1, 2));
        }
    }

    #[test]
    fn codings() {
        assert!(read(&[("Transfer-Encoding", " Chunked ")]).unwrap().chunked);
        for bad in ["gzip", "gzip, chunked", "chunked, chunked", "", "chunked;q=1", "\u{b}chunked"]
        {
            assert!(
                matches!(read(&[("Transfer-Encoding", bad)]), Err(FramingError::Coding(_))),
                "{bad}"
            );
        }
        let both = [("Transfer-Encoding", "chunked"), ("Content-Length", "1")];
        assert_eq!(read(&both).unwrap_err(), FramingError::LengthAndCoding);
        assert_eq!(read(&[both[1], both[0]]).unwrap_err(), FramingError::LengthAndCoding);
        assert!(read(&[both[0], both[0]]).is_err());
    }

    #[test]
    fn persistence() {
        for (value, http_1_0, closes) in [
            ("", false, false),
            ("", true, true),
            ("close", false, true),
            ("Keep-Alive", true, false),
            ("upgrade, CLOSE", false, true),
            ("keep-alive, close", true, true),
            ("closed", false, false),
        ] {
            assert_eq!(
                read(&[("Connection", value)]).unwrap().closes(http_1_0),
                closes,
                "{value} {http_1_0}"
            );
        }
    }
}
