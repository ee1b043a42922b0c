//! One socket's echoes: a request, its reply or its loss, and the next.

use std::io;

use hopbench_model::{Counter, Fault, Nanos};
use hopbench_sys::errno;

use crate::flow::failure::explain;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

use super::packet::{HEADER, Reply, Request};

/// The largest packet that a socket can hand over, IP header included.
pub(super) const MOST_PACKET: usize = 65_535;

/// The flow; it has one echo under way at most.
pub(super) struct Echoes {
    v6: bool,
    identifier: u16,
    timeout: Nanos,
    request: Request,
    /// What the echoes' numbers count from; made of clock and identifier, so that those of another
    /// process and of another flow differ.
    first: u64,
    /// Echoes that were sent on this flow.
    count: u64,
    /// Of the echoes before the last one: bit 0 says whether the last but one was answered, and so
    /// on.
    answered: u64,
    last_answered: bool,
    state: State,
    intended: Nanos,
    sent_at: Nanos,
    deadline: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    Idle,
    /// `retried`: on a socket that was opened anew, because the one before still held an old error.
    Sending {
        retried: bool,
    },
    Waiting,
    /// The socket is opened anew, to be rid of its errors; with `resend` the request goes out after
    /// that.
    Reopening {
        resend: bool,
    },
}

/// What a received packet is to the echo under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Answer,
    Duplicate,
    Stale,
    Foreign,
}

impl Echoes {
    pub(super) fn new(v6: bool, identifier: u16, size: usize, timeout: Nanos) -> Self {
        Self {
            v6,
            identifier,
            timeout,
            request: Request::new(v6, identifier, size),
            first: 0,
            count: 0,
            answered: 0,
            last_answered: false,
            state: State::Opening,
            intended: 0,
            sent_at: 0,
            deadline: 0,
        }
    }

    /// Makes the next request, so that its making is in no latency.
    fn rest(&mut self) -> Op {
        self.state = State::Idle;
        self.request.set((self.count + 1) as u16, self.first.wrapping_add(self.count + 1));
        Op::Rest
    }

    fn go(&mut self, intended: Nanos, now: Nanos, out: &mut Recorder) -> Op {
        self.answered = self.answered << 1 | u64::from(self.last_answered);
        (self.count, self.last_answered) = (self.count + 1, false);
        self.intended = intended;
        out.sending(intended, now);
        self.send(false, now)
    }

    fn send(&mut self, retried: bool, now: Nanos) -> Op {
        (self.sent_at, self.deadline) = (now, now.saturating_add(self.timeout));
        self.state = State::Sending { retried };
        Op::Send
    }

    fn reopen(&mut self, resend: bool, now: Nanos) -> Op {
        self.state = State::Reopening { resend };
        self.deadline = now.saturating_add(self.timeout);
        Op::Disconnect
    }

    #[inline]
    fn received(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        match self.meaning(bytes) {
            Meaning::Answer => {
                out.count(Counter::ReceivedBytes, self.request.size() as u64);
                out.completed(self.intended, self.sent_at, now);
                self.last_answered = true;
                return self.rest();
            }
            Meaning::Duplicate => out.count(Counter::Duplicates, 1),
            Meaning::Stale => out.count(Counter::Stale, 1),
            Meaning::Foreign => {}
        }
        Op::Recv(MOST_PACKET)
    }

    fn meaning(&self, bytes: &[u8]) -> Meaning {
        let Some(reply) = Reply::read(self.v6, bytes) else {
            return Meaning::Foreign;
        };
        if reply.identifier.is_some_and(|identifier| identifier != self.identifier) {
            return Meaning::Foreign;
        }
        let age = u64::from((self.count as u16).wrapping_sub(reply.sequence));
        let number = self.first.wrapping_add(self.count).wrapping_sub(age);
        match age {
            _ if age >= self.count || !reply.carries(self.request.size(), number) => {
                Meaning::Foreign
            }
            0 => Meaning::Answer,
            1..=64 if self.answered >> (age - 1) & 1 == 1 => Meaning::Duplicate,
            _ => Meaning::Stale,
        }
    }

    fn failed(&mut self, reason: &'static str, now: Nanos, out: &mut Recorder) {
        out.failed(reason, self.intended, now);
    }
}

fn refused(why: &str) -> Op {
    Op::Abort(Box::new(Fault::environment(format!("cannot open an ICMP socket: {why}"))))
}

/// The name of a failure in records.
fn reason(error: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    match error.kind() {
        // Also what the kernel makes of "time exceeded".
        K::HostUnreachable => "host_unreachable",
        K::NetworkUnreachable => "net_unreachable",
        K::ConnectionRefused => "refused",
        K::PermissionDenied => "prohibited",
        _ if errno::too_long(error) => "too_large",
        _ => "socket_error",
    }
}

