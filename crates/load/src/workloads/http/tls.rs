//! The parameters of TLS with any server.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::error::ErrorKind;
use hopbench_model::Problem;
use serde::{Deserialize, Serialize};

use super::bytes::{read, refused};
use crate::http::{Credential, Url};
use crate::measure::socket_set::SocketSet;
use crate::worker::secured::{Identity, TlsClient, TlsClientSettings};

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
    /// Show the certificate in this file, and those behind it (PEM), to a server that asks for one
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    tls_cert: Option<PathBuf>,
    /// Those certificates
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_certificates: Option<String>,
    /// The private key of that certificate (PEM); no record has it [default: in the file of
    /// --tls-cert]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    tls_key: Option<PathBuf>,
    /// That key
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_private_key: Option<String>,
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
/// The longest file of certificates or of a key, bytes.
const MOST_PEM_BYTES: u64 = 1 << 20;
/// How the label of a part of a file ends that has a private key: `EC PRIVATE KEY`.
const PRIVATE_KEY: &str = "PRIVATE KEY";
/// The label of a part that has a certificate.
const CERTIFICATE: &str = "CERTIFICATE";

impl TlsParams {
    /// Reads the files that `--tls-ca`, `--tls-cert` and `--tls-key` name. Of a file with both, the
    /// certificates are kept apart from the key, which is a secret.
    ///
    /// # Errors
    /// A file that cannot be read or is too long, or a key without a certificate.
    pub(in crate::workloads) fn with_files(mut self) -> Result<Self, clap::Error> {
        if let Some(path) = self.tls_ca.take() {
            let text = pem("--tls-ca", &path)?;
            // As it was given, like in older plans, unless that would show a key.
            let has_key = text.contains(PRIVATE_KEY);
            self.tls_authorities = Some(if has_key { certificates(&text) } else { text });
        }
        match (self.tls_cert.take(), self.tls_key.take()) {
            (Some(path), key) => {
                let text = pem("--tls-cert", &path)?;
                self.tls_certificates = Some(certificates(&text));
                let key = key.map_or(Ok(text), |path| pem("--tls-key", &path))?;
                self.tls_private_key = Some(parts(&key, |label| label.ends_with(PRIVATE_KEY)));
            }
            (None, Some(key)) => {
                let expected = "its certificate beside it: name that with --tls-cert";
                return Err(refused("--tls-key", &key, ErrorKind::ValueValidation, expected));
            }
            (None, None) => {}
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
    ) -> TlsClientSettings<'a> {
        TlsClientSettings {
            name: self.tls_name.as_deref().unwrap_or_else(|| url.host()),
            authorities: self.tls_authorities.as_deref(),
            trusts_anybody: self.insecure_tls || knows_trial && self.tls_authorities.is_none(),
            identity: self.tls_certificates.as_deref().map(|certificates| Identity {
                certificates,
                key: self.tls_private_key.as_deref().unwrap_or_default(),
            }),
            version: self.tls_version.as_deref(),
            cipher: self.tls_cipher.as_deref(),
            resumes: !self.no_tls_resumption,
            protocols,
            is_first_needed: http2,
        }
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
        if !url.is_secure() {
            return Ok(None);
        }
        let own = credential.map(Credential::protocol);
        let spoken = if http2 { HTTP_2 } else { HTTP_1_1 };
        let protocols: Vec<Vec<u8>> = [spoken.to_vec()].into_iter().chain(own).collect();
        let settings = self.settings(url, http2, &protocols, credential.is_some());
        if settings.trusts_anybody {
            let why = if self.insecure_tls { "--insecure-tls" } else { "the agent's own" };
            notes.note_setting(UNCHECKED, || format!("not checked: {why}"));
        }
        settings.client().map(Some)
    }

    /// Everything that is wrong, where TLS is spoken, or what nobody could do without it.
    pub(in crate::workloads) fn problems(&self, url: &Url) -> Vec<Problem> {
        let settings = self.settings(url, false, &[], false);
        if url.is_secure() {
            return settings.problems();
        }
        let shown = self.tls_certificates.is_some().then_some("--tls-cert");
        let given = shown.into_iter().chain(settings.given().map(|(flag, _)| flag));
        given.map(|flag| Problem::new(flag, url, "a URL with https://, or --tls")).collect()
    }
}

