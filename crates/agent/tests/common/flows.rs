//! Flows as a client opens them, one by one.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, like tests")]
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use hopbench_wire::udp::{self, NO_COOKIE, ServerReply};
use hopbench_wire::{Direction, FLOW_ACCEPTED, FlowHeader, FlowKind, WorkloadCode};

use super::session::key;

/// A header whose token is right.
pub(crate) fn header(workload: &str, kind: FlowKind, run: u32, flow: u32) -> FlowHeader {
    let code = hopbench_load::workload(workload).unwrap().code();
    let workload = WorkloadCode::from_code(code).unwrap();
    FlowHeader { workload, direction: Direction::ToServer, kind, run, flow }
}

/// A connection to the agent's port.
pub(crate) fn connect(agent: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&agent, Duration::from_secs(5)).unwrap();
    // Longer than anything may take that is to happen at all.
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// A connection that has sent its flow header.
pub(crate) fn open(agent: SocketAddr, header: &FlowHeader) -> TcpStream {
    let mut stream = connect(agent);
    stream.write_all(&header.encode(&key())).unwrap();
    stream
}

/// A flow that the agent welcomes; `None` where it closes the connection instead.
pub(crate) fn welcomed(agent: SocketAddr, header: &FlowHeader) -> Option<TcpStream> {
    let mut stream = open(agent, header);
    let mut said = [0; FLOW_ACCEPTED.len()];
    match stream.read_exact(&mut said) {
        Ok(()) => {
            assert_eq!(said, FLOW_ACCEPTED);
            Some(stream)
        }
        Err(error) => {
            assert!(is_end(&error), "neither welcome nor end: {error}");
            None
        }
    }
}

/// Whether the agent closed the connection; it is not waited for.
pub(crate) fn is_closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let seen = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    match seen {
        Ok(n) => n == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

fn is_end(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
    )
}

/// Asks the HTTP target for its health on a connection that stays open; `None` where it closes it
/// instead.
pub(crate) fn healthy(agent: SocketAddr) -> Option<TcpStream> {
    let mut stream = connect(agent);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut said = [0; 12];
    match stream.read_exact(&mut said) {
        Ok(()) => {
            assert_eq!(&said, b"HTTP/1.1 200");
            Some(stream)
        }
        Err(error) => {
            assert!(is_end(&error), "neither answer nor end: {error}");
            None
        }
    }
}

/// A client's end of a datagram flow.
pub(crate) struct Datagrams(UdpSocket);

impl Datagrams {
    pub(crate) fn to(agent: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(agent).unwrap();
        Self(socket)
    }

    /// Registers with the cookie that the agent gives for it; whether the agent accepts it within 5
    /// s or so, asked several times. A header that gets no cookie at all is not even authentic, and
    /// a failure.
    pub(crate) fn register(&self, header: &FlowHeader, tries: u32) -> bool {
        let mut cookie = NO_COOKIE;
        self.0.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        self.0.send(&udp::register(header, &key(), &cookie)).unwrap();
        match self.answer() {
            Some(ServerReply::Challenge { cookie: given, .. }) => cookie = given,
            other => panic!("no cookie, but {other:?}"),
        }
        self.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        for _ in 0..tries {
            self.0.send(&udp::register(header, &key(), &cookie)).unwrap();
            match self.answer() {
                None => {}
                Some(ServerReply::Accepted { .. }) => return true,
                Some(other) => panic!("neither accepted nor silent: {other:?}"),
            }
        }
        false
    }

    /// Whether a registration gets any answer at all.
    pub(crate) fn is_answered(&self, datagram: &[u8]) -> bool {
        self.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        self.0.send(datagram).unwrap();
        self.answer().is_some()
    }

    fn answer(&self) -> Option<ServerReply> {
        let mut buffer = [0; 128];
        let length = self.0.recv(&mut buffer).ok()?;
        Some(ServerReply::parse(&buffer[..length]).unwrap())
    }
}
