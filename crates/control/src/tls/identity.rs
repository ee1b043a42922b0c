//! A key and the certificate that stands for it, made from a secret and nothing else.

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SerialNumber, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::TlsError;
use crate::secret::Secret;

/// PKCS #8 (RFC 8410) up to the seed of an Ed25519 key.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// One side of every control session with one secret.
pub(super) struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivatePkcs8KeyDer<'static>,
    /// Bytes of the certificate that do not depend on the secret: all before the public key.
    pub(super) common: usize,
}

impl Identity {
    /// What agents show.
    pub(super) fn server(secret: &Secret) -> Result<Self, TlsError> {
        Self::new("server", secret.server_seed()).map_err(|source| TlsError::Certificate { end: "server", source })
    }

    /// What conductors show.
    pub(super) fn client(secret: &Secret) -> Result<Self, TlsError> {
        Self::new("client", secret.client_seed()).map_err(|source| TlsError::Certificate { end: "client", source })
    }

    fn new(end: &str, seed: [u8; 32]) -> Result<Self, rcgen::Error> {
        let key = PrivatePkcs8KeyDer::from([&PKCS8_PREFIX[..], &seed].concat());
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)?;
        let certificate = params(end).self_signed(&pair)?.der().clone();
        let public = pair.public_key_raw();
        let common = certificate.windows(public.len()).position(|bytes| bytes == public);
        Ok(Self { certificate, key, common: common.unwrap_or_default() })
    }
}

/// The content of a certificate. All of it is fixed, and nobody looks at the dates: a secret lives
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

    /// Two builds understand each other only if they make the same certificates: what breaks this
    /// test needs a new `PROTOCOL`, and tells users of another token instead of another version.
    #[test]
    fn certificates_stay_as_they_are() {
        let secret = Secret::insecure();
        let digests = [Identity::server(&secret), Identity::client(&secret)].map(|identity| {
            let certificate = identity.unwrap().certificate;
            let digest = ring::digest::digest(&ring::digest::SHA256, &certificate);
            digest.as_ref()[..8].iter().map(|b| format!("{b:02x}")).collect::<String>()
        });
        assert_eq!(digests, ["15d89960d224ddf7", "23f88336cb51f8bb"]);
    }

    #[test]
    fn certificates_differ_by_key_only() {
        let (a, b) = (Secret::insecure(), Secret::random().unwrap());
        let [a, b] = [&a, &b].map(|secret| Identity::server(secret).unwrap());
        assert!(a.common > 50, "no common start");
        assert_eq!(a.common, b.common);
        assert_eq!(a.certificate[..a.common], b.certificate[..b.common]);
        assert_ne!(a.certificate, b.certificate);
        assert_eq!(a.certificate.len(), b.certificate.len());
    }
}
