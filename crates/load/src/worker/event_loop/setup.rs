//! The settings of one worker's loop.

use std::sync::Arc;

use hopbench_model::{Nanos, Pacing};
use hopbench_sys::Socket;

use crate::admission::throttle::Throttle;
use crate::measure::socket_set::SocketSet;
use crate::schedule::Arrivals;
use crate::worker::dial::Dial;
use crate::worker::hand_over::HandOver;

/// Everything one worker needs besides its flows.
pub(crate) struct EventLoopSetup {
    pub dial: Option<Dial>,
    pub sockets: Arc<SocketSet>,
    /// Whether sockets live long enough to be worth watching.
    pub watch_sockets: bool,
    pub arrivals: Option<Box<dyn FnMut(Nanos) -> Arrivals + Send>>,
    pub pacing: Pacing,
    pub throttle: Option<Arc<Throttle>>,
    /// How long datagrams gather before the next look, ns.
    pub coalesce_ns: Nanos,
    /// How long exchanges that are under way at the window's end may still take.
    pub grace: Nanos,
    /// Takes what was written down of a visit, where flows stay for the next one.
    pub hand_over: Option<Arc<HandOver>>,
    /// The CPUs among which each visit finds another one; none: the scheduler is left alone.
    pub cpus: Vec<usize>,
}

impl EventLoopSetup {
    /// Whether the kernel says of what is received when it came.
    pub(super) fn has_receive_timestamps(&self) -> bool {
        self.dial.as_ref().is_some_and(|dial| dial.options.receive_timestamps)
    }

    /// Shows a flow's socket to those who read `TCP_INFO`.
    pub(super) fn show(&self, flow: u32, socket: &Arc<Socket>) {
        if self.watch_sockets {
            self.sockets.add(flow, socket);
        } else {
            self.sockets.describe(flow, socket);
        }
    }
}
