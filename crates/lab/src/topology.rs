//! The topology of a lab: the fabric, the nodes, the network kinds of pods, and all addresses.
//!
//! - `fabric`, `node`: the switches, and what is plugged into them;
//! - `kind`, `kinds`: how pods are attached, one file a kind;
//! - `packet_path`: the links that carry the packets of a path;
//! - `addresses`, `cpu_shares`: which address and which CPUs each of them gets.

pub(crate) mod addresses;
pub(crate) mod cpu_shares;
pub(crate) mod fabric;
pub(crate) mod kind;
pub(crate) mod kinds;
pub(crate) mod node;
pub(crate) mod packet_path;
