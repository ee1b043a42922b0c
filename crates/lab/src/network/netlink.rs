//! Links, addresses, routes, neighbours and queueing disciplines of one network namespace.
//!
//! Every call is one question to the kernel and its answer. Every error names what was asked, the link, the namespace
//! and the kernel's reason, in the kernel's own words where it gives any.

mod address;
mod exchange;
mod layout;
mod link;
mod read;
mod shape;

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

pub use layout::Layout;
pub use read::{LinkCounters, LinkInfo};
pub use shape::queue_ns;

/// A route-netlink socket. It stays in the namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    /// The namespace's name, for messages.
    namespace: String,
    socket: Socket,
    /// Number of the last question.
    asked: u32,
}

impl Netlink {
    /// Opens a socket in the calling thread's namespace.
    ///
    /// # Errors
    /// No socket to be had.
    pub fn open(namespace: &str) -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Errors with the kernel's words, and without a copy of the question.
        socket.set_ext_ack(true)?;
        socket.set_cap_ack(true)?;
        Ok(Self { namespace: namespace.to_owned(), socket, asked: 0 })
    }
}
