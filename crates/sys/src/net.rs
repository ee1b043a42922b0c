//! Sockets, their options, and what the kernel knows of connections and interfaces.

#[cfg(test)]
pub(crate) mod arrived;
mod control;
mod datagram;
mod icmp;
mod offload;
mod socket;
mod sockopt;
pub mod tcp_info;
mod timestamp;

pub use datagram::{Datagram, DatagramPort};
pub use icmp::Icmp;
pub use offload::{Offloads, interface_mtu, offloads, switch_offload};
pub use socket::{Listener, MOST_SENDS, Progress, Socket};
pub use tcp_info::TcpInfo;
