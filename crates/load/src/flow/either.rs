//! A flow that is one of two kinds.

use hopbench_model::Nanos;

use super::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// One of two flows.
pub(crate) enum Either<A, B> {
    First(A),
    Second(B),
}

macro_rules! inner {
    ($either:expr, $flow:ident => $call:expr) => {
        match $either {
            Either::First($flow) => $call,
            Either::Second($flow) => $call,
        }
    };
}

impl<A: Flow, B: Flow> Flow for Either<A, B> {
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

    fn prelude(&self) -> &[u8] {
        inner!(self, flow => flow.prelude())
    }

    fn agreed_on(&mut self, protocol: &[u8]) {
        inner!(self, flow => flow.agreed_on(protocol));
    }

    fn bulk_bytes(&self) -> Option<usize> {
        inner!(self, flow => flow.bulk_bytes())
    }

    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        inner!(self, flow => flow.fit_packets(packet_bytes))
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

    fn may_read_late(&self) -> bool {
        inner!(self, flow => flow.may_read_late())
    }

    fn room(&self) -> usize {
        inner!(self, flow => flow.room())
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        inner!(self, flow => flow.deadline())
    }
}

/// A flow that is too large to stand beside others.
impl<F: Flow> Flow for Box<F> {
    fn start(&mut self, now: Nanos) -> Op {
        (**self).start(now)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        (**self).on(event, now, out)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        (**self).outgoing()
    }

    fn prelude(&self) -> &[u8] {
        (**self).prelude()
    }

    fn agreed_on(&mut self, protocol: &[u8]) {
        (**self).agreed_on(protocol);
    }

    fn bulk_bytes(&self) -> Option<usize> {
        (**self).bulk_bytes()
    }

    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        (**self).fit_packets(packet_bytes)
    }

    fn is_idle(&self) -> bool {
        (**self).is_idle()
    }

    fn visited(&mut self, out: &mut Recorder) {
        (**self).visited(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        (**self).closing(out);
    }

    fn is_displaced(&self) -> bool {
        (**self).is_displaced()
    }

    fn may_read_late(&self) -> bool {
        (**self).may_read_late()
    }

    fn room(&self) -> usize {
        (**self).room()
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        (**self).deadline()
    }
}
