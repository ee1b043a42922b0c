//! The mesh of a lab: its proxies, the services that they ask, and the rules that bring traffic to
//! them.
//!
//! - `listeners`: what a sidecar or gateway takes, and where it sends that; `proxy_setup`: its
//!   whole task in the words of the crate `mesh`;
//! - `interception`: the rules in pods with a sidecar;
//! - `proxies`: the running processes.

pub(crate) mod interception;
mod listeners;
pub(crate) mod proxies;
pub(crate) mod proxy_setup;
