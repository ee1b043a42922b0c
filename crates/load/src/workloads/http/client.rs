//! The client's end of `http`: one connection.
//!
//! ```text
//!   start ──► Opening ──► Idle ──Go──► (Connecting ──►) Sending ──► Receiving ──► Idle
//!                          ▲                │              │            │
//!                          └── (BackingOff) ◄── Closing ◄──┴────────────┘  an error, or its end
//!                                               Closing ──► Connecting: it closed at rest
//! ```

use std::sync::Arc;

use hopbench_model::{Counter, Fault, LatencyKind, Nanos};
use hopbench_sys::{Socket, errno};

use super::reason;
use super::sums::Sums;
use crate::flow::failure::explain;
use crate::flow::{Event, Flow, Op};
use crate::http::{ResponseEnd, ResponseParser, ResponseState};
use crate::measure::recorder::Recorder;

/// Most bytes of one receive.
pub(super) const RECEIVE_BYTES: usize = 16 * 1024;

/// The first pause after a connection that could not be made; each one after that is twice as long.
pub(super) const FIRST_PAUSE_NS: Nanos = 1_000_000;
/// The longest pause.
pub(super) const LONGEST_PAUSE_NS: Nanos = 100_000_000;

/// The settings that all connections share.
#[derive(Debug)]
pub(in crate::workloads) struct ClientPlan {
    /// All of a request.
    pub(super) request: Box<[u8]>,
    /// Whether it is a `HEAD`.
    pub(super) is_head: bool,
    /// Whether connections serve more than one request.
    pub(super) keep_alive: bool,
    /// Has the kernel say when answers came, as long as it is open.
    pub(super) timestamps: Option<Socket>,
    /// How long an exchange may take, ns.
    pub(super) timeout_ns: Nanos,
    /// How long bodies should be.
    pub(super) expected_body_bytes: Option<u64>,
}

/// The state machine of one connection.
pub(super) struct Client {
    plan: Arc<ClientPlan>,
    parser: ResponseParser,
    state: State,
    connected: bool,
    /// The connection stood before the exchange under way, whose first try this is.
    rested: bool,
    /// Bytes of the request that were sent.
    sent: usize,
    intended: Nanos,
    began: Nanos,
    connecting_since: Nanos,
    deadline: Nanos,
    pause_ns: Nanos,
    sums: Sums,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Connecting ahead of load: no exchange waits for it.
    Opening,
    Connecting,
    Sending,
    Receiving,
    Closing(Then),
    BackingOff,
}

/// What follows when the connection is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Rest,
    BackOff,
    TryAgain,
}

impl Client {
    pub(super) fn new(plan: Arc<ClientPlan>) -> Self {
        Self {
            parser: ResponseParser::new(plan.is_head),
            plan,
            state: State::Idle,
            connected: false,
            rested: false,
            sent: 0,
            intended: 0,
            began: 0,
            connecting_since: 0,
            deadline: 0,
            pause_ns: FIRST_PAUSE_NS,
            sums: Sums::default(),
        }
    }

    fn begin(&mut self, intended: Nanos, now: Nanos, out: &mut Recorder) -> Op {
        (self.intended, self.began, self.rested) = (intended, now, self.connected);
        self.deadline = now.saturating_add(self.plan.timeout_ns);
        out.sending(intended, now);
        if self.connected { self.send() } else { self.connect(State::Connecting, now) }
    }

    fn connect(&mut self, state: State, now: Nanos) -> Op {
        self.state = state;
        self.connecting_since = now;
        Op::Connect
    }

    fn stands(&mut self, now: Nanos, out: &mut Recorder) {
        (self.connected, self.pause_ns) = (true, FIRST_PAUSE_NS);
        self.parser.reset(self.plan.is_head);
        out.count(Counter::Connects, 1);
        let since = self.connecting_since;
        out.latency(LatencyKind::Connect, since, now.saturating_sub(since));
    }

    #[inline]
    fn send(&mut self) -> Op {
        self.state = State::Sending;
        self.sent = 0;
        Op::Send
    }

    #[inline]
    fn received(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        match self.parser.feed(bytes) {
            Ok(step) => match step.state {
                ResponseState::NeedMore => Op::Recv(RECEIVE_BYTES),
                ResponseState::Complete(end) => {
                    self.answered(&end, step.consumed < bytes.len(), now, out)
                }
            },
            Err(error) => self.failed(error.reason(), Then::Rest, now, out),
        }
    }

    #[inline]
    fn answered(&mut self, end: &ResponseEnd, surplus: bool, now: Nanos, out: &mut Recorder) -> Op {
        let counted = match reason::of_answer(end, None) {
            None => {
                let counted = out.completed(self.intended, self.began, now);
                if counted {
                    self.sums.add(end, self.plan.expected_body_bytes);
                }
                counted
            }
            Some(reason) => {
                out.failed(reason, self.intended, now);
                out.belongs(self.intended, now)
            }
        };
        if counted {
            out.status(end.status);
            self.sums.surplus += u64::from(surplus);
        }
        if end.close || surplus || !self.plan.keep_alive {
            return self.close(Then::Rest);
        }
        self.state = State::Idle;
        Op::Rest
    }

