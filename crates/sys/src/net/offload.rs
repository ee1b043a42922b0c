//! Offloads of a network interface: segments made of one large packet and joined into one,
//! checksums.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use crate::check;

/// The offloads of an interface; `None` where the kernel does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offloads {
    /// The interface cuts large TCP packets into segments.
    pub tso: Option<bool>,
    /// The kernel cuts large packets just above the interface.
    pub gso: Option<bool>,
    /// The kernel joins segments that arrive.
    pub gro: Option<bool>,
    /// The interface makes checksums of what is sent.
    pub tx_checksum: Option<bool>,
    /// The interface checks those of what arrives.
    pub rx_checksum: Option<bool>,
}

/// The commands of `linux/ethtool.h` that read one of them.
const GET_RX_CHECKSUM: u32 = 0x14;
const GET_TX_CHECKSUM: u32 = 0x16;
const GET_TSO: u32 = 0x1e;
const GET_GSO: u32 = 0x23;
const GET_GRO: u32 = 0x2b;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Reads the offloads of an interface in the calling thread's network namespace. No privilege is
/// needed.
///
/// # Errors
/// No interface of this name, or a kernel that has no such calls.
pub fn offloads(interface: &str) -> io::Result<Offloads> {
    // Any socket will do: it says whose network namespace is meant.
    let socket = UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))
        .or_else(|_| UdpSocket::bind("[::1]:0"))?;
    let read = |command| read(&socket, interface, command);
    let tso = match read(GET_TSO) {
        Err(error) if error.raw_os_error() != Some(libc::EOPNOTSUPP) => return Err(error),
        tso => tso.ok(),
    };
    Ok(Offloads {
        tso,
        gso: read(GET_GSO).ok(),
        gro: read(GET_GRO).ok(),
        tx_checksum: read(GET_TX_CHECKSUM).ok(),
        rx_checksum: read(GET_RX_CHECKSUM).ok(),
    })
}

fn read(socket: &UdpSocket, interface: &str, command: u32) -> io::Result<bool> {
    let mut value = Value { command, data: 0 };
    // SAFETY: an all-zero ifreq is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The name and the zero behind it.
    if interface.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: `request` and the `ethtool_value` that it points to are writable and outlive the
    // call. The kernel reads and writes no more than these for commands that get one value.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) })?;
    Ok(value.data != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_says_all_of_them_and_nobody_says_none() {
        let seen = match offloads("lo") {
            // A sandbox's kernel has no such calls.
            Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => return,
            seen => seen.unwrap(),
        };
        // Loopback cannot switch its checksums off (`fixed` in `ethtool -k lo`).
        assert_eq!((seen.tx_checksum, seen.rx_checksum), (Some(true), Some(true)));
        assert!([seen.tso, seen.gso, seen.gro].iter().all(Option::is_some), "{seen:?}");
        for nobody in ["", "nobody0", "a-name-that-is-too-long-for-one"] {
            assert!(offloads(nobody).is_err(), "{nobody}");
        }
    }
}
