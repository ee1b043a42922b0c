//! The client's end of `crr`: one connection after the other.

use std::io;
use std::sync::Arc;

use hopbench_model::{Counter, Fault, LatencyKind, Nanos};
use hopbench_sys::errno;

use crate::flow::handshake::HandshakeCodec;
use crate::flow::{BEYOND, Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::secured;

/// Length of the header that opens a flow, bytes.
const HEADER: usize = 32;
/// Bytes of a request that leave together with the header; the rest follows from the filler.
const FIRST: usize = 64 * 1024;
/// Bytes of one call, at most.
pub(super) const CHUNK: usize = 256 * 1024;
/// Pause of a flow after a failure: one that comes at once would come a million times a second.
const BACK_OFF: Nanos = 1_000_000;
/// The reason of a failure for want of a local port.
pub(super) const NO_LOCAL_PORT: &str = "no_local_port";
/// The figure that counts connections which the server did not close in time.
pub(super) const LEFT_OPEN: &str = "left_open_by_server";

/// The name of a failure in records.
fn reason(error: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    match error.kind() {
        K::AddrNotAvailable => NO_LOCAL_PORT,
        K::ConnectionRefused => "refused",
        K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe => "reset",
        K::TimedOut => "timeout",
        K::HostUnreachable | K::NetworkUnreachable => "unreachable",
        K::InvalidData => secured::reason(error),
        _ if errno::too_many_files(error) => "too_many_open_files",
        _ => "socket_error",
    }
}

/// The client's end: one connection after the other.
pub(super) struct Client {
    handshake: Arc<dyn HandshakeCodec>,
    /// The number of the next connection's flow; `step` further is the one after.
    flow: u32,
    step: u32,
    request: usize,
    response: usize,
    timeout: Nanos,
    state: State,
    /// The header and the start of the request.
    bytes: Vec<u8>,
    sent: usize,
    left: usize,
    intended: Nanos,
    /// When the attempt to connect began.
    began: Nanos,
    /// When the request began to be sent: a time taken after the call could be later than the
    /// answer.
    asked: Nanos,
    deadline: Nanos,
    failed: bool,
    /// Whether the header goes ahead of TLS.
    is_secured: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connecting,
    Asking,
    Answer,
    /// The answer is complete; the server's FIN is waited for.
    Ending,
    Closing,
}

impl Client {
    /// `request` and `response` are the sizes of a message, bytes; `is_secured`: TLS is around it.
    pub(super) fn new(
        handshake: Arc<dyn HandshakeCodec>,
        slot: u32,
        connections: u32,
        (request, response): (usize, usize),
        timeout: Nanos,
        is_secured: bool,
    ) -> Self {
        let mut client = Self {
            bytes: (0..HEADER + request.min(FIRST)).map(|i| i as u8).collect(),
            handshake,
            flow: slot,
            step: connections,
            request,
            response,
            timeout,
            state: State::Idle,
            sent: 0,
            left: 0,
            intended: 0,
            began: 0,
            asked: 0,
            deadline: 0,
            failed: false,
            is_secured,
        };
        client.write_header();
        client
    }

    /// Headers are made between exchanges: their cost is in no latency.
    fn write_header(&mut self) {
        self.bytes[..HEADER].copy_from_slice(&self.handshake.tcp(self.flow));
        self.flow = self.flow.wrapping_add(self.step);
    }

    fn begin(&mut self, intended: Nanos, now: Nanos, out: &mut Recorder) -> Op {
        (self.intended, self.began, self.deadline) =
            (intended, now, now.saturating_add(self.timeout));
        let ahead = if self.is_secured { HEADER } else { 0 };
        (self.sent, self.failed, self.state) = (ahead, false, State::Connecting);
        out.sending(intended, now);
        Op::Connect
    }

    #[inline]
    fn connected(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::Connects, 1);
        out.latency(LatencyKind::Connect, self.began, now.saturating_sub(self.began));
        (self.asked, self.state) = (now, State::Asking);
        Op::Send
    }

    #[inline]
    fn sent(&mut self, n: usize, out: &Recorder) -> Op {
        // The header is no payload.
        let payload = |sent: usize| sent.saturating_sub(HEADER);
        out.count(Counter::SentBytes, (payload(self.sent + n) - payload(self.sent)) as u64);
        self.sent += n;
        if self.sent < self.bytes.len() {
            return Op::Send;
        }
        let left = HEADER + self.request - self.sent;
        if left > 0 {
            return Op::SendFill(left.min(CHUNK));
        }
        (self.left, self.state) = (self.response, State::Answer);
        Op::Recv(self.left + BEYOND)
    }

    #[inline]
    fn received(&mut self, n: usize, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::ReceivedBytes, n as u64);
        self.left = self.left.saturating_sub(n);
        if self.left > 0 {
            return Op::Recv(self.left + BEYOND);
        }
        if out.completed(self.intended, self.began, now) {
            out.latency_of_counted(LatencyKind::Reply, now.saturating_sub(self.asked));
        }
        // The server's FIN follows its last byte at once; the exchange's own time is no measure for
        // it.
        (self.state, self.deadline) = (State::Ending, now.saturating_add(self.timeout));
        Op::Recv(1)
    }

    fn fail(&mut self, reason: &'static str, now: Nanos, out: &mut Recorder) -> Op {
        out.failed(reason, self.intended, now);
        self.drop_failed()
    }

    fn drop_failed(&mut self) -> Op {
        self.failed = true;
        self.close()
    }

    /// Whatever is under way is given up, so that the next exchange starts from nothing.
    fn close(&mut self) -> Op {
        self.state = State::Closing;
        Op::Disconnect
    }
}

impl Flow for Client {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (State::Idle, Event::Go { intended }) => self.begin(intended, now, out),
            (State::Connecting, Event::Connected) => self.connected(now, out),
            (State::Asking, Event::Sent(n)) => self.sent(n, out),
            (State::Answer, Event::Received(bytes)) if bytes.len() <= self.left => {
                self.received(bytes.len(), now, out)
            }
            (State::Ending, event) => {
                if matches!(event, Event::TimedOut) {
                    out.add_extra(LEFT_OPEN, 1.0);
                }
                self.close()
            }
            (State::Closing, Event::Disconnected) => {
                self.write_header();
                self.state = State::Idle;
                if self.failed { Op::Wait(now + BACK_OFF) } else { Op::Rest }
            }
            (State::Idle, Event::Timer) => Op::Rest,
            (State::Idle, _) => Op::End,
            (_, Event::TimedOut) => {
                out.count(Counter::Timeouts, 1);
                out.failed("timeout", self.intended, now);
                self.drop_failed()
            }
            (_, Event::Failed(error)) => {
                let reason = reason(&error);
                if reason == "timeout" {
                    out.count(Counter::Timeouts, 1);
                }
                self.fail(reason, now, out)
            }
            (_, Event::Closed) => self.fail("closed_early", now, out),
            (_, other) => {
                Op::Abort(Box::new(Fault::measuring(format!("crr met an unexpected {other:?}"))))
            }
        }
    }

    fn prelude(&self) -> &[u8] {
        &self.bytes[..HEADER]
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.bytes[self.sent.min(self.bytes.len())..]
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(self.deadline)
    }
}
