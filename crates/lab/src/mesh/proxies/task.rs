//! The task of one process of a mesh: its program, and the pod that it runs in.

use crate::network::stack::Stack;

/// The program of a process of a mesh.
#[derive(Debug)]
pub(crate) enum MeshProgram {
    /// An Envoy.
    Envoy(Box<hopbench_mesh::ProxySpec>),
    /// The policy service, which listens on this TCP port.
    Policy { port: u16 },
    /// The telemetry service, which listens on this TCP port.
    Telemetry { port: u16 },
}

/// A process that is to run in a pod.
#[derive(Debug)]
pub(crate) struct MeshTask<'a> {
    /// Its name, which no other one has: `bridge@b sidecar`.
    pub(crate) name: String,
    pub(crate) stack: &'a Stack,
    pub(crate) cpus: Option<&'a [usize]>,
    /// The Envoy that it runs if it is one, a path; absent: the usual one.
    pub(crate) envoy: Option<&'a str>,
    pub(crate) program: MeshProgram,
}
