//! The texts for connections that cannot be had, or break.

use hopbench_model::Fault;
use hopbench_sys::errno;

use crate::flow::{Event, Op};

/// An error of a socket in words that say what to do.
pub(crate) fn explain(error: &std::io::Error) -> String {
    use std::io::ErrorKind as K;
    match error.kind() {
        K::AddrNotAvailable => {
            "no local port is free: see net.ipv4.ip_local_port_range, or use fewer new connections"
                .to_owned()
        }
        K::ConnectionRefused => "connection refused: nothing listens there".to_owned(),
        K::TimedOut => "connection timed out: a firewall or NetworkPolicy may drop it".to_owned(),
        _ if errno::too_many_files(error) => {
            "too many open files: raise the limit with `ulimit -n`".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Ends the trial over an event that a flow has no use for; `closed` is what it means when the
/// other end closed.
pub(crate) fn lost(event: &Event<'_>, closed: &str) -> Op {
    let why = match event {
        Event::Closed => closed.to_owned(),
        Event::TimedOut => "no answer within --timeout".to_owned(),
        Event::Failed(error) => explain(error),
        other => format!("unexpected {other:?}"),
    };
    Op::Abort(Box::new(Fault::measuring(format!("a connection was lost: {why}"))))
}
