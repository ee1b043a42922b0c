//! Network namespaces, and the kernel's means to change what is in them.
//!
//! - [`namespace`]: a namespace that a descriptor holds; [`netlink`]: its links, addresses and
//!   routes; `stack`: the two together;
//! - `families`: the addresses of an interface in IPv4 and IPv6;
//! - `receive_steering`: the CPUs that work on what links receive;
//! - `refused`: what the kernel refused, as a fault.

pub(crate) mod families;
pub mod namespace;
pub mod netlink;
pub(crate) mod receive_steering;
mod refused;
pub(crate) mod stack;

pub(crate) use refused::refused;
