//! A flow with or without TLS around it.

use std::sync::Arc;

use super::{MOST_PLAIN, Secured, Side, TlsClient, TlsServer};
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

    /// A client's flow, which sends no filler; over TLS with these settings.
    pub(crate) fn client(tls: Option<&TlsClient>, flow: F) -> Self {
        match tls {
            None => Self::First(flow),
            Some(tls) => {
                let side = Side::Client(tls.clone());
                Self::Second(Box::new(Secured::new(side, Arc::default(), flow)))
            }
        }
    }

    /// A server's flow over TLS, which sends filler from `filler`.
    pub(crate) fn server(tls: TlsServer, filler: &Arc<[u8]>, flow: F) -> Self {
        Self::Second(Box::new(Secured::new(Side::Server(tls), Arc::clone(filler), flow)))
    }
}

/// What flows over TLS send filler from.
pub(crate) fn filler() -> Arc<[u8]> {
    filler::filler(MOST_PLAIN)
}