/// The text of a file in PEM that a flag names.
fn pem(flag: &str, path: &Path) -> Result<String, clap::Error> {
    let bytes = read(flag, path, MOST_PEM_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The certificates in a text in PEM.
fn certificates(text: &str) -> String {
    parts(text, |label| label == CERTIFICATE)
}

/// The parts of a text in PEM whose labels are wanted, line by line. A line ends where it does for
/// who reads keys and certificates: a part has nothing that this reader takes for another one.
fn parts(text: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let (mut out, mut label) = (String::new(), None);
    for line in text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()) {
        let named = |mark: &str| line.strip_prefix(mark)?.strip_suffix("-----");
        let begun = named("-----BEGIN ");
        if begun.is_some() {
            label = begun.filter(|label| is_wanted(label));
        }
        // Whatever is neither ends a part, and is in none unless it is its mark.
        let ends = begun.is_none() && !line.bytes().all(is_base64);
        if label.is_some() && (!ends || named("-----END ") == label) {
            out.push_str(line);
            out.push('\n');
        }
        if ends {
            label = None;
        }
    }
    out
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{Command, FromArgMatches};
    use hopbench_model::secret::REDACTED;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<TlsParams, clap::Error> {
        let command = TlsParams::augment_args(Command::new("tls").no_binary_name(true));
        TlsParams::from_arg_matches(&command.try_get_matches_from(arguments)?)?.with_files()
    }

    /// A certificate and its key, in PEM.
    fn made() -> (String, String) {
        let own = rcgen::generate_simple_self_signed(["c.test".to_owned()]).unwrap();
        (own.cert.pem(), own.signing_key.serialize_pem())
    }

    /// Their problems, where TLS is spoken.
    fn wrong(params: &TlsParams) -> Vec<String> {
        let url = Url::parse("https://h/").unwrap();
        params.problems(&url).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_key_is_kept_apart_from_its_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = made();
        let put = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name).to_string_lossy().into_owned()
        };
        let both = put("both", &format!("Subject: c\n{key}{certificate}"));
        let with_returns = put("with_returns", &format!("{key}{certificate}").replace('\n', "\r"));
        let with_both = put("with_both", &format!("{certificate}{key}").replace('\n', "\r\n"));
        let (cert, private) = (put("cert", &certificate), put("key", &key));
        for arguments in [
            &["--tls-cert", &both][..],
            &["--tls-cert", &cert, "--tls-key", &private],
            &["--tls-cert", &with_returns],
            &["--tls-cert", &with_both],
        ] {
            let params = parse(arguments).unwrap();
            let shown = params.tls_certificates.as_deref().unwrap();
            assert!(shown.contains("BEGIN CERTIFICATE") && !shown.contains("PRIVATE"), "{shown}");
            let hidden = params.tls_private_key.as_deref().unwrap();
            assert!(hidden.contains("PRIVATE KEY") && !hidden.contains("CERTIFICATE"));
            assert!(wrong(&params).is_empty(), "{:?}", wrong(&params));
        }
        let secret = key.lines().nth(1).unwrap();
        let trusted = |path: &str| parse(&["--tls-ca", path]).unwrap().tls_authorities.unwrap();
        for path in [&both, &with_returns, &with_both] {
            let trusted = trusted(path);
            assert!(trusted.contains("BEGIN CERTIFICATE"), "{trusted}");
            assert!(!trusted.contains("PRIVATE") && !trusted.contains(secret), "{trusted}");
        }
        // A certificate that is cut off ends where the next part begins, and at what is none of it.
        for between in ["", "# ", "-----BEGIN "] {
            let text = format!("-----BEGIN CERTIFICATE-----\nAAAA\n{between}{key}");
            let trusted = trusted(&put("cut", &text));
            assert!(!trusted.contains("PRIVATE") && !trusted.contains(secret), "{trusted}");
        }
        // A plan of before has such a text as it was given.
        let commented = format!("Issuer: d\r\n{certificate}\n");
        assert_eq!(trusted(&put("commented", &commented)), commented);
    }

    #[test]
    fn a_certificate_that_nobody_asks_for_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = made();
        let path = folder.path().join("both");
        fs::write(&path, certificate + &key).unwrap();
        let path = path.to_string_lossy();
        for (more, expected) in [(&["--tls"][..], 0), (&[], 1)] {
            let params = parse(&[&["--tls-cert", &*path][..], more].concat()).unwrap();
            let url = params.url(Some("http://h/")).unwrap();
            let problems = params.problems(&url);
            assert_eq!(problems.len(), expected, "{problems:?}");
            let is_told = |problem: &Problem| {
                let told = problem.to_string();
                told.starts_with("--tls-cert: found `http://h") && told.ends_with("or --tls")
            };
            assert!(problems.iter().all(is_told), "{problems:?}");
        }
    }

    #[test]
    fn a_certificate_without_its_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let ((certificate, key), (_, other)) = (made(), made());
        let put = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name).to_string_lossy().into_owned()
        };
        let (cert, private) = (put("cert", &certificate), put("key", &key));
        let (other, empty) = (put("other", &other), put("empty", ""));
        let garbled = put("garbled", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
        let locked = put("locked", &key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"));
        for (certificate, key, expected) in [
            (&cert, &other, &["--tls-key: found `the key of another certificate`"][..]),
            (&cert, &empty, &["--tls-key: found `no private key`"]),
            (&cert, &locked, &["--tls-key: found `no private key`"]),
            (&empty, &private, &["--tls-cert: found `no certificate`"]),
            (&garbled, &private, &["--tls-cert: found `a certificate that cannot be read`"]),
            (&empty, &empty, &["--tls-cert: found", "--tls-key: found"]),
        ] {
            let params = parse(&["--tls-cert", certificate, "--tls-key", key]).unwrap();
            let found = wrong(&params);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
            let url = Url::parse("https://h/").unwrap();
            assert!(params.client(&url, false, None, &SocketSet::default()).is_err(), "{found:?}");
        }
        let alone = wrong(&parse(&["--tls-cert", &cert]).unwrap());
        assert!(alone.len() == 1 && alone[0].contains("in the file of --tls-cert"), "{alone:?}");
        for (arguments, part) in [
            (&["--tls-key", &private][..], "--tls-key: found `"),
            (&["--tls-cert", "/nowhere"], "--tls-cert: found `/nowhere`, expected a file"),
            (&["--tls-cert", &cert, "--tls-key", "/nowhere"], "--tls-key: found `/nowhere`"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn a_key_that_was_taken_out_is_nothing_wrong_and_no_key() {
        let (certificate, _) = made();
        let read = |key: &str| -> TlsParams {
            let value = serde_json::json!({
                "insecure_tls": true, "tls_certificates": certificate, "tls_private_key": key,
            });
            serde_json::from_value(value).unwrap()
        };
        let params = read(REDACTED);
        assert!(wrong(&params).is_empty(), "{:?}", wrong(&params));
        let url = Url::parse("https://h/").unwrap();
        let problems = params.client(&url, false, None, &SocketSet::default()).unwrap_err();
        assert!(problems[0].to_string().contains("no private key"), "{problems:?}");
    }
}
