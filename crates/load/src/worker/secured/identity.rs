//! The certificate that a client shows to a server that asks for one.

use std::fmt;
use std::sync::Arc;

use hopbench_model::Problem;
use hopbench_model::secret::REDACTED;
use rustls::Error;
use rustls::client::ResolvesClientCert;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

const CERT: &str = "--tls-cert";
const KEY: &str = "--tls-key";
/// What a file of certificates has.
const A_CERTIFICATE: &str = "a file with at least one certificate in PEM";
/// Where a key is, and what it is.
const A_KEY: &str = "a private key in PEM, not encrypted, in the file of --tls-cert or named with \
                     --tls-key";

/// A certificate and its key.
#[derive(Clone, Copy)]
pub(crate) struct Identity<'a> {
    /// The certificate, and behind it those up to its authority, in PEM.
    pub(crate) certificates: &'a str,
    /// The key of the first of them, in PEM, or [`REDACTED`].
    pub(crate) key: &'a str,
}

/// Without the key.
impl fmt::Debug for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.certificates).finish_non_exhaustive()
    }
}

impl Identity<'_> {
    /// Everything that is wrong with it, as far as it is known: a server's end, and who reads a
    /// plan, has no key.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let key = if self.key == REDACTED { None } else { Some(self.private_key()) };
        match (self.chain(), key) {
            (Ok(chain), Some(Ok(key))) => {
                certified(chain, key, &ring::default_provider()).err().into_iter().collect()
            }
            (chain, key) => chain.err().into_iter().chain(key.and_then(Result::err)).collect(),
        }
    }

    /// What shows it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn resolver(
        &self,
        provider: &CryptoProvider,
    ) -> Result<Arc<dyn ResolvesClientCert>, Problem> {
        let certified = certified(self.chain()?, self.private_key()?, provider)?;
        Ok(Arc::new(SingleCertAndKey::from(certified)))
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>, Problem> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.certificates.as_bytes()).collect();
        match chain {
            Ok(chain) if chain.is_empty() => {
                Err(Problem::new(CERT, "no certificate", A_CERTIFICATE))
            }
            Ok(chain) => Ok(chain),
            Err(_) => Err(unreadable()),
        }
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>, Problem> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(|_| Problem::new(KEY, "no private key", A_KEY))
    }
}

fn unreadable() -> Problem {
    Problem::new(CERT, "a certificate that cannot be read", A_CERTIFICATE)
}

/// Both, if they belong together.
fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, Problem> {
    CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        Error::InconsistentKeys(_) => {
            let expected = "that of the first certificate of --tls-cert";
            Problem::new(KEY, "the key of another certificate", expected)
        }
        Error::InvalidCertificate(_) => unreadable(),
        _ => Problem::new(KEY, "a key that cannot be used", "an RSA, ECDSA or Ed25519 key"),
    })
}
