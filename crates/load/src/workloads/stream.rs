//! `stream`: bytes in bulk over TCP, in either direction or both.
//!
//! - *Written*: the bytes that the sender's kernel took.
//! - *Acknowledged*: the bytes that the receiver's kernel confirmed.
//! - *Received*: the bytes that the receiving program read.
//!
//! At the window's end they differ by what is still in queues. The record says how much is in
//! which. RFC 4898 names the counters, and `TCP_INFO` carries them.

mod account;
mod flow;
#[cfg(test)]
mod tests;

use clap::{Args, ValueEnum};
use hopbench_model::units::{BitRate, Bytes};
use hopbench_model::{EndReport, EngineKind, Fault, Job, LatencyKind, Problem, SECOND, Sweep};
use serde::{Deserialize, Serialize};

use self::account::{Between, account, receiving, sending};
use self::flow::{LITTLE_SHARE, Piece, RUN_OUT_BYTES, Receiver, Sender, StreamFlow};
use crate::flow::handshake::Handshake;
use crate::worker::accepted::{Accepted, Acceptor};
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::secured::{self, Layer};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::encryption::FlowTls;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports, figures};

/// The parameters.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Bytes of a read or write; a sweep like 1:256KiB:*64 measures each
    #[arg(long, value_name = "SIZE", default_value = "128KiB")]
    size: Sweep<Bytes>,
    /// packets: write and read as many whole packets of the kernel (of about 64KiB) as fit, if they
    /// are at least 7/8 of --size (1MiB if it is more). Otherwise, and with exact or --rate: --size
    #[arg(long, value_enum, default_value = "packets")]
    #[serde(default, skip_serializing_if = "Write::is_default")]
    write: Write,
    /// Who sends; `both` opens --connections in each direction
    #[arg(long, value_enum, default_value = "to-server")]
    direction: Direction,
    /// At most this much over all connections of a direction, like 1Gbit
    #[arg(long, value_name = "RATE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<BitRate>,
    /// Copy received bytes to the program, or discard them in the kernel (the path without the
    /// copy)
    #[arg(long, value_enum, default_value = "copy")]
    receive: Receive,
    /// Congestion control of both ends, like bbr [default: the system's]
    #[arg(long, value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    congestion: Option<String>,
    /// Socket send buffer of both ends [default: the kernel adapts it]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    send_buffer: Option<Bytes>,
    /// Socket receive buffer of both ends [default: the kernel adapts it]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    receive_buffer: Option<Bytes>,
    /// Wake a receiver when this much is there [default: most of a write, up to 128KiB, with fewer
    /// than 16 connections and no --rate, otherwise 1B; 1B leaves it to the kernel]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    receive_low_water: Option<Bytes>,
    /// Let a sender queue at most this much unsent [default: 8MiB over all connections, where that
    /// is less than 1MiB for one; 1GiB leaves it to the kernel]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_sent_low_water: Option<Bytes>,
    #[command(flatten)]
    #[serde(flatten)]
    tls: FlowTls,
}

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    ToServer,
    FromServer,
    Both,
}

/// How much a write is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Write {
    /// Whole packets of the kernel.
    #[default]
    Packets,
    /// All of the size.
    Exact,
}

impl Write {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a receiver does with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Receive {
    Copy,
    Discard,
}

const MOST_SIZE: u64 = 64 << 20;
/// The kernel's largest packets have at least so many bytes: two of less would fit into 64 KiB.
const LEAST_PACKET: u64 = 32_000;
/// From so many connections on, one always has something to read.
const MANY: u32 = 16;

impl Params {
    fn setup(&self, job: &Job) -> WorkersSetup {
        let size = self.size.first().0 as usize;
        WorkersSetup {
            // A discarding receiver reads only the end of the stream.
            receive_bytes: match self.receive {
                Receive::Discard => 64,
                Receive::Copy => self.tls.receive_bytes(size.max(RUN_OUT_BYTES)),
            },
            fill_bytes: size,
            options: SocketOptions {
                send_buffer: self.send_buffer.map(|b| b.0 as usize),
                receive_buffer: self.receive_buffer.map(|b| b.0 as usize),
                congestion: self.congestion.clone(),
                receive_low_water: self.receive_low_water(job),
                not_sent_low_water: self.not_sent_low_water(job),
                ..SocketOptions::default()
            },
            transport: Transport::Tcp,
            watch_sockets: true,
            coalesce_ns: 0,
            grace: 5 * SECOND,
        }
    }

