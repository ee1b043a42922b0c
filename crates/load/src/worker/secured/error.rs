//! Errors of TLS as those of their connection, and what records count them as.

use std::io;

use rustls::AlertDescription;
use thiserror::Error;

/// What has no reason of its own: the handshake failed, or a record could not be read.
const TLS_FAILED: &str = "tls_failed";

#[derive(Debug, Error)]
#[error("TLS: {0}")]
struct Broken(rustls::Error);

/// An error of TLS as one of its connection.
pub(super) fn broken(error: &rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Broken(error.clone()))
}

/// The peer ended the connection inside the handshake.
pub(super) fn early_end() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the connection ended inside the TLS handshake")
}

/// The reason under which records count an error of TLS: that of the peer's alert, if it sent one
/// that says something of certificates.
pub(crate) fn reason(error: &io::Error) -> &'static str {
    let broken = error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>());
    match broken {
        Some(Broken(rustls::Error::AlertReceived(alert))) => of_alert(*alert),
        _ => TLS_FAILED,
    }
}

fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired => "tls_certificate_required",
        AlertDescription::BadCertificate => "tls_bad_certificate",
        AlertDescription::UnsupportedCertificate => "tls_unsupported_certificate",
        AlertDescription::CertificateRevoked => "tls_certificate_revoked",
        AlertDescription::CertificateExpired => "tls_certificate_expired",
        AlertDescription::CertificateUnknown => "tls_certificate_unknown",
        AlertDescription::UnknownCA => "tls_unknown_ca",
        AlertDescription::AccessDenied => "tls_access_denied",
        // What servers of TLS 1.2 say for want of a certificate.
        AlertDescription::HandshakeFailure => "tls_handshake_failure",
        _ => TLS_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_about_certificates_have_reasons_of_their_own() {
        for (alert, expected) in [
            (AlertDescription::CertificateRequired, "tls_certificate_required"),
            (AlertDescription::UnknownCA, "tls_unknown_ca"),
            (AlertDescription::InternalError, "tls_failed"),
        ] {
            let error = broken(&rustls::Error::AlertReceived(alert));
            assert_eq!(reason(&error), expected);
            assert_eq!(error.to_string(), format!("TLS: received fatal alert: {alert:?}"));
        }
        assert_eq!(reason(&broken(&rustls::Error::DecryptError)), "tls_failed");
        assert_eq!(reason(&early_end()), "tls_failed");
    }
}
