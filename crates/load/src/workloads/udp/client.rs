//! The client's end: numbers datagrams and sends them.

use std::io::{self, ErrorKind};

use hopbench_model::{Counter, Fault, Nanos};
use hopbench_sys::errno::ENOBUFS;

use super::datagram::HEADER;
use crate::flow::failure::explain;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::filler::filler;

/// A send that was due inside the window may happen this much after its end. A worker that wakes up
/// a little late has not missed anything.
const AFTER_END: Nanos = 10_000_000;
/// So many answers that nobody is there, and the server is gone.
const MOST_UNREACHABLE: u32 = 100;

/// One flow, as the client sees it.
#[derive(Debug)]
pub(super) struct UdpClient {
    size: usize,
    segments: u64,
    /// Bytes of a send, which the kernel cuts into segments.
    send_bytes: usize,
    /// Whether arrivals come from a schedule; otherwise the next send follows the last at once.
    paced: bool,
    /// The datagrams of one call.
    buffer: Box<[u8]>,
    /// Bytes of them that the kernel took.
    taken: usize,
    /// Number of the next datagram: how many the kernel took.
    number: u64,
    intended: Nanos,
    began: Nanos,
    unreachable: u32,
}

impl UdpClient {
    /// A flow of datagrams of `size` bytes, `segments` a send and `batch` sends a call.
    pub(super) fn new(size: usize, segments: u64, batch: u32, paced: bool) -> Self {
        let send_bytes = size * segments as usize;
        Self {
            size,
            segments,
            send_bytes,
            paced,
            buffer: filler(send_bytes * batch as usize).as_ref().into(),
            taken: 0,
            number: 0,
            intended: 0,
            began: 0,
            unreachable: 0,
        }
    }

    #[inline]
    fn send(&mut self, intended: Nanos, now: Nanos) -> Op {
        (self.intended, self.began, self.taken) = (intended, now, 0);
        let time = now.to_le_bytes();
        for (datagram, number) in self.buffer.chunks_exact_mut(self.size).zip(self.number..) {
            datagram[..8].copy_from_slice(&number.to_le_bytes());
            datagram[8..HEADER].copy_from_slice(&time);
        }
        self.send_rest()
    }

    /// Sends what the kernel has not taken yet.
    #[inline]
    fn send_rest(&self) -> Op {
        if self.buffer.len() > self.send_bytes { Op::SendEach(self.send_bytes) } else { Op::Send }
    }

    /// The kernel did not take what was to be sent; its numbers are used again.
    fn refused(&mut self, error: &io::Error, now: Nanos, out: &mut Recorder) -> Op {
        let reason = match (error.kind(), error.raw_os_error()) {
            (_, Some(ENOBUFS)) => "no buffer space",
            (ErrorKind::PermissionDenied, _) => "filtered on this machine",
            // An ICMP answer to an earlier datagram; the kernel reports it instead of sending.
            (ErrorKind::ConnectionRefused, _) => "port unreachable",
            (ErrorKind::HostUnreachable, _) => "host unreachable",
            (ErrorKind::NetworkUnreachable, _) => "network unreachable",
            (ErrorKind::InvalidInput, _) if self.segments > 1 => {
                return lost(
                    "the kernel does not take --gso with this --size: a datagram must fit the \
                     path's MTU",
                );
            }
            _ => return lost(&explain(error)),
        };
        out.failed(reason, self.intended, now);
        if reason.ends_with("unreachable") {
            self.unreachable += 1;
            if self.unreachable >= MOST_UNREACHABLE {
                return lost(&format!("{reason}, {MOST_UNREACHABLE} times: the server is gone"));
            }
        }
        Op::Rest
    }
}

impl Flow for UdpClient {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Go { intended } => {
                if now >= out.window().end().saturating_add(AFTER_END) {
                    out.count(Counter::Unsent, 1);
                    return Op::Rest;
                }
                self.send(intended, now)
            }
            Event::Sent(n) => {
                let datagrams = (n / self.size) as u64;
                let mut uncounted = datagrams;
                if self.taken == 0 {
                    out.sending(self.intended, self.began);
                    uncounted = datagrams.saturating_sub(1);
                }
                out.count(Counter::Sent, uncounted);
                out.count(Counter::SentBytes, n as u64);
                self.number += datagrams;
                self.taken += n;
                if self.taken < self.buffer.len() {
                    return self.send_rest();
                }
                if self.paced || now >= out.window().end() { Op::Rest } else { self.send(now, now) }
            }
            Event::Failed(error) => self.refused(&error, now, out),
            Event::Finish => Op::End,
            other => lost(&format!("unexpected {other:?}")),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }
}

fn lost(why: &str) -> Op {
    Op::Abort(Box::new(Fault::measuring(format!("a flow of datagrams broke: {why}"))))
}
