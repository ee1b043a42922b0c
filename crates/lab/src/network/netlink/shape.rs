//! The rates and delays of links.

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_EXCL, Nla, NlasIterator};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};

use super::socket::Netlink;

/// From `linux/pkt_sched.h`.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_OPTIONS: u16 = 2;
const TCA_NETEM_LATENCY64: u16 = 10;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// Nanoseconds in a second.
const S: u64 = 1_000_000_000;
/// How much a link that was idle may send at once, in time at its rate. See [`Bucket::of`].
const BURST_NS: u64 = 10_000_000;
/// How long a full queue takes to empty. See [`Bucket::of`].
const QUEUE_NS: u64 = 20_000_000;
/// A queue is at least this long: one socket's default send buffer and a little more, bytes.
const LEAST_QUEUE_BYTES: u64 = 256 * 1024;
/// Bytes of a frame besides the MTU: Ethernet header and a VLAN tag.
const FRAME_BYTES: u64 = 18;
/// Packets that may wait at a delayed link: a second of full frames at 12 Gbit/s.
const DELAYED_PACKETS: u32 = 1_000_000;

/// The shaper of a link.
const SHAPER: TcHandle = TcHandle { major: 1, minor: 0 };
/// The place inside the shaper where packets wait.
const INSIDE: TcHandle = TcHandle { major: 1, minor: 1 };
const DELAYER: TcHandle = TcHandle { major: 2, minor: 0 };

/// A token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    rate_bytes_per_s: u64,
    burst_bytes: u32,
    queue_bytes: u32,
}

