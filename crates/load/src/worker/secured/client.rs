//! The client's end of TLS: whom it trusts, and what it offers.

use std::fmt;
use std::sync::{Arc, Once};

use hopbench_model::{EngineKind, Job, Problem};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};

use super::anybody::Anybody;
use super::identity::Identity;
use crate::measure::socket_set::SocketSet;

/// The setting with the version and the cipher suite that both ends agreed on.
pub(super) const AGREED: &str = "tls";
/// Sessions that a client keeps to resume: of one server all are of one name.
const KEPT_SESSIONS: usize = 32;

/// What a client's flows over TLS need.
#[derive(Clone)]
pub(crate) struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
    /// The protocol that the server has to agree on.
    pub(super) needed: Option<Vec<u8>>,
    resumes: bool,
    /// Where the first handshake is to note what both ends agreed on.
    notes: Option<Arc<Notes>>,
}

struct Notes {
    sockets: Arc<SocketSet>,
    once: Once,
}

impl TlsClient {
    /// The same with sessions of its own to resume: threads that share them would wait for each
    /// other.
    pub(super) fn apart(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = resumption(self.resumes);
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// The same, which shows a certificate to a server that asks for one.
    pub(crate) fn showing(mut self, certificate: Arc<SingleCertAndKey>) -> Self {
        Arc::make_mut(&mut self.config).client_auth_cert_resolver = certificate;
        self
    }

    /// The same, whose first handshake is noted there.
    pub(crate) fn noting(self, sockets: &Arc<SocketSet>) -> Self {
        let notes = Notes { sockets: Arc::clone(sockets), once: Once::new() };
        Self { notes: Some(Arc::new(notes)), ..self }
    }

    /// A handshake is over, in which both ends agreed on this.
    pub(super) fn note(&self, agreed: impl FnOnce() -> String) {
        if let Some(notes) = &self.notes {
            notes.once.call_once(|| notes.sockets.note_setting(AGREED, agreed));
        }
    }
}

/// The client's ends of a trial's flows: each thread has one of its own.
pub(crate) struct TlsClients(Vec<TlsClient>);

impl TlsClients {
    /// Those of a job; none where TLS is not spoken.
    pub(crate) fn of(tls: Option<&TlsClient>, job: &Job) -> Self {
        // Flow i is with thread i modulo threads.
        let threads = match job.engine {
            EngineKind::Threads => job.connections,
            _ => job.threads.min(job.connections),
        };
        Self(tls.map(|tls| (0..threads.max(1)).map(|_| tls.apart()).collect()).unwrap_or_default())
    }

