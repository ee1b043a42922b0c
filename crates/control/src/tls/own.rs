//! The certificate that an agent shows in its trials.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};

use super::error::TlsError;
use super::provider;

/// The name in the certificate.
const NAME: &str = "hopbench.test";

/// A certificate of an agent's own (ECDSA, P-256), with a key that nobody else has.
#[derive(Debug, Clone)]
pub struct OwnCertificate {
    /// How a server speaks TLS with it. It offers sessions to resume, and no early data.
    pub server: Arc<ServerConfig>,
    /// What a client shows.
    pub certificate: Arc<SingleCertAndKey>,
}

impl OwnCertificate {
    /// Makes one. A client that knows the agent by something else takes any.
    ///
    /// # Errors
    /// When the libraries refuse the key, which none makes them do.
    pub fn new() -> Result<Self, TlsError> {
        let source = |source| TlsError::Certificate { end: "target", source };
        let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(source)?;
        let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let provider = provider();
        let own = CertifiedKey::from_der(vec![own.cert.der().clone()], key.into(), &provider)?;
        let certificate = Arc::new(SingleCertAndKey::from(own));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_no_client_auth()
            .with_cert_resolver(Arc::<SingleCertAndKey>::clone(&certificate));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Any number of clients resumes: what a session needs is in its ticket.
        config.ticketer = rustls::crypto::ring::Ticketer::new()?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.max_early_data_size = 0;
        Ok(Self { server: Arc::new(config), certificate })
    }
}
