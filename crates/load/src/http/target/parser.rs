//! The parser of requests as they arrive.

use std::mem::MaybeUninit;

use std::sync::Arc;

use super::{Method, Request, RequestError};
use crate::admission::memory::{MemoryLimit, MemoryShare};
use crate::http::chunked::ChunkDecoder;
use crate::http::credential::{CREDENTIAL_FIELD, Credential};
use crate::http::excerpt;
use crate::http::framing::Framing;
use crate::http::head::{HeadBuffer, MOST_FIELDS};

/// What to write when a client waits for leave to send its body.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Most bytes of a request head.
pub(in crate::http) const MOST_HEAD_BYTES: usize = 16 * 1024;
/// Most bytes of a request body.
pub const MOST_BODY_BYTES: u64 = 16 * 1024 * 1024;
/// A body buffer that grew beyond this is given back when the next request starts.
const MOST_KEPT_BODY_BYTES: usize = 1024 * 1024;
/// The same for those who share bounded memory: 1024 connections that rest hold 16 MiB of it.
const MOST_KEPT_OF_ROOM_BYTES: usize = 16 * 1024;
/// Bytes that each connection may hold besides the bounded memory. So a short request is answered
/// even if others have taken all of it.
const FREE_BYTES: usize = 4 * 1024;
/// The least that a body's buffer grows by.
const LEAST_GROWTH_BYTES: usize = 4 * 1024;
/// Most line breaks in front of a request: some clients send one too many after a body (RFC 9112,
/// 2.2).
const MOST_LEADING_BREAKS: u8 = 8;

/// What [`RequestParser::feed`] made of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestStep {
    /// Bytes of the input that were taken; the rest belongs to the next call.
    pub consumed: usize,
    /// What to do now.
    pub state: RequestState,
}

/// The progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// The request goes on; all of the input was taken.
    NeedMore,
    /// The client waits: write [`CONTINUE`], then go on feeding.
    Continue,
    /// [`RequestParser::request`] is complete, until the next call of `feed`.
    Complete,
}

/// The requests of one connection, one after the other.
///
/// It holds at most the body of one request (16 MiB, or less), and grows with what arrives, not
/// with what is announced. After an error, answer with [`refuse`](super::refuse) and close.
///
/// A head that shows no credential where one is needed is refused before any of its body is taken.
/// A head that repeats the last one is not looked at again: its credential was found right on this
/// connection.
#[derive(Debug)]
pub struct RequestParser {
    credential: Option<Credential>,
    /// Whether the request under way, or the last one, shows what it has to.
    known: bool,
    share: MemoryShare,
    most_body_bytes: u64,
    heads: HeadBuffer<Head>,
    phase: Phase,
    request: Request,
    leading_breaks: u8,
}

#[derive(Debug)]
enum Phase {
    Head,
    /// This many bytes of the body are left.
    Length(u64),
    Chunked(ChunkDecoder),
}

/// What a head says of the body; the rest is in the [`Request`].
#[derive(Debug, Clone, Copy)]
struct Head {
    framing: Framing,
    expects_continue: bool,
}

impl Default for RequestParser {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestParser {
    /// A parser for a new connection of anybody, without a bound on what all of them hold.
    pub fn new() -> Self {
        Self::with(None, None)
    }

    /// A parser for a new connection. With a `credential` every request must show it. With a
    /// `memory` all that connections hold of requests comes out of it, and a request that finds
    /// none left is refused.
    pub fn with(credential: Option<Credential>, memory: Option<Arc<MemoryLimit>>) -> Self {
        Self {
            known: credential.is_none(),
            credential,
            share: MemoryShare::of(memory).with_free(FREE_BYTES),
            most_body_bytes: MOST_BODY_BYTES,
            heads: HeadBuffer::new(MOST_HEAD_BYTES),
            phase: Phase::Head,
            request: Request::default(),
            leading_breaks: 0,
        }
    }

