//! A flow with or without TLS around it.

use std::sync::Arc;

use hopbench_model::Nanos;

use super::{MOST_PLAIN, Secured, Side, TlsClient, TlsServer};
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::filler;

/// A flow, over TLS or not.
pub(crate) enum Layer<F> {
    /// Its bytes are those on the wire.
    Plain(F),
    /// They are the content of TLS records.
    Tls(Box<Secured<F>>),
}

impl<F: Flow> Layer<F> {
    /// Without TLS.
    pub(crate) fn plain(flow: F) -> Self {
        Self::Plain(flow)
    }

    /// A client's flow, which sends no filler; over TLS with these settings.
    pub(crate) fn client(tls: Option<&TlsClient>, flow: F) -> Self {
        match tls {
            None => Self::Plain(flow),
            Some(tls) => {
                let side = Side::Client(tls.clone());
                Self::Tls(Box::new(Secured::new(side, Arc::default(), flow)))
            }
        }
    }

    /// A server's flow over TLS, which sends filler from `filler`.
    pub(crate) fn server(tls: TlsServer, filler: &Arc<[u8]>, flow: F) -> Self {
        Self::Tls(Box::new(Secured::new(Side::Server(tls), Arc::clone(filler), flow)))
    }
}

/// What flows over TLS send filler from.
pub(crate) fn filler() -> Arc<[u8]> {
    filler::filler(MOST_PLAIN)
}

macro_rules! inner {
    ($layer:expr, $flow:ident => $call:expr) => {
        match $layer {
            Layer::Plain($flow) => $call,
            Layer::Tls($flow) => $call,
        }
    };
}

impl<F: Flow> Flow for Layer<F> {
    fn start(&mut self, now: Nanos) -> Op {
        inner!(self, flow => flow.start(now))
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        inner!(self, flow => flow.on(event, now, out))
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        inner!(self, flow => flow.outgoing())
    }

    fn is_idle(&self) -> bool {
        inner!(self, flow => flow.is_idle())
    }

    fn visited(&mut self, out: &mut Recorder) {
        inner!(self, flow => flow.visited(out));
    }

    fn closing(&mut self, out: &mut Recorder) {
        inner!(self, flow => flow.closing(out));
    }

    fn is_displaced(&self) -> bool {
        inner!(self, flow => flow.is_displaced())
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        inner!(self, flow => flow.deadline())
    }
}
