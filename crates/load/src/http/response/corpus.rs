//! Responses as servers send them, and what they have to come to.

use super::{ResponseEnd, ResponseFlags};

/// A response: whether it answers `HEAD`, its bytes, what it has to come to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) head: bool,
    pub(super) text: &'static str,
    pub(super) status: u16,
    pub(super) body_bytes: u64,
    pub(super) close: bool,
}

const fn case(head: bool, text: &'static str, status: u16, body_bytes: u64, close: bool) -> Case {
    Case { head, text, status, body_bytes, close }
}

pub(super) const CASES: &[Case] = &[
    // nginx, a static file
    case(
        false,
        "HTTP/1.1 200 OK\r\nServer: nginx/1.26.3\r\nDate: Sat, 01 Aug 2026 10:00:00 GMT\r\n\
         Content-Type: text/html\r\n\
         Content-Length: 11\r\nLast-Modified: Tue, 04 Feb 2025 12:00:00 GMT\r\n\
         Connection: keep-alive\r\n\
         ETag: \"67a20000-b\"\r\nAccept-Ranges: bytes\r\n\r\nhello world",
        200,
        11,
        false,
    ),
    // nginx, an empty file
    case(
        false,
        "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
        200,
        0,
        false,
    ),
    // Envoy
    case(
        false,
        "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 19\r\ncontent-type: text/plain\r\n\
         date: Sat, 01 Aug 2026 10:00:00 GMT\r\nserver: envoy\r\n\r\nno healthy upstream",
        503,
        19,
        false,
    ),
    // chunked, as nginx sends what it compresses or proxies
    case(
        false,
        "HTTP/1.1 200 OK\r\nServer: nginx\r\nTransfer-Encoding: chunked\r\n\
         Connection: keep-alive\r\n\r\n\
         6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n",
        200,
        11,
        false,
    ),
    // chunked with extensions, upper-case digits and trailers
    case(
        false,
        "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\nTrailer: X-Sum\r\n\r\n\
         A;name=\"va lue\"\r\n0123456789\r\n1 ; x\r\n!\r\n0\r\nX-Sum: 1\r\nX-B: \r\n\r\n",
        200,
        11,
        false,
    ),
    case(
        false,
        "HTTP/1.1 204 No Content\r\nServer: nginx\r\nConnection: keep-alive\r\n\r\n",
        204,
        0,
        false,
    ),
    // 304 repeats the length of what it does not send
    case(
        false,
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 615\r\nETag: \"x\"\r\n\r\n",
        304,
        0,
        false,
    ),
    // so does the answer to HEAD
    case(
        true,
        "HTTP/1.1 200 OK\r\nContent-Length: 615\r\nConnection: keep-alive\r\n\r\n",
        200,
        0,
        false,
    ),
    case(true, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, 0, false),
    // neither length nor coding, but HEAD has no body to wait for
    case(true, "HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n", 404, 0, false),
    // interim responses
    case(
        false,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        200,
        2,
        false,
    ),
    case(
        false,
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n\
         HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\n.",
        201,
        1,
        false,
    ),
    case(
        false,
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbye",
        200,
        3,
        true,
    ),
    // an upgrade offer does not close; no reason phrase; two equal lengths
    case(
        false,
        "HTTP/1.1 200 \r\nConnection: Upgrade, keep-alive\r\nContent-Length: 1\r\n\
         Content-Length: 1\r\n\r\nx",
        200,
        1,
        false,
    ),
    // HTTP/1.0: closes unless it says otherwise
    case(false, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, 2, true),
    case(
        false,
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nok",
        200,
        2,
        false,
    ),
    // HTTP/1.0 has no chunked coding: what claims both is read, and not believed any further
    case(
        false,
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n\
         0\r\n\r\n",
        200,
        1,
        true,
    ),
    // bare line feeds, as some CGI programs have them
    case(false, "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, 2, false),
];

/// Bodies that end with the connection.
pub(super) const UNTIL_CLOSE: &[Case] = &[
    case(
        false,
        "HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6\r\nContent-type: text/html\r\n\r\n<html></html>",
        200,
        13,
        true,
    ),
    case(false, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 200, 0, true),
    case(false, "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nthe rest", 200, 8, true),
];

impl Case {
    pub(super) fn end(&self) -> ResponseEnd {
        ResponseEnd {
            status: self.status,
            close: self.close,
            header_bytes: self.text.len() as u64 - self.body_bytes,
            body_bytes: self.body_bytes,
            flags: ResponseFlags::default(),
            call: None,
        }
    }
}
