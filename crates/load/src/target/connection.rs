//! One connection of the HTTP target, of the version of HTTP that its first bytes say.

use std::sync::Arc;

use hopbench_model::Nanos;

use super::connection_table::Activity;
use super::flow::{RECEIVE_BYTES, TargetFlow, TargetSettings};
use super::multiplexed::MultiplexedTarget;
use crate::admission::memory::MemoryLimit;
use crate::flow::{Event, Flow, Op};
use crate::http::h2::PREFACE;
use crate::measure::recorder::Recorder;

/// Bytes by which HTTP/2 is known: no method of HTTP/1.1 is spelled like that.
const KNOWN_BY: usize = 4;
/// HTTP/2 among the protocols of TLS.
const HTTP_2: &[u8] = b"h2";

/// One connection.
pub(super) enum TargetConnection {
    /// Until its first bytes are there, with the times of HTTP/1.1; and HTTP/1.1.
    Single(Box<TargetFlow>, Option<Parts>),
    Multiplexed(Box<MultiplexedTarget>),
}

/// What a connection of HTTP/2 is made of.
pub(super) struct Parts {
    settings: Arc<TargetSettings>,
    activity: Option<Arc<Activity>>,
    memory: Option<Arc<MemoryLimit>>,
    /// The first bytes, as long as they do not tell.
    first: Vec<u8>,
    /// Whether the peer has agreed to speak HTTP/2, and nothing else.
    is_agreed: bool,
}

impl TargetConnection {
    pub(super) fn new(
        settings: Arc<TargetSettings>,
        activity: Option<Arc<Activity>>,
        memory: Option<Arc<MemoryLimit>>,
    ) -> Self {
        let single = TargetFlow::new(Arc::clone(&settings), activity.clone(), memory.clone());
        let parts = Parts { settings, activity, memory, first: Vec::new(), is_agreed: false };
        Self::Single(Box::new(single), Some(parts))
    }

    /// The first bytes came.
    fn decide(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        let Self::Single(single, parts) = self else { return Op::End };
        let Some(mut known) = parts.take() else { return Op::End };
        known.first.extend_from_slice(bytes);
        if !known.is_agreed {
            let seen = known.first.len().min(KNOWN_BY);
            if known.first[..seen] != PREFACE[..seen] {
                return single.on(Event::Received(&known.first), now, out);
            }
            if seen < KNOWN_BY {
                *parts = Some(known);
                return Op::Recv(RECEIVE_BYTES);
            }
        }
        let Parts { settings, activity, memory, first, .. } = known;
        let mut target = Box::new(MultiplexedTarget::new(settings, activity, memory));
        let op = target.begin(&first, now, out);
        *self = Self::Multiplexed(target);
        op
    }
}

impl Flow for TargetConnection {
    fn start(&mut self, now: Nanos) -> Op {
        match self {
            Self::Single(flow, parts) => {
                // Over TLS, this is when the handshake is over.
                if let Some(Parts { activity: Some(activity), .. }) = parts {
                    activity.stands();
                }
                flow.start(now)
            }
            Self::Multiplexed(flow) => flow.start(now),
        }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (&mut *self, event) {
            (Self::Single(flow, None), event) => flow.on(event, now, out),
            (Self::Multiplexed(flow), event) => flow.on(event, now, out),
            (Self::Single(..), Event::Received(bytes)) => self.decide(bytes, now, out),
            (Self::Single(flow, _), event) => flow.on(event, now, out),
        }
    }

    fn agreed_on(&mut self, protocol: &[u8]) {
        if let Self::Single(_, Some(parts)) = self {
            parts.is_agreed = protocol == HTTP_2;
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        match self {
            Self::Single(flow, _) => flow.outgoing(),
            Self::Multiplexed(flow) => flow.outgoing(),
        }
    }

    fn closing(&mut self, out: &mut Recorder) {
        match self {
            Self::Single(flow, parts) => {
                // The slot keeps the flow until another takes its place.
                *parts = None;
                flow.closing(out);
            }
            Self::Multiplexed(flow) => flow.closing(out),
        }
    }

    fn is_displaced(&self) -> bool {
        match self {
            Self::Single(flow, _) => flow.is_displaced(),
            Self::Multiplexed(flow) => flow.is_displaced(),
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        match self {
            Self::Single(flow, _) => flow.deadline(),
            Self::Multiplexed(flow) => flow.deadline(),
        }
    }
}
