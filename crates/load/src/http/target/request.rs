//! A request as the target needs it.

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

    /// The body without its coding, at most 16 MiB.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}
