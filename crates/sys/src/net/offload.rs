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
///
/// The ioctl and not ethtool netlink: every kernel answers it, and both set the same bits. With it
/// the kernel knows which features a word like `tso` stands for. Over netlink that would be our
/// table, besides the family's number, nested bit sets and their answers.
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

impl Offloads {
    /// One of them by its word: `tso`, `gso`, `gro`, `tx-checksum`, `rx-checksum`.
    pub fn named(&self, word: &str) -> Option<bool> {
        match word {
            "tso" => self.tso,
            "gso" => self.gso,
            "gro" => self.gro,
            "tx-checksum" => self.tx_checksum,
            "rx-checksum" => self.rx_checksum,
            _ => None,
        }
    }
}

/// Reads the offloads of an interface in the calling thread's network namespace. No privilege is
/// needed.
///
/// # Errors
/// No interface of this name, or a kernel that has no such calls.
pub fn offloads(interface: &str) -> io::Result<Offloads> {
    let socket = any_socket()?;
    let read = |command| call(&socket, interface, command, 0);
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

/// Switches an offload of an interface in the calling thread's network namespace, by its word:
/// `tso`, `gso`, `gro`, `tx-checksum`, `rx-checksum`. Whether the kernel took it, [`offloads`]
/// says.
///
/// # Errors
/// Another word, no interface of this name, no right, an interface that does not have it.
pub fn switch_offload(interface: &str, word: &str, on: bool) -> io::Result<()> {
    let get = match word {
        "tso" => GET_TSO,
        "gso" => GET_GSO,
        "gro" => GET_GRO,
        "tx-checksum" => GET_TX_CHECKSUM,
        "rx-checksum" => GET_RX_CHECKSUM,
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    // Of each of these pairs, the command that sets is the next one.
    call(&any_socket()?, interface, get + 1, u32::from(on)).map(drop)
}

/// The MTU of an interface in the calling thread's network namespace, bytes.
///
/// # Errors
/// No interface of this name.
pub fn interface_mtu(interface: &str) -> io::Result<u32> {
    let socket = any_socket()?;
    let mut request = named(interface)?;
    // SAFETY: `request` is writable and outlives the call, which reads its name and writes its MTU.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) })?;
    // SAFETY: the call succeeded: the kernel wrote the MTU, and any bits are a number.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    u32::try_from(mtu).map_err(io::Error::other)
}

/// A request about an interface.
fn named(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: an all-zero ifreq is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The name and the zero behind it.
    if interface.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Any socket will do: it says whose network namespace is meant.
fn any_socket() -> io::Result<UdpSocket> {
    UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, 0)).or_else(|_| UdpSocket::bind("[::]:0"))
}

/// Gets or sets one value; the value afterwards.
fn call(socket: &UdpSocket, interface: &str, command: u32, data: u32) -> io::Result<bool> {
    let mut value = Value { command, data };
    let mut request = named(interface)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: `request` and the `ethtool_value` that it points to are writable and outlive the
    // call. The kernel reads and writes no more than these for commands that get or set one value.
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
