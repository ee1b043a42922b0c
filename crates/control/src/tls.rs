//! TLS 1.3 with both sides authenticated by a shared secret.
//!
//! From the [`Secret`] both ends make the same two Ed25519 keys, one for servers and one for
//! clients, and the same two certificates. Each end shows its own certificate, takes no other than
//! the one it expects, and checks the signature over the handshake: knowing the certificates, which
//! every handshake shows, does not help without the keys. There are no tickets, no resumption and
//! no early data, so every session proves itself anew.

mod explain;
mod identity;
mod pin;

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

pub use explain::{Refusal, explain};
use identity::Identity;
use pin::Pin;

use crate::secret::Secret;

/// Why there is no TLS configuration.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate could be made.
    #[error("cannot make the {end} certificate: {source}")]
    Certificate {
        /// `server` or `client`.
        end: &'static str,
        /// What the generator says.
        source: rcgen::Error,
    },
    /// The TLS library refuses the configuration.
    #[error("cannot configure TLS: {0}")]
    Config(#[from] rustls::Error),
}

/// What an agent listens with: takes only clients that have the secret.
///
/// # Errors
/// When the libraries refuse the keys, which no secret makes them do.
pub fn server_config(secret: &Secret) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = provider();
    let own = Identity::server(secret)?;
    let pin = Pin::new(&Identity::client(secret)?, &provider);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(pin))
        .with_single_cert(vec![own.certificate], own.key.into())?;
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(config))
}

/// What a conductor connects with: takes only agents that have the secret.
///
/// # Errors
/// When the libraries refuse the keys, which no secret makes them do.
pub fn client_config(secret: &Secret) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = provider();
    let own = Identity::client(secret)?;
    let pin = Pin::new(&Identity::server(secret)?, &provider);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pin))
        .with_client_auth_cert(vec![own.certificate], own.key.into())?;
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    // Agents are known by certificate; a name would only tell others on the way.
    config.enable_sni = false;
    Ok(Arc::new(config))
}

/// The name to open a client connection with. TLS needs one; nothing looks at it.
pub fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(test)]
mod tests;
