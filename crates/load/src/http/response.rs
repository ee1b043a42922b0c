//! The parser of responses as they arrive.

#[cfg(test)]
mod corpus;
mod error;
mod flags;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;

pub use error::ResponseError;
pub use flags::ResponseFlags;

use super::chunked::ChunkDecoder;
use super::excerpt;
use super::framing::Framing;
use super::grpc::CallEnd;
use super::head::{HeadBuffer, MOST_FIELDS};

/// Most bytes of a response head.
const MOST_HEAD_BYTES: usize = 64 * 1024;
/// Most interim (1xx) responses before the final one.
const MOST_INTERIM: u8 = 32;
/// Most bytes of a chunked body; only keeps the count from overflowing.
const MOST_BODY_BYTES: u64 = u64::MAX >> 1;

/// What [`ResponseParser::feed`] made of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseStep {
    /// Bytes of the input that were taken. Fewer than given only when a response is complete: the
    /// rest came after its end, which without pipelining nobody asked for.
    pub consumed: usize,
    /// Whether that completed a response.
    pub state: ResponseState,
}

/// The progress of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseState {
    /// The response goes on.
    NeedMore,
    /// The response is complete; the parser is ready for the next one.
    Complete(ResponseEnd),
}

/// A complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseEnd {
    /// The status code, 200 to 999.
    pub status: u16,
    /// Whether the connection cannot be used again.
    pub close: bool,
    /// Bytes that are not body: heads (interim ones included), chunk sizes, trailers.
    pub header_bytes: u64,
    /// Bytes of the body without its coding.
    pub body_bytes: u64,
    /// Why a proxy gave this answer in the server's place, where one did and says so; only of
    /// statuses from 400 on, and of calls.
    pub flags: ResponseFlags,
    /// Of a call of gRPC: its end.
    pub call: Option<CallEnd>,
}

/// The responses of one connection, one after the other.
///
/// After an error the connection has to be closed, and the parser [reset](Self::reset) before it
/// serves another one.
#[derive(Debug)]
pub struct ResponseParser {
    heads: HeadBuffer<Head>,
    phase: Phase,
    method_head: bool,
    interim: u8,
    status: u16,
    close: bool,
    header_bytes: u64,
    body_bytes: u64,
    flags: ResponseFlags,
}

#[derive(Debug)]
enum Phase {
    Head,
    /// This many bytes are left.
    Length(u64),
    Chunked(ChunkDecoder),
    UntilClose,
}

/// What a head says, whatever the request was.
#[derive(Debug, Clone, Copy)]
struct Head {
    status: u16,
    framing: Framing,
    http_1_0: bool,
    flags: ResponseFlags,
}

impl ResponseParser {
    /// A parser for a new connection; `method_head`: the requests are `HEAD`.
    pub fn new(method_head: bool) -> Self {
        Self {
            heads: HeadBuffer::new(MOST_HEAD_BYTES),
            phase: Phase::Head,
            method_head,
            interim: 0,
            status: 0,
            close: false,
            header_bytes: 0,
            body_bytes: 0,
            flags: ResponseFlags::default(),
        }
    }

    /// Makes ready for another connection, or for answers to another method; drops a response under
    /// way. Between responses on one connection nothing needs to be called.
    pub fn reset(&mut self, method_head: bool) {
        self.heads.clear();
        self.method_head = method_head;
        self.start();
    }

    /// Whether a response has begun and not ended. The end of input is then a failure, except for
    /// a body that ends with the connection.
    pub fn is_inside(&self) -> bool {
        self.header_bytes > 0
    }

