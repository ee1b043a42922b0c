//! The client's end of `http` over HTTP/2: one connection that carries several exchanges at once.
//!
//! ```text
//!   start ──► Opening ──► Resting ──Go──► (Connecting ──►) Open ◄──► Go, More: one stream more
//!                            ▲                              │
//!                            └── (BackingOff) ◄── Closing ◄─┴─ an error, the server's farewell
//! ```

use std::sync::Arc;

use hopbench_model::{Counter, Fault, LatencyKind, Nanos};
use hopbench_sys::errno;

use super::client::{FIRST_PAUSE_NS, LONGEST_PAUSE_NS};
use super::reason;
use super::sums::Sums;
use crate::flow::failure::explain;
use crate::flow::{Event, Flow, Op};
use crate::http::ResponseEnd;
use crate::http::h2::{self, Connection, ConnectionPlan, Heard};
use crate::measure::recorder::{Reason, Recorder};

/// Most bytes of one receive.
pub(super) const RECEIVE_BYTES: usize = 32 * 1024;

/// The window of a stream and of a connection, bytes: what other clients take, and no limit.
pub(in crate::workloads) const WINDOW_BYTES: u32 = 1 << 24;

/// Whether a field, in lower case, is of a connection of HTTP/1.1: a message of HTTP/2 must not
/// have it. One that may have `te` says it itself.
pub(in crate::workloads) fn is_of_http_1(name: &str) -> bool {
    name == "te" || h2::is_of_http_1(name.as_bytes())
}

/// The settings that all connections share.
#[derive(Debug)]
pub(in crate::workloads) struct MultiplexedPlan {
    pub(in crate::workloads) connection: Arc<ConnectionPlan>,
    /// How long an exchange may take, ns.
    pub(in crate::workloads) timeout_ns: Nanos,
    /// How long bodies should be.
    pub(in crate::workloads) expected_body_bytes: Option<u64>,
    /// How many messages the answer to a call of gRPC should have.
    pub(in crate::workloads) expected_messages: Option<u32>,
}

/// One exchange under way.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    intended: Nanos,
    began: Nanos,
}

/// The state machine of one connection.
pub(super) struct Multiplexed {
    plan: Arc<MultiplexedPlan>,
    connection: Connection<Exchange>,
    state: State,
    /// Exchanges that wait for a connection.
    waiting: Vec<Exchange>,
    /// Nothing came since the connection rested: it may have been closed before that.
    is_untried: bool,
    /// An exchange was late and nothing at all came meanwhile: no other one begins here.
    is_dead: bool,
    /// When something came last.
    heard_at: Nanos,
    /// Until when the rest is to be sent where no exchange is under way.
    rest_until: Nanos,
    connecting_since: Nanos,
    opening_until: Nanos,
    pause_ns: Nanos,
    sums: Sums,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is no connection.
    Idle,
    /// Connecting ahead of load, up to the server's settings.
    Opening,
    Connecting,
    /// The connection stands.
    Open,
    Closing(Then),
    BackingOff,
}

/// What follows when the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Rest,
    BackOff,
    TryAgain,
}

impl Multiplexed {
    pub(super) fn new(plan: Arc<MultiplexedPlan>) -> Self {
        Self {
            connection: Connection::new(Arc::clone(&plan.connection)),
            plan,
            state: State::Idle,
            waiting: Vec::new(),
            is_untried: false,
            is_dead: false,
            heard_at: 0,
            rest_until: 0,
            connecting_since: 0,
            opening_until: 0,
            pause_ns: FIRST_PAUSE_NS,
            sums: Sums::default(),
        }
    }

    fn connect(&mut self, state: State, now: Nanos) -> Op {
        (self.state, self.connecting_since) = (state, now);
        Op::Connect
    }

    fn begin(&mut self, intended: Nanos, now: Nanos, out: &mut Recorder) -> Op {
        out.sending(intended, now);
        let exchange = Exchange { intended, began: now };
        if self.state != State::Open {
            self.waiting.push(exchange);
            return self.connect(State::Connecting, now);
        }
        if self.connection.under_way() == 0 {
            self.is_untried = true;
        }
        self.waiting.push(exchange);
        self.go_on(now)
    }

    /// Whether the connection takes another exchange.
    fn has_room(&self) -> bool {
        !self.is_dead && self.connection.has_room()
    }

    /// Another exchange if there is room for it; what has to be sent otherwise.
    fn go_on(&mut self, now: Nanos) -> Op {
        let room = if self.has_room() { self.waiting.len() } else { 0 };
        for _ in 0..room {
            if !self.connection.has_room() {
                break;
            }
            self.connection.ask(self.waiting.remove(0));
        }
        if self.waiting.is_empty() && self.has_room() { Op::More } else { self.send_or_wait(now) }
    }

