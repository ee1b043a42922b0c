//! One connection of the HTTP target.
//!
//! ```text
//!   Reading ──► (Waiting) ──► (Working) ──► Head ──► (Filling | Echoing) ──► Reading, or the end
//!      │▲                                      ▲
//!      ▼│ 100 Continue                         │ a request that cannot be read: its refusal, then
//!   Leave                                      └──► Draining: what still comes is dropped, so that
//!                                                   the refusal arrives
//! ```

use std::sync::Arc;

use hopbench_model::{Counter, Nanos, SECOND};

use super::connection_table::Activity;
use super::timeouts::{Pace, Timeouts};
use crate::admission::memory::{MemoryLimit, MemoryShare};
use crate::flow::{Event, Flow, Op};
use crate::http::h2::ServingBounds;
use crate::http::{
    Body, CONTINUE, Credential, RequestError, RequestParser, RequestState, Responder, refuse,
};
use crate::measure::recorder::Recorder;

/// Most bytes of one receive: the most of pipelined requests that is held.
pub(super) const RECEIVE_BYTES: usize = 16 * 1024;
/// Most bytes of one send of filler.
pub(super) const FILL_BYTES: usize = 256 * 1024;
/// Bodies up to this length leave together with their head; of longer ones this much does.
const INLINE_BYTES: usize = 4 * 1024;
/// The most content of a frame of HTTP/2.
pub(super) const FILLER_BYTES: usize = 16 * 1024;

/// Most bytes that a stranger's connection keeps of an answer's head, and of the target that it
/// asked for.
const KEPT_HEAD_BYTES: usize = 2 * INLINE_BYTES;

/// How long what follows a refused request is dropped.
pub(super) const DRAIN_NS: Nanos = 2 * SECOND;

/// The settings that all connections of a target share.
#[derive(Debug)]
pub(super) struct TargetSettings {
    /// Filler that leaves together with heads, [`FILLER_BYTES`] of it.
    pub(super) filler: Arc<[u8]>,
    /// What every request must show; `None`: anybody is answered.
    pub(super) credential: Option<Credential>,
    pub(super) timeouts: Timeouts,
    /// The longest body of a request that is taken, bytes.
    pub(super) most_body_bytes: u64,
    /// What peers may do over HTTP/2.
    pub(super) multiplexed: ServingBounds,
    /// How long to spin before each answer, ns; 0: not at all.
    pub(super) work_ns: Nanos,
}

/// The state machine of one connection.
pub(super) struct TargetFlow {
    settings: Arc<TargetSettings>,
    /// The receiver of signs of life, if anybody wants them.
    activity: Option<Arc<Activity>>,
    /// What the connections of its source may hold of requests; `None`: as much as they send.
    memory: Option<Arc<MemoryLimit>>,
    parser: RequestParser,
    responder: Responder,
    /// Received bytes behind the request that is being answered.
    surplus: Vec<u8>,
    /// What they take of the target's memory.
    share: MemoryShare,
    /// How many of them were taken.
    taken: usize,
    head: Vec<u8>,
    /// Bytes of `head`, or of the body that is echoed, that were sent.
    sent: usize,
    rest: Rest,
    after: AfterAnswer,
    state: State,
    /// Whether the request under way shows what it has to; what does not is in no figure.
    known: bool,
    /// Bytes of a head whose end, and so whose credential, is not there yet.
    unjudged: u64,
    pace: Pace,
    deadline: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Leave,
    Waiting,
    Working,
    Head,
    Filling,
    Echoing,
    Draining,
}

/// What follows the head.
#[derive(Clone, Copy)]
enum Rest {
    Nothing,
    Filler(u64),
    Echo,
}

/// What follows the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterAnswer {
    Next,
    Close,
    Refused,
}

impl TargetFlow {
    /// A new connection.
    pub(super) fn new(
        settings: Arc<TargetSettings>,
        activity: Option<Arc<Activity>>,
        memory: Option<Arc<MemoryLimit>>,
    ) -> Self {
        Self {
            parser: settings.parser(memory.clone()),
            share: MemoryShare::of(memory.clone()),
            memory,
            settings,
            activity,
            responder: Responder::default(),
            surplus: Vec::new(),
            taken: 0,
            head: Vec::new(),
            sent: 0,
            rest: Rest::Nothing,
            after: AfterAnswer::Next,
            state: State::Reading,
            known: false,
            unjudged: 0,
            pace: Pace::default(),
            deadline: 0,
        }
    }

    fn receive(&mut self) -> Op {
        self.state = State::Reading;
        Op::Recv(RECEIVE_BYTES)
    }

