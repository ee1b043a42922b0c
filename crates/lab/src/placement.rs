//! The placement of a plan: pods, endpoints, Services and proxies of each path, as pure data.
//!
//! ```text
//!   Plan ─► Placement: paths ─► Endpoints: clients, servers, gateway, services that proxies ask
//!                      pods, sidecars ─► mesh processes ─► those that a path meets
//! ```
//!
//! Nothing here does I/O or knows the machine. The builder of the pods knows their addresses.

mod endpoints;
pub(crate) mod mesh_processes;
mod of_plan;
mod offered_ports;
mod pod;

pub(crate) use endpoints::Endpoints;
pub(crate) use mesh_processes::{MeshProcess, Met};
pub(crate) use of_plan::Placement;
pub(crate) use offered_ports::PodPorts;
#[cfg(test)]
pub(crate) use pod::Group;
pub(crate) use pod::{AGENT_PORT, PROGRAM_PORT, PodId};
