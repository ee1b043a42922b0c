//! The errors of secrets.

use std::path::PathBuf;

use crate::hex::HexError;

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// A text that is no token. The text is not repeated: it may be most of one.
    #[error("token {0}")]
    Text(#[from] HexError),
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
