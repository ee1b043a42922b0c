//! A UDP port that many peers write to, and that tells which local address each wrote to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use socket2::{Domain, Protocol, SockAddr, Type};

use crate::net::control::{Control, find, message};
use crate::{Socket, check, check_len};

/// Datagrams that a new flow's socket may drop; its own peer might be sending all the time.
const MOST_STRAY: u32 = 1000;

/// A bound, non-blocking UDP socket.
#[derive(Debug)]
pub struct DatagramPort(Socket);

/// One datagram that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Datagram {
    /// Bytes written to the buffer; a longer datagram was cut.
    pub len: usize,
    /// Who sent it.
    pub peer: SocketAddr,
    /// The local address it was sent to, with the port.
    pub local: SocketAddr,
}

impl DatagramPort {
    /// Binds `local`; an IPv6 wildcard takes IPv4 too. Sockets of the same user can share the port,
    /// so that flows get connected sockets of their own; no other user can.
    ///
    /// # Errors
    /// `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`.
    pub fn bind(local: SocketAddr) -> io::Result<Self> {
        let raw = socket2::Socket::new(
            Domain::for_address(local),
            Type::DGRAM.nonblocking().cloexec(),
            Some(Protocol::UDP),
        )?;
        let on: libc::c_int = 1;
        let set = |level, name| {
            // SAFETY: `on` is readable for the length that is passed.
            check(unsafe {
                libc::setsockopt(
                    raw.as_raw_fd(),
                    level,
                    name,
                    (&raw const on).cast(),
                    size_of::<libc::c_int>() as libc::socklen_t,
                )
            })
        };
        if local.is_ipv6() {
            raw.set_only_v6(!local.ip().is_unspecified())?;
            set(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)?;
        }
        // A dual-stack socket reports IPv4 arrivals through the IPv6 message, mapped.
        if local.is_ipv4() {
            set(libc::IPPROTO_IP, libc::IP_PKTINFO)?;
        }
        let socket = Socket(raw);
        socket.set_shared_port()?;
        socket.bind(local)?;
        Ok(Self(socket))
    }

    /// Takes one datagram.
    ///
    /// # Errors
    /// `EAGAIN` when none is there.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Datagram> {
        let port = self.0.local()?.port();
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = Control::default();
        let mut message = message(&mut part, &mut control);
        // SAFETY: `try_init` passes storage for an address; the kernel writes at most its length.
        let (len, peer) = unsafe {
            SockAddr::try_init(|storage, length| {
                message.msg_name = storage.cast();
                message.msg_namelen = *length;
                let len = check_len(libc::recvmsg(self.0.as_raw_fd(), &raw mut message, 0))?;
                *length = message.msg_namelen;
                Ok(len)
            })?
        };
        let peer = peer.as_socket().ok_or_else(|| io::Error::other("not an IP address"))?;
        // SAFETY: `message` and its control buffer are still alive and were filled by the kernel.
        let local = unsafe { destination(&message) }.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Ok(Datagram {
            len,
            peer: SocketAddr::new(peer.ip().to_canonical(), peer.port()),
            local: SocketAddr::new(local.to_canonical(), port),
        })
    }

    /// Sends one datagram to `peer` from the local address `source`, the one that `peer` wrote to.
    /// On a machine with several addresses another one would not be recognised.
    ///
    /// # Errors
    /// `EAGAIN` when the queue is full.
    pub fn send_from(&self, bytes: &[u8], source: IpAddr, peer: SocketAddr) -> io::Result<usize> {
        let v6 = self.0.0.domain()? == Domain::IPV6;
        let peer = match peer {
            SocketAddr::V4(v4) if v6 => SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()),
            _ => peer,
        };
        let peer = SockAddr::from(peer);
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = Control::default();
        let mut message = message(&mut part, &mut control);
        message.msg_name = peer.as_ptr().cast_mut().cast();
        message.msg_namelen = peer.len();
        // SAFETY: `control` has room for either header with its data, is aligned for it and
        // outlives the call. The kernel only reads what the message points to.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            let len = if let (IpAddr::V4(v4), false) = (source, v6) {
                (*header).cmsg_level = libc::IPPROTO_IP;
                (*header).cmsg_type = libc::IP_PKTINFO;
                let from = libc::in_addr { s_addr: u32::from(v4).to_be() };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: from };
                libc::CMSG_DATA(header).cast::<libc::in_pktinfo>().write_unaligned(info);
                size_of::<libc::in_pktinfo>()
            } else {
                let address = match source {
                    IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                    IpAddr::V6(v6) => v6,
                };
                (*header).cmsg_level = libc::IPPROTO_IPV6;
                (*header).cmsg_type = libc::IPV6_PKTINFO;
                let info = libc::in6_pktinfo {
                    ipi6_addr: libc::in6_addr { s6_addr: address.octets() },
                    ipi6_ifindex: 0,
                };
                libc::CMSG_DATA(header).cast::<libc::in6_pktinfo>().write_unaligned(info);
                size_of::<libc::in6_pktinfo>()
            };
            (*header).cmsg_len = libc::CMSG_LEN(len as u32) as _;
            message.msg_controllen = libc::CMSG_SPACE(len as u32) as _;
            check_len(libc::sendmsg(self.0.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL))
        }
    }

    /// A socket of its own for the flow between `local`, as a [`Datagram`] gave it, and `peer`. The
    /// kernel prefers it to this port for that pair of addresses. What has arrived on it before it
    /// was connected, from whomever, is dropped.
    ///
    /// # Errors
    /// `EMFILE`, `EADDRNOTAVAIL`.
    pub fn connected(local: SocketAddr, peer: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::udp(peer)?;
        socket.set_shared_port()?;
        socket.bind(local)?;
        // Between the two the new socket shares the port with this one, and may get datagrams of
        // any peer.
        socket.connect(peer)?;
        let mut dropped = 0;
        while dropped < MOST_STRAY && socket.recv(&mut [0]).is_ok() {
            dropped += 1;
        }
        Ok(socket)
    }
}