    /// The peer closed the connection.
    fn closed(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        match self.parser.eof() {
            Ok(Some(end)) => self.answered(&end, false, now, out),
            Ok(None) if self.may_try_again() => self.try_again(now, out),
            Ok(None) => self.failed(reason::CLOSED_EARLY, Then::Rest, now, out),
            Err(error) => self.failed(error.reason(), Then::Rest, now, out),
        }
    }

    fn broken(&mut self, error: &std::io::Error, now: Nanos, out: &mut Recorder) -> Op {
        match self.state {
            // A trial that cannot even open its connections is not worth starting.
            State::Opening if errno::too_many_files(error) => Op::Abort(Box::new(
                Fault::environment(format!("cannot connect: {}", explain(error))),
            )),
            State::Opening => self.close(Then::BackOff),
            State::Connecting => self.failed(reason::of_connect(error), Then::BackOff, now, out),
            _ => {
                let reason = reason::of_transfer(error);
                if reason == "reset" && self.may_try_again() {
                    self.try_again(now, out)
                } else {
                    self.failed(reason, Then::Rest, now, out)
                }
            }
        }
    }

    fn timed_out(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        if self.state == State::Opening {
            return self.close(Then::BackOff);
        }
        out.count(Counter::Timeouts, 1);
        match self.state {
            State::Connecting => self.failed(reason::CONNECT_TIMEOUT, Then::BackOff, now, out),
            _ => self.failed(reason::TIMEOUT, Then::Rest, now, out),
        }
    }

    /// Whether all signs say that the connection had been closed before the request reached the
    /// server.
    fn may_try_again(&self) -> bool {
        self.rested && !self.parser.is_inside()
    }

    fn try_again(&mut self, now: Nanos, out: &Recorder) -> Op {
        self.rested = false;
        self.sums.reconnects += u64::from(out.belongs(self.intended, now));
        self.sums.reconnects_drained += 1;
        self.close(Then::TryAgain)
    }

    fn failed(&mut self, reason: &'static str, then: Then, now: Nanos, out: &mut Recorder) -> Op {
        out.failed(reason, self.intended, now);
        self.close(then)
    }

    fn close(&mut self, then: Then) -> Op {
        self.state = State::Closing(then);
        self.connected = false;
        Op::Disconnect
    }

    fn disconnected(&mut self, then: Then, now: Nanos) -> Op {
        match then {
            Then::Rest => {
                self.state = State::Idle;
                Op::Rest
            }
            Then::TryAgain => self.connect(State::Connecting, now),
            Then::BackOff => {
                let until = now + self.pause_ns;
                self.pause_ns = (self.pause_ns * 2).min(LONGEST_PAUSE_NS);
                self.state = State::BackingOff;
                Op::Wait(until)
            }
        }
    }
}

impl Flow for Client {
    fn start(&mut self, now: Nanos) -> Op {
        if !self.plan.keep_alive {
            return Op::Rest;
        }
        self.deadline = now.saturating_add(self.plan.timeout_ns);
        self.connect(State::Opening, now)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (State::Receiving, Event::Received(bytes)) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                // Timestamps are of the wall clock, which may have been set meanwhile.
                self.received(bytes, now.max(self.began), out)
            }
            (State::Idle, Event::Go { intended }) => self.begin(intended, now, out),
            (State::Sending, Event::Sent(n)) => {
                out.count(Counter::SentBytes, n as u64);
                self.sent += n;
                if self.sent < self.plan.request.len() {
                    return Op::Send;
                }
                self.state = State::Receiving;
                Op::Recv(RECEIVE_BYTES)
            }
            (State::Opening, Event::Connected) => {
                self.stands(now, out);
                self.state = State::Idle;
                Op::Rest
            }
            (State::Connecting, Event::Connected) => {
                self.stands(now, out);
                self.send()
            }
            (State::Receiving, Event::Closed) => self.closed(now, out),
            (State::Closing(then), Event::Disconnected) => self.disconnected(then, now),
            (State::BackingOff, Event::Timer) => {
                self.state = State::Idle;
                Op::Rest
            }
            (_, Event::Failed(error)) => self.broken(&error, now, out),
            (_, Event::TimedOut) => self.timed_out(now, out),
            (_, Event::Finish) => Op::End,
            (_, other) => Op::Abort(Box::new(Fault::measuring(format!(
                "an http connection met an unexpected {other:?}"
            )))),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.plan.request[self.sent..]
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.sums.flush(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        let under_way = matches!(
            self.state,
            State::Connecting | State::Sending | State::Receiving | State::Closing(Then::TryAgain)
        );
        if under_way {
            // Cut off. When that was is not known here, but no load ends before the window does.
            let end = out.window().end();
            out.failed(reason::UNFINISHED, self.intended, end);
        }
        self.sums.flush(out);
    }

    fn may_read_late(&self) -> bool {
        self.state == State::Receiving && !self.parser.is_inside()
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(self.deadline)
    }
}
