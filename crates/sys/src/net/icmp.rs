//! ICMP echo sockets.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockFilter, Type};

use crate::Socket;

/// Which sort of ICMP socket was to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icmp {
    /// A datagram socket: needs no right, the kernel sets the identifier and delivers its replies
    /// only.
    Datagram,
    /// A raw socket: needs `CAP_NET_RAW`. IPv4 packets come with their IP header.
    Raw,
}

impl Socket {
    /// A non-blocking ICMP (or ICMPv6) socket connected to `peer`, whose port is ignored: a
    /// datagram socket where `net.ipv4.ping_group_range` allows it, a raw one otherwise.
    ///
    /// A raw socket takes in echo replies of `identifier` only, so that the replies of others do
    /// not fill its buffer. A datagram socket has an identifier of its own. Errors that routers
    /// report (host unreachable and the like) end the next call on the socket; they stay queued in
    /// it until it is closed.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` when neither sort is allowed, `ENETUNREACH` without a route.
    pub fn icmp(peer: SocketAddr, identifier: u16) -> io::Result<(Self, Icmp)> {
        let domain = Domain::for_address(peer);
        let protocol = if peer.is_ipv4() { Protocol::ICMPV4 } else { Protocol::ICMPV6 };
        let (socket, kind) = match Self::open(domain, Type::DGRAM, protocol) {
            Ok(socket) => (socket, Icmp::Datagram),
            Err(_) => {
                let socket = Self::open(domain, Type::RAW, protocol)?;
                socket.0.attach_filter(&replies_of(peer.is_ipv4(), identifier))?;
                (socket, Icmp::Raw)
            }
        };
        if peer.is_ipv4() {
            socket.set_int(libc::SOL_IP, libc::IP_RECVERR, 1)?;
        } else {
            socket.set_int(libc::SOL_IPV6, libc::IPV6_RECVERR, 1)?;
        }
        let mut peer = peer;
        // Any but 0: with that `getpeername` would say that the socket is not connected.
        peer.set_port(1);
        socket.connect(peer)?;
        Ok((socket, kind))
    }
}

/// A socket filter that keeps echo replies with this identifier (linux/filter.h).
fn replies_of(v4: bool, identifier: u16) -> Vec<SockFilter> {
    const LOAD_BYTE: u16 = 0x50;
    const LOAD_HALF: u16 = 0x48;
    /// X = 4 * (byte & 15): the length of an IPv4 header.
    const LOAD_HEADER_LEN: u16 = 0xb1;
    const LOAD_X: u16 = 0x01;
    const JUMP_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let (reply, header) = if v4 {
        (0, SockFilter::new(LOAD_HEADER_LEN, 0, 0, 0))
    } else {
        // IPv6 packets come without their header.
        (129, SockFilter::new(LOAD_X, 0, 0, 0))
    };
    vec![
        header,
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(JUMP_EQUAL, 0, 3, reply),
        SockFilter::new(LOAD_HALF, 0, 0, 4),
        SockFilter::new(JUMP_EQUAL, 0, 1, u32::from(identifier)),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}