    fn send_or_wait(&mut self, now: Nanos) -> Op {
        let under_way = self.connection.under_way();
        if under_way == 0 && (self.is_dead || self.connection.is_leaving()) {
            return self.close(Then::Rest);
        }
        if !self.connection.outgoing().is_empty() {
            self.rest_until = now.saturating_add(self.plan.timeout_ns);
            return Op::Send;
        }
        match (under_way, self.has_room()) {
            (0, _) => Op::Rest,
            (_, true) => Op::Await(RECEIVE_BYTES),
            (_, false) => Op::Recv(RECEIVE_BYTES),
        }
    }

    fn stands(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::Connects, 1);
        let since = self.connecting_since;
        out.latency(LatencyKind::Connect, since, now.saturating_sub(since));
        self.connection = Connection::new(Arc::clone(&self.plan.connection));
        (self.is_dead, self.heard_at) = (false, now);
        if self.state == State::Opening {
            return Op::Send;
        }
        self.state = State::Open;
        self.go_on(now)
    }

    fn sent(&mut self, bytes: usize, now: Nanos, out: &Recorder) -> Op {
        out.count(Counter::SentBytes, bytes as u64);
        self.connection.sent(bytes);
        match self.state {
            _ if !self.connection.outgoing().is_empty() => Op::Send,
            State::Opening if self.connection.is_ready() => self.opened(),
            State::Opening => Op::Recv(RECEIVE_BYTES),
            // What came while it was sent is looked at before the next one begins.
            _ => self.send_or_wait(now),
        }
    }

    fn opened(&mut self) -> Op {
        (self.state, self.pause_ns) = (State::Open, FIRST_PAUSE_NS);
        self.sums.limited += u64::from(self.connection.is_limited());
        Op::Rest
    }

    fn received(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::ReceivedBytes, bytes.len() as u64);
        (self.is_untried, self.heard_at) = (false, now);
        let read = self.connection.receive(bytes);
        self.pause_ns = FIRST_PAUSE_NS;
        while let Some(heard) = self.connection.heard() {
            match heard {
                Heard::Answer(exchange, end) => self.answered(exchange, &end, now, out),
                Heard::Reset(exchange, code) => {
                    out.failed(Reason::Owned(format!("reset {code}")), exchange.intended, now);
                }
                // The server says that it did not take it: it goes on with the next connection.
                Heard::Refused(exchange) => self.wait(exchange, now, out),
            }
        }
        if read.is_err() {
            return self.give_up(reason::BROKEN_PROTOCOL, Then::BackOff, now, out);
        }
        if self.state == State::Opening {
            let is_done = self.connection.is_ready() && self.connection.outgoing().is_empty();
            return match is_done {
                true => self.opened(),
                false if self.connection.outgoing().is_empty() => Op::Recv(RECEIVE_BYTES),
                false => Op::Send,
            };
        }
        self.go_on(now)
    }

    fn answered(&mut self, exchange: Exchange, end: &ResponseEnd, now: Nanos, out: &mut Recorder) {
        let counted = match reason::of_answer(end, self.plan.expected_messages) {
            None => {
                let counted = out.completed(exchange.intended, exchange.began, now);
                if counted {
                    self.sums.add(end, self.plan.expected_body_bytes);
                }
                counted
            }
            Some(reason) => {
                out.failed(reason, exchange.intended, now);
                out.belongs(exchange.intended, now)
            }
        };
        if counted {
            out.status(end.status);
        }
    }

    /// The connection is over, and all that is under way with it. Where it stood, those that wait
    /// go on with the next one.
    fn give_up(&mut self, reason: &'static str, then: Then, now: Nanos, out: &mut Recorder) -> Op {
        let fails = if self.state == State::Open { 0 } else { self.waiting.len() };
        for exchange in self.connection.give_up().chain(self.waiting.drain(..fails)) {
            out.failed(reason, exchange.intended, now);
        }
        self.close(then)
    }

    /// The peer closed the connection, or it broke.
    fn ended(&mut self, reason: &'static str, now: Nanos, out: &mut Recorder) -> Op {
        if !self.is_untried || self.state != State::Open {
            let then = if self.state == State::Open { Then::Rest } else { Then::BackOff };
            return self.give_up(reason, then, now, out);
        }
        // All signs say that it was closed before the requests reached the server.
        self.is_untried = false;
        let all: Vec<Exchange> = self.connection.give_up().collect();
        all.into_iter().for_each(|exchange| self.wait(exchange, now, out));
        self.close(Then::Rest)
    }

    /// An exchange is to be tried once more on another connection.
    fn wait(&mut self, exchange: Exchange, now: Nanos, out: &Recorder) {
        self.waiting.push(exchange);
        // Those that have waited longest are the first again.
        self.waiting.sort_by_key(|exchange| exchange.began);
        self.sums.reconnects += u64::from(out.belongs(exchange.intended, now));
        self.sums.reconnects_drained += 1;
    }

    fn broken(&mut self, error: &std::io::Error, now: Nanos, out: &mut Recorder) -> Op {
        match self.state {
            // A trial that cannot even open its connections is not worth starting.
            State::Opening if errno::too_many_files(error) => Op::Abort(Box::new(
                Fault::environment(format!("cannot connect: {}", explain(error))),
            )),
            State::Opening => self.close(Then::BackOff),
            State::Connecting => self.give_up(reason::of_connect(error), Then::BackOff, now, out),
            _ => self.ended(reason::of_transfer(error), now, out),
        }
    }

    fn timed_out(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        match self.state {
            State::Opening => return self.close(Then::BackOff),
            State::Connecting => {
                out.count(Counter::Timeouts, self.waiting.len() as u64);
                return self.give_up(reason::CONNECT_TIMEOUT, Then::BackOff, now, out);
            }
            _ => {}
        }
        if self.connection.under_way() == 0 && self.waiting.is_empty() {
            // What is left to be sent is of no use to anybody.
            return self.close(Then::Rest);
        }
        let timeout_ns = self.plan.timeout_ns;
        let is_late = |exchange: &Exchange| exchange.began.saturating_add(timeout_ns) <= now;
        let late = self.waiting.iter().take_while(|exchange| is_late(exchange)).count();
        for exchange in self.waiting.drain(..late) {
            out.count(Counter::Timeouts, 1);
            out.failed(reason::TIMEOUT, exchange.intended, now);
        }
        while self.connection.oldest().is_some_and(is_late)
            && let Some(exchange) = self.connection.cancel_oldest()
        {
            self.is_dead |= self.heard_at < exchange.began;
            out.count(Counter::Timeouts, 1);
            out.failed(reason::TIMEOUT, exchange.intended, now);
        }
        self.go_on(now)
    }

    fn close(&mut self, then: Then) -> Op {
        let then = if self.waiting.is_empty() { then } else { Then::TryAgain };
        self.state = State::Closing(then);
        Op::Disconnect
    }

    fn disconnected(&mut self, then: Then, now: Nanos) -> Op {
        self.state = State::Idle;
        match then {
            Then::Rest => Op::Rest,
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

impl Flow for Multiplexed {
    fn start(&mut self, now: Nanos) -> Op {
        self.opening_until = now.saturating_add(self.plan.timeout_ns);
        self.connect(State::Opening, now)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (State::Open | State::Opening, Event::Received(bytes)) => {
                self.received(bytes, now, out)
            }
            (State::Open | State::Idle, Event::Go { intended }) => self.begin(intended, now, out),
            (_, Event::Sent(n)) => self.sent(n, now, out),
            (State::Open, Event::NoMore) => self.send_or_wait(now),
            (State::Opening | State::Connecting, Event::Connected) => self.stands(now, out),
            (State::Open | State::Opening, Event::Closed) => {
                self.ended(reason::CLOSED_EARLY, now, out)
            }
            (State::Closing(then), Event::Disconnected) => self.disconnected(then, now),
            (State::BackingOff, Event::Timer) => {
                self.state = State::Idle;
                Op::Rest
            }
            (_, Event::Failed(error)) => self.broken(&error, now, out),
            (_, Event::TimedOut) => self.timed_out(now, out),
            (_, Event::Finish) => Op::End,
            (_, other) => Op::Abort(Box::new(Fault::measuring(format!(
                "a connection of HTTP/2 met an unexpected {other:?}"
            )))),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.connection.outgoing()
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.sums.flush(out);
    }

    fn room(&self) -> usize {
        match self.state {
            State::Open if !self.is_dead => self.connection.room().max(1),
            // The first exchange opens a connection.
            _ => 1,
        }
    }

    fn closing(&mut self, out: &mut Recorder) {
        // Cut off. When that was is not known here, but no load ends before the window does.
        let end = out.window().end();
        for exchange in self.connection.give_up().chain(self.waiting.drain(..)) {
            out.failed(reason::UNFINISHED, exchange.intended, end);
        }
        self.sums.flush(out);
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        let oldest = self.connection.oldest().into_iter().chain(self.waiting.first());
        let until =
            oldest.map(|exchange| exchange.began.saturating_add(self.plan.timeout_ns)).min();
        Some(match self.state {
            State::Opening => self.opening_until,
            _ => until.unwrap_or(self.rest_until),
        })
    }
}
