//! Sockets: TCP, UDP and ICMP.

use std::io;
use std::mem;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::time::Duration;

use socket2::{Domain, Protocol, Type};

use crate::check_len;

/// The most sends of one call.
pub const MOST_SENDS: usize = 64;

/// One socket. Closed when dropped.
#[derive(Debug)]
pub struct Socket(pub(crate) socket2::Socket);

/// How far a connection attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It stands.
    Done,
    /// The answer is under way; the socket becomes writable when it is decided.
    Pending,
}

impl Socket {
    /// A non-blocking TCP socket, not connected yet, for addresses of `peer`'s family.
    ///
    /// # Errors
    /// `EMFILE` when too few files may be open, `EAFNOSUPPORT` without IPv6.
    pub fn tcp(peer: SocketAddr) -> io::Result<Self> {
        Self::open(Domain::for_address(peer), Type::STREAM, Protocol::TCP)
    }

    /// A non-blocking UDP socket for addresses of `peer`'s family.
    ///
    /// # Errors
    /// As [`Socket::tcp`].
    pub fn udp(peer: SocketAddr) -> io::Result<Self> {
        Self::open(Domain::for_address(peer), Type::DGRAM, Protocol::UDP)
    }

    pub(crate) fn open(domain: Domain, kind: Type, protocol: Protocol) -> io::Result<Self> {
        socket2::Socket::new(domain, kind.nonblocking().cloexec(), Some(protocol)).map(Self)
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL` when local ports ran out, `ECONNREFUSED`, `ENETUNREACH` and the like.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<Progress> {
        match self.0.connect(&peer.into()) {
            Ok(()) => Ok(Progress::Done),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(Progress::Pending),
            Err(error) => Err(error),
        }
    }

    /// How a pending connection attempt ended; call when the socket is writable.
    ///
    /// # Errors
    /// Why the connection failed.
    pub fn connected(&self) -> io::Result<()> {
        match self.0.take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Waits up to `timeout` for a pending connection attempt to be decided; a signal may end the
    /// wait early.
    pub fn wait_connected(&self, timeout: Duration) {
        let mut watched = libc::pollfd { fd: self.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        let ms = timeout.as_millis().min(60_000) as libc::c_int;
        // SAFETY: one writable pollfd, as the count says. Whatever ended the wait, `connected`
        // tells the rest.
        unsafe { libc::poll(&raw mut watched, 1, ms) };
    }

    /// Binds to a local address.
    ///
    /// # Errors
    /// `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`.
    pub fn bind(&self, local: SocketAddr) -> io::Result<()> {
        self.0.bind(&local.into())
    }

    /// Sends what the kernel takes of `bytes`, at least one byte (of a datagram: all or an error).
    ///
    /// # Errors
    /// `EAGAIN` when nothing can be taken now; a broken connection gives an error, never a signal.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: `bytes` is readable for its length.
        check_len(unsafe {
            libc::send(self.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        })
    }

    /// Sends `bytes` in sends of `each` bytes (at least 1) with one call: as many as the kernel
    /// takes, at most [`MOST_SENDS`]. Gives the bytes that it took.
    ///
    /// # Errors
    /// As [`Socket::send`], if it takes none. Why it took no more is not told.
    #[inline]
    pub fn send_each(&self, bytes: &[u8], each: usize) -> io::Result<usize> {
        // SAFETY: all zeroes is a message without an address, parts and control data.
        let mut messages: [libc::mmsghdr; MOST_SENDS] = unsafe { mem::zeroed() };
        let mut parts = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; MOST_SENDS];
        let mut count = 0;
        for ((send, message), part) in bytes.chunks(each.max(1)).zip(&mut messages).zip(&mut parts)
        {
            part.iov_base = send.as_ptr().cast_mut().cast();
            part.iov_len = send.len();
            message.msg_hdr.msg_iov = ptr::from_mut(part);
            message.msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        // SAFETY: so many messages have one part each, which is readable for its length. The kernel
        // writes only to the messages.
        let taken = check_len(unsafe {
            libc::sendmmsg(self.as_raw_fd(), messages.as_mut_ptr(), count, libc::MSG_NOSIGNAL)
        } as isize)?;
        Ok((taken * each.max(1)).min(bytes.len()))
    }

    /// Receives into `buffer`; 0 means that the peer closed (on a stream).
    ///
    /// # Errors
    /// `EAGAIN` when nothing is there.
    #[inline]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: `buffer` is writable for its length.
        check_len(unsafe {
            libc::recv(self.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0)
        })
    }

    /// Looks at the first received bytes without taking them.
    ///
    /// # Errors
    /// As [`Socket::recv`].
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: `buffer` is writable for its length.
        check_len(unsafe {
            libc::recv(self.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_PEEK)
        })
    }

    /// Whether a connected stream is whole: the peer has not closed it, and nothing broke it. Takes
    /// no bytes, and never waits.
    pub fn is_whole(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: `byte` is writable for its length.
        let got = check_len(unsafe {
            libc::recv(
                self.as_raw_fd(),
                (&raw mut byte).cast(),
                1,
                libc::MSG_PEEK | libc::MSG_DONTWAIT,
            )
        });
        got.map_or_else(|error| error.kind() == io::ErrorKind::WouldBlock, |bytes| bytes > 0)
    }

    /// Takes up to `most` received bytes of a TCP stream and drops them in the kernel, without a
    /// copy (`MSG_TRUNC`). It measures the path rather than the copy. 0 means that the peer closed.
    ///
    /// # Errors
    /// As [`Socket::recv`].
    #[inline]
    pub fn discard(&self, most: usize) -> io::Result<usize> {
        // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer (tcp(7)), so null is
        // allowed.
        check_len(unsafe { libc::recv(self.as_raw_fd(), ptr::null_mut(), most, libc::MSG_TRUNC) })
    }

    /// Closes one or both directions; a thread that waits in a receive on it returns.
    pub fn shutdown(&self, how: Shutdown) {
        // ENOTCONN is the only failure, and then the direction is closed already.
        let _ = self.0.shutdown(how);
    }

    /// Whether calls return `EAGAIN` instead of waiting.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_nonblocking(&self, on: bool) -> io::Result<()> {
        self.0.set_nonblocking(on)
    }

    /// This end's address.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn local(&self) -> io::Result<SocketAddr> {
        ip(&self.0.local_addr()?)
    }

    /// The other end's address.
    ///
    /// # Errors
    /// `ENOTCONN`.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        ip(&self.0.peer_addr()?)
    }
}

/// The IP address in a socket address, IPv4-mapped IPv6 addresses unwrapped.
fn ip(address: &socket2::SockAddr) -> io::Result<SocketAddr> {
    let address = address.as_socket().ok_or_else(|| io::Error::other("not an IP address"))?;
    Ok(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl From<std::os::fd::OwnedFd> for Socket {
    fn from(fd: std::os::fd::OwnedFd) -> Self {
        Self(fd.into())
    }
}

impl From<Socket> for std::os::fd::OwnedFd {
    fn from(socket: Socket) -> Self {
        socket.0.into()
    }
}

/// A listening TCP socket, non-blocking.
#[derive(Debug)]
pub struct Listener(socket2::Socket);

impl Listener {
    /// Listens on `local` with a backlog of `backlog` (the kernel caps it at `somaxconn`). An IPv6
    /// wildcard takes IPv4 too.
    ///
    /// # Errors
    /// `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`.
    pub fn bind(local: SocketAddr, backlog: i32) -> io::Result<Self> {
        let socket = socket2::Socket::new(
            Domain::for_address(local),
            Type::STREAM.nonblocking().cloexec(),
            Some(Protocol::TCP),
        )?;
        socket.set_reuse_address(true)?;
        if local.is_ipv6() {
            socket.set_only_v6(!local.ip().is_unspecified())?;
        }
        socket.bind(&local.into())?;
        socket.listen(backlog)?;
        Ok(Self(socket))
    }

    /// Takes one connection, non-blocking.
    ///
    /// # Errors
    /// `EAGAIN` when none waits, `EMFILE` when too few files may be open.
    pub fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        let (socket, peer) = self.0.accept()?;
        socket.set_nonblocking(true)?;
        Ok((Socket(socket), ip(&peer)?))
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn local(&self) -> io::Result<SocketAddr> {
        ip(&self.0.local_addr()?)
    }
}

impl From<Listener> for std::os::fd::OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.0.into()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_sends_many_datagrams() {
        let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
        let socket = Socket::from(std::os::fd::OwnedFd::from(ours));
        theirs.set_nonblocking(true).unwrap();
        let arrived = || {
            let mut buffer = [0; 64];
            let mut lengths = Vec::new();
            while let Ok(length) = theirs.recv(&mut buffer) {
                lengths.push((length, buffer[0]));
            }
            lengths
        };
        let bytes: Vec<u8> = (0..25).collect();
        assert_eq!(socket.send_each(&bytes, 10).unwrap(), 25);
        assert_eq!(arrived(), [(10, 0), (10, 10), (5, 20)]);
        // A queue of datagrams may hold fewer than one call has.
        socket.0.set_nonblocking(true).unwrap();
        let taken = socket.send_each(&[7; 100], 1).unwrap();
        assert!((1..=MOST_SENDS).contains(&taken), "{taken}");
        assert_eq!(arrived().len(), taken);
        assert_eq!(socket.send_each(&[7], 0).unwrap(), 1, "at least a byte each");
        drop(theirs);
        assert!(socket.send_each(&bytes, 10).is_err());
    }
}
