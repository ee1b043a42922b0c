//! The testbed of pods in a Kubernetes cluster.
//!
//! ```text
//!   plan ────► placement: pods, Services ─┐
//!   cluster ─► discovery ─► assigned ─────┴► blueprint: objects ─► provision ─► session ─► cleanup
//!                                                            session: route, control, proof
//! ```
//!
//! - [`Cluster`]: the testbed; [`access`]: the connection to the API server; [`image`]: the image
//!   of agents' pods.
//! - [`labels`], [`names`]: by them everything that was made is found. [`RIGHTS`]: everything that
//!   hopbench does in a cluster; [`manifests`]: the same as objects.
//! - [`meters`]: the cluster's own meters; [`Sight`]: where they are not needed; [`watch`]: changes
//!   in it while trials run.
//! - [`clean`]: removal of what dead runs left; [`doctor`]: what a cluster can do.
//!
//! Kubernetes places, starts, restarts, wires and removes the agents. Everything of a run is in a
//! namespace of its own that goes with it.

mod api;
mod cleanup;
pub mod doctor;
pub mod image;
mod mesh;
mod objects;
mod observe;
mod plan;
mod proof;
mod provision;
mod session;

pub use api::access::{self, Access};
pub use api::rights::{RIGHTS, Right};
pub use api::{labels, manifests, names};
pub use cleanup::garbage_collect as clean;
pub use objects::cron;
pub use observe::sight::Sight;
pub use observe::{meters, watch};
pub use session::Cluster;
