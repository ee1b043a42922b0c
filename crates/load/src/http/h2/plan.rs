//! What a client's connections have in common.

use crate::http::credential::Credential;

/// What all connections have in common.
#[derive(Debug)]
pub(crate) struct ConnectionPlan {
    /// The fields of a request.
    pub(crate) fields: Vec<(String, String)>,
    /// Its body.
    pub(crate) body: Box<[u8]>,
    /// Whether answers have no body.
    pub(crate) is_head: bool,
    /// Requests under way at once, at most.
    pub(crate) streams: usize,
    /// The window of each stream and of the connection, bytes.
    pub(crate) window_bytes: u32,
    /// Whether the server is to keep fields in its table.
    pub(crate) is_compressed: bool,
    /// What is shown to a target that serves several trials.
    pub(crate) credential: Option<Credential>,
}
