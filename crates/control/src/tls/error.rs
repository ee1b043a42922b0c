//! The errors of a TLS configuration.

/// Why there is no TLS configuration.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate could be made.
    #[error("cannot make the {end} certificate: {source}")]
    Certificate {
        /// `server`, `client` or `target`.
        end: &'static str,
        /// What the generator says.
        source: rcgen::Error,
    },
    /// The TLS library refuses the configuration.
    #[error("cannot configure TLS: {0}")]
    Config(#[from] rustls::Error),
}
