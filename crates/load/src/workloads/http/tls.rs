//! The parameters of TLS with any server.

use std::path::PathBuf;

use clap::Args;
use hopbench_model::Problem;
use serde::{Deserialize, Serialize};

use super::bytes::read;
use crate::http::{Credential, Url};
use crate::measure::socket_set::SocketSet;
use crate::worker::secured::{TlsClient, TlsClientSettings};

/// Whether and how TLS is spoken.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub(in crate::workloads) struct TlsParams {
    /// Speak TLS; a URL with https:// says so, too
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tls: bool,
    /// Take any certificate of the server; noted in the record
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    insecure_tls: bool,
    /// Trust the authorities in this file of certificates (PEM) [default: those of this machine]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    tls_ca: Option<PathBuf>,
    /// Their certificates
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_authorities: Option<String>,
    /// The name of the server in TLS [default: the host of the URL]
    #[arg(long, value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_name: Option<String>,
    /// The only version of TLS to offer: 1.2 or 1.3 [default: both]
    #[arg(long, value_name = "VERSION")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_version: Option<String>,
    /// The only cipher to offer: aes-128-gcm, aes-256-gcm or chacha20-poly1305 [default: all]
    #[arg(long, value_name = "CIPHER")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_cipher: Option<String>,
    /// A full handshake for every connection
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_tls_resumption: bool,
}

/// The protocols that are offered in a handshake.
const HTTP_2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";
/// The setting of a client that does not check its server's certificate.
const UNCHECKED: &str = "tls_certificate";
/// The longest file of authorities, bytes.
const MOST_AUTHORITIES_BYTES: u64 = 1 << 20;

impl TlsParams {
    /// Reads the file that `--tls-ca` names.
    ///
    /// # Errors
    /// A file that cannot be read or is too long.
    pub(in crate::workloads) fn with_files(mut self) -> Result<Self, clap::Error> {
        if let Some(path) = self.tls_ca.take() {
            let bytes = read("--tls-ca", &path, MOST_AUTHORITIES_BYTES)?;
            self.tls_authorities = Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(self)
    }

    /// The URL of a text, which is asked over TLS where a flag says so.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(in crate::workloads) fn url(&self, text: Option<&str>) -> Result<Url, Problem> {
        let url = Url::parse(text.unwrap_or_default())
            .map_err(|error| Problem::new("URL", &error.found, error.expected))?;
        Ok(if self.tls { url.over_tls() } else { url })
    }

    /// How TLS is spoken, where it is. Whoever knows the trial of a target needs no other proof: an
    /// agent's certificate is its own.
    fn settings<'a>(
        &'a self,
        url: &'a Url,
        http2: bool,
        protocols: &'a [Vec<u8>],
        knows_trial: bool,
    ) -> Option<TlsClientSettings<'a>> {
        if !url.is_secure() {
            return None;
        }
        Some(TlsClientSettings {
            name: self.tls_name.as_deref().unwrap_or_else(|| url.host()),
            authorities: self.tls_authorities.as_deref(),
            trusts_anybody: self.insecure_tls || knows_trial && self.tls_authorities.is_none(),
            version: self.tls_version.as_deref(),
            cipher: self.tls_cipher.as_deref(),
            resumes: !self.no_tls_resumption,
            protocols,
            is_first_needed: http2,
        })
    }

    /// The client's end for HTTP/2, or for HTTP/1.1; `None`: TLS is not spoken. What it does not
    /// check is noted.
    ///
    /// # Errors
    /// Everything that is wrong with the parameters, or no authority that could be trusted.
    pub(in crate::workloads) fn client(
        &self,
        url: &Url,
        http2: bool,
        credential: Option<&Credential>,
        notes: &SocketSet,
    ) -> Result<Option<TlsClient>, Vec<Problem>> {
        let own = credential.map(Credential::protocol);
        let spoken = if http2 { HTTP_2 } else { HTTP_1_1 };
        let protocols: Vec<Vec<u8>> = [spoken.to_vec()].into_iter().chain(own).collect();
        let Some(settings) = self.settings(url, http2, &protocols, credential.is_some()) else {
            return Ok(None);
        };
        if settings.trusts_anybody {
            let why = if self.insecure_tls { "--insecure-tls" } else { "the agent's own" };
            notes.note_setting(UNCHECKED, || format!("not checked: {why}"));
        }
        settings.client().map(Some)
    }

    /// Everything that is wrong, where TLS is spoken.
    pub(in crate::workloads) fn problems(&self, url: &Url) -> Vec<Problem> {
        let settings = self.settings(url, false, &[], false);
        settings.map(|settings| settings.problems()).unwrap_or_default()
    }
}
