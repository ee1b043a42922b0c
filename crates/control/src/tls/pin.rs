//! The certificate pin: one key is accepted and no other.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    SignatureScheme,
};

use super::identity::Identity;
use crate::keys::PublicKey;

/// The certificate that the other end must show, and the algorithms to check its signature with.
#[derive(Debug)]
pub(super) struct Pin {
    /// The certificate up to its own signature, which says nothing: who shows it proves in the
    /// handshake to have the key.
    certificate: Vec<u8>,
    /// Bytes of a whole certificate.
    length: usize,
    /// Bytes that do not depend on the key: all before it.
    common: usize,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    /// Takes the end whose key is `key`; `template` is such an end with any key.
    pub(super) fn new(
        template: &Identity,
        key: &PublicKey,
        provider: &Arc<CryptoProvider>,
    ) -> Self {
        Self {
            certificate: template.unsigned(key),
            length: template.certificate.len(),
            common: template.public.start,
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Takes the pinned certificate, alone. For another one, the error tells what sort it is: the
    /// alert that it becomes tells the other end as well.
    fn check(&self, shown: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        let has_length = shown.len() == self.length;
        if has_length && shown.starts_with(&self.certificate) && more.is_empty() {
            return Ok(());
        }
        let of_hopbench = has_length && shown.starts_with(&self.certificate[..self.common]);
        Err(Error::InvalidCertificate(if of_hopbench {
            CertificateError::ApplicationVerificationFailure
        } else {
            CertificateError::UnknownIssuer
        }))
    }

    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }
}

/// There is no TLS 1.2 here.
fn tls12() -> Error {
    Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered)
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown, more).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(tls12())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown, more).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(tls12())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
