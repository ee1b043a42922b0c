//! Failures by reason: the words under which a record counts them.

use std::io::{Error, ErrorKind};

use hopbench_sys::errno;

use crate::http::{CallEnd, ResponseEnd, grpc};
use crate::measure::recorder::Reason;
use crate::worker::secured;

/// The connection attempt had no answer in time.
pub(super) const CONNECT_TIMEOUT: &str = "connect_timeout";
/// The answer was not complete in time.
pub(super) const TIMEOUT: &str = "timeout";
/// The peer closed the connection before the first byte of an answer.
pub(super) const CLOSED_EARLY: &str = "closed_early";
/// A connection of HTTP/2 on which the server broke the protocol.
pub(super) const BROKEN_PROTOCOL: &str = "http2_protocol";
/// The trial ended before the answer came.
pub(super) const UNFINISHED: &str = "unfinished";
/// No local port was free.
pub(super) const NO_LOCAL_PORT: &str = "no_local_port";

/// Why a connection could not be made.
pub(super) fn of_connect(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connect_refused",
        ErrorKind::TimedOut => CONNECT_TIMEOUT,
        ErrorKind::AddrNotAvailable => NO_LOCAL_PORT,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "reset",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "unreachable",
        // A handshake that failed, or an alert.
        ErrorKind::InvalidData => secured::reason(error),
        _ if errno::too_many_files(error) => "too_many_open_files",
        _ => "connect_failed",
    }
}

/// Why a connection broke.
pub(super) fn of_transfer(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "reset"
        }
        // The kernel gave up sending again.
        ErrorKind::TimedOut => TIMEOUT,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "unreachable",
        ErrorKind::InvalidData => secured::reason(error),
        _ => "connection_failed",
    }
}

/// Why an answer is an error; `None`: it is not. An answer that a proxy gave in the server's place
/// is counted by its status and the proxy's own word for it: `503 UF`. `messages` says how many
/// messages the answer to a call of gRPC should have.
#[inline]
pub(super) fn of_answer(end: &ResponseEnd, messages: Option<u32>) -> Option<Reason> {
    if end.status < 400 {
        let reason = end.call.as_ref().and_then(|call| of_call(call, messages))?;
        return Some(if end.flags.is_empty() {
            Reason::Borrowed(reason)
        } else {
            format!("{reason} {}", end.flags).into()
        });
    }
    if !end.flags.is_empty() {
        return Some(format!("{} {}", end.status, end.flags).into());
    }
    Some(Reason::Borrowed(match end.status {
        ..500 => "status_4xx",
        500..600 => "status_5xx",
        600.. => "status_other",
    }))
}

/// Why a call of gRPC failed; `None`: it did not.
fn of_call(call: &CallEnd, messages: Option<u32>) -> Option<&'static str> {
    let is_expected = messages.is_none_or(|messages| messages == call.messages);
    match call.status {
        Some(0) if call.is_whole && is_expected => None,
        Some(0) if call.is_whole => Some("grpc_wrong_count"),
        Some(0) => Some("grpc_cut_off"),
        Some(status) => Some(grpc::reason(status)),
        None => Some("grpc_no_status"),
    }
}
