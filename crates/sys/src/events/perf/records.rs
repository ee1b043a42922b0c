//! The records of a ring, read from its bytes. No byte is trusted: what does not fit is left out.

/// `PERF_RECORD_LOST`, `PERF_RECORD_THROTTLE` and `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const THROTTLE: u32 = 5;
const SAMPLE: u32 = 9;
/// Bytes of a header: type, flags, length.
const HEADER: usize = 8;
/// Addresses from here on mark what follows them: `PERF_CONTEXT_MAX`.
const MARKS: u64 = -4095i64 as u64;
/// `PERF_CONTEXT_KERNEL` and `PERF_CONTEXT_USER`.
const KERNEL: u64 = -128i64 as u64;
const USER: u64 = -512i64 as u64;

/// A record of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<'a> {
    /// What ran at a moment.
    Sample(Sample<'a>),
    /// Records found no room in the ring.
    Lost {
        /// How many.
        count: u64,
        /// When there was room again, by [`clock::now`](crate::clock::now), ns.
        time_ns: u64,
    },
    /// There were more samples than the kernel allows: it takes none until its next tick.
    Throttled {
        /// When, by [`clock::now`](crate::clock::now), ns.
        time_ns: u64,
    },
    /// Anything else, such as a note that samples are taken again.
    Other,
}

/// What ran at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The process, as the PID namespace of the sampler numbers it; 0: one outside of it, or none.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// When, by [`clock::now`](crate::clock::now), ns.
    pub time_ns: u64,
    /// The CPU.
    pub cpu: u32,
    /// Its call stack.
    pub chain: Chain<'a>,
}

/// A call stack, from the function that ran to those that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain<'a>(&'a [u8]);

/// A place in a call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// The address of the instruction, or of the one behind a call.
    pub address: u64,
    /// Whether it is the kernel's.
    pub is_kernel: bool,
}

impl<'a> Chain<'a> {
    /// The frames, the innermost first.
    pub fn frames(self) -> impl Iterator<Item = Frame> + 'a {
        let mut place: Option<bool> = None;
        self.0.chunks_exact(8).filter_map(move |bytes| {
            let address = word(bytes, 0)?;
            if address >= MARKS {
                place = match address {
                    KERNEL => Some(true),
                    USER => Some(false),
                    _ => None,
                };
                return None;
            }
            // Without a mark, addresses of the upper half are the kernel's.
            let is_kernel = place.unwrap_or(address > u64::MAX / 2);
            Some(Frame { address, is_kernel })
        })
    }
}

/// The records in the bytes of a ring. A record that says more bytes than there are is the last.
#[derive(Debug, Clone)]
pub struct Records<'a>(&'a [u8]);

impl<'a> Records<'a> {
    /// Those in these bytes.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = half(self.0, 0)?;
        let length = usize::from(u16::from_ne_bytes(self.0.get(6..HEADER)?.try_into().ok()?));
        let Some(body) = self.0.get(HEADER..length) else {
            // There is no next one to be found.
            self.0 = &[];
            return None;
        };
        self.0 = &self.0[length..];
        Some(match kind {
            SAMPLE => sample(body).map_or(Record::Other, Record::Sample),
            LOST => lost(body).unwrap_or(Record::Other),
            THROTTLE => {
                word(body, 0).map_or(Record::Other, |time_ns| Record::Throttled { time_ns })
            }
            _ => Record::Other,
        })
    }
}

/// The body of a sample: its thread, time and CPU, then the number of addresses and these.
fn sample(body: &[u8]) -> Option<Sample<'_>> {
    let (pid, tid, time_ns, cpu) =
        (half(body, 0)?, half(body, 4)?, word(body, 8)?, half(body, 16)?);
    let bytes = usize::try_from(word(body, 24)?).ok()?.checked_mul(8)?;
    let chain = Chain(body.get(32..)?.get(..bytes)?);
    Some(Sample { pid, tid, time_ns, cpu, chain })
}

/// The body of a note on lost records: the event, their number, then a thread, the time and a CPU.
fn lost(body: &[u8]) -> Option<Record<'static>> {
    Some(Record::Lost { count: word(body, 8)?, time_ns: word(body, 24)? })
}

/// Four bytes as a number.
fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.get(..4)?.try_into().ok()?))
}

/// Eight bytes as a number.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.get(..8)?.try_into().ok()?))
}
