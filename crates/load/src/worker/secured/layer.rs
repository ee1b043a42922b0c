//! A flow with or without TLS around it.

use hopbench_model::Nanos;

use super::{Entry, Secured, Side, TlsClient, TlsServer};
use crate::flow::Flow;
use crate::flow::either::Either;

/// A flow: its bytes are those on the wire, or the content of TLS records.
pub(crate) type Layer<F> = Either<F, Box<Secured<F>>>;

impl<F: Flow> Layer<F> {
    /// A client's flow, which connects; over TLS with these settings.
    pub(crate) fn client(tls: Option<&TlsClient>, flow: F) -> Self {
        Self::of_client(tls, Entry::Connects { awaits_close: false }, flow)
    }

    /// A client's flow, which connects for each exchange, and lets the server close.
    pub(crate) fn connecting(tls: Option<&TlsClient>, flow: F) -> Self {
        Self::of_client(tls, Entry::Connects { awaits_close: true }, flow)
    }

    /// A client's flow whose connection stands. The handshake may take so long, ns.
    pub(crate) fn standing(tls: Option<&TlsClient>, handshake_ns: Nanos, flow: F) -> Self {
        Self::of_client(tls, Entry::Stands(handshake_ns), flow)
    }

    fn of_client(tls: Option<&TlsClient>, entry: Entry, flow: F) -> Self {
        match tls {
            None => Self::First(flow),
            Some(tls) => {
                Self::Second(Box::new(Secured::new(Side::Client(tls.clone()), entry, flow)))
            }
        }
    }

    /// A server's flow; over TLS where there are settings.
    pub(crate) fn accepted(tls: Option<&TlsServer>, flow: F) -> Self {
        match tls {
            None => Self::First(flow),
            Some(tls) => {
                let entry = Entry::Stands(tls.handshake_ns);
                Self::Second(Box::new(Secured::new(Side::Server(tls.clone()), entry, flow)))
            }
        }
    }
}