    /// A receiver that is woken for every segment spends more on waking up than on reading. With
    /// many connections there is always one to read, and waiting for more of it only makes its
    /// queue longer.
    fn receive_low_water(&self, job: &Job) -> Option<usize> {
        // A handshake is shorter than any mark.
        if self.tls.is_on() {
            return None;
        }
        let write = self.size.first().0.min(128 * 1024);
        let default = match job.connections < MANY && self.rate.is_none() {
            // A little less may be written, which is known when the connection stands.
            true if self.fills_packets() && write >= LEAST_PACKET => {
                write - write / LITTLE_SHARE as u64
            }
            true => write,
            false => 1,
        };
        let bytes = self.receive_low_water.map_or(default, |b| b.0);
        (bytes > 1).then_some(bytes as usize)
    }

    /// Many full send queues together do not fit into the caches. Each byte is then fetched from
    /// memory again by the receiver, which gets too slow to ever empty the queues. The rate has two
    /// stable states, this keeps the good one.
    fn not_sent_low_water(&self, job: &Job) -> Option<usize> {
        let share = ((8 << 20) / u64::from(job.connections)).max(64 * 1024);
        match self.not_sent_low_water {
            Some(bytes) => Some(bytes.0 as usize),
            None => (share < 1 << 20).then_some(share as usize),
        }
    }

    fn fills_packets(&self) -> bool {
        self.write == Write::Packets && self.rate.is_none()
    }

    fn flow(&self, job: &Job, sends: bool, waits: bool, stays: bool) -> StreamFlow {
        let piece = Piece::new(self.size.first().0 as usize, self.fills_packets());
        if sends {
            let flows = if self.direction == Direction::Both {
                job.connections / 2
            } else {
                job.connections
            };
            StreamFlow::Sender(Sender {
                piece,
                bits_per_s: self.rate.map(|r| r.0 as f64 / f64::from(flows.max(1))),
                left: 0,
                sent: 0,
                began: 0,
                stays,
            })
        } else {
            StreamFlow::Receiver(Receiver {
                piece,
                discard: self.receive == Receive::Discard,
                waits,
            })
        }
    }
}

/// Of each direction.
const METRICS: &[&str] = &[
    "received_bits_per_s",
    "sent_bits_per_s",
    "acknowledged_bits_per_s",
    "retransmitted_bytes",
    "retransmitted_segments",
    "smoothed_rtt_ns",
    "receive_window_limited_ratio",
    "send_buffer_limited_ratio",
    "queued_bytes",
    "receive_queue_bytes",
    "written_minus_received_bytes",
    "in_proxies_bytes",
];

/// Of both directions together, and of each.
fn both_metrics() -> Vec<String> {
    let each =
        |way: &str| METRICS.iter().map(move |name| format!("{way}{name}")).collect::<Vec<_>>();
    let common = figures::names(&[&METRICS[..2], secured::FIGURES]);
    [common, each("to_server_"), each("from_server_")].concat()
}

impl TypedWorkload for Params {
    const NAME: &'static str = "stream";
    const SUMMARY: &'static str = "bytes in bulk over TCP: throughput, and where every byte went";
    const CODE: u8 = 1;

    fn metrics(&self) -> Vec<String> {
        match self.direction {
            Direction::Both => both_metrics(),
            Direction::ToServer | Direction::FromServer => {
                figures::names(&[METRICS, secured::FIGURES])
            }
        }
    }

    fn more_metrics() -> Vec<String> {
        both_metrics()
    }

    fn latency(_: &Job) -> Option<LatencyKind> {
        None
    }

    fn settle(&self, job: &mut Job) {
        if self.direction == Direction::Both {
            job.connections = job.connections.saturating_mul(2);
        }
    }

