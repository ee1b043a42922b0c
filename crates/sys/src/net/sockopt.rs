//! Socket options. A setter that the kernel may round or refuse returns what it really set.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::{Socket, check};

/// `UDP_SEGMENT` of linux/udp.h.
const UDP_SEGMENT: libc::c_int = 103;

impl Socket {
    /// Sends small segments at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_nodelay(&self) -> io::Result<()> {
        self.0.set_tcp_nodelay(true)
    }

    /// Asks for a send buffer of `bytes` and returns what the kernel gave. It doubles the value for
    /// its own overhead and caps it at `net.core.wmem_max`.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_send_buffer(&self, bytes: usize) -> io::Result<usize> {
        self.0.set_send_buffer_size(bytes)?;
        self.0.send_buffer_size()
    }

    /// Asks for a receive buffer of `bytes` and returns what the kernel gave; see
    /// [`Socket::set_send_buffer`].
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_receive_buffer(&self, bytes: usize) -> io::Result<usize> {
        self.0.set_recv_buffer_size(bytes)?;
        self.0.recv_buffer_size()
    }

    /// The send and the receive buffer as they are now, bytes.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn buffers(&self) -> io::Result<(usize, usize)> {
        Ok((self.0.send_buffer_size()?, self.0.recv_buffer_size()?))
    }

    /// Has a port chosen by the connection, and not by [`Socket::bind`] with port 0
    /// (`IP_BIND_ADDRESS_NO_PORT`). So one address has as many connections to each peer as there
    /// are ports.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_port_when_connecting(&self) -> io::Result<()> {
        self.set_int(libc::SOL_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
    }

    /// Wakes a reader only when `bytes` are there, or the stream ended (`SO_RCVLOWAT`).
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_receive_low_water(&self, bytes: usize) -> io::Result<()> {
        self.set_int(
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            bytes.min(i32::MAX as usize) as libc::c_int,
        )
    }

    /// Takes no more bytes while `bytes` wait that were never sent (`TCP_NOTSENT_LOWAT`): keeps the
    /// send queue short.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_not_sent_low_water(&self, bytes: usize) -> io::Result<()> {
        self.set_int(
            libc::IPPROTO_TCP,
            libc::TCP_NOTSENT_LOWAT,
            bytes.min(i32::MAX as usize) as libc::c_int,
        )
    }

    /// Chooses the congestion control by name and returns the one in force.
    ///
    /// # Errors
    /// `ENOENT` for a name the kernel does not have, `EPERM` for one this user may not choose.
    pub fn set_congestion(&self, name: &str) -> io::Result<String> {
        self.0.set_tcp_congestion(name.as_bytes())?;
        self.congestion()
    }

    /// The congestion control in force.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn congestion(&self) -> io::Result<String> {
        let name = self.0.tcp_congestion()?;
        Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
    }

    /// Blocking calls give up with `EAGAIN` after `timeout`, in both directions.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set_timeouts(&self, timeout: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(timeout))?;
        self.0.set_write_timeout(Some(timeout))
    }

    /// Cuts every send into datagrams of `bytes` in the kernel (UDP segmentation offload).
    ///
    /// # Errors
    /// `ENOPROTOOPT` before Linux 4.18.
    pub fn set_segment_size(&self, bytes: u16) -> io::Result<()> {
        self.set_int(libc::SOL_UDP, UDP_SEGMENT, libc::c_int::from(bytes))
    }

    /// Lets sockets of this user that have it too be bound to the same port (`SO_REUSEPORT`). Not
    /// `SO_REUSEADDR`: with that, any user's sockets could, and would get what is meant for this
    /// one.
    pub(crate) fn set_shared_port(&self) -> io::Result<()> {
        self.0.set_reuse_port(true)
    }

    pub(crate) fn set_int(
        &self,
        level: libc::c_int,
        name: libc::c_int,
        value: libc::c_int,
    ) -> io::Result<()> {
        // SAFETY: `value` is readable for the length that is passed.
        check(unsafe {
            libc::setsockopt(
                self.as_raw_fd(),
                level,
                name,
                (&raw const value).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        })?;
        Ok(())
    }
}
