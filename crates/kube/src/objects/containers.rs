//! Names of the containers of a run's pods, and of their ports.

/// The agent's container, and its port.
pub(crate) const AGENT: &str = "agent";
/// The agent's port for datagrams.
pub(crate) const DATAGRAMS: &str = "agent-udp";
/// The server program's container, and its port.
pub(crate) const PROGRAM: &str = "program";
/// The container with the tools of others, and the port of a Service that leads to theirs.
pub(crate) const PEER: &str = "peer";
/// The container of a sidecar of ours.
pub(crate) const SIDECAR: &str = "envoy-sidecar";
/// The container of a gateway of ours.
pub(crate) const GATEWAY: &str = "envoy-gateway";
