//! The token that both ends of a control session by hand share, and the key pairs that are made
//! from it.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use ring::hmac;
use zeroize::Zeroizing;

pub use crate::error::SecretError;
use crate::hex;
use crate::keys::KeyPair;
pub use crate::keys::random_bytes;

/// Bytes of a secret.
const SECRET_BYTES: usize = hex::BYTES;

/// A token file is not read beyond this; more than a token and white space is an error anyway.
pub(crate) const MOST_FILE_BYTES: u64 = 4096;

/// What `--insecure` uses: everybody knows it, so it keeps nobody out.
const WELL_KNOWN: [u8; SECRET_BYTES] = *b"hopbench --insecure: public key!";

/// 32 bytes that both ends know and nobody else; users call it the token.
///
/// Who has it can open control sessions. It always is 32 random bytes and never a password: what
/// the TLS handshake shows of an agent lets anybody try guesses at leisure. It can be neither
/// compared nor printed by accident; [`to_text`](Self::to_text) is the one way out. Its bytes are
/// overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret {
    bytes: Zeroizing<[u8; SECRET_BYTES]>,
}

impl Secret {
    /// A new secret.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, SecretError> {
        Ok(Self { bytes: Zeroizing::new(random_bytes()?) })
    }

    /// The well-known secret of `--insecure`: whoever reaches the port gets in.
    pub fn insecure() -> Self {
        Self { bytes: Zeroizing::new(WELL_KNOWN) }
    }

    /// The secret in a token file: its text form, with white space around it.
    ///
    /// # Errors
    /// When the file cannot be read or holds anything else; the error names the file.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let mut text = Zeroizing::new(Vec::new());
        File::open(path)
            .and_then(|file| file.take(MOST_FILE_BYTES).read_to_end(&mut text))
            .map_err(|source| SecretError::Unreadable { path: path.to_owned(), source })?;
        String::from_utf8_lossy(&text)
            .parse()
            .map_err(|e| SecretError::Content { path: path.to_owned(), source: Box::new(e) })
    }

    /// The text form: 64 hex digits, for the user who has to take it to the other end.
    pub fn to_text(&self) -> String {
        hex::write(&*self.bytes)
    }

    /// The key pair that TLS servers prove themselves with.
    pub(crate) fn server_keys(&self) -> KeyPair {
        KeyPair::of(self.derive("tls server"))
    }

    /// The key pair that TLS clients prove themselves with.
    pub(crate) fn client_keys(&self) -> KeyPair {
        KeyPair::of(self.derive("tls client"))
    }

    /// HMAC-SHA256 of a purpose. The secret is uniform already, so one keyed hash is all that a
    /// derivation takes.
    fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &*self.bytes));
        context.update(b"hopbench/1 ");
        context.update(purpose.as_bytes());
        // Ends the purpose; none contains it.
        context.update(&[0]);
        let mut out = Zeroizing::new([0; 32]);
        out.copy_from_slice(context.sign().as_ref());
        out
    }
}

/// Reads the text form: 64 hex digits of either case, white space around them.
impl FromStr for Secret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        Ok(Self { bytes: hex::read(text.trim())? })
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
        assert_eq!(
            refused(&typo),
            "token has no hex digit at character 10, expected 64 hex digits"
        );
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
    fn keys_differ_by_purpose_and_secret() {
        let (a, b) = (Secret::insecure(), Secret::random().unwrap());
        let keys = [&a, &b].map(|secret| {
            let pairs = [secret.server_keys(), secret.client_keys()];
            pairs
                .map(|pair| hex::write(pair.seed()))
                .into_iter()
                .chain([secret.to_text()])
                .collect::<Vec<_>>()
        });
        let distinct: std::collections::BTreeSet<_> = keys.iter().flatten().collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(a.server_keys().public(), Secret::insecure().server_keys().public());
    }
}
