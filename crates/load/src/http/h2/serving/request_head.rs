//! The head of a request, or its trailers, field by field: what is needed of it, and whether it is
//! malformed (RFC 9113, 8.1.1 to 8.3.1).
//!
//! The values of fields that nobody uses are not looked at.

use crate::http::Request;
use crate::http::credential::{CREDENTIAL_FIELD, Credential};
use crate::http::framing::Framing;

/// The longest type of a body that is echoed, bytes.
const MOST_TYPE_BYTES: usize = 256;

/// The fields that come once, ahead of all others.
const METHOD: u8 = 1;
const PATH: u8 = 2;
const SCHEME: u8 = 4;
const AUTHORITY: u8 = 8;
/// What every request has to have.
const NEEDED: u8 = METHOD | PATH | SCHEME;

/// What was read so far.
pub(super) struct RequestHead {
    pub(super) request: Request,
    /// Whether it shows what it has to.
    pub(super) is_shown: bool,
    framing: Framing,
    /// Those of the first fields that came.
    parts: u8,
    /// Whether another one came.
    has_fields: bool,
    is_wrong: bool,
}

impl RequestHead {
    /// Nothing yet of a head, whose request goes into this buffer.
    pub(super) fn new(request: Request) -> Self {
        let framing = Framing::default();
        Self { request, is_shown: false, framing, parts: 0, has_fields: false, is_wrong: false }
    }

    /// Nothing yet of trailers, in which the first fields of a head have no place.
    pub(super) fn of_trailers(buffer: Request) -> Self {
        Self { parts: NEEDED, has_fields: true, ..Self::new(buffer) }
    }

    /// Whether no request has such a head.
    pub(super) fn is_malformed(&self) -> bool {
        self.is_wrong || self.parts & NEEDED != NEEDED
    }

    /// The length of the body, if it was said, bytes.
    pub(super) fn length(&self) -> Option<u64> {
        self.framing.length
    }

    /// Looks at the next field. With a `credential` the request has to show it.
    #[inline]
    pub(super) fn see(&mut self, name: &[u8], value: &[u8], credential: Option<&Credential>) {
        match name {
            b":method" => {
                self.first(METHOD);
                self.request.set_method(value);
            }
            b":path" => {
                self.first(PATH);
                self.is_wrong |= value.is_empty() || breaks(value);
                self.request.set_target(value);
            }
            b":scheme" => self.first(SCHEME),
            b":authority" => self.first(AUTHORITY),
            _ => self.other(name, value, credential),
        }
    }

    /// One of the first fields.
    fn first(&mut self, part: u8) {
        self.is_wrong |= self.has_fields || self.parts & part != 0;
        self.parts |= part;
    }

    fn other(&mut self, name: &[u8], value: &[u8], credential: Option<&Credential>) {
        self.has_fields = true;
        match name {
            // It comes back with an echo.
            b"content-type" => {
                self.is_wrong |= breaks(value);
                if value.len() <= MOST_TYPE_BYTES && value.is_ascii() {
                    self.request.set_content_type(value);
                }
            }
            b"content-length" => {
                self.is_wrong |= self.framing.read("content-length", value).is_err();
            }
            b"grpc-timeout" => self.request.set_deadline(value),
            b"te" => self.is_wrong |= !value.eq_ignore_ascii_case(b"trailers"),
            _ if name == CREDENTIAL_FIELD.as_bytes() => {
                self.is_shown = credential.is_none_or(|credential| credential.is(value));
            }
            _ => self.is_wrong |= !is_name(name) || is_of_http_1(name),
        }
    }
}

/// Whether a value would end its line in HTTP/1.1 (RFC 9113, 8.2.1).
fn breaks(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r'))
}

/// Whether a field can be called so: in lower case, and visible (RFC 9113, 8.2.1).
fn is_name(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && *byte != b':';
    !name.is_empty() && name.iter().all(fits)
}

/// Whether a field, in lower case, is of a connection of HTTP/1.1: no message of HTTP/2 has it (RFC
/// 9113, 8.2.2).
pub(crate) fn is_of_http_1(name: &[u8]) -> bool {
    matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
    )
}
