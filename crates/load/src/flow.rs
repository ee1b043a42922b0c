//! The contract between a workload and an engine.
//!
//! A [`Flow`] is the state machine of one connection, or of one datagram flow. It does no I/O and
//! reads no clock. It is told what happened and when, and answers with the one thing it wants done
//! next. An engine does that thing with epoll, io_uring, busy polling or blocking calls. The flow
//! cannot tell which.
//!
//! ```text
//!            start                         Rest ──► (the pool) ──► Go{intended}
//!              │                            ▲                          │
//!              ▼                            │                          ▼
//!   Op ──► engine ──► Event ──► on ──► Op ──┴─► ...  ... ──► Op ──► End
//! ```

pub(crate) mod either;
pub(crate) mod failure;
pub(crate) mod handshake;
pub(crate) mod udp_registration;

use hopbench_model::{Fault, Nanos};

use crate::measure::recorder::Recorder;

/// One thing that a flow wants done; each is answered by one event.
#[derive(Debug)]
pub enum Op {
    /// Open a socket as the event loop's dial says and connect it: `Connected` or `Failed`.
    Connect,
    /// Send what [`Flow::outgoing`] gives, or a part of it: `Sent`.
    Send,
    /// Send what [`Flow::outgoing`] gives in sends of this many bytes, or some of them: `Sent`.
    SendEach(usize),
    /// Send up to this many bytes of filler: `Sent`.
    SendFill(usize),
    /// Receive up to this many bytes: `Received` or `Closed`.
    Recv(usize),
    /// As `Recv`. While nothing comes, an exchange that is due may begin: then it is `Go`, and
    /// nothing was received. Not with engines that block.
    Await(usize),
    /// Receive up to this many bytes of a stream and drop them in the kernel: `Discarded` or
    /// `Closed`.
    Discard(usize),
    /// Send no more: `FinishedSending`.
    FinishSending,
    /// Close the socket: `Disconnected`.
    Disconnect,
    /// Nothing until this time: `Timer`.
    Wait(Nanos),
    /// Spend CPU until this time, and let no other flow of the thread go on: `Timer`.
    Spin(Nanos),
    /// The exchange is over; nothing until the schedule says so: `Go`, or `Finish` when load has
    /// ended.
    Rest,
    /// One exchange more beside those under way, if one is due now: `Go`, or `NoMore`.
    More,
    /// This flow is over.
    End,
    /// The trial cannot go on.
    Abort(Box<Fault>),
}

/// What an exchange asks for beyond the bytes that it waits for. Who gets less than was asked for
/// knows that there is no more: one call less than trying again.
pub(crate) const BEYOND: usize = 1;

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The connection stands.
    Connected,
    /// So many bytes were taken; at least 1.
    Sent(usize),
    /// These bytes came; at least 1 (a datagram may be empty).
    Received(&'a [u8]),
    /// So many bytes came and were dropped; at least 1.
    Discarded(usize),
    /// The peer closed.
    Closed,
    /// Answer to [`Op::FinishSending`].
    FinishedSending,
    /// Answer to [`Op::Disconnect`].
    Disconnected,
    /// The time that was waited for has come.
    Timer,
    /// The flow's deadline passed while something was under way; that was cancelled.
    TimedOut,
    /// Start an exchange that was due at `intended`; in a closed loop that is now.
    Go {
        /// When it should have started.
        intended: Nanos,
    },
    /// Answer to [`Op::More`]: nothing is due.
    NoMore,
    /// Load has ended; nothing new may be started.
    Finish,
    /// What was asked for failed with this error.
    Failed(std::io::Error),
}

/// One flow's state machine; see the [module](self).
pub trait Flow: Send {
    /// The first thing to do. A client's flow has no socket yet, a server's has.
    fn start(&mut self, now: Nanos) -> Op;

    /// `event` happened at `now`: what next?
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op;

    /// The bytes of [`Op::Send`] and [`Op::SendEach`].
    fn outgoing(&self) -> &[u8] {
        &[]
    }

    /// The bytes that go ahead of TLS on a new connection. Without TLS the flow sends them itself.
    fn prelude(&self) -> &[u8] {
        &[]
    }

    /// A handshake of TLS on a connection that stood is over, and agreed on this protocol (ALPN).
    fn agreed_on(&mut self, _protocol: &[u8]) {}

    /// What the flow writes or reads at once, bytes, if that should be whole packets of the kernel.
    fn bulk_bytes(&self) -> Option<usize> {
        None
    }

    /// The kernel sends this many bytes of the flow's connection as one packet. Asked only where
    /// there are [`Flow::bulk_bytes`]. Says whether they are whole packets now.
    fn fit_packets(&mut self, _packet_bytes: usize) -> bool {
        false
    }

    /// Whether nothing of a visit that its client has ended is still on the way to this flow, a
    /// server's.
    fn is_idle(&self) -> bool {
        true
    }

    /// A visit is over, and the flow stays as it is for the next one: its figures so far.
    fn visited(&mut self, _out: &mut Recorder) {}

    /// The flow is over, whether it ended by itself or was cut: last figures.
    fn closing(&mut self, _out: &mut Recorder) {}

    /// Whether the flow has to end now, though it waits for a time. Asked when its socket changes
    /// meanwhile.
    fn is_displaced(&self) -> bool {
        false
    }

    /// Whether the flow waits for the start of an answer. That may be read late, where the kernel
    /// says when it came.
    fn may_read_late(&self) -> bool {
        false
    }

    /// Exchanges that the flow could begin now, while it rests or awaits; at least 1.
    fn room(&self) -> usize {
        1
    }

    /// Until when what is under way must be done; asked for after each operation that has to wait.
    fn deadline(&self) -> Option<Nanos> {
        None
    }
}