    /// Takes the next bytes of the connection, up to the end of one response.
    ///
    /// # Errors
    /// The input is not an HTTP/1.x response, or it cannot be told where the response ends.
    #[inline]
    pub fn feed(&mut self, input: &[u8]) -> Result<ResponseStep, ResponseError> {
        let mut used = 0;
        while matches!(self.phase, Phase::Head) {
            let rest = &input[used..];
            let Some((head, taken)) = self.heads.take(rest, parse_head)? else {
                self.header_bytes += rest.len() as u64;
                return Ok(ResponseStep { consumed: input.len(), state: ResponseState::NeedMore });
            };
            used += taken;
            self.header_bytes += taken as u64;
            self.enter(head)?;
        }
        let rest = &input[used..];
        match &mut self.phase {
            Phase::Head => {}
            Phase::Length(left) => {
                let taken = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                *left -= taken as u64;
                used += taken;
                self.body_bytes += taken as u64;
                if *left == 0 {
                    return Ok(self.complete(used));
                }
            }
            Phase::Chunked(chunks) => {
                let mut data = 0;
                let decoded = chunks.decode(rest, |part| data += part.len())?;
                used += decoded.consumed;
                self.body_bytes += data as u64;
                self.header_bytes += (decoded.consumed - data) as u64;
                if decoded.done {
                    return Ok(self.complete(used));
                }
            }
            Phase::UntilClose => {
                used = input.len();
                self.body_bytes += rest.len() as u64;
            }
        }
        Ok(ResponseStep { consumed: used, state: ResponseState::NeedMore })
    }

    /// The peer closed the connection: the end of a response whose body ends that way, `None`
    /// between responses.
    ///
    /// # Errors
    /// A response was cut short.
    pub fn eof(&mut self) -> Result<Option<ResponseEnd>, ResponseError> {
        if let Phase::UntilClose = self.phase {
            return Ok(Some(self.end()));
        }
        if self.is_inside() {
            return Err(ResponseError::Truncated {
                header_bytes: self.header_bytes,
                body_bytes: self.body_bytes,
            });
        }
        Ok(None)
    }

    /// Goes from a complete head to its body.
    fn enter(&mut self, head: Head) -> Result<(), ResponseError> {
        let Head { status, framing, http_1_0, flags } = head;
        if status < 200 {
            // 101 would hand the connection to another protocol, which nobody asked for.
            if status < 100 || status == 101 {
                return Err(ResponseError::Status(status));
            }
            self.interim += 1;
            return if self.interim > MOST_INTERIM {
                Err(ResponseError::TooManyInterim)
            } else {
                Ok(())
            };
        }
        self.status = status;
        self.flags = flags;
        self.close = framing.closes(http_1_0);
        self.phase = if self.method_head || status == 204 || status == 304 {
            Phase::Length(0)
        } else if framing.chunked {
            Phase::Chunked(ChunkDecoder::new(MOST_BODY_BYTES))
        } else if let Some(length) = framing.length {
            Phase::Length(length)
        } else {
            self.close = true;
            Phase::UntilClose
        };
        Ok(())
    }

    fn complete(&mut self, consumed: usize) -> ResponseStep {
        ResponseStep { consumed, state: ResponseState::Complete(self.end()) }
    }

    fn end(&mut self) -> ResponseEnd {
        let end = ResponseEnd {
            status: self.status,
            close: self.close,
            header_bytes: self.header_bytes,
            body_bytes: self.body_bytes,
            flags: self.flags,
            call: None,
        };
        self.start();
        end
    }

    fn start(&mut self) {
        self.phase = Phase::Head;
        self.interim = 0;
        self.header_bytes = 0;
        self.body_bytes = 0;
    }
}

/// Parses a head from its first byte on; `None` when it is not complete.
fn parse_head(bytes: &[u8]) -> Result<Option<(Head, usize)>, ResponseError> {
    let malformed = |why: &'static str| ResponseError::Malformed { why, found: excerpt(bytes) };
    // The library would pass over empty lines in front, which is surplus of the response before.
    if let Some(b'\r' | b'\n') = bytes.first() {
        return Err(malformed("an empty line"));
    }
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        bytes,
        &mut fields,
    );
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(malformed(error::describe(error))),
    };
    let (Some(status), Some(version)) = (response.code, response.version) else {
        return Err(malformed("no status line"));
    };
    let mut framing = Framing::default();
    for field in response.headers.iter() {
        framing.read(field.name, field.value)?;
    }
    let flags = if status < 400 {
        ResponseFlags::default()
    } else {
        ResponseFlags::among(response.headers)
    };
    Ok(Some((Head { status, framing, http_1_0: version == 0, flags }, length)))
}