    /// That of a flow.
    pub(crate) fn of_flow(&self, flow: u32) -> Option<&TlsClient> {
        self.0.get(flow as usize % self.0.len().max(1))
    }
}

fn resumption(resumes: bool) -> Resumption {
    if resumes { Resumption::in_memory_sessions(KEPT_SESSIONS) } else { Resumption::disabled() }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a client speaks TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TlsClientSettings<'a> {
    /// The name that is sent and checked: a host name or an address.
    pub(crate) name: &'a str,
    /// Certificates of the authorities that are trusted, in PEM; `None`: those of this machine.
    pub(crate) authorities: Option<&'a str>,
    /// Whether any certificate is taken.
    pub(crate) trusts_anybody: bool,
    /// What is shown to a server that asks for a certificate; `None`: nothing.
    pub(crate) identity: Option<Identity<'a>>,
    /// The only version that is offered: `1.2` or `1.3`; `None`: both.
    pub(crate) version: Option<&'a str>,
    /// The only cipher that is offered, of [`CIPHERS`]; `None`: all.
    pub(crate) cipher: Option<&'a str>,
    /// Whether later connections resume the session of earlier ones.
    pub(crate) resumes: bool,
    /// The protocols that are offered (ALPN), the preferred one first.
    pub(crate) protocols: &'a [Vec<u8>],
    /// Whether the server has to agree on the first of them.
    pub(crate) is_first_needed: bool,
}

impl TlsClientSettings<'_> {
    /// Everything that is wrong with them, without a look at this machine's authorities.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Err(problem) = self.server_name() {
            problems.push(problem);
        }
        if let Some(version) = self.version.filter(|version| !["1.2", "1.3"].contains(version)) {
            problems.push(Problem::new("--tls-version", version, "1.2 or 1.3"));
        }
        if let Some(cipher) = self.cipher.filter(|cipher| suite_of(cipher).is_none()) {
            let expected = CIPHERS.map(|(name, _)| name).join(", ");
            problems.push(Problem::new("--tls-cipher", cipher, expected));
        }
        if let Some(Err(problem)) = self.authorities.map(roots) {
            problems.push(problem);
        }
        problems.extend(self.identity.iter().flat_map(Identity::problems));
        problems
    }

    /// The flags that were given for what is offered, and what was found: they need TLS.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let flags = [
            ("--tls-version", self.version),
            ("--tls-cipher", self.cipher),
            ("--no-tls-resumption", (!self.resumes).then_some("true")),
        ];
        flags.into_iter().filter_map(|(flag, found)| Some((flag, found?)))
    }

    fn server_name(&self) -> Result<ServerName<'static>, Problem> {
        // A zone is no part of the name.
        let name = self.name.split_once('%').map_or(self.name, |(address, _)| address);
        ServerName::try_from(name.to_owned())
            .map_err(|_| Problem::new("--tls-name", name, "a host name or an address"))
    }

    /// The end that they describe.
    ///
    /// # Errors
    /// Everything that is wrong with them, or no authority that could be trusted.
    pub(crate) fn client(&self) -> Result<TlsClient, Vec<Problem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let name = self.server_name().map_err(|problem| vec![problem])?;
        let mut provider = rustls::crypto::ring::default_provider();
        if let Some(part) = self.cipher.and_then(suite_of) {
            provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()).contains(part));
        }
        let provider = Arc::new(provider);
        let versions = match self.version {
            Some("1.2") => vec![&TLS12],
            Some(_) => vec![&TLS13],
            None => vec![&TLS13, &TLS12],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| vec![Problem::new("--tls-version", "", error.to_string())])?;
        let mut config = if self.trusts_anybody {
            let anybody = Arc::new(Anybody(provider));
            builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth()
        } else {
            let roots = match self.authorities {
                Some(text) => roots(text).map_err(|problem| vec![problem])?,
                None => of_machine().map_err(|problem| vec![problem])?,
            };
            builder.with_root_certificates(roots).with_no_client_auth()
        };
        if let Some(identity) = &self.identity {
            let resolver = identity.resolver(config.crypto_provider());
            config.client_auth_cert_resolver = resolver.map_err(|problem| vec![problem])?;
        }
        config.alpn_protocols = self.protocols.to_vec();
        config.resumption = resumption(self.resumes);
        let needed = self.protocols.first().filter(|_| self.is_first_needed).cloned();
        let (config, resumes) = (Arc::new(config), self.resumes);
        Ok(TlsClient { config, name, needed, resumes, notes: None })
    }
}

/// The ciphers that can be chosen, and what the names of their suites have in common.
const CIPHERS: [(&str, &str); 3] = [
    ("aes-128-gcm", "AES_128_GCM"),
    ("aes-256-gcm", "AES_256_GCM"),
    ("chacha20-poly1305", "CHACHA20_POLY1305"),
];

fn suite_of(cipher: &str) -> Option<&'static str> {
    CIPHERS.iter().find(|(name, _)| *name == cipher).map(|(_, part)| *part)
}

/// The authorities of a text in PEM.
fn roots(text: &str) -> Result<RootCertStore, Problem> {
    let expected = "a file with at least one certificate in PEM";
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
        if added.is_none() {
            return Err(Problem::new("--tls-ca", "a certificate that cannot be read", expected));
        }
    }
    if roots.is_empty() {
        return Err(Problem::new("--tls-ca", "no certificate", expected));
    }
    Ok(roots)
}

/// The authorities that this machine trusts.
fn of_machine() -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let expected = "authorities to trust: name a file with --tls-ca, set SSL_CERT_FILE, or say \
                        --insecure-tls";
        return Err(Problem::new("TLS", "no certificate authority on this machine", expected));
    }
    Ok(roots)
}