impl Flow for Echoes {
    fn start(&mut self, now: Nanos) -> Op {
        self.first = now ^ u64::from(self.identifier) << 48;
        self.deadline = now.saturating_add(self.timeout);
        Op::Connect
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (State::Idle, Event::Go { intended }) => self.go(intended, now, out),
            (State::Sending { .. }, Event::Sent(n)) => {
                out.count(Counter::SentBytes, n.saturating_sub(HEADER) as u64);
                self.state = State::Waiting;
                Op::Recv(MOST_PACKET)
            }
            (State::Waiting, Event::Received(bytes)) => self.received(bytes, now, out),
            (State::Waiting, Event::TimedOut) => {
                out.count(Counter::Timeouts, 1);
                self.failed("lost", now, out);
                self.rest()
            }
            // The error may belong to an echo that was given up before this one.
            (State::Sending { retried: false }, Event::Failed(_)) => self.reopen(true, now),
            (State::Sending { .. } | State::Waiting, Event::Failed(error)) => {
                self.failed(reason(&error), now, out);
                self.reopen(false, now)
            }
            (State::Sending { .. }, Event::TimedOut) => {
                self.failed("not_sent", now, out);
                self.rest()
            }
            (State::Opening, Event::Connected) => self.rest(),
            (State::Reopening { .. }, Event::Disconnected) => Op::Connect,
            (State::Reopening { resend: true }, Event::Connected) => self.send(true, now),
            (State::Reopening { resend: true }, Event::Failed(error)) => {
                self.failed(reason(&error), now, out);
                self.rest()
            }
            (State::Reopening { resend: true }, Event::TimedOut) => {
                self.failed("not_sent", now, out);
                self.rest()
            }
            // Without a socket the next request fails and opens one.
            (State::Reopening { resend: false }, _) => self.rest(),
            (State::Opening, Event::Failed(error)) => refused(&explain(&error)),
            (State::Opening, Event::TimedOut) => refused("it did not connect in time"),
            // No packet is empty; a receive that says so is not an end.
            (State::Waiting, Event::Closed) => Op::Recv(MOST_PACKET),
            (State::Idle | State::Opening, _) => Op::End,
            (_, other) => {
                Op::Abort(Box::new(Fault::measuring(format!("ping met an unexpected {other:?}"))))
            }
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.request.bytes()
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(self.deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::checksum;
    use super::*;

    use std::sync::Arc;

    use crate::measure::window::Window;

    const TIMEOUT: Nanos = 1000;

    fn recorder() -> Recorder {
        let window = Arc::new(Window::default());
        window.open(0, 0, 1_000_000);
        Recorder::new(window, Arc::default(), true)
    }

    fn reply(echoes: &Echoes) -> Vec<u8> {
        let mut bytes = echoes.outgoing().to_vec();
        bytes[0] = 0;
        bytes[2..4].fill(0);
        let sum = checksum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn up(out: &mut Recorder) -> Echoes {
        let mut echoes = Echoes::new(false, 9, 56, TIMEOUT);
        assert!(matches!(echoes.start(5), Op::Connect));
        assert!(matches!(echoes.on(Event::Connected, 6, out), Op::Rest));
        echoes
    }

    fn ask(echoes: &mut Echoes, now: Nanos, out: &mut Recorder) {
        assert!(matches!(echoes.on(Event::Go { intended: now }, now, out), Op::Send));
        assert!(matches!(echoes.on(Event::Sent(64), now, out), Op::Recv(_)));
    }

    fn errors(out: &Recorder) -> Vec<(&str, u64)> {
        out.tallies().1.iter().map(|(reason, n)| (reason.as_ref(), *n)).collect()
    }

    #[test]
    fn an_answer_a_loss_a_late_answer_and_a_duplicate_are_told_apart() {
        let live = Arc::new(crate::measure::recorder::Live::default());
        let window = Arc::new(Window::default());
        window.open(0, 0, 1_000_000);
        let mut out = Recorder::new(window, Arc::clone(&live), true);
        let mut echoes = up(&mut out);
        ask(&mut echoes, 100, &mut out);
        let first = reply(&echoes);
        assert!(matches!(echoes.on(Event::Received(&first), 150, &mut out), Op::Rest));
        ask(&mut echoes, 200, &mut out);
        let second = reply(&echoes);
        assert_eq!(echoes.deadline(), Some(200 + TIMEOUT));
        assert!(matches!(echoes.on(Event::TimedOut, 1200, &mut out), Op::Rest));
        ask(&mut echoes, 1300, &mut out);
        let third = reply(&echoes);
        for packet in [&first, &second, &second] {
            assert!(matches!(echoes.on(Event::Received(packet), 1310, &mut out), Op::Recv(_)));
        }
        assert!(matches!(echoes.on(Event::Received(&[3, 1, 0, 0]), 1320, &mut out), Op::Recv(_)));
        assert!(matches!(echoes.on(Event::Received(&third), 1330, &mut out), Op::Rest));
        let counts = live.counts();
        let of = |counter| counts.of(counter);
        assert_eq!(
            (of(Counter::Sent), of(Counter::Counted), of(Counter::CountedErrors)),
            (3, 2, 1)
        );
        assert_eq!((of(Counter::Duplicates), of(Counter::Stale), of(Counter::Timeouts)), (1, 2, 1));
        assert_eq!(errors(&out), [("lost", 1)]);
    }

    #[test]
    fn an_error_that_was_left_over_does_not_cost_the_next_echo() {
        let mut out = recorder();
        let mut echoes = up(&mut out);
        let unreachable = || Event::Failed(io::ErrorKind::HostUnreachable.into());
        assert!(matches!(echoes.on(Event::Go { intended: 10 }, 10, &mut out), Op::Send));
        assert!(matches!(echoes.on(unreachable(), 11, &mut out), Op::Disconnect));
        assert!(matches!(echoes.on(Event::Disconnected, 12, &mut out), Op::Connect));
        assert!(matches!(echoes.on(Event::Connected, 13, &mut out), Op::Send));
        assert_eq!(errors(&out), []);
        assert!(matches!(echoes.on(unreachable(), 14, &mut out), Op::Disconnect));
        assert_eq!(errors(&out), [("host_unreachable", 1)]);
        assert!(matches!(echoes.on(Event::Disconnected, 15, &mut out), Op::Connect));
        assert!(matches!(echoes.on(Event::Connected, 16, &mut out), Op::Rest));
        ask(&mut echoes, 20, &mut out);
    }
}
