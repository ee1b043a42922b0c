//! The testbed of network namespaces on this machine.
//!
//! ```text
//!   plan ─► placement: pods, endpoints ─► lab: fabric ─ nodes ─ pods ─► agents, programs, proxies
//!                  └─► packet path: the links that carry a path ─► counters ─► proof
//! ```
//!
//! - [`Lab`]: the testbed; [`by_hand`]: one that stands in the background;
//! - [`KINDS`]: how pods are attached; [`RUNTIMES`]: what agents may run in; [`SERVERS`]: server
//!   programs other than the agent;
//! - [`sandbox`]: the namespaces that a lab is built in; [`namespace`], [`netlink`]: what it is
//!   made of; [`doctor`]: what this machine can do.
//!
//! Descriptors and processes of the process that built a lab hold all of it. It goes with them.

pub mod by_hand;
pub mod doctor;
mod lab;
mod mesh;
mod network;
mod processes;
mod proof;
mod services;
mod topology;

// What the tests share speaks of the crate by its name.
#[cfg(test)]
extern crate self as hopbench_lab;

pub use lab::Lab;
pub use network::stack::Stack;
pub use network::{namespace, netlink};
pub use processes::runtimes::{Bundle, RUNTIMES, Runtime, runtime};
pub use processes::sandbox;
pub use processes::servers::{SERVERS, ServerProgram, server};
pub use processes::tools::{find, use_envoy};
pub use topology::addresses::Subnets;
pub use topology::fabric::Fabric;
pub use topology::kind::{NetworkKind, Reach, Site};
pub use topology::kinds::{KINDS, kind};
pub use topology::node::Node;