/// The destination address in a received message's control data.
///
/// # Safety
/// `message` must have been filled by `recvmsg` and its control buffer must be alive.
unsafe fn destination(message: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the caller vouches for the message, and data of these kinds is of these types.
    let (v4, v6): (Option<libc::in_pktinfo>, Option<libc::in6_pktinfo>) = unsafe {
        (
            find(message, libc::IPPROTO_IP, libc::IP_PKTINFO),
            find(message, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO),
        )
    };
    let v4 = v4.map(|info| Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr)).into());
    v4.or_else(|| v6.map(|info| Ipv6Addr::from(info.ipi6_addr.s6_addr).into()))
}

impl AsFd for DatagramPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::arrived::arrived;

    #[test]
    fn arrivals_name_both_addresses_and_flows_get_their_own_socket() {
        for any in ["0.0.0.0:0", "[::]:0"] {
            let port = DatagramPort::bind(any.parse().unwrap()).unwrap();
            let number = port.0.local().unwrap().port();
            let server = SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), number);
            let client = Socket::udp(server).unwrap();
            client.connect(server).unwrap();
            client.send(b"hello").unwrap();
            let mut buffer = [0; 16];
            let arrival = arrived(&port).receive(&mut buffer).unwrap();
            assert_eq!((&buffer[..arrival.len], arrival.local), (&b"hello"[..], server));
            assert_eq!(arrival.peer, client.local().unwrap());

            let flow = DatagramPort::connected(arrival.local, arrival.peer).unwrap();
            client.send(b"again").unwrap();
            assert_eq!(arrived(&flow).recv(&mut buffer).unwrap(), 5);
            assert!(port.receive(&mut buffer).is_err(), "the flow's socket must get its datagrams");
            // The client is connected to one address and would not take an answer from another.
            port.send_from(b"x", arrival.local.ip(), arrival.peer).unwrap();
            assert_eq!((arrived(&client).recv(&mut buffer).unwrap(), buffer[0]), (1, b'x'));
            flow.send(b"y").unwrap();
            assert_eq!((arrived(&client).recv(&mut buffer).unwrap(), buffer[0]), (1, b'y'));
        }
    }

    /// Tries to bind `address` with these options, as `uid`; the error, if there is one.
    fn bind_as(uid: u32, address: SocketAddr, options: &[libc::c_int]) -> Option<i32> {
        let attempt = move |options: &[libc::c_int]| {
            // SAFETY: no memory is passed. The plain system call changes the calling thread only,
            // which ends soon.
            let changed = unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) };
            assert_eq!(changed, 0, "{}", io::Error::last_os_error());
            let socket = Socket::udp(address).unwrap();
            for option in options {
                socket.set_int(libc::SOL_SOCKET, *option, 1).unwrap();
            }
            socket.bind(address).err().map(|error| error.raw_os_error().unwrap())
        };
        std::thread::scope(|scope| scope.spawn(|| attempt(options)).join().unwrap())
    }

    #[test]
    fn no_other_user_binds_the_port_and_flows_get_sockets_all_the_same() {
        // SAFETY: reads the thread's effective user id.
        let uid = unsafe { libc::geteuid() };
        // Nobody but root may become somebody else; then at least nobody gets in with the option
        // for addresses.
        let other = if uid == 0 { 65534 } else { uid };
        let (address, port_option) = (libc::SO_REUSEADDR, libc::SO_REUSEPORT);
        for (any, others) in [
            ("0.0.0.0:0", &["0.0.0.0", "127.0.0.1", "127.0.0.2"][..]),
            ("[::]:0", &["0.0.0.0", "127.0.0.1", "127.0.0.2", "::", "::1"]),
            ("127.0.0.1:0", &["0.0.0.0", "127.0.0.1"]),
        ] {
            let port = DatagramPort::bind(any.parse().unwrap()).unwrap();
            let number = port.0.local().unwrap().port();
            let server = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), number);
            let nobody_gets_in = |when: &str| {
                for wanted in others {
                    let wanted = SocketAddr::new(wanted.parse().unwrap(), number);
                    for options in [&[][..], &[address], &[port_option], &[address, port_option]] {
                        if uid == other && options.contains(&port_option) {
                            continue;
                        }
                        let got = bind_as(other, wanted, options);
                        assert_eq!(
                            got,
                            Some(libc::EADDRINUSE),
                            "{any}, {when}: {wanted}, {options:?}"
                        );
                    }
                }
            };
            nobody_gets_in("before any flow");
            let mut buffer = [0; 16];
            let mut flows = Vec::new();
            for n in 0..20u8 {
                let client = Socket::udp(server).unwrap();
                client.connect(server).unwrap();
                client.send(&[n]).unwrap();
                let arrival = arrived(&port).receive(&mut buffer).unwrap();
                assert_eq!((arrival.len, buffer[0]), (1, n));
                flows.push((client, DatagramPort::connected(arrival.local, arrival.peer).unwrap()));
            }
            nobody_gets_in("beside flows");
            for (n, (client, flow)) in flows.iter().enumerate() {
                client.send(&[n as u8]).unwrap();
                assert_eq!(
                    (arrived(flow).recv(&mut buffer).unwrap(), buffer[0]),
                    (1, n as u8),
                    "{any}"
                );
            }
            assert!(port.receive(&mut buffer).is_err(), "flows get what is theirs");
        }
    }
}
