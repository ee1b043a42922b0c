//! The server's end: sends each message when it is due, or as soon after as the connection allows.

use hopbench_model::{Counter, LatencyKind, Nanos, SECOND};

use super::message::{CLEAN_CLOSES, HEADER, LATE, LATE_MESSAGES};
use crate::flow::failure::lost;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::filler::filler;

/// Bytes of a message that leave together with its header; the rest is sent from the filler that
/// all connections share. More would cost each connection memory, less would cost a short segment a
/// message.
const HEAD: usize = 4096;
/// A message that was due inside the window may be begun this much after its end. A worker that
/// wakes up a little late has not missed anything.
const AFTER_END: Nanos = 10_000_000;
/// The longest wait: how late a connection may see that the user ended the window.
const LONGEST_WAIT: Nanos = SECOND;

/// One connection, as the server sees it.
#[derive(Debug)]
pub(super) struct PushServer {
    size: usize,
    /// Between two messages, ns.
    period: f64,
    /// From the start of load to the first message.
    phase: Nanos,
    /// When the first message is due; means nothing before `Go`.
    origin: Nanos,
    /// Number of the message that is under way or next.
    number: u64,
    intended: Nanos,
    /// When the message under way was begun.
    began: Nanos,
    /// Since when one message follows the other at once; `None`: there was a pause.
    busy_since: Option<Nanos>,
    /// Whether the message under way waited for those before it, or for room in the socket.
    is_queued: bool,
    /// The start of the message under way.
    head: Box<[u8]>,
    /// Bytes of the message under way that were sent.
    sent: usize,
    state: State,
    late: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Load has not started.
    Resting,
    /// Waiting until the next message is due.
    Waiting,
    /// A message is under way.
    Sending,
    /// Every message was sent or given up.
    Closing,
}

impl PushServer {
    /// A connection that gets `size` bytes every `period` ns, from `phase` ns after the start of
    /// load on.
    pub(super) fn new(size: usize, period: f64, phase: Nanos) -> Self {
        Self {
            size,
            period,
            phase,
            origin: 0,
            number: 0,
            intended: 0,
            began: 0,
            busy_since: None,
            is_queued: false,
            head: filler(size.min(HEAD)).as_ref().into(),
            sent: 0,
            state: State::Resting,
            late: 0,
        }
    }

    /// When message `number` is due. Reckoned from the first one, so that rounding does not add up.
    fn due(&self, number: u64) -> Nanos {
        self.origin.saturating_add((self.period * number as f64) as Nanos)
    }

    /// How many messages are due before `time`.
    fn due_before(&self, time: Nanos) -> u64 {
        let mut count = (time.saturating_sub(self.origin) as f64 / self.period) as u64;
        while self.due(count) < time {
            count += 1;
        }
        while count > 0 && self.due(count - 1) >= time {
            count -= 1;
        }
        count
    }

    /// Begins the next message, or waits for it, or ends.
    fn next(&mut self, now: Nanos, out: &Recorder) -> Op {
        let end = out.window().end();
        self.intended = self.due(self.number);
        self.state = State::Waiting;
        if now >= end && (self.intended >= end || now >= end.saturating_add(AFTER_END)) {
            return self.finish(out);
        }
        if self.intended > now {
            return Op::Wait(self.intended.min(end).min(now + LONGEST_WAIT));
        }
        if out.window().holds(self.intended) {
            out.count(Counter::Intended, 1);
        }
        // What came due before that waited for this worker, and not for the connection.
        self.is_queued = self.busy_since.is_some_and(|since| since < self.intended);
        self.busy_since.get_or_insert(now);
        self.began = now;
        self.head[..8].copy_from_slice(&self.number.to_le_bytes());
        self.head[8..HEADER].copy_from_slice(&self.intended.to_le_bytes());
        self.sent = 0;
        self.state = State::Sending;
        Op::Send
    }

    fn on_sent(&mut self, n: usize, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::SentBytes, n as u64);
        if self.sent == 0 {
            let late = now.saturating_sub(self.intended);
            out.latency(LatencyKind::Lateness, self.intended, late);
            self.is_queued |= now.saturating_sub(self.began) > LATE;
            if self.is_queued && out.window().holds(self.intended) {
                out.count(Counter::Queued, 1);
            }
            if late > LATE && out.window().holds(self.intended) {
                self.late += 1;
            }
        }
        self.sent += n;
        if self.sent < self.head.len() {
            return Op::Send;
        }
        if self.sent < self.size {
            return Op::SendFill(self.size - self.sent);
        }
        out.count(Counter::Sent, 1);
        if out.window().holds(self.intended) {
            out.count(Counter::Counted, 1);
        }
        self.number += 1;
        self.next(now, out)
    }

    fn finish(&mut self, out: &Recorder) -> Op {
        self.give_up(out);
        Op::FinishSending
    }

    /// Counts what was due inside the window and will not be sent any more.
    fn give_up(&mut self, out: &Recorder) {
        let (start, end) = (out.window().start(), out.window().end());
        if matches!(self.state, State::Waiting | State::Sending) && end != Nanos::MAX {
            if self.state == State::Sending {
                // It was counted as intended when it was begun.
                if out.window().holds(self.intended) {
                    out.count(Counter::Unsent, 1);
                }
                self.number += 1;
            }
            let left = self.due_before(end).saturating_sub(self.number.max(self.due_before(start)));
            out.count(Counter::Intended, left);
            out.count(Counter::Unsent, left);
        }
        self.state = State::Closing;
    }
}

impl Flow for PushServer {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Go { .. } => {
                // Not when this worker woke up: all connections' phases count from one moment.
                self.origin = out.window().load_start().saturating_add(self.phase);
                self.next(now, out)
            }
            Event::Timer => {
                self.busy_since = None;
                self.next(now, out)
            }
            Event::Sent(n) => self.on_sent(n, now, out),
            Event::Finish => self.finish(out),
            // The client closes when it has read everything.
            Event::FinishedSending | Event::Received(_) => Op::Recv(1),
            Event::Closed if self.state == State::Closing => {
                out.add_extra(CLEAN_CLOSES, 1.0);
                Op::End
            }
            _ if now >= out.window().end() => Op::End,
            other => lost(&other, "the client closed it"),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.head[self.sent..]
    }

    fn closing(&mut self, out: &mut Recorder) {
        self.give_up(out);
        if self.late > 0 {
            out.add_extra(LATE_MESSAGES, self.late as f64);
        }
    }
}
