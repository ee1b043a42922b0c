//! The testbed of pods in a Kubernetes cluster.
//!
//! ```text
//!   plan ─► demand: pods, Services ─┐
//!   cluster ─► survey ─► assigned ──┴► blueprint: objects ─► raise ─► built ─► route, control, proof ─► clear
//! ```
//!
//! - [`Cluster`]: the testbed; [`access`]: the way to the API server; [`image`]: what the agents' pods run;
//! - [`labels`], [`names`]: by which everything that was made is found; [`RIGHTS`]: what hopbench does in a cluster;
//! - [`meters`]: what the cluster itself meters; [`watch`]: what changes in it while trials run;
//! - [`manifests`]: the rights as objects; [`clean`]: sweeping away what dead runs left; [`doctor`]: what a cluster can do.
//!
//! Kubernetes places, starts, restarts, wires and removes the agents. Everything of a run is in a namespace of its own
//! that goes with it.

pub mod access;
mod alive;
mod api;
mod apply;
mod assign;
mod attachment;
mod blueprint;
mod body;
mod builds;
mod built;
mod cast;
pub mod clean;
mod clear;
mod cluster;
mod demand;
pub mod doctor;
mod facts;
#[cfg(test)]
mod fixture;
mod forward;
mod fronts;
mod hops;
pub mod image;
mod interrupt;
mod kube_proxy;
pub mod labels;
mod last_words;
mod live;
pub mod manifests;
mod mesh;
pub mod meters;
pub mod names;
mod needs;
mod nodes;
mod objects;
mod observe;
mod pod;
mod proof;
mod raise;
mod ready;
mod rights;
mod sidecar;
mod survey;
mod target;
mod tell;
mod trouble;
pub mod watch;

pub use access::Access;
pub use cluster::Cluster;
pub use rights::{RIGHTS, Right};
