//! The testbed of network namespaces on this machine.
//!
//! ```text
//!   plan ─► demand: pods, Services ─► built: fabric ─ nodes ─ pods ─► agents, server programs
//!                     └─► trail: which links carry a path ─► counters ─► proof
//! ```
//!
//! - [`Lab`]: the testbed; [`by_hand`]: one that stands in the background;
//! - [`KINDS`]: how pods are attached; [`RUNTIMES`]: what they may be in; [`SERVERS`]: server programs other than the agent;
//! - [`sandbox`]: where a lab may be built; [`namespace`], [`netlink`]: what it is made of; [`doctor`]: what this machine can do.
//!
//! Everything of a lab is held by descriptors and processes of the process that built it, and goes with it.

mod addresses;
mod agents;
mod built;
mod bundles;
pub mod by_hand;
mod cast;
mod counters;
mod cpus;
mod demand;
pub mod doctor;
mod fabric;
mod facts;
mod intercept;
mod kept;
mod kind;
mod kinds;
mod lab;
mod mesh;
pub mod namespace;
mod nat;
mod needs;
pub mod netlink;
mod nft;
mod node;
mod offer;
mod pod;
mod posts;
mod processes;
mod programs;
mod proof;
mod proxies;
mod readback;
mod runtime;
mod runtimes;
pub mod sandbox;
mod servers;
mod service;
mod sidecar;
mod stack;
mod target;
mod tools;
mod trail;
mod words;

// What the tests share speaks of the crate by its name.
#[cfg(test)]
extern crate self as hopbench_lab;

pub use fabric::Fabric;
pub use kind::{Kind, Reach, Site};
pub use kinds::{KINDS, kind};
pub use lab::Lab;
pub use node::Node;
pub use runtime::{Bundle, Runtime};
pub use runtimes::{RUNTIMES, runtime};
pub use servers::{SERVERS, Server, server};
pub use stack::Stack;
pub use tools::{find, use_envoy};
