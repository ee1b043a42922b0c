//! The route-netlink socket of one network namespace.

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// A route-netlink socket. It stays in the namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    /// The namespace's name, for messages.
    pub(super) namespace: String,
    pub(super) socket: Socket,
    /// Number of the last question.
    pub(super) asked: u32,
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
