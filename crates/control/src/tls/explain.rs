//! The explanation of a failed handshake for the user.

use rustls::{AlertDescription as Alert, CertificateError, Error};

/// Why the two ends did not come together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is hopbench, but the secrets differ.
    #[error("the other end has another token")]
    OtherToken,
    /// It is something else, or pretends to be hopbench.
    #[error("the other end is not hopbench: {why}")]
    NotHopbench {
        /// What gave it away.
        why: String,
    },
    /// The session broke for another reason.
    #[error("the TLS session broke: {why}")]
    Broken {
        /// What the TLS library says.
        why: String,
    },
}

/// Tells what a TLS error says of the other end.
///
/// In TLS 1.3 the client is done before the server has judged it. A client can see the server's
/// refusal as late as in its first read. The end of the stream during a handshake is no TLS error;
/// a hopbench agent always sends an alert first.
pub fn explain(error: &Error) -> Refusal {
    let why = error.to_string();
    match error {
        Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
        | Error::AlertReceived(Alert::AccessDenied) => Refusal::OtherToken,
        Error::InvalidCertificate(_)
        | Error::NoCertificatesPresented
        | Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. }
        | Error::PeerIncompatible(_)
        | Error::PeerMisbehaved(_)
        | Error::AlertReceived(
            Alert::UnexpectedMessage
            | Alert::HandshakeFailure
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateUnknown
            | Alert::IllegalParameter
            | Alert::UnknownCA
            | Alert::DecodeError
            | Alert::DecryptError
            | Alert::ProtocolVersion
            | Alert::InsufficientSecurity
            | Alert::MissingExtension
            | Alert::UnsupportedExtension
            | Alert::UnrecognisedName
            | Alert::CertificateRequired
            | Alert::NoApplicationProtocol,
        ) => Refusal::NotHopbench { why },
        _ => Refusal::Broken { why },
    }
}
