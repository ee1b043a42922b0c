//! Receive timestamps: when the kernel got what is read from a socket.

use std::io;
use std::os::fd::AsRawFd;

use crate::net::control::{Control, find, message};
use crate::net::socket::Socket;
use crate::{check_len, clock};

/// The flags of a socket: timestamps of received packets, taken by the kernel and not by a device.
const FLAGS: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
/// Tries to read both clocks at the same moment.
const TRIES: u32 = 3;
/// Reads of the clocks that take no longer than this were not interrupted, ns.
const AT_ONCE: u64 = 1000;

impl Socket {
    /// Has the kernel say when it got what is received from now on (`SO_TIMESTAMPING`). It then
    /// notes the time of every packet of the machine, which costs each a read of its clock.
    ///
    /// # Errors
    /// A kernel that does not have it.
    pub fn set_receive_timestamps(&self) -> io::Result<()> {
        self.set_int(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, FLAGS as libc::c_int)
    }

    /// Receives into `buffer`, as [`Socket::recv`] does. Also says when the kernel got the last of
    /// these bytes, in ns of the monotonic clock; `None`: it did not note that.
    ///
    /// The kernel notes the time when a packet reaches the first device of the network namespace,
    /// by the wall clock. A step of that clock between then and now makes this time wrong by as
    /// much, but never later than now. Of several segments it is the time of the one with the last
    /// bytes, though one before it may have come later.
    ///
    /// # Errors
    /// As [`Socket::recv`].
    #[inline]
    pub fn recv_with_timestamp(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = Control::default();
        let mut message = message(&mut part, &mut control);
        // SAFETY: the message has one part, writable for its length, and a control buffer that is
        // writable for its own.
        let len = check_len(unsafe { libc::recvmsg(self.as_raw_fd(), &raw mut message, 0) })?;
        // SAFETY: `message` and its control buffer are still alive and were filled by the kernel.
        // Data of this kind is three times, of which the first is that of the kernel.
        let stamp: Option<libc::timespec> =
            unsafe { find(&message, libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) };
        let ns = stamp.map(|time| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
        Ok((len, ns.filter(|ns| *ns > 0).map(monotonic)))
    }
}

/// The same moment on the monotonic clock, at most now. Both clocks are read at the same moment,
/// or else at the closest two of some tries.
fn monotonic(wall_ns: u64) -> u64 {
    let (mut closest, mut moment) = (u64::MAX, 0);
    let mut before = clock::now();
    for _ in 0..TRIES {
        let wall = clock::wall().as_nanos() as u64;
        let after = clock::now();
        if after - before < closest {
            closest = after - before;
            moment = after.saturating_sub(wall.saturating_sub(wall_ns));
        }
        if closest <= AT_ONCE {
            break;
        }
        before = after;
    }
    moment
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::Progress;
    use crate::net::arrived::arrived;

    /// The time is that of the arrival, however late it is read.
    #[test]
    fn the_kernel_says_when_bytes_came() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let socket = Socket::tcp(address).unwrap();
        socket.set_receive_timestamps().unwrap();
        let _: Progress = socket.connect(address).unwrap();
        let peer = listener.accept().unwrap().0;
        let mut buffer = [0; 16];
        // The kernel may begin to note times a moment after it was asked to.
        for _ in 0..100 {
            let before = clock::now();
            io::Write::write_all(&mut &peer, b"hello").unwrap();
            let after = clock::now();
            clock::sleep_until(clock::now() + 200_000_000);
            let (len, stamp) = arrived(&socket).recv_with_timestamp(&mut buffer).unwrap();
            assert_eq!(len, 5);
            let Some(stamp) = stamp else { continue };
            assert!((before..=after + 100_000_000).contains(&stamp), "{before} {stamp} {after}");
            return;
        }
        panic!("no timestamp");
    }

    #[test]
    fn a_time_of_the_wall_clock_is_found_on_the_monotonic_one() {
        let (wall, now) = (clock::wall().as_nanos() as u64, clock::now());
        let ago = monotonic(wall - 7_000_000_000);
        assert!(ago.abs_diff(now - 7_000_000_000) < 1_000_000_000, "{ago} {now}");
        let (soon, now) = (monotonic(wall + 60_000_000_000), clock::now());
        assert!(soon <= now);
    }
}
