//! The route-netlink socket of one network namespace, and the namespaces that are made with it.

use std::io;

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::network::namespace::Namespace;

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

// The calls of a namespace that need a socket stand here, so that `namespace` does not use
// `netlink`.
impl Namespace {
    /// A new one, with nothing in it but `lo`, which is up. The name is for messages only.
    ///
    /// # Errors
    /// The kernel's error: `EPERM` without the right to make one, `ENOSPC` if there are too many.
    pub fn create(name: &str) -> io::Result<Self> {
        let namespace = Self::create_bare(name)?;
        namespace.netlink()?.set_up("lo")?;
        Ok(namespace)
    }

    /// A route-netlink socket that lives inside.
    ///
    /// # Errors
    /// No right to enter, no socket to be had.
    pub fn netlink(&self) -> io::Result<Netlink> {
        self.run(|| Netlink::open(self.name()))?
    }
}
