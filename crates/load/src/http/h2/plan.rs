//! The plan of a client over HTTP/2: what its connections have in common.

use crate::http::credential::Credential;

/// The settings that all connections share.
#[derive(Debug, Clone)]
pub struct ConnectionPlan {
    /// The fields of a request.
    pub fields: Vec<(String, String)>,
    /// Its body, or one of its messages.
    pub body: Box<[u8]>,
    /// How often the body is sent: again when a message of gRPC answered the one before.
    pub turns: u32,
    /// Whether answers have no body.
    pub is_head: bool,
    /// Whether requests are calls of gRPC.
    pub is_call: bool,
    /// Requests under way at once, at most.
    pub streams: usize,
    /// The window of each stream and of the connection, bytes.
    pub window_bytes: u32,
    /// Whether the server is to keep fields in its table.
    pub is_compressed: bool,
    /// What is shown to a target that serves several trials.
    pub credential: Option<Credential>,
}
