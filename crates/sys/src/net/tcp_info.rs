//! `TCP_INFO`, the kernel's knowledge of a TCP connection.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use crate::{Socket, check};

/// The kernel's `struct tcp_info` up to `tcpi_snd_wnd` (Linux 5.4); fields that an older kernel
/// does not fill read zero. Names and units are the kernel's, without the prefix.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
#[allow(missing_docs)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub wscale: u8,
    pub flags: u8,
    pub rto_us: u32,
    pub ato_us: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent_ms: u32,
    pub last_ack_sent_ms: u32,
    pub last_data_recv_ms: u32,
    pub last_ack_recv_ms: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt_us: u32,
    pub rttvar_us: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt_us: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    pub min_rtt_us: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub busy_time_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
    pub rcv_ooopack: u32,
    pub snd_wnd: u32,
}

impl TcpInfo {
    /// Reads it from a TCP socket.
    ///
    /// # Errors
    /// What the kernel said; a socket that is not TCP gives `ENOPROTOOPT` or `EOPNOTSUPP`.
    pub fn of(socket: &Socket) -> io::Result<Self> {
        let mut info = Self::default();
        let mut len = size_of::<Self>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes into `info`, a plain struct for which every
        // bit pattern is valid. What it does not write stays zero.
        check(unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut len,
            )
        })?;
        Ok(info)
    }

    /// What one segment to either end holds at most, bytes. `None`: the kernel does not say it
    /// (gVisor).
    pub fn segment_bytes(&self) -> Option<usize> {
        Some(self.segment_sent()?.min(self.advmss as usize)).filter(|bytes| *bytes > 0)
    }

    /// What the kernel sends as one packet, bytes: as many whole segments as fit into 64 KiB beside
    /// all headers, and at least one. That is what Linux's `tcp_xmit_size_goal` gives where the
    /// device takes 64 KiB. `None`: the kernel does not say how large a segment is (gVisor).
    pub fn packet_bytes(&self) -> Option<usize> {
        self.segment_sent().map(|segment| (MOST_PACKET_BYTES / segment).max(1) * segment)
    }

    fn segment_sent(&self) -> Option<usize> {
        // The kernel keeps a segment within half of the peer's largest window so far. The window
        // grows with the first data, and the bound is gone. So what this end announced counts.
        let is_bound = self.snd_wnd > 0 && self.snd_mss >= self.snd_wnd / 2;
        let segment = if is_bound { self.advmss } else { self.snd_mss } as usize;
        (segment > 0).then_some(segment)
    }
}

/// The largest packet: 64 KiB less 320 bytes for headers and one (`MAX_TCP_HEADER`), bytes.
const MOST_PACKET_BYTES: usize = (64 << 10) - 321;

/// Bytes written to a TCP socket that the peer has not acknowledged (`SIOCOUTQ`).
///
/// # Errors
/// What the kernel said.
pub fn send_queue_bytes(socket: &Socket) -> io::Result<u64> {
    queue(socket, libc::TIOCOUTQ)
}

/// Bytes received on a socket that were not read yet (`SIOCINQ`).
///
/// # Errors
/// What the kernel said.
pub fn receive_queue_bytes(socket: &Socket) -> io::Result<u64> {
    queue(socket, libc::FIONREAD)
}

fn queue(socket: &Socket, request: libc::c_ulong) -> io::Result<u64> {
    let mut bytes = MaybeUninit::<libc::c_int>::zeroed();
    // SAFETY: both requests write one int to the pointer.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), request, bytes.as_mut_ptr()) })?;
    // SAFETY: it was zeroed, and an int is valid for every bit pattern.
    Ok(unsafe { bytes.assume_init() }.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of an MTU of 1500 with timestamps, of 9000, of the loopback, and none yet.
    #[test]
    fn a_packet_is_whole_segments() {
        for (snd_mss, snd_wnd, bytes) in [
            (1448, 64_256, Some(45 * 1448)),
            (8948, 64_256, Some(7 * 8948)),
            (65_483, 226_304, Some(65_483)),
            (32_768, 65_536, Some(65_483)),
            (32_741, 65_483, Some(65_483)),
            // Of kernels that do not tell.
            (1448, 0, Some(45 * 1448)),
            (0, 0, None),
        ] {
            let info = TcpInfo { snd_mss, snd_wnd, advmss: 65_483, ..TcpInfo::default() };
            assert_eq!(info.packet_bytes(), bytes, "{snd_mss} {snd_wnd}");
        }
    }
}
