//! The server's end of TLS.

use std::fmt;
use std::sync::Arc;

use hopbench_model::Nanos;
use rustls::ServerConfig;

/// What a server's flows over TLS need.
#[derive(Clone)]
pub(crate) struct TlsServer {
    /// Certificate, versions, protocols.
    pub(crate) config: Arc<ServerConfig>,
    /// How long a handshake may take, ns.
    pub(crate) handshake_ns: Nanos,
    /// Most bytes of an answer that are encrypted at once. Its flow hears of them when all of them
    /// are sent.
    pub(crate) most_plain_bytes: usize,
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer")
            .field("handshake_ns", &self.handshake_ns)
            .finish_non_exhaustive()
    }
}
