//! Credentials of an agent: its own key pair, and the conductor whose sessions it takes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::conductor::{RunKey, RunKeyError};
use crate::hex::HexError;
use crate::keys::{KeyPair, PublicKey};
use crate::secret::{MOST_FILE_BYTES, Secret};

/// An agent's key pair and the public key of its conductor. Who reads those of one agent can pass
/// for that agent; it can open a session neither to it nor to another.
#[derive(Debug, Clone)]
pub struct Credentials {
    pub(crate) keys: KeyPair,
    pub(crate) conductor: PublicKey,
    run: Option<RunKey>,
}

/// Why there are no credentials.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("cannot read the credentials file {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("credentials file {path}: {source}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with its text.
        source: Box<Self>,
    },
    /// Not two words.
    #[error("found {found} words, expected 2: the agent's key and RUN:KEY of the conductor")]
    Words {
        /// Words of the text.
        found: usize,
    },
    /// The first word is no key.
    #[error("the agent's key {0}")]
    Key(HexError),
    /// The second word is no conductor.
    #[error("the conductor: {0}")]
    Conductor(RunKeyError),
}

impl Credentials {
    /// Those of an agent that whoever has the token may drive.
    pub fn of_token(secret: &Secret) -> Self {
        Self { keys: secret.server_keys(), conductor: secret.client_keys().public(), run: None }
    }

    /// Those of an agent of a run, whose permits it needs.
    pub fn of_run(keys: KeyPair, run: RunKey) -> Self {
        Self { keys, conductor: run.key(), run: Some(run) }
    }

    /// The run whose permits the agent needs before it does anything; `None`: it needs none.
    pub fn run(&self) -> Option<RunKey> {
        self.run
    }

    /// The text form of [`Credentials::of_run`], for the agent's file.
    pub fn text(keys: &KeyPair, run: &RunKey) -> Zeroizing<String> {
        let seed = Zeroizing::new(crate::hex::write(keys.seed()));
        Zeroizing::new(format!("{} {run}\n", *seed))
    }

    /// Those in a file: their text form, with any white space.
    ///
    /// # Errors
    /// When the file cannot be read or holds anything else; the error names the file.
    pub fn from_file(path: &Path) -> Result<Self, CredentialsError> {
        let mut text = Zeroizing::new(Vec::new());
        File::open(path)
            .and_then(|file| file.take(MOST_FILE_BYTES).read_to_end(&mut text))
            .map_err(|source| CredentialsError::Unreadable { path: path.to_owned(), source })?;
        let text = Zeroizing::new(String::from_utf8_lossy(&text).into_owned());
        let content = |e| CredentialsError::Content { path: path.to_owned(), source: Box::new(e) };
        text.parse().map_err(content)
    }
}

impl From<&Secret> for Credentials {
    fn from(secret: &Secret) -> Self {
        Self::of_token(secret)
    }
}

impl From<Secret> for Credentials {
    fn from(secret: Secret) -> Self {
        Self::of_token(&secret)
    }
}

impl FromStr for Credentials {
    type Err = CredentialsError;

    fn from_str(text: &str) -> Result<Self, CredentialsError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [key, run] = words[..] else {
            return Err(CredentialsError::Words { found: words.len() });
        };
        let keys = key.parse().map_err(CredentialsError::Key)?;
        Ok(Self::of_run(keys, run.parse().map_err(CredentialsError::Conductor)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conductor::Conductor;

    #[test]
    fn text_reads_back_and_errors_repeat_no_key() {
        let (keys, run) = (KeyPair::random().unwrap(), Conductor::new().unwrap().run_key());
        let text = Credentials::text(&keys, &run);
        let read: Credentials = text.parse().unwrap();
        assert_eq!(
            (read.keys.seed(), read.conductor, read.run()),
            (keys.seed(), run.key(), Some(run))
        );
        let seed = crate::hex::write(keys.seed());
        for bad in [
            seed.clone(),
            format!("{seed}0 {run}"),
            format!("{seed} {run}0"),
            format!("{run} {seed}"),
        ] {
            let said = bad.parse::<Credentials>().unwrap_err().to_string();
            assert!(!said.contains(&seed[..8]), "{said}");
        }
        assert!(Credentials::of_token(&Secret::insecure()).run().is_none());
        assert!(!format!("{read:?}").contains(&seed[..8]));
        let endless = Credentials::from_file(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(endless, CredentialsError::Content { .. }), "{endless}");
    }
}
