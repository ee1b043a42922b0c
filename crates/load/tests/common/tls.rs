//! A server's end of TLS for tests.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

/// The name in the certificates.
pub(crate) const NAME: &str = "ours.test";

/// A certificate and its key, in PEM.
pub(crate) fn certificate() -> (String, String) {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    (own.cert.pem(), own.signing_key.serialize_pem())
}

/// What a client of an agent shows.
pub(crate) fn shown() -> Arc<SingleCertAndKey> {
    let (certificate, key) = certificate();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let own = CertifiedKey::from_der(vec![certificate], key, &provider).unwrap();
    Arc::new(SingleCertAndKey::from(own))
}

/// As an agent has it.
pub(crate) fn server_config() -> Arc<ServerConfig> {
    config_for(None)
}

/// The same, which takes only clients with a certificate of this authority, in PEM.
pub(crate) fn asking_config(authority: &str) -> Arc<ServerConfig> {
    config_for(Some(authority))
}

fn config_for(authority: Option<&str>) -> Arc<ServerConfig> {
    let (certificate, key) = certificate();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .unwrap();
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ticketer = rustls::crypto::ring::Ticketer::new().unwrap();
    Arc::new(config)
}
