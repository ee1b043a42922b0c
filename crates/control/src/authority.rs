//! The certificate authority of a run, by which its proxies know each other.

use hopbench_model::Fault;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
    SanType,
};
use time::{Duration, OffsetDateTime};

/// Clocks of two machines may differ.
const BEFORE: Duration = Duration::DAY;
/// No testbed stands longer, a lab that was built by hand neither.
const AFTER: Duration = Duration::days(365);

/// An authority that only the proxies of one run believe. Its key is in this process' memory and
/// nowhere else.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Certificate,
}

/// A certificate that an authority gave, with its key.
#[derive(Clone)]
pub struct Issued {
    /// A certificate, PEM.
    pub certificate: String,
    /// The key of that, PEM.
    pub key: String,
    /// The authority's own certificate, PEM.
    pub authority: String,
}

/// The key stays out of logs.
impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").finish_non_exhaustive()
    }
}

/// The key stays out of logs.
impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, Fault> {
        let made = || {
            let mut params = params("authority");
            params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
            params.key_usages =
                vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
            let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
            let certificate = params.self_signed(&key)?;
            Ok(Self { issuer: Issuer::new(params, key), certificate })
        };
        made().map_err(|error| failed("an authority", &error))
    }

    /// The certificate by which a proxy proves to others that it is `uri`.
    ///
    /// # Errors
    /// A URI that is not ASCII.
    pub fn issue(&self, uri: &str) -> Result<Issued, Fault> {
        let made = || {
            let mut params = params("proxy");
            params.subject_alt_names = vec![SanType::URI(uri.try_into()?)];
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            // A proxy is both: the server of its peers, and the client of the next proxy.
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
            params.use_authority_key_identifier_extension = true;
            let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
            let certificate = params.signed_by(&key, &self.issuer)?;
            Ok(Issued {
                certificate: certificate.pem(),
                key: key.serialize_pem(),
                authority: self.certificate.pem(),
            })
        };
        made().map_err(|error| failed(&format!("a certificate for {uri}"), &error))
    }
}

/// The part of a certificate that all have.
fn params(who: &str) -> CertificateParams {
    let now = OffsetDateTime::now_utc();
    let mut params = CertificateParams::default();
    params.not_before = now - BEFORE;
    params.not_after = now + AFTER;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("hopbench {who}"));
    params
}

fn failed(what: &str, error: &rcgen::Error) -> Fault {
    Fault::environment(format!("cannot make {what}: {error}"))
}
