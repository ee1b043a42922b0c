//! The two flows of `stream`: the sender and the receiver of one connection.

use hopbench_model::{Counter, Nanos, SECOND};

use crate::flow::failure::lost;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::filler::MOST_FILLER;

/// How long a sender goes on after the window, ns.
pub(super) const RUN_OUT: Nanos = 10_000_000;
/// What a receiver reads at once of what is left when load has ended, bytes.
pub(super) const RUN_OUT_BYTES: usize = 64 * 1024;
/// A write of a paced sender covers at most this much time, ns: a slow rate is no rate when it
/// comes in lumps.
const LUMP: Nanos = 10_000_000;

/// One of so many parts of a write is a little.
pub(super) const LITTLE_SHARE: usize = 8;

/// One connection, whichever end sends.
pub(super) enum StreamFlow {
    Sender(Sender),
    Receiver(Receiver),
}

impl Flow for StreamFlow {
    fn start(&mut self, _now: Nanos) -> Op {
        match self {
            Self::Receiver(receiver) if !receiver.waits => receiver.next(false),
            _ => Op::Rest,
        }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match self {
            Self::Sender(sender) => sender.on(&event, now, out),
            Self::Receiver(receiver) => receiver.on(&event, now >= stop(out), out),
        }
    }

    fn bulk_bytes(&self) -> Option<usize> {
        let (Self::Sender(Sender { piece, .. }) | Self::Receiver(Receiver { piece, .. })) = self;
        piece.fills_packets.then_some(piece.bytes)
    }

    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        match self {
            Self::Sender(Sender { piece, .. }) | Self::Receiver(Receiver { piece, .. }) => {
                piece.fit(packet_bytes)
            }
        }
    }
}

/// What is written or read at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Bytes that were asked for.
    asked: usize,
    /// Bytes that are written or read at once.
    pub bytes: usize,
    /// Whether it may be a little less, so that it is whole packets.
    fills_packets: bool,
}

impl Piece {
    /// So many bytes, or the most of them that is whole packets if little is left.
    pub(super) fn new(bytes: usize, fills_packets: bool) -> Self {
        Self { asked: bytes, bytes, fills_packets }
    }

    /// A little that is left would travel in a packet of its own, which costs both ends almost as
    /// much as a whole one.
    pub(super) fn fit(&mut self, packet_bytes: usize) -> bool {
        let asked = self.asked.min(MOST_FILLER);
        let left = asked % packet_bytes;
        let fits = self.fills_packets && asked >= packet_bytes && left <= asked / LITTLE_SHARE;
        self.bytes = if fits { asked - left } else { self.asked };
        fits
    }
}

pub(super) struct Sender {
    pub piece: Piece,
    pub bits_per_s: Option<f64>,
    /// Of the write under way, bytes.
    pub left: usize,
    pub sent: u64,
    pub began: Nanos,
    /// Whether it rests after the window, for another visit.
    pub stays: bool,
}

impl Sender {
    #[inline]
    fn on(&mut self, event: &Event<'_>, now: Nanos, out: &Recorder) -> Op {
        match event {
            Event::Go { intended } => {
                (self.began, self.sent) = (*intended, 0);
                self.write(now, out)
            }
            Event::Timer => self.write(now, out),
            Event::Sent(n) => {
                out.count(Counter::SentBytes, *n as u64);
                self.sent += *n as u64;
                self.left -= n;
                if self.left > 0 {
                    return Op::SendFill(self.left);
                }
                out.count(Counter::Completed, 1);
                self.write(now, out)
            }
            Event::Finish => Op::FinishSending,
            // The receiver closes when it has read everything.
            Event::FinishedSending => Op::Recv(1),
            Event::Closed if now >= stop(out) => Op::End,
            other => lost(other, "the other end closed it"),
        }
    }

    /// Bytes of the next write.
    #[inline]
    fn next_bytes(&self) -> usize {
        match self.bits_per_s {
            Some(rate) => {
                self.piece.bytes.min((rate / 8.0 * LUMP as f64 / SECOND as f64) as usize).max(1)
            }
            None => self.piece.bytes,
        }
    }

    #[inline]
    fn write(&mut self, now: Nanos, out: &Recorder) -> Op {
        if now >= stop(out) {
            return if self.stays { Op::Rest } else { Op::FinishSending };
        }
        if let Some(bits_per_s) = self.bits_per_s {
            let due = self.began + (self.sent as f64 * 8.0 * SECOND as f64 / bits_per_s) as Nanos;
            if due > now {
                return Op::Wait(due.min(stop(out)));
            }
        }
        self.left = self.next_bytes();
        Op::SendFill(self.left)
    }
}

/// When a sender stops: a little after the window. So the readings at its end find the path under
/// load and the queues as they were.
#[inline]
fn stop(out: &Recorder) -> Nanos {
    out.window().end().saturating_add(RUN_OUT)
}

pub(super) struct Receiver {
    pub piece: Piece,
    pub discard: bool,
    /// Whether it waits for the window before it reads: a client does, so that it counts as ready.
    pub waits: bool,
}

impl Receiver {
    /// Its next read. When load has ended (`is_over`) that is much: reads of a byte each would
    /// take longer than the sender is waited for.
    #[inline]
    fn next(&self, is_over: bool) -> Op {
        match (self.discard, is_over) {
            (true, _) => Op::Discard(self.piece.bytes),
            (false, false) => Op::Recv(self.piece.bytes),
            (false, true) => Op::Recv(self.piece.bytes.max(RUN_OUT_BYTES)),
        }
    }

    #[inline]
    fn on(&mut self, event: &Event<'_>, is_over: bool, out: &Recorder) -> Op {
        match event {
            Event::Received(bytes) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                self.next(is_over)
            }
            Event::Discarded(n) => {
                out.count(Counter::ReceivedBytes, *n as u64);
                self.next(is_over)
            }
            Event::Go { .. } => self.next(is_over),
            // All of the stream was read.
            Event::Closed | Event::Finish => Op::End,
            other => lost(other, "the other end closed it"),
        }
    }
}
