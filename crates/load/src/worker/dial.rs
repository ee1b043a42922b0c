//! The sockets of flows: protocol, options, and the way to the peer.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::{Icmp, Socket};

use crate::flow::failure::explain;
use crate::measure::socket_set::SocketSet;

/// What the sockets of a trial are and which options they get.
#[derive(Debug, Clone)]
pub struct Dial {
    /// TCP, UDP or ICMP.
    pub transport: Transport,
    /// The address to connect to.
    pub peer: SocketAddr,
    /// Local addresses that flows have in turn; none: the kernel picks one.
    pub local: Vec<IpAddr>,
    /// Options of each socket.
    pub options: SocketOptions,
}

/// The protocol of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Transmission Control Protocol.
    Tcp,
    /// User Datagram Protocol.
    Udp,
    /// ICMP or ICMPv6, as the peer's address says.
    Icmp,
}

/// Options that a workload asks for; both ends get the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// `SO_SNDBUF`, bytes.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF`, bytes.
    pub receive_buffer: Option<usize>,
    /// `TCP_CONGESTION`.
    pub congestion: Option<String>,
    /// `SO_RCVLOWAT`, bytes; set when the flow has been accepted.
    pub receive_low_water: Option<usize>,
    /// `TCP_NOTSENT_LOWAT`, bytes.
    pub not_sent_low_water: Option<usize>,
    /// `SO_TIMESTAMPING` of what is received, on the client's sockets.
    pub receive_timestamps: bool,
    /// `UDP_SEGMENT` of the client's sockets, bytes; set when the server has accepted the flow.
    pub segment: Option<u16>,
}

/// The longest that [`wait_at_most`] allows, ns.
const LONGEST_WAIT: Nanos = 5 * SECOND;

/// The setting of a client's report with the connections it made, and closed unused, before those
/// of the trial.
const PREFLIGHT: &str = "preflight_connections";

/// Makes one connection and drops it: a server that is not there is the environment's fault, and
/// that must be known before anything is measured. What stands on the way counts that connection:
/// it is noted. Waits at most `timeout` ns, and never more than 5 s.
pub(crate) fn reach(target: SocketAddr, timeout: Nanos, notes: &SocketSet) -> Result<(), Fault> {
    connect(target, wait_at_most(timeout)).map(|_| note_preflight(notes))
}

/// How long a connection ahead of a trial is waited for where an exchange may take `timeout` ns.
pub(crate) fn wait_at_most(timeout: Nanos) -> Duration {
    // The standard library refuses a timeout of zero.
    Duration::from_nanos(timeout.clamp(1, LONGEST_WAIT))
}

/// Makes a connection ahead of a trial.
pub(crate) fn connect(target: SocketAddr, wait: Duration) -> Result<TcpStream, Fault> {
    TcpStream::connect_timeout(&target, wait).map_err(|error| {
        Fault::environment(format!("cannot connect to {target}: {}", explain(&error)))
    })
}

/// Notes that there was such a connection.
pub(crate) fn note_preflight(notes: &SocketSet) {
    notes.note_setting(PREFLIGHT, || "1".to_owned());
}

impl Dial {
    /// Opens the socket of flow `flow`, sets its options and notes what was really set.
    pub(crate) fn open(&self, flow: u32, notes: &SocketSet) -> io::Result<Socket> {
        let socket = match self.transport {
            Transport::Tcp => Socket::tcp(self.peer)?,
            Transport::Udp => Socket::udp(self.peer)?,
            Transport::Icmp => {
                let (socket, kind) = Socket::icmp(self.peer, echo_identifier(flow))?;
                notes.note_setting("icmp_socket", || match kind {
                    Icmp::Datagram => "datagram".to_owned(),
                    Icmp::Raw => "raw".to_owned(),
                });
                socket
            }
        };
        self.options.apply(&socket, self.transport, notes)?;
        self.bind(&socket, flow)?;
        Ok(socket)
    }

