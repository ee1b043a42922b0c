//! The agents of a testbed, and how the conductor reaches them.

use std::fmt;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustls::ClientConfig;

/// An agent of the testbed: `bridge@a`, `bridge@a#2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub String);

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The way on which the conductor reaches an agent.
#[derive(Debug)]
pub enum Control {
    /// The conductor's end of a socket pair; the agent holds the other end.
    Pair(UnixStream),
    /// A stream that leads to an agent's port by way of others: TLS goes over it.
    Forwarded {
        /// The stream.
        stream: UnixStream,
        /// The conductor's keys, and the agent's public key.
        tls: Arc<ClientConfig>,
    },
    /// An agent's port: TLS goes over a connection to it.
    Address {
        /// The port.
        address: SocketAddr,
        /// The conductor's keys, and the agent's public key.
        tls: Arc<ClientConfig>,
    },
}
