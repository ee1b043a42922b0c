//! A request as the target needs it.

use hopbench_model::Nanos;

use crate::http::grpc;

/// A body buffer beyond this is given back when the request is over, bytes.
const KEPT_BODY_BYTES: usize = 16 * 1024;

/// The methods that the target tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// `GET`.
    #[default]
    Get,
    /// `HEAD`: answered as `GET` without the body.
    Head,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// Anything else; the target refuses it.
    Other,
}

impl Method {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            _ => Self::Other,
        }
    }
}

/// One request; its buffers serve the next one on the connection too.
#[derive(Debug, Default)]
pub struct Request {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) content_type: Vec<u8>,
    pub(super) http_1_0: bool,
    pub(super) keep_alive: bool,
    pub(super) body: Vec<u8>,
    /// Bytes in front of the body that were answered.
    answered: usize,
    /// Whether it came over HTTP/2.
    is_multiplexed: bool,
    /// How long a call of gRPC may still take, ns.
    left_ns: Option<Nanos>,
}

impl Request {
    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Path and query, as they came; scheme and authority of an absolute target are left out.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The value of `Content-Type`; empty where there is none.
    pub fn content_type(&self) -> &[u8] {
        &self.content_type
    }

    /// Whether the client wants to use the connection again.
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// An empty one, for HTTP/2.
    pub(crate) fn multiplexed() -> Self {
        Self { is_multiplexed: true, ..Self::default() }
    }

    /// Whether it is a call of gRPC.
    pub(crate) fn is_call(&self) -> bool {
        self.is_multiplexed && self.method == Method::Post && grpc::is_of_call(&self.content_type)
    }

    /// Whether it is a call whose messages are answered one by one.
    pub(crate) fn is_bidirectional(&self) -> bool {
        self.target == grpc::BIDI_STREAM && self.is_call()
    }

    /// Whether a message of the body can be answered.
    pub(crate) fn has_message(&self) -> bool {
        grpc::first_bytes(self.body()).is_some()
    }

    /// Whether the client has sent its last message, and nothing is left but the end of the call.
    pub(crate) fn is_answered(&self) -> bool {
        self.is_bidirectional() && self.body().is_empty()
    }

    /// The first message of the body was answered; how many bytes it took.
    pub(crate) fn drop_message(&mut self) -> usize {
        let bytes = grpc::first_bytes(self.body()).unwrap_or(0);
        self.answered += bytes;
        // Not each time: the rest is moved to the front.
        if self.answered > self.body.len() / 2 {
            self.body.drain(..self.answered);
            self.answered = 0;
        }
        if self.body.is_empty() {
            self.drop_body();
        }
        bytes
    }

    /// How long a call may still take, ns, when that was last looked at; `None`: as long as it
    /// takes.
    pub(crate) fn left_ns(&self) -> Option<Nanos> {
        self.left_ns
    }

    /// A call may still take so long, ns.
    pub(crate) fn set_left_ns(&mut self, left_ns: Option<Nanos>) {
        self.left_ns = left_ns;
    }

    /// Whether the answer has no body.
    pub(crate) fn is_head(&self) -> bool {
        self.method == Method::Head
    }

    /// Bytes of memory that it takes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.body.capacity() + self.content_type.capacity() + self.target.capacity()
    }

    /// Nothing of a request that was; the buffers are kept, unless they are large.
    pub(crate) fn clear(&mut self) {
        if self.body.capacity() > KEPT_BODY_BYTES {
            self.body = Vec::new();
        }
        self.body.clear();
        self.answered = 0;
        self.content_type.clear();
        self.target.clear();
        (self.method, self.http_1_0, self.keep_alive) = (Method::default(), false, true);
        self.left_ns = None;
    }

    /// Takes the field that says how long a call may take, if it can be read.
    pub(crate) fn set_deadline(&mut self, value: &[u8]) {
        self.left_ns = grpc::deadline::read(value);
    }

    pub(crate) fn set_method(&mut self, name: &[u8]) {
        self.method = std::str::from_utf8(name).map_or(Method::Other, Method::of);
    }

    pub(crate) fn set_target(&mut self, target: &[u8]) {
        self.target.clear();
        self.target.push_str(&String::from_utf8_lossy(target));
    }

    pub(crate) fn set_content_type(&mut self, value: &[u8]) {
        self.content_type.clear();
        self.content_type.extend_from_slice(value);
    }

    /// Appends a part of the body.
    pub(crate) fn add(&mut self, body: &[u8]) {
        self.body.extend_from_slice(body);
    }

    /// Gives back the memory of a body that nobody needs any more.
    pub(crate) fn drop_body(&mut self) {
        if self.body.capacity() > KEPT_BODY_BYTES {
            self.body = Vec::new();
        }
    }

    /// The body without its coding, at most 16 MiB; without the messages that were answered.
    pub fn body(&self) -> &[u8] {
        self.body.get(self.answered..).unwrap_or_default()
    }
}