    #[inline]
    fn received(&mut self, bytes: &[u8], now: Nanos, out: &Recorder) -> Op {
        self.begins(now);
        let in_body = self.parser.is_in_body();
        let step = match self.parser.feed(bytes) {
            Ok(step) if step.consumed < bytes.len() => {
                self.keep(&bytes[step.consumed..]).map(|()| step.state)
            }
            step => step.map(|step| step.state),
        };
        self.unjudged += bytes.len() as u64;
        self.known = self.parser.is_known();
        if self.known {
            out.count(Counter::ReceivedBytes, std::mem::take(&mut self.unjudged));
        }
        if self.parser.is_in_body() {
            self.goes_on(in_body, bytes.len(), now);
        }
        self.act(step, now, out)
    }

    /// A head has a time of its own from its first byte on.
    #[inline]
    fn begins(&mut self, now: Nanos) {
        if !self.parser.has_begun() {
            self.deadline = now + self.settings.timeouts.head_ns;
        }
    }

    /// A body is under way, of which so many bytes came now.
    fn goes_on(&mut self, was_under_way: bool, bytes: usize, now: Nanos) {
        if !was_under_way {
            self.pace.begin();
        }
        if !was_under_way || self.pace.moved(bytes, &self.settings.timeouts) {
            self.deadline = now + self.settings.timeouts.body_ns;
        }
    }

    /// Keeps what came behind a request.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), RequestError> {
        if self.share.is_bounded() {
            if !self.share.set(self.surplus.capacity().max(self.surplus.len() + bytes.len())) {
                return Err(RequestError::NoRoom);
            }
            self.surplus.reserve_exact(bytes.len());
        }
        self.surplus.extend_from_slice(bytes);
        Ok(())
    }

    /// Goes on with what was received already.
    fn next(&mut self, now: Nanos, out: &Recorder) -> Op {
        if self.surplus.is_empty() {
            self.deadline = now + self.settings.timeouts.idle_ns;
            return self.receive();
        }
        self.begins(now);
        let in_body = self.parser.is_in_body();
        let step = self.parser.feed(&self.surplus[self.taken..]).map(|step| {
            self.taken += step.consumed;
            if self.taken == self.surplus.len() {
                self.surplus.clear();
                self.taken = 0;
            }
            step.state
        });
        self.known = self.parser.is_known();
        if self.parser.is_in_body() {
            self.goes_on(in_body, 0, now);
        }
        self.act(step, now, out)
    }

    fn act(&mut self, step: Result<RequestState, RequestError>, now: Nanos, out: &Recorder) -> Op {
        self.head.clear();
        match step {
            Ok(RequestState::NeedMore) => self.receive(),
            Ok(RequestState::Continue) => {
                self.head.extend_from_slice(CONTINUE);
                self.write(State::Leave, now)
            }
            Ok(RequestState::Complete) => self.answer(now),
            Err(error) => {
                if self.known {
                    out.count(Counter::Errors, 1);
                }
                refuse(&error, &mut self.head);
                (self.rest, self.after) = (Rest::Nothing, AfterAnswer::Refused);
                // What came of it is of no use any more.
                self.parser = self.settings.parser(self.memory.clone());
                self.write(State::Head, now)
            }
        }
    }

    fn answer(&mut self, now: Nanos) -> Op {
        let request = self.parser.request();
        let answer = self.responder.respond(request, now, &mut self.head);
        self.after = if answer.close { AfterAnswer::Close } else { AfterAnswer::Next };
        self.rest = match answer.body {
            Body::None => Rest::Nothing,
            Body::Filler(length) => {
                let inline = length.min(INLINE_BYTES as u64);
                self.head.extend_from_slice(&self.settings.filler[..inline as usize]);
                if length > inline { Rest::Filler(length - inline) } else { Rest::Nothing }
            }
            Body::Echo if request.body().len() <= INLINE_BYTES => {
                self.head.extend_from_slice(request.body());
                Rest::Nothing
            }
            Body::Echo => Rest::Echo,
        };
        if answer.delay_ns > 0 {
            // It may have been displaced before its request was read: nothing tells it so later.
            if self.is_displaced() {
                return Op::End;
            }
            self.state = State::Waiting;
            return Op::Wait(now + answer.delay_ns);
        }
        self.work(now)
    }

    /// The work that comes before each answer, where there is any.
    #[inline]
    fn work(&mut self, now: Nanos) -> Op {
        if self.settings.work_ns == 0 {
            return self.write(State::Head, now);
        }
        self.state = State::Working;
        Op::Spin(now + self.settings.work_ns)
    }

    fn write(&mut self, state: State, now: Nanos) -> Op {
        self.state = state;
        self.sent = 0;
        self.pace.begin();
        self.deadline = now + self.settings.timeouts.read_ns;
        Op::Send
    }

    #[inline]
    fn wrote(&mut self, n: usize, now: Nanos, out: &Recorder) -> Op {
        if self.known {
            out.count(Counter::SentBytes, n as u64);
        }
        if self.pace.moved(n, &self.settings.timeouts) {
            self.deadline = now + self.settings.timeouts.read_ns;
        }
        if let (State::Filling, Rest::Filler(left)) = (self.state, &mut self.rest) {
            *left -= n as u64;
            return if *left > 0 { fill(*left) } else { self.answered(now, out) };
        }
        self.sent += n;
        if !self.outgoing().is_empty() {
            return Op::Send;
        }
        match (self.state, self.rest) {
            (State::Leave, _) => {
                self.deadline = now + self.settings.timeouts.body_ns;
                self.receive()
            }
            (State::Head, Rest::Filler(left)) => {
                self.state = State::Filling;
                fill(left)
            }
            (State::Head, Rest::Echo) => self.write(State::Echoing, now),
            _ => self.answered(now, out),
        }
    }

    fn answered(&mut self, now: Nanos, out: &Recorder) -> Op {
        if self.after != AfterAnswer::Refused {
            out.count(Counter::Completed, 1);
            self.parser.answered();
        }
        // Nothing bounds what strangers would make a connection keep here otherwise.
        if self.share.is_bounded() {
            if self.head.capacity() > KEPT_HEAD_BYTES {
                self.head = Vec::new();
            }
            self.responder.forget_long(KEPT_HEAD_BYTES);
        }
        match self.after {
            AfterAnswer::Next => self.next(now, out),
            AfterAnswer::Close if self.surplus.is_empty() => Op::End,
            // Closing with unread input resets the connection, and a reset may overtake the answer.
            AfterAnswer::Close | AfterAnswer::Refused => {
                self.state = State::Draining;
                self.deadline = now + DRAIN_NS;
                Op::FinishSending
            }
        }
    }
}

