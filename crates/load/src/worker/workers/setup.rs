//! The settings of a workload's workers, and of their loops.

use std::sync::Arc;

use hopbench_model::Nanos;

use super::Context;
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::event_loop::EventLoopSetup;
use crate::worker::hand_over::HandOver;

/// The settings that all workers of a workload share.
#[derive(Debug, Clone)]
pub struct WorkersSetup {
    /// Largest receive, bytes.
    pub receive_bytes: usize,
    /// Largest `SendFill` that is sent in one piece, bytes; at most 1 MiB counts.
    pub fill_bytes: usize,
    /// Options of each socket.
    pub options: SocketOptions,
    /// TCP, UDP or ICMP.
    pub transport: Transport,
    /// Whether sockets stay open long enough to be watched.
    pub watch_sockets: bool,
    /// How long a server's worker lets datagrams gather before it looks for more, ns.
    pub coalesce: Nanos,
    /// How long exchanges under way at the window's end may still take, ns.
    pub grace: Nanos,
}

/// The setup of a worker's loop, which is a server's as long as it has no dial.
pub(super) fn event_loop_setup(
    context: &Context,
    setup: &WorkersSetup,
    hand_over: Option<&Arc<HandOver>>,
) -> EventLoopSetup {
    EventLoopSetup {
        dial: None,
        sockets: Arc::clone(&context.sockets),
        watch_sockets: setup.watch_sockets,
        arrivals: None,
        pacing: context.job.pacing,
        throttle: context.throttle.clone(),
        coalesce: setup.coalesce,
        grace: setup.grace,
        hand_over: hand_over.cloned(),
        cpus: Vec::new(),
    }
}
