//! One handshake ahead of a trial: a server that does not speak TLS, whose certificate is not
//! trusted, or that does not take the client's, must be known before anything is measured.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, Error, ProtocolVersion, SignatureScheme};

use super::client::{AGREED, TlsClient};
use super::session::agreed;
use crate::measure::socket_set::SocketSet;
use crate::worker::dial::{connect, note_preflight, wait_at_most};

/// How long a server that asked for a certificate has to say that it does not take it, ns.
const LAST_WORD_NS: Nanos = SECOND / 2;

/// Makes one connection, with its handshake, and drops it. Waits at most `timeout` ns, and never
/// more than 5 s. What was agreed on is noted.
pub(crate) fn reach(
    target: SocketAddr,
    client: &TlsClient,
    timeout: Nanos,
    notes: &SocketSet,
) -> Result<(), Fault> {
    let wait = wait_at_most(timeout);
    let fault =
        |why: String| Fault::environment(format!("cannot agree with {target} on TLS: {why}"));
    let asked = Arc::new(Asked::of(client));
    let mut config = ClientConfig::clone(&client.config);
    config.client_auth_cert_resolver = Arc::<Asked>::clone(&asked);
    let connection = ClientConnection::new(Arc::new(config), client.name.clone());
    let mut connection = connection.map_err(|error| fault(asked.explain(&error)))?;
    let until = clock::now().saturating_add(wait.as_nanos() as Nanos);
    let mut stream = connect(target, wait)?;
    note_preflight(notes);
    while connection.is_handshaking() {
        let left = Duration::from_nanos(until.saturating_sub(clock::now()));
        if left.is_zero() {
            return Err(fault(format!("the handshake is not over within {wait:?}")));
        }
        exchange(&mut connection, &mut stream, left, &asked).map_err(fault)?;
    }
    if let Some(needed) = &client.needed
        && connection.alpn_protocol() != Some(needed)
    {
        let needed = String::from_utf8_lossy(needed);
        return Err(fault(format!("it does not agree on the protocol {needed} (ALPN)")));
    }
    notes.note_setting(AGREED, || agreed(&connection));
    connection.send_close_notify();
    // It is gone either way.
    while connection.wants_write() && connection.write_tls(&mut stream).is_ok_and(|n| n > 0) {}
    // In TLS 1.2 the server has looked at the certificate before the handshake was over.
    if asked.was() && connection.protocol_version() == Some(ProtocolVersion::TLSv1_3) {
        let until = until.min(clock::now().saturating_add(LAST_WORD_NS));
        last_word(&mut connection, &mut stream, until)
            .map_err(|error| fault(asked.explain(&error)))?;
    }
    Ok(())
}

/// Listens until the server has closed the connection, or the time is over. In TLS 1.3 a server
/// looks at the client's certificate when the handshake is over for the client.
fn last_word(
    connection: &mut ClientConnection,
    stream: &mut TcpStream,
    until: Nanos,
) -> Result<(), Error> {
    loop {
        let left = Duration::from_nanos(until.saturating_sub(clock::now()));
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Ok(());
        }
        match connection.read_tls(stream) {
            // It says nothing against the certificate.
            Ok(0) | Err(_) => return Ok(()),
            Ok(_) => {
                if connection.process_new_packets()?.peer_has_closed() {
                    return Ok(());
                }
            }
        }
    }
}

/// The certificate of a client, which knows whether the server asked for one.
#[derive(Debug)]
struct Asked {
    own: Arc<dyn ResolvesClientCert>,
    was: AtomicBool,
}

impl Asked {
    fn of(client: &TlsClient) -> Self {
        let own = Arc::clone(&client.config.client_auth_cert_resolver);
        Self { own, was: AtomicBool::new(false) }
    }

    fn was(&self) -> bool {
        self.was.load(Ordering::Relaxed)
    }

    /// An error of TLS in words that say what to do.
    fn explain(&self, error: &Error) -> String {
        match error {
            Error::AlertReceived(alert) if self.was() && self.has_certs() => format!(
                "it asks for a certificate and does not take that of --tls-cert ({alert:?}): name \
                 one of an authority that it trusts"
            ),
            Error::AlertReceived(alert) if self.was() => format!(
                "it asks for a certificate of the client ({alert:?}): name one with --tls-cert and \
                 --tls-key"
            ),
            other => explain(other),
        }
    }
}

impl ResolvesClientCert for Asked {
    fn resolve(
        &self,
        authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.was.store(true, Ordering::Relaxed);
        self.own.resolve(authorities, schemes)
    }

    fn has_certs(&self) -> bool {
        self.own.has_certs()
    }
}

/// One step of a handshake: what has to be said, and then what comes.
fn exchange(
    connection: &mut ClientConnection,
    stream: &mut TcpStream,
    left: Duration,
    asked: &Asked,
) -> Result<(), String> {
    let said = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    };
    stream.set_read_timeout(Some(left)).map_err(said)?;
    stream.set_write_timeout(Some(left)).map_err(said)?;
    while connection.wants_write() {
        connection.write_tls(stream).map_err(said)?;
    }
    if connection.is_handshaking() && connection.wants_read() {
        match connection.read_tls(stream).map_err(said)? {
            0 => return Err("it closed the connection: does it speak TLS there?".to_owned()),
            _ => {
                connection.process_new_packets().map_err(|error| {
                    // The peer hears why.
                    let _ = connection.write_tls(stream);
                    asked.explain(&error)
                })?;
            }
        }
    }
    Ok(())
}

/// An error of TLS in words that say what to do.
fn explain(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => format!(
            "its certificate is not trusted ({why:?}): name its authority with --tls-ca, its name \
             with --tls-name, or say --insecure-tls"
        ),
        Error::InvalidMessage(_) => format!("{error}: does it speak TLS there?"),
        Error::PeerIncompatible(_) => format!("{error}: see --tls-version and --tls-cipher"),
        other => other.to_string(),
    }
}