    /// The rate is each client's own.
    fn together(&self, job: &Job, clients: u32) -> Job {
        let mut all = Job { connections: job.connections.saturating_mul(clients), ..job.clone() };
        if let Some(rate) = self.rate {
            all.params["rate"] =
                serde_json::json!(BitRate(rate.0.saturating_mul(u64::from(clients))));
        }
        all
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        for size in self.size.values() {
            if size.0 == 0 || size.0 > MOST_SIZE {
                out.push(Problem::new("--size", size, "1B to 64MiB"));
            }
        }
        if self.tls.is_on() && self.receive == Receive::Discard {
            let expected = "copy with --tls: what is not read cannot be decrypted";
            out.push(Problem::new("--receive", "discard", expected));
        }
        if let Some(bytes) = self.receive_low_water.filter(|_| self.tls.is_on()) {
            let expected = "none with --tls: handshakes are shorter";
            out.push(Problem::new("--receive-low-water", bytes, expected));
        }
        out.extend(self.tls.problems());
        if self.rate.is_some_and(|r| r.0 == 0) {
            out.push(Problem::new(
                "--rate",
                "0",
                "more than 0, like 1Gbit; leave it out for no limit",
            ));
        }
        for (flag, value) in [
            ("--send-buffer", self.send_buffer),
            ("--receive-buffer", self.receive_buffer),
            ("--receive-low-water", self.receive_low_water),
            ("--not-sent-low-water", self.not_sent_low_water),
        ] {
            if let Some(bytes) = value.filter(|b| b.0 == 0 || b.0 > 1 << 30) {
                out.push(Problem::new(flag, bytes, "1B to 1GiB"));
            }
        }
        out
    }

    fn server_sends(&self, flow: u32) -> bool {
        match self.direction {
            Direction::ToServer => false,
            Direction::FromServer => true,
            Direction::Both => flow % 2 == 1,
        }
    }

    /// Only a client that sends can say how much its server has to wait for. A receiver that blocks
    /// would wait for its low-water mark.
    fn flows_rest(&self, job: &Job) -> bool {
        job.engine != EngineKind::Threads && self.direction == Direction::ToServer
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let params = self.clone();
        let handshake = context
            .handshake
            .clone()
            .ok_or_else(|| Fault::input("stream needs an agent at the other end"))?;
        let (job, stays) = (context.job.clone(), context.stays);
        let tls = self.tls.clients(context)?;
        workers::client(context, &self.setup(&context.job), move |flow| {
            let timeout = job.timing.timeout_ns;
            let inner = params.flow(&job, !params.server_sends(flow), true, stays);
            let inner = Layer::standing(tls.of_flow(flow), timeout, inner);
            Handshake::new(handshake.clone(), flow, false, timeout, inner)
        })
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        let params = self.clone();
        let job = context.job.clone();
        let tls = self.tls.server(context)?;
        workers::server(context, &self.setup(&context.job), move |accepted: &Accepted| {
            let flow = params.flow(&job, accepted.from_server, false, false);
            Layer::accepted(tls.as_ref(), flow)
        })
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        let client = trial.client;
        figures::of_tls(&mut out, client);
        let Some(server) = trial.server else {
            // It is gone, and with it its half of the account.
            match self.direction {
                Direction::ToServer => sending(&mut out, "", client),
                Direction::FromServer => receiving(&mut out, "", client),
                Direction::Both => {
                    sending(&mut out, "to_server_", client);
                    receiving(&mut out, "from_server_", client);
                }
            }
            return out;
        };
        let directions: &[(&str, &EndReport, &EndReport)] = match self.direction {
            Direction::ToServer => &[("", client, server)],
            Direction::FromServer => &[("", server, client)],
            Direction::Both => &[("to_server_", client, server), ("from_server_", server, client)],
        };
        for (prefix, sender, receiver) in directions {
            let between = match (trial.proxied, self.tls.is_on()) {
                (true, _) => Between::Proxies,
                (false, true) => Between::Records,
                (false, false) => Between::Nothing,
            };
            account(&mut out, prefix, sender, receiver, between);
        }
        if self.direction == Direction::Both {
            for name in ["sent_bits_per_s", "received_bits_per_s"] {
                let sum = ["to_server_", "from_server_"]
                    .iter()
                    .filter_map(|p| out.metrics.get(&format!("{p}{name}")))
                    .sum();
                out.metric(name, sum);
            }
        }
        out
    }
}
