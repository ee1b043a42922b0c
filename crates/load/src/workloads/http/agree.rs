//! A look at a server of HTTP/2 ahead of a trial: one that does not speak it must be known before
//! anything is measured. Over TLS the handshake tells.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::{Fault, Nanos};
use hopbench_sys::clock;

use crate::http::h2::{Connection, ConnectionPlan};
use crate::measure::socket_set::SocketSet;
use crate::worker::dial::{connect, note_preflight, wait_at_most};

/// Makes one connection, and waits for the server's settings. Waits at most `timeout` ns, and never
/// more than 5 s.
pub(super) fn agree(
    target: SocketAddr,
    plan: &Arc<ConnectionPlan>,
    timeout: Nanos,
    notes: &SocketSet,
) -> Result<(), Fault> {
    let wait = wait_at_most(timeout);
    let fault = |why: String| {
        let remedy = if plan.is_call {
            "does a server of gRPC without TLS listen there? Otherwise say --tls"
        } else {
            "does it speak HTTP/2 without TLS there? Otherwise leave --http2 out"
        };
        Fault::environment(format!("cannot agree with {target} on HTTP/2: {why}: {remedy}"))
    };
    let said = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => fault("no answer in time".to_owned()),
        _ => fault(error.to_string()),
    };
    let until = clock::now().saturating_add(wait.as_nanos() as Nanos);
    let mut stream = connect(target, wait)?;
    note_preflight(notes);
    let mut connection = Connection::<()>::new(Arc::clone(plan));
    stream.set_write_timeout(Some(wait)).map_err(said)?;
    stream.write_all(connection.outgoing()).map_err(said)?;
    let mut bytes = [0; 4096];
    while !connection.is_ready() {
        let left = Duration::from_nanos(until.saturating_sub(clock::now()));
        if left.is_zero() {
            return Err(fault(format!("its settings are not there within {wait:?}")));
        }
        stream.set_read_timeout(Some(left)).map_err(said)?;
        match stream.read(&mut bytes).map_err(said)? {
            0 => return Err(fault("it closed the connection".to_owned())),
            got => connection.receive(&bytes[..got]).map_err(|error| fault(error.to_string()))?,
        }
    }
    Ok(())
}
