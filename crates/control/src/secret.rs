//! The token that both ends of a control session share, and the keys that are made from it.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hopbench_wire::FlowKey;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Hex digits of its text form.
const TEXT_DIGITS: usize = 2 * SECRET_BYTES;

/// A token file is not read beyond this; more than a token and white space is an error anyway.
const MOST_FILE_BYTES: u64 = 4096;

/// What `--insecure` uses: everybody knows it, so it keeps nobody out.
const WELL_KNOWN: [u8; SECRET_BYTES] = *b"hopbench --insecure: public key!";

/// 32 bytes that both ends know and nobody else; users call it the token.
///
/// Who has it can open control sessions. It always is 32 random bytes and never a password: what
/// the TLS handshake shows of an agent lets anybody try guesses at leisure. It can be neither
/// compared nor printed by accident; [`to_text`](Self::to_text) is the one way out.
#[derive(Clone)]
pub struct Secret {
    bytes: [u8; SECRET_BYTES],
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// A text that is no token. The text is not repeated: it may be most of one.
    #[error("token has {found} characters, expected {TEXT_DIGITS} hex digits")]
    Length {
        /// Characters of the text.
        found: usize,
    },
    /// A text that is no token.
    #[error("token has no hex digit at character {at}, expected {TEXT_DIGITS} hex digits")]
    Digit {
        /// Position of the first other character, from 1.
        at: usize,
    },
    /// The token file cannot be read.
    #[error("cannot read the token file {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The token file holds something else.
    #[error("token file {path}: {source}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with its text.
        source: Box<Self>,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for a token")]
    NoRandomness,
}

impl Secret {
    /// A new secret.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, SecretError> {
        Ok(Self { bytes: random_bytes()? })
    }

    /// The well-known secret of `--insecure`: whoever reaches the port gets in.
    pub fn insecure() -> Self {
        Self { bytes: WELL_KNOWN }
    }

    /// The secret in a token file: its text form, with white space around it.
    ///
    /// # Errors
    /// When the file cannot be read or holds anything else; the error names the file.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MOST_FILE_BYTES).read_to_end(&mut text))
            .map_err(|source| SecretError::Unreadable { path: path.to_owned(), source })?;
        String::from_utf8_lossy(&text)
            .parse()
            .map_err(|e| SecretError::Content { path: path.to_owned(), source: Box::new(e) })
    }

    /// The text form: 64 hex digits, for the user who has to take it to the other end.
    pub fn to_text(&self) -> String {
        self.bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The key of a run's flows. It is the same for every end that has the secret, so a number of
    /// a run must not be used twice with one secret.
    pub fn flow_key(&self, run: u32) -> FlowKey {
        FlowKey::new(self.derive("flow key", &run.to_be_bytes()))
    }

    /// The seed of the Ed25519 key that TLS servers prove themselves with.
    pub(crate) fn server_seed(&self) -> [u8; 32] {
        self.derive("tls server", &[])
    }

    /// The seed of the Ed25519 key that TLS clients prove themselves with.
    pub(crate) fn client_seed(&self) -> [u8; 32] {
        self.derive("tls client", &[])
    }

    /// HMAC-SHA256 of a purpose and its details. The secret is uniform already, so one keyed hash
    /// is all that a derivation takes.
    fn derive(&self, purpose: &str, details: &[u8]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &self.bytes));
        context.update(b"hopbench/1 ");
        context.update(purpose.as_bytes());
        // No purpose contains it, so no purpose and details read like others.
        context.update(&[0]);
        context.update(details);
        let mut out = [0; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }
}

/// 32 random bytes, for what no token may determine: cookie secrets, keys of one run.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random_bytes() -> Result<[u8; 32], SecretError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| SecretError::NoRandomness)?;
    Ok(bytes)
}

/// Reads the text form: 64 hex digits of either case, white space around them.
impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        let mut digits = Vec::with_capacity(TEXT_DIGITS);
        for (i, c) in text.chars().enumerate() {
            digits.push(c.to_digit(16).ok_or(SecretError::Digit { at: i + 1 })? as u8);
        }
        if digits.len() != TEXT_DIGITS {
            return Err(SecretError::Length { found: digits.len() });
        }
        let mut bytes = [0; SECRET_BYTES];
        for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks().0) {
            *byte = high << 4 | low;
        }
        Ok(Self { bytes })
    }
}

/// Hides the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Secret>().unwrap_err().to_string()
    }

    #[test]
    fn text_reads_back() {
        let secret = Secret::random().unwrap();
        let text = secret.to_text();
        for text in [text.clone(), text.to_uppercase(), format!("\n {text}\t\n")] {
            assert_eq!(text.parse::<Secret>().unwrap().bytes, secret.bytes);
        }
        assert_ne!(Secret::random().unwrap().bytes, secret.bytes);
        assert_eq!(Secret::insecure().bytes, Secret::insecure().bytes);
    }

    #[test]
    fn what_is_no_token_is_told_without_repeating_it() {
        assert_eq!(refused(""), "token has 0 characters, expected 64 hex digits");
        assert_eq!(refused(&"a".repeat(63)), "token has 63 characters, expected 64 hex digits");
        let typo = format!("{}O{}", "0".repeat(9), "0".repeat(54));
        assert_eq!(refused(&typo), "token has no hex digit at character 10, expected 64 hex digits");
        assert!(!refused("correct horse").contains("horse"));
        assert_eq!(format!("{:?}", Secret::insecure()), "Secret(..)");
    }

    #[test]
    fn token_files_are_trimmed_and_named() {
        let path = std::env::temp_dir().join(format!("hopbench-token-{}", std::process::id()));
        let secret = Secret::random().unwrap();
        std::fs::write(&path, format!("{}\n", secret.to_text())).unwrap();
        let read = Secret::from_file(&path).map(|s| s.bytes);
        std::fs::write(&path, "secret\n").unwrap();
        let wrong = Secret::from_file(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        let gone = Secret::from_file(&path).unwrap_err();
        assert_eq!(read.unwrap(), secret.bytes);
        for (error, part) in [(wrong, "no hex digit"), (gone, "No such file")] {
            let error = error.to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn an_endless_token_file_is_refused() {
        let error = Secret::from_file(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, SecretError::Content { .. }), "{error}");
    }

    #[test]
    fn keys_differ_by_purpose_run_and_secret() {
        let (a, b) = (Secret::insecure(), Secret::random().unwrap());
        let keys = [&a, &b].map(|secret| {
            [
                secret.flow_key(1).to_hex(),
                secret.flow_key(2).to_hex(),
                FlowKey::new(secret.server_seed()).to_hex(),
                FlowKey::new(secret.client_seed()).to_hex(),
                secret.to_text(),
            ]
        });
        let distinct: std::collections::BTreeSet<_> = keys.iter().flatten().collect();
        assert_eq!(distinct.len(), 10);
        assert_eq!(a.flow_key(1).to_hex(), Secret::insecure().flow_key(1).to_hex());
    }
}
