//! The server's end of TLS.

use std::fmt;
use std::sync::Arc;

use hopbench_model::Nanos;
use rustls::version::{TLS12, TLS13};
use rustls::{Error, ServerConfig};

use super::anybody::Anybody;

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

impl TlsServer {
    /// The same, which asks every client for a certificate and checks that it has its key.
    ///
    /// # Errors
    /// The library refuses the settings, which it does of none that it made.
    pub(crate) fn asking(self) -> Result<Self, Error> {
        let provider = Arc::clone(self.config.crypto_provider());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_client_cert_verifier(Arc::new(Anybody(provider)))
            .with_cert_resolver(Arc::clone(&self.config.cert_resolver));
        config.ticketer = Arc::clone(&self.config.ticketer);
        config.session_storage = Arc::clone(&self.config.session_storage);
        config.max_early_data_size = self.config.max_early_data_size;
        Ok(Self { config: Arc::new(config), ..self })
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer")
            .field("handshake_ns", &self.handshake_ns)
            .finish_non_exhaustive()
    }
}
