//! A flow with or without TLS around it.

use std::sync::Arc;

use hopbench_model::Nanos;

use super::{Entry, MOST_PLAIN, Secured, Side, TlsClient, TlsServer};
use crate::flow::Flow;
use crate::flow::either::Either;
use crate::worker::filler;

/// A flow: its bytes are those on the wire, or the content of TLS records.
pub(crate) type Layer<F> = Either<F, Box<Secured<F>>>;

impl<F: Flow> Layer<F> {
    /// Without TLS.
    pub(crate) fn plain(flow: F) -> Self {
        Self::First(flow)
    }

    /// A client's flow, which connects and sends no filler; over TLS with these settings.
    pub(crate) fn client(tls: Option<&TlsClient>, flow: F) -> Self {
        let entry = Entry::Connects { awaits_close: false };
        Self::of_client(tls, entry, &Arc::default(), flow)
    }

    /// A client's flow, which connects for each exchange, sends filler from `filler`, and lets the
    /// server close.
    pub(crate) fn connecting(tls: Option<&TlsClient>, filler: &Arc<[u8]>, flow: F) -> Self {
        Self::of_client(tls, Entry::Connects { awaits_close: true }, filler, flow)
    }

    /// A client's flow whose connection stands, which sends filler from `filler`. The handshake may
    /// take so long, ns.
    pub(crate) fn standing(
        tls: Option<&TlsClient>,
        handshake_ns: Nanos,
        filler: &Arc<[u8]>,
        flow: F,
    ) -> Self {
        Self::of_client(tls, Entry::Stands(handshake_ns), filler, flow)
    }

    fn of_client(tls: Option<&TlsClient>, entry: Entry, filler: &Arc<[u8]>, flow: F) -> Self {
        match tls {
            None => Self::First(flow),
            Some(tls) => {
                let side = Side::Client(tls.clone());
                Self::Second(Box::new(Secured::new(side, entry, Arc::clone(filler), flow)))
            }
        }
    }

    /// A server's flow over TLS, which sends filler from `filler`.
    pub(crate) fn server(tls: TlsServer, filler: &Arc<[u8]>, flow: F) -> Self {
        let entry = Entry::Stands(tls.handshake_ns);
        let side = Side::Server(tls);
        Self::Second(Box::new(Secured::new(side, entry, Arc::clone(filler), flow)))
    }

    /// The same, or without TLS where there are no settings.
    pub(crate) fn accepted(tls: Option<&TlsServer>, filler: &Arc<[u8]>, flow: F) -> Self {
        match tls {
            None => Self::First(flow),
            Some(tls) => Self::server(tls.clone(), filler, flow),
        }
    }
}

/// What flows over TLS send filler from.
pub(crate) fn filler() -> Arc<[u8]> {
    filler::filler(MOST_PLAIN)
}
