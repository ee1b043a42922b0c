//! A wait for tests until something has arrived.

use std::os::fd::{AsFd, AsRawFd};

/// Waits until `socket` can be read, and returns it. Loopback may deliver after a send has
/// returned: on a busy machine the kernel leaves packets to a thread of its own.
pub(crate) fn arrived<T: AsFd>(socket: &T) -> &T {
    let mut watched =
        libc::pollfd { fd: socket.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid entry, whose descriptor is borrowed for the call.
    let ready = unsafe { libc::poll(&raw mut watched, 1, 10_000) };
    assert_eq!(ready, 1, "nothing arrived within 10 s");
    socket
}