impl Bucket {
    /// The bucket that gives a link this rate.
    ///
    /// The bucket must hold the tokens that come in while the queue waits. When it is empty, a
    /// timer wakes the queue as soon as the next packet fits. The timer is late if the CPU works on
    /// other soft interrupts, or if `ksoftirqd` waits for its turn. Tokens in the bucket can still
    /// be used then. Tokens that did not fit in are lost, and with them the rate. This was measured
    /// on a machine with six runnable threads for each CPU. TCP got this share of a link of 1
    /// Gbit/s: 57 % with a bucket of 0.5 ms, 96 % with 2 ms, 99.5 % with 4 ms, 99.9 % with 10 ms.
    /// The price: a link that was idle sends that much at once. So transfers shorter than 10 ms do
    /// not feel its rate.
    ///
    /// A packet that is larger than the bucket would be dropped. But a packet that the kernel is
    /// yet to cut (GSO, up to 64 KiB) is cut before it. So at low rates the bucket may be smaller
    /// than that, and only one full frame must fit. Two do, so that tokens can collect while the
    /// first is sent.
    ///
    /// The queue has room for the bursts of two other links, and for what many flows have under
    /// way. It empties fast enough that the link does not seem broken. A single flow does not fill
    /// it: the kernel lets a socket have about a millisecond of data in the queues of its own
    /// machine.
    fn of(bits_per_s: u64, mtu_bytes: u32) -> Self {
        let rate_bytes_per_s = (bits_per_s / 8).max(1);
        let within = |ns: u64| {
            let bytes = u128::from(rate_bytes_per_s) * u128::from(ns) / u128::from(S);
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        let fit = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let frames = 2 * (u64::from(mtu_bytes) + FRAME_BYTES);
        let burst = within(BURST_NS).max(frames);
        let queue = within(QUEUE_NS).max(LEAST_QUEUE_BYTES).max(burst);
        Self { rate_bytes_per_s, burst_bytes: fit(burst), queue_bytes: fit(queue) }
    }

    /// `struct tc_tbf_qopt`: rate, peak rate (none), limit, and two numbers that `TCA_TBF_BURST`
    /// replaces.
    fn parameters(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(36);
        // struct tc_ratespec: cell size, link layer, overhead, cell alignment, smallest packet,
        // rate.
        bytes.extend([0, TC_LINKLAYER_ETHERNET]);
        bytes.extend([0; 6]);
        // A rate that does not fit is told by TCA_TBF_RATE64.
        bytes.extend(u32::try_from(self.rate_bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes());
        bytes.extend([0; 12]);
        bytes.extend(self.queue_bytes.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    fn options(self) -> Vec<TcOption> {
        vec![
            option(TCA_TBF_PARMS, self.parameters()),
            option(TCA_TBF_BURST, self.burst_bytes.to_ne_bytes().to_vec()),
            option(TCA_TBF_RATE64, self.rate_bytes_per_s.to_ne_bytes().to_vec()),
        ]
    }
}

/// How long the queue of a link of this rate takes to empty when it is full, ns.
pub fn queue_ns(bits_per_s: u64, mtu_bytes: u32) -> u64 {
    let Bucket { rate_bytes_per_s, queue_bytes, .. } = Bucket::of(bits_per_s, mtu_bytes);
    u64::from(queue_bytes).saturating_mul(S) / rate_bytes_per_s
}

impl Netlink {
    /// Lets a link send at most `bits_per_s`, counted as the kernel counts: whole Ethernet frames
    /// without preamble and checksum. A TCP flow with time stamps then gets `bits_per_s` x (MTU -
    /// 52) / (MTU + 14) of payload.
    ///
    /// # Errors
    /// A link that is not there or is shaped already, a kernel without the token bucket filter
    /// (`sch_tbf`).
    pub fn shape(&mut self, link: &str, bits_per_s: u64, mtu_bytes: u32) -> io::Result<()> {
        let bucket = Bucket::of(bits_per_s, mtu_bytes);
        let message = self.discipline(link, "tbf", (TcHandle::ROOT, SHAPER), bucket.options())?;
        let what = format!("limit link {link} to {bits_per_s} bits/s");
        self.change(
            what,
            RouteNetlinkMessage::NewQueueDiscipline(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Delays everything that a link sends by `ns`. A link that is to be shaped as well must be
    /// shaped first.
    ///
    /// # Errors
    /// A link that is not there, a kernel without netem (`sch_netem`).
    pub fn delay(&mut self, link: &str, ns: u64) -> io::Result<()> {
        let shaped = self.is_shaped(link)?;
        let place = if shaped { INSIDE } else { TcHandle::ROOT };
        let mut message = self.discipline(link, "netem", (place, DELAYER), vec![])?;
        message.attributes.push(TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, delayer(ns))));
        let what = format!("delay link {link} by {ns} ns");
        self.change(
            what,
            RouteNetlinkMessage::NewQueueDiscipline(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// The rate that [`Self::shape`] gave a link, as the kernel has it, bits/s; `None`: it is not
    /// shaped.
    ///
    /// # Errors
    /// A link that is not there.
    pub fn rate(&mut self, link: &str) -> io::Result<Option<u64>> {
        let shaper = self.shaper(link)?;
        let options =
            shaper.iter().flat_map(|shaper| &shaper.attributes).find_map(
                |attribute| match attribute {
                    TcAttribute::Options(options) => {
                        options.iter().find_map(|option| match option {
                            TcOption::Other(options) => Some(options),
                            _ => None,
                        })
                    }
                    _ => None,
                },
            );
        let mut value = vec![0; options.map_or(0, Nla::value_len)];
        if let Some(options) = options {
            options.emit_value(&mut value);
        }
        Ok(rate_bytes_per_s(&value).map(|rate| rate.saturating_mul(8)))
    }

    /// Whether [`Self::shape`] was called for a link.
    fn is_shaped(&mut self, link: &str) -> io::Result<bool> {
        Ok(self.shaper(link)?.is_some())
    }

    /// The rate that [`Self::shape`] gave a link.
    fn shaper(&mut self, link: &str) -> io::Result<Option<TcMessage>> {
        let index = self.index(link)?.cast_signed();
        let question = TcMessage::with_index(index);
        let what = format!("list queueing disciplines of link {link}");
        let answers = self.dump(what, RouteNetlinkMessage::GetQueueDiscipline(question))?;
        Ok(answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewQueueDiscipline(found)
                if found.header.index == index && found.header.handle == SHAPER =>
            {
                Some(found)
            }
            _ => None,
        }))
    }

    fn discipline(
        &mut self,
        link: &str,
        kind: &str,
        (parent, handle): (TcHandle, TcHandle),
        options: Vec<TcOption>,
    ) -> io::Result<TcMessage> {
        let mut message = TcMessage::with_index(self.index(link)?.cast_signed());
        message.header.parent = parent;
        message.header.handle = handle;
        message.attributes.push(TcAttribute::Kind(kind.to_owned()));
        if !options.is_empty() {
            message.attributes.push(TcAttribute::Options(options));
        }
        Ok(message)
    }
}

/// The options of netem, which do not start with an attribute: `struct tc_netem_qopt` (latency,
/// limit, loss, gap, duplicate, jitter). Then comes the latency as an attribute, because the old
/// one counts in ticks.
fn delayer(ns: u64) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(DELAYED_PACKETS.to_ne_bytes());
    bytes.extend([0; 16]);
    bytes.extend(12_u16.to_ne_bytes());
    bytes.extend(TCA_NETEM_LATENCY64.to_ne_bytes());
    bytes.extend(ns.to_ne_bytes());
    bytes
}

/// The rate among the options of a token bucket: the wide one where there is one, which is when the
/// narrow one is full.
fn rate_bytes_per_s(options: &[u8]) -> Option<u64> {
    let find = |kind: u16| {
        NlasIterator::new(options)
            .flatten()
            .find(|found| found.kind() == kind)
            .map(|found| found.value().to_vec())
    };
    let wide = find(TCA_TBF_RATE64)
        .and_then(|value| Some(u64::from_ne_bytes(value.get(..8)?.try_into().ok()?)));
    let narrow = || {
        let value = find(TCA_TBF_PARMS)?;
        Some(u64::from(u32::from_ne_bytes(value.get(8..12)?.try_into().ok()?)))
    };
    wide.or_else(narrow)
}

fn option(kind: u16, value: Vec<u8>) -> TcOption {
    TcOption::Other(DefaultNla::new(kind, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_fit_their_rates() {
        let gigabit = Bucket::of(1_000_000_000, 1500);
        let expected = Bucket {
            rate_bytes_per_s: 125_000_000,
            burst_bytes: 1_250_000,
            queue_bytes: 2_500_000,
        };
        assert_eq!(gigabit, expected);
        // Two frames fit in the smallest bucket.
        assert_eq!(Bucket::of(1_000, 9000).burst_bytes, 2 * 9018);
        // More bytes a second than 32 bits can hold.
        let fast = Bucket::of(40_000_000_000, 1500);
        assert_eq!((fast.rate_bytes_per_s, fast.burst_bytes), (5_000_000_000, 50_000_000));
        assert_eq!(fast.parameters()[8..12], u32::MAX.to_ne_bytes());
        assert!(Bucket::of(u64::MAX, 1500).queue_bytes == u32::MAX);
        assert_eq!(
            (queue_ns(1_000_000_000, 1500), queue_ns(10_000_000, 1500)),
            (20_000_000, 209_715_200)
        );
    }

    #[test]
    fn parameters_have_the_size_that_the_kernel_expects() {
        assert_eq!(Bucket::of(1_000_000, 1500).parameters().len(), 36);
        // 24 bytes of tc_netem_qopt and one attribute of 12.
        let delayer = delayer(0x0102_0304);
        assert_eq!(delayer.len(), 36);
        assert_eq!(delayer[28..], 0x0102_0304_u64.to_ne_bytes());
    }
}
