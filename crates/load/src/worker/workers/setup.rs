//! The settings that all workers of a workload share.

use hopbench_model::Nanos;

use crate::worker::dial::{SocketOptions, Transport};

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
    pub coalesce_ns: Nanos,
    /// How long exchanges under way at the window's end may still take, ns.
    pub grace: Nanos,
}
