//! A flow whose socket was accepted elsewhere.

use std::sync::Arc;

use hopbench_sys::Socket;

use crate::admission::flow_limit::FlowGuard;
use crate::flow::udp_registration::UdpRegistration;

/// Takes a flow whose socket was accepted elsewhere.
pub type Acceptor = Arc<dyn Fn(Accepted) + Send + Sync>;

/// How the bytes of a connection travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// As they are.
    None,
    /// In records of TLS.
    Tls,
}

/// A flow that was accepted.
#[derive(Debug)]
pub struct Accepted {
    /// Its number in the run.
    pub flow: u32,
    /// How its bytes travel.
    pub encryption: Encryption,
    /// Whether the server sends (`stream` from the server).
    pub from_server: bool,
    /// Its socket.
    pub socket: Arc<Socket>,
    /// For datagrams: the registration that was accepted, in case the answer to it is lost.
    pub registration: Option<UdpRegistration>,
    /// Its place among the flows that the agent may have open; given back when the flow ends.
    pub flow_guard: FlowGuard,
}
