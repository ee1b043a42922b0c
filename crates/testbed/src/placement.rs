//! The placement of a plan: the pods that it needs, the endpoints of its paths, and the processes
//! of the mesh that these meet. Pure data, which knows neither addresses nor machines.
//!
//! ```text
//!   Plan, Rules ─► Placement: paths ─► Endpoints: clients, servers, gateway, services
//!                             pods, sidecars ─► MeshProcess ─► Met: those that a path meets
//! ```
//!
//! One pod serves all modes of one variant. So two modes differ in their proxies and in nothing
//! else. Parts that would disturb others have pods of their own. So have ends whose port does not
//! tell the mode, if a mesh takes their traffic.

mod endpoints;
mod mesh_processes;
mod of_plan;
mod pod;
mod proxy_tasks;
mod rules;

pub use endpoints::{Ask, Endpoints};
pub use mesh_processes::{MeshProcess, MeshRole, Met};
pub use of_plan::Placement;
pub use pod::{AGENT_PORT, Group, PodId};
pub use rules::{Rules, program};
