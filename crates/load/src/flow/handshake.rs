//! The handshake by which a flow identifies itself, before any load.
//!
//! The protocol knows what the bytes are. This module only knows when to send them.

use hopbench_model::{Fault, Nanos};

use crate::flow::failure::explain;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// The messages by which flows of a run identify themselves.
pub trait HandshakeCodec: Send + Sync {
    /// The header that opens TCP flow `flow`.
    fn tcp(&self, flow: u32) -> [u8; 32];
    /// The datagram that registers UDP flow `flow`, with the cookie once there is one.
    fn udp(&self, flow: u32, cookie: Option<[u8; 16]>) -> [u8; 64];
    /// The meaning of an answer to flow `flow`.
    fn read(&self, flow: u32, answer: &[u8]) -> HandshakeAnswer;
}

/// The server's answer to a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeAnswer {
    /// The flow is accepted.
    Accepted,
    /// The registration must be repeated with this cookie.
    Challenge([u8; 16]),
    /// Not an answer to this flow's handshake, or not all of it.
    Unknown,
}

/// Length of the answer that accepts a TCP flow, bytes.
pub const ACCEPTED_LEN: usize = 8;

/// How often a UDP registration is sent before the server counts as unreachable, and how long each
/// waits.
const UDP_TRIES: u32 = 20;
const UDP_WAIT: Nanos = 100_000_000;

/// A flow that first connects and shakes hands, then goes on as `F`.
pub(crate) struct Handshake<F> {
    codec: std::sync::Arc<dyn HandshakeCodec>,
    state: State,
    flow: u32,
    bytes: Vec<u8>,
    sent: usize,
    answer: Vec<u8>,
    deadline: Nanos,
    tries: u32,
    timeout: Nanos,
    udp: bool,
    inner: F,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sending,
    Answer,
    Done,
}

impl<F> std::fmt::Debug for Handshake<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handshake").field("flow", &self.flow).finish_non_exhaustive()
    }
}

impl<F> Handshake<F> {
    /// Flow number `flow`, which becomes `inner` once the server accepted it; over TCP within
    /// `timeout` ns.
    pub(crate) fn new(
        codec: std::sync::Arc<dyn HandshakeCodec>,
        flow: u32,
        udp: bool,
        timeout: Nanos,
        inner: F,
    ) -> Self {
        let bytes = if udp { codec.udp(flow, None).to_vec() } else { codec.tcp(flow).to_vec() };
        Self {
            codec,
            state: State::Sending,
            flow,
            bytes,
            sent: 0,
            answer: Vec::with_capacity(64),
            deadline: 0,
            tries: 0,
            timeout,
            udp,
            inner,
        }
    }

    fn send(&mut self, now: Nanos) -> Op {
        self.state = State::Sending;
        self.sent = 0;
        self.tries += 1;
        self.deadline = now + if self.udp { UDP_WAIT } else { self.timeout };
        Op::Send
    }

    fn listen(&mut self) -> Op {
        self.state = State::Answer;
        Op::Recv(if self.udp { 64 } else { ACCEPTED_LEN - self.answer.len() })
    }
}

fn refused(what: &str) -> Op {
    Op::Abort(Box::new(Fault::environment(format!("the server did not accept a flow: {what}"))))
}

impl<F: Flow> Flow for Handshake<F> {
    fn start(&mut self, now: Nanos) -> Op {
        self.deadline = now + if self.udp { UDP_WAIT } else { self.timeout };
        Op::Connect
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        if self.state == State::Done {
            return self.inner.on(event, now, out);
        }
        match (self.state, event) {
            (State::Sending, Event::Connected) => self.send(now),
            (State::Sending, Event::Sent(n)) => {
                self.sent += n;
                if self.sent < self.bytes.len() { Op::Send } else { self.listen() }
            }
            (State::Answer, Event::Received(bytes)) => {
                if self.udp {
                    self.answer.clear();
                }
                self.answer.extend_from_slice(bytes);
                match self.codec.read(self.flow, &self.answer) {
                    HandshakeAnswer::Accepted => {
                        self.state = State::Done;
                        self.bytes = Vec::new();
                        self.answer = Vec::new();
                        self.inner.start(now)
                    }
                    HandshakeAnswer::Challenge(cookie) => {
                        self.bytes = self.codec.udp(self.flow, Some(cookie)).to_vec();
                        self.send(now)
                    }
                    HandshakeAnswer::Unknown if self.udp || self.answer.len() < ACCEPTED_LEN => {
                        self.listen()
                    }
                    HandshakeAnswer::Unknown => refused("its answer is not hopbench's"),
                }
            }
            (_, Event::TimedOut) if self.udp && self.tries < UDP_TRIES => self.send(now),
            (_, Event::Failed(error))
                if self.udp
                    && self.tries < UDP_TRIES
                    && error.kind() == std::io::ErrorKind::ConnectionRefused =>
            {
                // An ICMP error for an earlier datagram: nobody listens there (yet); the next try
                // tells.
                self.listen()
            }
            (_, Event::TimedOut) => refused(if self.udp {
                "no answer to its UDP registration (is the port open for UDP too, or its limit of \
                 flows reached?)"
            } else {
                "no answer in time"
            }),
            (_, Event::Closed) => refused(
                "it closed the connection (several servers behind one address, or its limit of \
                 flows is reached)",
            ),
            (_, Event::Failed(error)) => refused(&explain(&error)),
            (_, Event::Finish) => Op::End,
            (_, other) => refused(&format!("unexpected {other:?}")),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        if self.state == State::Done { self.inner.outgoing() } else { &self.bytes[self.sent..] }
    }

    fn bulk_bytes(&self) -> Option<usize> {
        self.inner.bulk_bytes()
    }

    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        self.inner.fit_packets(packet_bytes)
    }

    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.inner.visited(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        self.inner.closing(out);
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        if self.state == State::Done { self.inner.deadline() } else { Some(self.deadline) }
    }
}