impl TargetSettings {
    fn parser(&self, memory: Option<Arc<MemoryLimit>>) -> RequestParser {
        RequestParser::with(self.credential.clone(), memory).with_bodies_up_to(self.most_body_bytes)
    }
}

fn fill(left: u64) -> Op {
    Op::SendFill(left.min(FILL_BYTES as u64) as usize)
}

impl Flow for TargetFlow {
    fn start(&mut self, now: Nanos) -> Op {
        self.deadline = now + self.settings.timeouts.idle_ns;
        self.receive()
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        if let Some(activity) = &self.activity
            && matches!(event, Event::Received(_) | Event::Sent(_))
        {
            activity.moved(now);
        }
        match (self.state, event) {
            (State::Reading, Event::Received(bytes)) => self.received(bytes, now, out),
            (State::Leave | State::Head | State::Filling | State::Echoing, Event::Sent(n)) => {
                self.wrote(n, now, out)
            }
            (State::Waiting, Event::Timer) => self.work(now),
            (State::Working, Event::Timer) => self.write(State::Head, now),
            (State::Draining, Event::FinishedSending) => Op::Recv(RECEIVE_BYTES),
            // Whoever never stops sending is not waited for: a deadline is only looked at when
            // nothing comes.
            (State::Draining, Event::Received(bytes)) if now < self.deadline => {
                if self.known {
                    out.count(Counter::ReceivedBytes, bytes.len() as u64);
                }
                Op::Recv(RECEIVE_BYTES)
            }
            // Closed, failed, too slow or over: there is nobody to tell.
            _ => Op::End,
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        match self.state {
            State::Echoing => &self.parser.request().body()[self.sent..],
            _ => &self.head[self.sent..],
        }
    }

    fn closing(&mut self, _out: &mut Recorder) {
        // The slot keeps the flow until another takes its place.
        self.parser = self.settings.parser(None);
        self.responder = Responder::default();
        (self.surplus, self.head) = (Vec::new(), Vec::new());
        (self.share, self.memory) = (MemoryShare::default(), None);
        (self.taken, self.sent, self.state) = (0, 0, State::Reading);
    }

    fn is_displaced(&self) -> bool {
        self.activity.as_ref().is_some_and(|activity| activity.is_displaced())
    }

    fn deadline(&self) -> Option<Nanos> {
        Some(self.deadline)
    }
}