    /// The same, which takes no longer bodies than this. At most [`MOST_BODY_BYTES`] are taken.
    pub fn with_bodies_up_to(self, bytes: u64) -> Self {
        Self { most_body_bytes: bytes.min(MOST_BODY_BYTES), ..self }
    }

    /// The request that `feed` has just completed.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether a request has begun and not ended: the end of input is then an error of the client.
    pub fn is_inside(&self) -> bool {
        !matches!(self.phase, Phase::Head) || !self.heads.is_empty()
    }

    /// Whether a byte of the next request came, be it one of the line breaks in front of it.
    pub fn has_begun(&self) -> bool {
        self.is_inside() || self.leading_breaks > 0
    }

    /// Whether a body is under way.
    pub fn is_in_body(&self) -> bool {
        !matches!(self.phase, Phase::Head)
    }

    /// Whether the request that `feed` looked at last showed what it has to: others count in no
    /// figure.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The request was answered: a body that came out of bounded memory goes back to it.
    pub fn answered(&mut self) {
        if self.share.is_bounded() && self.request.body.capacity() > MOST_KEPT_OF_ROOM_BYTES {
            self.request.body = Vec::new();
            let _ = self.share.set(self.held_bytes());
        }
    }

    /// Takes the next bytes of the connection, up to the end of one request.
    ///
    /// # Errors
    /// The input is not an HTTP/1.x request, breaks a limit, does not say unambiguously where it
    /// ends, or does not show the credential.
    #[inline]
    pub fn feed(&mut self, input: &[u8]) -> Result<RequestStep, RequestError> {
        let mut used = 0;
        if let Phase::Head = self.phase {
            if self.heads.is_empty() {
                used = self.pass_breaks(input)?;
            }
            let (request, credential) = (&mut self.request, self.credential.as_ref());
            self.known = credential.is_none();
            let taken =
                self.heads.take(&input[used..], |bytes| parse_head(bytes, request, credential))?;
            if self.share.is_bounded() && !self.share.set(self.held_bytes()) {
                return Err(RequestError::NoRoom);
            }
            let Some((head, taken)) = taken else {
                return Ok(RequestStep { consumed: input.len(), state: RequestState::NeedMore });
            };
            self.known = true;
            used += taken;
            self.enter(head)?;
            if head.expects_continue && self.is_inside() && used == input.len() {
                return Ok(RequestStep { consumed: used, state: RequestState::Continue });
            }
        }
        let rest = &input[used..];
        self.make_room(rest.len())?;
        let done = match &mut self.phase {
            Phase::Head => true,
            Phase::Length(left) => {
                let taken = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                self.request.body.extend_from_slice(&rest[..taken]);
                *left -= taken as u64;
                used += taken;
                *left == 0
            }
            Phase::Chunked(chunks) => {
                let body = &mut self.request.body;
                let decoded = chunks.decode(rest, |data| body.extend_from_slice(data))?;
                used += decoded.consumed;
                decoded.done
            }
        };
        if !done {
            return Ok(RequestStep { consumed: used, state: RequestState::NeedMore });
        }
        self.phase = Phase::Head;
        Ok(RequestStep { consumed: used, state: RequestState::Complete })
    }

    /// How many line breaks stand in front of the head.
    fn pass_breaks(&mut self, input: &[u8]) -> Result<usize, RequestError> {
        let mut passed = 0;
        while let Some(b'\r' | b'\n') = input.get(passed) {
            passed += 1;
            self.leading_breaks += 1;
            if self.leading_breaks > MOST_LEADING_BREAKS {
                return Err(RequestError::Malformed("empty lines"));
            }
        }
        Ok(passed)
    }

