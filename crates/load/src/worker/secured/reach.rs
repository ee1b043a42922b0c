//! One handshake ahead of a trial: a server that does not speak TLS, or whose certificate is not
//! trusted, must be known before anything is measured.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hopbench_model::{Fault, Nanos};
use hopbench_sys::clock;
use rustls::{ClientConnection, Error};

use super::client::{AGREED, TlsClient};
use super::session::agreed;
use crate::measure::socket_set::SocketSet;
use crate::worker::dial::{connect, note_preflight, wait_at_most};

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
    let connection = ClientConnection::new(client.config.clone(), client.name.clone());
    let mut connection = connection.map_err(|error| fault(explain(&error)))?;
    let until = clock::now().saturating_add(wait.as_nanos() as Nanos);
    let mut stream = connect(target, wait)?;
    note_preflight(notes);
    while connection.is_handshaking() {
        let left = Duration::from_nanos(until.saturating_sub(clock::now()));
        if left.is_zero() {
            return Err(fault(format!("the handshake is not over within {wait:?}")));
        }
        exchange(&mut connection, &mut stream, left).map_err(fault)?;
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
    let _ = connection.write_tls(&mut stream);
    Ok(())
}

/// One step of a handshake: what has to be said, and then what comes.
fn exchange(
    connection: &mut ClientConnection,
    stream: &mut TcpStream,
    left: Duration,
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
                    explain(&error)
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
