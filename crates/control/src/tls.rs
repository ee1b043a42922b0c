//! TLS 1.3 with both sides authenticated by key pairs that are known beforehand, and the
//! certificate that an agent shows in its trials.
//!
//! An agent has a key pair of its own and knows its conductor's public key. A conductor has a key
//! pair and knows each agent's public key. From a token ([`Secret`]) both ends make both key pairs,
//! so that whoever has it can be either. Each end shows a certificate in which all but the key is
//! fixed. It takes no other than that of the key it expects, and checks the signature over the
//! handshake. Every handshake shows the certificates; they do not help without the keys. There are
//! no tickets, no resumption and no early data, so every session proves itself anew.

mod error;
mod explain;
mod identity;
mod own;
mod pin;

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

pub use error::TlsError;
pub use explain::{Refusal, explain};
use identity::Identity;
pub use own::OwnCertificate;
use pin::Pin;

use crate::credentials::Credentials;
use crate::keys::{KeyPair, PublicKey};
use crate::secret::Secret;

/// The TLS settings of a listening agent, which takes only its conductor.
///
/// # Errors
/// When the libraries refuse the keys, which no key makes them do.
pub fn server_config(credentials: &Credentials) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = provider();
    let own = Identity::server(&credentials.keys)?;
    let pin = Pin::new(&Identity::client(&credentials.keys)?, &credentials.conductor, &provider);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(pin))
        .with_single_cert(vec![own.certificate], own.key.into())?;
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(config))
}

/// The TLS settings of a conductor with a token, which takes only agents that have it.
///
/// # Errors
/// When the libraries refuse the keys, which no secret makes them do.
pub fn client_config(secret: &Secret) -> Result<Arc<ClientConfig>, TlsError> {
    conductor_config(&secret.client_keys(), &secret.server_keys().public())
}

/// The TLS settings of a conductor for the agent whose public key is `agent`. It takes no other.
///
/// # Errors
/// When the libraries refuse the keys, which no key makes them do.
pub fn conductor_config(own: &KeyPair, agent: &PublicKey) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = provider();
    let pin = Pin::new(&Identity::server(own)?, agent, &provider);
    let own = Identity::client(own)?;
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
