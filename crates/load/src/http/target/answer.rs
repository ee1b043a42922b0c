//! The answers of the target.

use hopbench_model::Nanos;

use super::call;
use super::decision::{Content, Decision};
use super::page::{ErrorPage, LoadParams, Page};
use super::{Method, Request, RequestError};

/// What to do about a request; the head, and a short body, have been appended to the caller's
/// buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetAnswer {
    /// How long to wait before the first byte is written, ns.
    pub delay_ns: Nanos,
    /// What to write after the buffer.
    pub body: Body,
    /// Whether to close the connection afterwards.
    pub close: bool,
}

/// The part of an answer that is not in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// This many bytes of anything, at most 1 GiB: to be written from a shared buffer.
    Filler(u64),
    /// The request's body.
    Echo,
}

/// Answers requests; one serves any number of connections of a thread.
///
/// It remembers what the last target asked for: a load generator sends the same one again and
/// again.
#[derive(Debug)]
pub struct Responder {
    target: String,
    page: Result<Page, ErrorPage>,
}

impl Default for Responder {
    fn default() -> Self {
        Self { target: String::new(), page: Page::of("") }
    }
}

impl Responder {
    /// Forgets the last target if it takes more memory than this.
    pub fn forget_long(&mut self, most_bytes: usize) {
        if self.target.capacity() > most_bytes {
            *self = Self::default();
        }
    }

    /// Answers `request`, which came at `now_ns` on the clock that stalls go by, and appends to
    /// `out` what is to be written first.
    pub fn respond(&mut self, request: &Request, now_ns: Nanos, out: &mut Vec<u8>) -> TargetAnswer {
        let connection = connection(request);
        let Decision { status, delay_ns, content_type, content, .. } = self.decide(request, now_ns);
        write_head(out, status, content_type, content.length(request), connection);
        let body = match content {
            // Only calls have messages, and they come over HTTP/2.
            Content::Absent | Content::Messages(_) => Body::None,
            _ if request.method == Method::Head => Body::None,
            Content::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                Body::None
            }
            Content::Filler(0) => Body::None,
            Content::Filler(length) => Body::Filler(length),
            Content::Echo if request.body.is_empty() => Body::None,
            Content::Echo => Body::Echo,
        };
        TargetAnswer { delay_ns, body, close: !request.keep_alive }
    }

    /// The answer to `request`, which came at `now_ns`, in any version of HTTP.
    pub(crate) fn decide<'a>(&'a mut self, request: &'a Request, now_ns: Nanos) -> Decision<'a> {
        if request.is_call() {
            return call::decide(request);
        }
        if self.target != request.target {
            self.page = Page::of(&request.target);
            self.target.clear();
            self.target.push_str(&request.target);
        }
        match &self.page {
            _ if request.method == Method::Other => {
                let text = "method: found another one, expected GET, HEAD, POST or PUT\n";
                Decision::text(405, text)
            }
            Ok(Page::Load(load)) => {
                Decision { delay_ns: load.wait_ns(now_ns), ..load_answer(request, load) }
            }
            Ok(Page::Health) => Decision::text(200, "ok"),
            Err(refusal) => Decision::text(refusal.status, &refusal.text),
        }
    }
}

/// Appends the answer to a request that cannot be read; the connection has to be closed after it.
pub fn refuse(error: &RequestError, out: &mut Vec<u8>) {
    let text = format!("{error}\n");
    write_head(
        out,
        error.status(),
        b"text/plain",
        Some(text.len() as u64),
        "Connection: close\r\n",
    );
    out.extend_from_slice(text.as_bytes());
}

fn load_answer<'a>(request: &'a Request, load: &LoadParams) -> Decision<'a> {
    let status = load.status;
    if matches!(status, 204 | 304) {
        return Decision { status, ..Decision::plain(Content::Absent) };
    }
    let echo = load.size.is_none() && matches!(request.method, Method::Post | Method::Put);
    let content = if echo { Content::Echo } else { Content::Filler(load.size.unwrap_or(0)) };
    let content_type: &[u8] = match &request.content_type[..] {
        given @ [_, ..] if echo => given,
        _ => b"application/octet-stream",
    };
    Decision { status, content_type, ..Decision::plain(content) }
}

/// The field that says what the version's default does not.
fn connection(request: &Request) -> &'static str {
    match (request.keep_alive, request.http_1_0) {
        (true, false) => "",
        (true, true) => "Connection: keep-alive\r\n",
        (false, _) => "Connection: close\r\n",
    }
}

/// No `Date`: the field needs a calendar clock, which nothing else here does (RFC 9110, 6.6.1
/// allows it).
fn write_head(
    out: &mut Vec<u8>,
    status: u16,
    content_type: &[u8],
    length: Option<u64>,
    connection: &str,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    if let Some(length) = length {
        out.extend_from_slice(b"\r\nContent-Type: ");
        out.extend_from_slice(content_type);
        out.extend_from_slice(b"\r\nContent-Length: ");
        push_decimal(out, length);
    }
    out.extend_from_slice(b"\r\n");
    match status {
        // RFC 9110, 11.6.1 and 15.5.6: each of them has to say what would do.
        401 => out.extend_from_slice(b"WWW-Authenticate: hopbench\r\n"),
        405 => out.extend_from_slice(b"Allow: GET, HEAD, POST, PUT\r\n"),
        _ => {}
    }
    out.extend_from_slice(connection.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn push_decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        // Less than 10, so the cast keeps it.
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// The usual words for the usual statuses; HTTP allows none.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for value in [0, 9, 10, 1024, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(&mut out, value);
            assert_eq!(out, value.to_string().as_bytes());
        }
    }
}
