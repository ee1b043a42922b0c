//! The client's end: takes messages out of the byte stream and times them.

use hopbench_model::{Counter, Fault, LatencyKind, Nanos};

use super::message::{CHUNK, CLEAN_CLOSES, HEADER, MAX_MESSAGES, MIN_MESSAGES};
use crate::flow::failure::lost;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// What the client knows of the server's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    /// What to add to this end's clock to get the server's, ns.
    pub(super) server_offset_ns: i64,
    /// Whether that is exact.
    pub(super) shared: bool,
}

/// One connection, as the client sees it.
#[derive(Debug)]
pub(super) struct PushClient {
    size: usize,
    clocks: Clocks,
    /// Of the message under way.
    header: [u8; HEADER],
    /// Bytes of the message under way that came.
    have: usize,
    /// Number of the message under way.
    number: u64,
    /// When the message before was complete.
    last: Option<Nanos>,
    /// The shortest time from the intended moment to complete receipt, on two clocks; may be
    /// negative.
    fastest: i64,
    counted: u64,
}

impl PushClient {
    /// A connection whose messages have `size` bytes, header included.
    pub(super) fn new(size: usize, clocks: Clocks) -> Self {
        Self {
            size,
            clocks,
            header: [0; HEADER],
            have: 0,
            number: 0,
            last: None,
            fastest: i64::MAX,
            counted: 0,
        }
    }

    /// Takes in a piece of the stream that came at `now`.
    fn take(&mut self, mut bytes: &[u8], now: Nanos, out: &mut Recorder) -> Result<(), Fault> {
        while !bytes.is_empty() {
            if self.have < HEADER {
                let n = bytes.len().min(HEADER - self.have);
                self.header[self.have..self.have + n].copy_from_slice(&bytes[..n]);
                self.have += n;
                bytes = &bytes[n..];
                if self.have < HEADER {
                    return Ok(());
                }
                let (number, _) = read_header(&self.header);
                if number != self.number {
                    return Err(Fault::measuring(format!(
                        "message {number} came where message {} was due: the stream was changed on \
                         its way",
                        self.number
                    )));
                }
            }
            let n = bytes.len().min(self.size - self.have);
            self.have += n;
            bytes = &bytes[n..];
            if self.have == self.size {
                self.complete(now, out);
            }
        }
        Ok(())
    }

    fn complete(&mut self, now: Nanos, out: &mut Recorder) {
        let (_, intended) = read_header(&self.header);
        out.count(Counter::Completed, 1);
        let took = now
            .cast_signed()
            .wrapping_add(self.clocks.server_offset_ns)
            .wrapping_sub(intended.cast_signed());
        self.fastest = self.fastest.min(took);
        let delay = if self.clocks.shared { took } else { took.wrapping_sub(self.fastest) };
        // Open loop: a message belongs to the window by its intended time, so that late ones are
        // not left out.
        if out.window().holds(now.wrapping_sub(took.cast_unsigned())) {
            self.counted += 1;
            out.count(Counter::Counted, 1);
            out.latency_of_counted(LatencyKind::Delay, u64::try_from(delay).unwrap_or(0));
            if let Some(last) = self.last {
                out.latency_of_counted(LatencyKind::Gap, now.saturating_sub(last));
            }
        }
        self.last = Some(now);
        self.number += 1;
        self.have = 0;
    }
}

/// Number and intended time.
fn read_header(header: &[u8; HEADER]) -> (u64, Nanos) {
    let both = u128::from_le_bytes(*header);
    (both as u64, (both >> 64) as u64)
}

impl Flow for PushClient {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Go { .. } => Op::Recv(CHUNK),
            Event::Received(bytes) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                match self.take(bytes, now, out) {
                    Ok(()) => Op::Recv(CHUNK),
                    Err(fault) => Op::Abort(Box::new(fault)),
                }
            }
            // Between two messages the server may close at any time: the user may have ended the
            // window there first.
            Event::Closed if self.have == 0 => {
                out.add_extra(CLEAN_CLOSES, 1.0);
                Op::End
            }
            Event::Closed | Event::Failed(_) if now >= out.window().end() => Op::End,
            Event::Finish => Op::End,
            other => lost(&other, "the server closed it inside a message"),
        }
    }

    fn closing(&mut self, out: &mut Recorder) {
        out.min_extra(MIN_MESSAGES, self.counted as f64);
        out.max_extra(MAX_MESSAGES, self.counted as f64);
    }
}
