//! A key and the certificate that stands for it, made from a key pair and nothing else.

use std::ops::Range;

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SerialNumber, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::error::TlsError;
use crate::keys::{KeyPair as Keys, PublicKey, SIGNATURE_BYTES};

/// PKCS #8 (RFC 8410) up to the seed of an Ed25519 key.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// One side of a control session.
pub(super) struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivatePkcs8KeyDer<'static>,
    /// Where the public key is in the certificate; all before it and all between it and the
    /// signature is the same whatever the key is.
    pub(super) public: Range<usize>,
}

impl Identity {
    /// The identity that an agent shows.
    pub(super) fn server(keys: &Keys) -> Result<Self, TlsError> {
        Self::new("server", keys).map_err(|source| TlsError::Certificate { end: "server", source })
    }

    /// The identity that a conductor shows.
    pub(super) fn client(keys: &Keys) -> Result<Self, TlsError> {
        Self::new("client", keys).map_err(|source| TlsError::Certificate { end: "client", source })
    }

    fn new(end: &str, keys: &Keys) -> Result<Self, rcgen::Error> {
        let key = PrivatePkcs8KeyDer::from([&PKCS8_PREFIX[..], keys.seed()].concat());
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)?;
        let certificate = params(end).self_signed(&pair)?.der().clone();
        let public = keys.public();
        let at =
            certificate.windows(public.bytes().len()).position(|bytes| bytes == public.bytes());
        let at = at.ok_or(rcgen::Error::CouldNotParseCertificate)?;
        Ok(Self { certificate, key, public: at..at + public.bytes().len() })
    }

    /// The certificate up to its signature, as it would be with another key.
    pub(super) fn unsigned(&self, key: &PublicKey) -> Vec<u8> {
        // The signature is what a certificate ends with.
        let end = self.certificate.len().saturating_sub(SIGNATURE_BYTES);
        let mut bytes = self.certificate[..end].to_vec();
        bytes[self.public.clone()].copy_from_slice(key.bytes());
        bytes
    }
}

/// The content of a certificate. All of it is fixed, and nobody looks at the dates. A secret lives
/// as long as whoever made it wants, and the clocks of two machines need not agree.
fn params(end: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(9999, 12, 31);
    params.serial_number = Some(SerialNumber::from_slice(&[1]));
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("hopbench {end}"));
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    /// Two builds understand each other only if they make the same certificates. What breaks this
    /// test needs a new `PROTOCOL`, and tells users of another token instead of another version.
    #[test]
    fn certificates_stay_as_they_are() {
        let secret = Secret::insecure();
        let digests =
            [Identity::server(&secret.server_keys()), Identity::client(&secret.client_keys())].map(
                |identity| {
                    let certificate = identity.unwrap().certificate;
                    let digest = ring::digest::digest(&ring::digest::SHA256, &certificate);
                    digest.as_ref()[..8].iter().map(|b| format!("{b:02x}")).collect::<String>()
                },
            );
        assert_eq!(digests, ["15d89960d224ddf7", "23f88336cb51f8bb"]);
    }

    #[test]
    fn certificates_differ_by_key_only() {
        let [one, other] = [(); 2].map(|()| Keys::random().unwrap());
        let [a, b] = [&one, &other].map(|keys| Identity::server(keys).unwrap());
        assert!(a.public.start > 50, "no common start");
        assert_eq!(a.public, b.public);
        assert_ne!(a.certificate, b.certificate);
        assert_eq!(a.certificate.len(), b.certificate.len());
        assert_eq!(a.unsigned(&other.public()), b.unsigned(&other.public()));
        assert!(b.certificate.starts_with(&a.unsigned(&other.public())));
    }
}