    /// Tries each local address: one that cannot be used must be known before anything is measured.
    pub(crate) fn try_local(&self) -> Result<(), Fault> {
        let family = if self.peer.is_ipv4() { "IPv4" } else { "IPv6" };
        for (flow, local) in (0..).zip(&self.local) {
            if local.is_ipv4() != self.peer.is_ipv4() {
                return Err(Fault::input(format!(
                    "--local-address: found `{local}`, expected an address of {family}, as that of \
                     the other end, {}",
                    self.peer.ip()
                )));
            }
            let tried = Socket::udp(self.peer).and_then(|socket| self.bind(&socket, flow));
            tried.map_err(|error| Fault::environment(error.to_string()))?;
        }
        Ok(())
    }

    /// Gives the socket of flow `flow` its local address, if the job says one.
    fn bind(&self, socket: &Socket, flow: u32) -> io::Result<()> {
        if self.local.is_empty() {
            return Ok(());
        }
        let address = self.local[flow as usize % self.local.len()];
        let local = SocketAddr::new(address, 0);
        let bound = socket.set_port_when_connecting().and_then(|()| socket.bind(local));
        // Without the kind of the error: that would be explained as a lack of ports.
        bound.map_err(|error| io::Error::other(format!("local address {address}: {error}")))
    }
}

/// The identifier of flow `flow`'s echo requests where the kernel does not choose it (raw sockets).
/// It tells the flows of this process apart, and from other processes for all that is likely.
pub(crate) fn echo_identifier(flow: u32) -> u16 {
    (std::process::id() as u16).wrapping_add(flow as u16)
}

impl SocketOptions {
    /// Sets them on a socket, and notes what was really set.
    pub(crate) fn apply(
        &self,
        socket: &Socket,
        transport: Transport,
        notes: &SocketSet,
    ) -> io::Result<()> {
        let named = |name: &str, error: &io::Error| {
            io::Error::new(error.kind(), format!("{name}: {error}"))
        };
        if transport == Transport::Tcp {
            socket.set_nodelay()?;
            if let Some(bytes) = self.not_sent_low_water {
                socket
                    .set_not_sent_low_water(bytes)
                    .map_err(|e| named("not-sent low water", &e))?;
                notes.note_setting("not_sent_low_water_bytes", || bytes.to_string());
            }
            if let Some(name) = &self.congestion {
                let got = socket.set_congestion(name).map_err(|error| {
                    let what = format!(
                        "congestion control `{name}` (see \
                         net.ipv4.tcp_available_congestion_control)"
                    );
                    named(&what, &error)
                })?;
                notes.note_setting("congestion", || format!("asked {name}, got {got}"));
            } else {
                notes.note_setting("congestion", || socket.congestion().unwrap_or_default());
            }
        }
        if self.receive_timestamps {
            socket.set_receive_timestamps().map_err(|e| named("receive timestamps", &e))?;
        }
        if let Some(bytes) = self.send_buffer {
            let got = socket.set_send_buffer(bytes).map_err(|e| named("send buffer", &e))?;
            notes.note_setting("send_buffer_bytes", || format!("asked {bytes}, got {got}"));
        }
        if let Some(bytes) = self.receive_buffer {
            let got = socket.set_receive_buffer(bytes).map_err(|e| named("receive buffer", &e))?;
            notes.note_setting("receive_buffer_bytes", || format!("asked {bytes}, got {got}"));
        }
        Ok(())
    }

    /// Sets what may hold only once the flow has been accepted. A registration must leave in one
    /// piece, and a handshake's answer is shorter than a read.
    pub(crate) fn apply_accepted(&self, socket: &Socket, notes: &SocketSet) -> io::Result<()> {
        let named = |name: &str, error: &io::Error| {
            io::Error::new(error.kind(), format!("{name}: {error}"))
        };
        if let Some(bytes) = self.segment {
            socket.set_segment_size(bytes).map_err(|e| named("UDP segmentation offload", &e))?;
            notes.note_setting("segment_bytes", || bytes.to_string());
        }
        if let Some(bytes) = self.receive_low_water {
            socket.set_receive_low_water(bytes).map_err(|e| named("receive low water", &e))?;
            notes.note_setting("receive_low_water_bytes", || bytes.to_string());
        }
        Ok(())
    }
}
