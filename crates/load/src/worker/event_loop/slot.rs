//! The slot of one flow in an event loop, and the timers that name it.

use std::cmp::Reverse;
use std::sync::Arc;

use hopbench_model::Nanos;
use hopbench_sys::Socket;

use crate::admission::flow_limit::FlowGuard;
use crate::flow::Op;

/// No deadline is this late.
pub(super) const NEVER: Nanos = Nanos::MAX;

/// A timer: when, which slot, and the slot's generation, so that a slot that is used again is not
/// woken by its predecessor's timer.
pub(super) type Timer = Reverse<(Nanos, usize, u32)>;

/// A flow, its socket, and what it waits for.
pub(super) struct Slot<F> {
    pub(super) flow: F,
    pub(super) number: u32,
    pub(super) socket: Option<Arc<Socket>>,
    /// The place of a flow that was accepted, until it ends.
    pub(super) flow_guard: Option<FlowGuard>,
    /// What waits for the engine, or for the throttle.
    pub(super) pending: Option<Op>,
    /// The throttle holds `pending`; a timer lets it go.
    pub(super) held: bool,
    /// Before this time the throttle lets it move nothing.
    pub(super) held_until: Nanos,
    /// It is in `turns` and gets its turn from there.
    pub(super) queued: bool,
    pub(super) state: SlotState,
    /// It receives, and could begin another exchange meanwhile.
    pub(super) awaits: Option<Nanos>,
    /// It waits for what must be read as soon as it comes.
    pub(super) is_urgent: bool,
    /// The deadline under which it is in `deadlines`; `NEVER` when it is not.
    pub(super) watched: Nanos,
    pub(super) generation: u32,
}

/// How far a flow is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotState {
    Unopened,
    Opening,
    Active,
    Resting,
    Ended,
}

impl<F> Slot<F> {
    pub(super) fn new(number: u32, flow: F, socket: Option<Arc<Socket>>) -> Self {
        Self {
            flow,
            number,
            socket,
            flow_guard: None,
            pending: None,
            held: false,
            held_until: 0,
            queued: false,
            state: SlotState::Unopened,
            awaits: None,
            is_urgent: false,
            watched: NEVER,
            generation: 0,
        }
    }
}
