//! The server's end: takes datagrams in and keeps account of them.

use hopbench_model::{Counter, LatencyKind, Nanos, SECOND};
use hopbench_stats::{Jitter, Observation, SequenceTracker};

use super::datagram::{FOREIGN, HEADER, JITTER_FLOWS, JITTER_SUM};
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// A flow that was silent for so long after the end of the window is over, whatever is known of the
/// path.
const SILENCE: Nanos = 200_000_000;
/// Once the client is done, a flow is over after the time that its slowest datagram took, twice,
/// and this. It is also how often a flow looks whether it is over.
const QUIET: Nanos = 20_000_000;
/// How long a flow that may be over still waits. A worker that had no CPU in the meantime reads its
/// socket once more before it draws conclusions from silence.
const LAST_LOOK: Nanos = 2_000_000;
/// How often a flow looks whether anything came that is at rest between two visits.
const REST: Nanos = SECOND;
/// Higher numbers are not ours: at ten million datagrams a second they were reached after ten
/// months.
const MOST_NUMBER: u64 = 1 << 48;
/// Datagrams that claim to have been sent longer ago, or later, than this are not ours, ns.
const PLAUSIBLE: u64 = 3600 * SECOND;

/// One flow, as the server sees it.
#[derive(Debug)]
pub(super) struct UdpServer {
    size: usize,
    /// What to add to this end's clock to get the client's, ns.
    client_offset_ns: i64,
    shared_clock: bool,
    sequence: SequenceTracker,
    jitter: Jitter,
    /// The sum of the jitter as it stood after each datagram of the window, ns, and how many these
    /// were.
    jitter_sum_ns: f64,
    jitter_count: u64,
    foreign: u64,
    /// The longest time a datagram was under way, ns; 0 before the first, and where the clocks are
    /// two.
    slowest: Nanos,
    /// When the last datagram came.
    last: Nanos,
    /// Until when to wait for the next.
    patience: Nanos,
    /// Whether this is the last look.
    looked: bool,
    /// Whether it stays for another visit.
    stays: bool,
    /// Whether nothing more of this visit can come.
    over: bool,
}

impl UdpServer {
    /// A flow of datagrams of `size` bytes.
    pub(super) fn new(size: usize, client_offset_ns: i64, shared_clock: bool, stays: bool) -> Self {
        Self {
            size,
            client_offset_ns,
            shared_clock,
            sequence: SequenceTracker::new(),
            jitter: Jitter::new(),
            jitter_sum_ns: 0.0,
            jitter_count: 0,
            foreign: 0,
            slowest: 0,
            last: 0,
            patience: 0,
            looked: false,
            stays,
            over: false,
        }
    }

    #[inline]
    fn listen(&self) -> Op {
        // One byte more than is due, so that a longer datagram shows.
        Op::Recv(self.size + 1)
    }

    #[inline]
    fn take(&mut self, datagram: &[u8], now: Nanos, out: &mut Recorder) {
        let Some((number, sent)) = read_header(datagram).filter(|_| datagram.len() == self.size)
        else {
            self.foreign += 1;
            return;
        };
        let transit =
            now.cast_signed().wrapping_add(self.client_offset_ns).wrapping_sub(sent.cast_signed());
        // One forged or strayed number would spoil the account of all that follow: a registration
        // that was repeated late may have a datagram's length.
        if number >= MOST_NUMBER || transit.unsigned_abs() > PLAUSIBLE {
            self.foreign += 1;
            return;
        }
        (self.last, self.patience) = (now, next_look(now, out));
        (self.looked, self.over) = (false, false);
        if self.shared_clock {
            self.slowest = self.slowest.max(u64::try_from(transit).unwrap_or(0));
        }
        match self.sequence.observe(number) {
            Observation::New => {}
            Observation::Reordered | Observation::Late => out.count(Counter::Reordered, 1),
            Observation::Duplicate => {
                out.count(Counter::Duplicates, 1);
                return;
            }
        }
        out.count(Counter::Completed, 1);
        out.count(Counter::ReceivedBytes, datagram.len() as u64);
        self.jitter.observe(sent, now);
        if out.window().holds(now) {
            out.count(Counter::Counted, 1);
            // The filter forgets within some dozens of datagrams: its last value says nothing of
            // the window.
            self.jitter_sum_ns += self.jitter.ns();
            self.jitter_count += 1;
            if self.shared_clock {
                out.latency_of_counted(LatencyKind::Delay, u64::try_from(transit).unwrap_or(0));
            }
        }
    }

    /// Nothing came for a while.
    fn on_silence(&mut self, now: Nanos, out: &Recorder) -> Op {
        let over_at = self.over_at(out);
        let over = now >= over_at;
        if over && self.looked {
            self.over = true;
            self.patience = now + REST;
            return if self.stays { self.listen() } else { Op::End };
        }
        self.looked = over;
        self.patience = if over { now + LAST_LOOK } else { next_look(now, out).min(over_at) };
        self.listen()
    }

    /// From when on nothing can come any more, if nothing comes until then.
    fn over_at(&self, out: &Recorder) -> Nanos {
        let silence = out.window().end().max(self.last).saturating_add(SILENCE);
        if self.slowest == 0 {
            return silence;
        }
        // The path may have got slower since, but not by more than that within a moment.
        let arrived = out.window().all_sent_at().saturating_add(2 * self.slowest).max(self.last);
        arrived.saturating_add(QUIET).min(silence)
    }
}

/// Silence is of no interest before the end of the window.
fn next_look(now: Nanos, out: &Recorder) -> Nanos {
    (now + SILENCE).min(now.max(out.window().end()).saturating_add(QUIET))
}

/// Number and sending time.
#[inline]
fn read_header(datagram: &[u8]) -> Option<(u64, Nanos)> {
    let both = u128::from_le_bytes(*datagram.first_chunk::<HEADER>()?);
    Some((both as u64, (both >> 64) as u64))
}

impl Flow for UdpServer {
    fn start(&mut self, now: Nanos) -> Op {
        (self.last, self.patience) = (now, now + SILENCE);
        self.listen()
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Received(datagram) => {
                // A socket that was shut down brings empty ones without end.
                if !datagram.is_empty() {
                    self.take(datagram, now, out);
                }
                self.listen()
            }
            Event::TimedOut => self.on_silence(now, out),
            // An ICMP error for an answer to the registration: it says nothing of what comes.
            Event::Failed(_) if now < out.window().end().saturating_add(SILENCE) => self.listen(),
            _ => Op::End,
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(self.patience)
    }

    fn is_idle(&self) -> bool {
        self.over
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.closing(out);
        (self.jitter_sum_ns, self.jitter_count, self.foreign) = (0.0, 0, 0);
    }

    fn closing(&mut self, out: &mut Recorder) {
        if self.jitter_count > 0 {
            out.add_extra(JITTER_SUM, self.jitter_sum_ns / self.jitter_count as f64);
            out.add_extra(JITTER_FLOWS, 1.0);
        }
        if self.foreign > 0 {
            out.add_extra(FOREIGN, self.foreign as f64);
        }
    }
}