    /// Goes from a complete head to its body; stays in `Phase::Head` when there is none.
    fn enter(&mut self, head: Head) -> Result<(), RequestError> {
        self.leading_breaks = 0;
        let body = &mut self.request.body;
        body.clear();
        if body.capacity() > MOST_KEPT_BODY_BYTES {
            *body = Vec::new();
        }
        if head.framing.chunked {
            self.phase = Phase::Chunked(ChunkDecoder::new(self.most_body_bytes));
            return Ok(());
        }
        match head.framing.length {
            Some(length) if length > self.most_body_bytes => {
                Err(RequestError::BodyTooLong(self.most_body_bytes))
            }
            Some(length) if length > 0 => {
                self.phase = Phase::Length(length);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Makes the body's buffer long enough for what may come of so many bytes, where that needs
    /// leave.
    fn make_room(&mut self, bytes: usize) -> Result<(), RequestError> {
        let left = match &self.phase {
            Phase::Length(left) => usize::try_from(*left).unwrap_or(usize::MAX),
            Phase::Chunked(_) => usize::MAX,
            Phase::Head => return Ok(()),
        };
        let (has, length) = (self.request.body.capacity(), self.request.body.len());
        let needs = length + bytes.min(left);
        if !self.share.is_bounded() || needs <= has {
            return Ok(());
        }
        // Twice as much each time, but never more than was announced or is taken at all.
        let most = length.saturating_add(left).min(self.most_body_bytes as usize);
        let grown = (2 * has).max(needs + LEAST_GROWTH_BYTES).min(most).max(needs);
        if !self.share.set(self.held_bytes() - has + grown) {
            return Err(RequestError::NoRoom);
        }
        self.request.body.reserve_exact(grown - length);
        Ok(())
    }

    /// Bytes of memory held.
    pub(super) fn held_bytes(&self) -> usize {
        let request = &self.request;
        self.heads.held_bytes()
            + request.body.capacity()
            + request.target.capacity()
            + request.content_type.capacity()
    }
}

/// Parses a head from its first byte on into `request`; `None` when it is not complete. Where a
/// credential is needed, every field of its name must have it.
fn parse_head(
    bytes: &[u8],
    request: &mut Request,
    credential: Option<&Credential>,
) -> Result<Option<(Head, usize)>, RequestError> {
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut parsed = httparse::Request::new(&mut []);
    let httparse::Status::Complete(length) =
        parsed.parse_with_uninit_headers(bytes, &mut fields)?
    else {
        return Ok(None);
    };
    let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version)
    else {
        return Err(RequestError::Malformed("no request line"));
    };
    let http_1_0 = version == 0;
    let mut head = Head { framing: Framing::default(), expects_continue: false };
    let (mut hosts, mut shown, mut wrong) = (0, credential.is_none(), false);
    request.content_type.clear();
    for field in parsed.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        match field.name.len() {
            4 if is("host") => hosts += 1,
            // HTTP/1.0 knows no interim response to wait for.
            6 if is("expect") && !http_1_0 => {
                if !field.value.trim_ascii().eq_ignore_ascii_case(b"100-continue") {
                    return Err(RequestError::Expectation(excerpt(field.value)));
                }
                head.expects_continue = true;
            }
            12 if is("content-type") => {
                request.content_type.clear();
                request.content_type.extend_from_slice(field.value);
            }
            14 if is(CREDENTIAL_FIELD) => match credential {
                Some(credential) if credential.is(field.value) => shown = true,
                Some(_) => wrong = true,
                None => {}
            },
            _ => head.framing.read(field.name, field.value)?,
        }
    }
    if wrong || !shown {
        return Err(RequestError::Unauthorized);
    }
    if hosts > 1 || (hosts == 0 && !http_1_0) {
        return Err(RequestError::Host(hosts));
    }
    request.method = Method::of(method);
    request.http_1_0 = http_1_0;
    request.keep_alive = !head.framing.closes(http_1_0);
    request.target.clear();
    request.target.push_str(origin_form(target));
    Ok(Some((head, length)))
}

/// Path and query of a target; proxies may send the absolute form, `http://host/path`.
fn origin_form(target: &str) -> &str {
    match target.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("http://") => {
            let rest = &target[7..];
            rest.find('/').map_or("/", |at| &rest[at..])
        }
        _ => target,
    }
}
