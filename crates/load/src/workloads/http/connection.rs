//! One connection of a client: one exchange at a time, or several.

use hopbench_model::Nanos;

use super::client::Client;
use super::multiplexed::Multiplexed;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// One connection of a client.
#[expect(clippy::large_enum_variant, reason = "what carries most requests is not looked up")]
pub(super) enum HttpConnection {
    /// HTTP/1.1.
    Single(Client),
    /// HTTP/2.
    Multiplexed(Box<Multiplexed>),
}

macro_rules! inner {
    ($connection:expr, $flow:ident => $call:expr) => {
        match $connection {
            HttpConnection::Single($flow) => $call,
            HttpConnection::Multiplexed($flow) => $call,
        }
    };
}

impl Flow for HttpConnection {
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

    fn visited(&mut self, out: &mut Recorder) {
        inner!(self, flow => flow.visited(out));
    }

    fn closing(&mut self, out: &mut Recorder) {
        inner!(self, flow => flow.closing(out));
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        inner!(self, flow => flow.deadline())
    }
}
