//! `udp`: datagrams in one direction, from the client to the server: delivered rate, loss, order,
//! jitter.
//!
//! A datagram starts with 16 bytes: its number in its flow, and the time it was sent on the
//! client's clock, ns. Both are `u64` little endian. The rest is filler. Rates count payload,
//! without the headers of UDP and IP.
//!
//! **Loss is exact.** It is the datagrams that the client's kernel took over the whole trial, less
//! the distinct ones that the server's program read. Both numbers are final. The client stops at
//! the end of the window. The server goes on until all datagrams have come, or until its sockets
//! are silent, for 200 ms at most. A datagram that is on its way for longer counts as lost. So does
//! one that found the server's socket buffer full. Rates, in contrast, are of the window.
//!
//! A datagram that comes more than once is received once. Its copies are counted as duplicates and
//! are in no rate: a path that doubles what it delivers must not hide what it loses.
//!
//! With `--gso N` one call hands the kernel N datagrams in one piece, cut as late as possible
//! (`UDP_SEGMENT`). With `--batch N` it hands over N sends (`sendmmsg`). A datagram then costs less
//! than in most programs, so the record is labelled with it. If a send is refused, the rest of its
//! call is not sent, and counts as one error.

mod client;
mod datagram;
mod server;

use clap::Args;
use hopbench_model::units::{Bytes, Span};
use hopbench_model::{
    Counter, EndReport, EngineKind, Fault, Job, LatencyKind, Nanos, Problem, Rate, SECOND,
    Schedule, Sweep, Warning, WarningKind,
};
use hopbench_stats::Histogram;
use hopbench_sys::MOST_SENDS;
use serde::{Deserialize, Serialize};

use crate::flow::handshake::Handshake;
use crate::flow::udp_registration::WithRegistration;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

use super::http::{is_one, one};
use client::UdpClient;
use datagram::{FOREIGN, HEADER, JITTER_FLOWS, JITTER_SUM};
use server::UdpServer;

/// The parameters.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Payload bytes of a datagram, from 16B; a sweep like 16:1024:*4 measures each
    #[arg(long, value_name = "SIZE", default_value = "16")]
    size: Sweep<Bytes>,
    /// max, or over all connections datagrams a second like 50000pps, or payload like 100Mbit
    #[arg(long, value_name = "RATE", default_value = "1Mbit")]
    rate: Rate,
    /// The rate is more than the path carries: the result is what arrives, and not its delay
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    offered: bool,
    /// Datagrams a send, cut by the kernel (UDP segmentation offload): another cost per datagram
    #[arg(long, value_name = "N", default_value = "1")]
    gso: u16,
    /// After a datagram, let more gather for so long before the receiver looks again [default: 50us
    /// with --rate max, small datagrams and the engine epoll, without --gso, otherwise 0]
    #[arg(long, value_name = "TIME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coalesce: Option<Span>,
    /// Sends a call (sendmmsg): another cost per datagram
    #[arg(long, value_name = "N", default_value = "1")]
    #[serde(default = "one", skip_serializing_if = "is_one")]
    batch: u32,
}

/// The largest UDP payload over IPv4, bytes.
const MOST_UDP: u64 = 65_507;
/// The most segments that every kernel with `UDP_SEGMENT` takes in one send.
const MOST_SEGMENTS: u16 = 64;
/// The most sends of one call.
const MOST_BATCH: u32 = MOST_SENDS as u32;
/// How long datagrams gather by default, ns.
const COALESCE_NS: Nanos = 50_000;
/// The longest time that may be asked for, ns.
const MOST_COALESCE_NS: Nanos = 10_000_000;
/// What a datagram takes of a receive buffer beside its bytes, about.
const BUFFER_BYTES_BESIDE: usize = 768;
/// Calls that take more than an eighth of the usual receive buffer (208 KiB) do not gather by
/// default: several of them leave within [`COALESCE_NS`].
const MOST_GATHERED_BYTES: usize = 26 * 1024;
/// The most bytes of one call: each flow keeps them.
const MOST_CALL: u64 = 1 << 20;

impl Params {
    fn size(&self) -> usize {
        self.size.first().0 as usize
    }

    /// Datagrams a send.
    fn segments(&self) -> u64 {
        u64::from(self.gso.max(1))
    }

    /// Datagrams a call.
    fn a_call(&self) -> u64 {
        self.segments() * u64::from(self.batch.max(1))
    }

    fn schedule(&self) -> Schedule {
        match self.rate.datagrams_per_s(self.size.first()) {
            None => Schedule::Closed,
            Some(per_s) => Schedule::Rate(per_s / self.a_call() as f64),
        }
    }

    /// The flags with which more than one datagram leaves with a call; empty: one does.
    fn flags_of_many(&self) -> String {
        let flags = [("--gso", self.segments() > 1), ("--batch", self.batch > 1)];
        let given = flags.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| *flag);
        given.collect::<Vec<_>>().join(" and ")
    }

    /// How long a server lets datagrams gather, ns. Other engines than epoll block or poll, or take
    /// only one at each look.
    fn coalesce_ns(&self, engine: EngineKind) -> Nanos {
        if engine != EngineKind::Epoll {
            return 0;
        }
        let room_bytes = self.a_call() as usize * (self.size() + BUFFER_BYTES_BESIDE);
        // With --gso the receiver is busy, and what gathers meanwhile is lost.
        let gathers = self.rate == Rate::Max && self.segments() == 1;
        let default = if gathers && room_bytes <= MOST_GATHERED_BYTES { COALESCE_NS } else { 0 };
        self.coalesce.map_or(default, |span| span.0)
    }

    fn setup(&self) -> WorkersSetup {
        WorkersSetup {
            // One more than a datagram, so that a longer one shows.
            receive_bytes: (self.size() + 1).max(128),
            fill_bytes: 0,
            options: SocketOptions {
                segment: (self.gso > 1).then_some(self.size() as u16),
                ..SocketOptions::default()
            },
            transport: Transport::Udp,
            watch_sockets: true,
            coalesce_ns: 0,
            // Flows end by themselves; this is for a server that is still being sent to.
            grace: 5 * SECOND,
        }
    }
}

impl TypedWorkload for Params {
    const NAME: &'static str = "udp";
    const SUMMARY: &'static str =
        "datagrams one way: delivered rate, loss, reordering, duplicates, jitter";
    const CODE: u8 = 5;

    fn metrics(&self) -> Vec<String> {
        figures::names(&[&[
            "received_packets_per_s",
            "received_bits_per_s",
            "sent_packets_per_s",
            "sent_bits_per_s",
            "errors",
            "lost_packets",
            "lost_ratio",
            "reordered",
            "duplicates",
            "jitter_ns",
            "gso_segments",
            "batch_sends",
        ]])
    }

    fn latency(_: &Job) -> Option<LatencyKind> {
        Some(LatencyKind::Delay)
    }

    fn settle(&self, job: &mut Job) {
        job.schedule = self.schedule();
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        for size in self.size.values() {
            if !(HEADER as u64..=MOST_UDP).contains(&size.0) {
                out.push(Problem::new("--size", size, "16B (the header of a datagram) to 65507B"));
            } else if self.segments() * size.0 > MOST_UDP {
                out.push(Problem::new(
                    "--gso",
                    self.gso,
                    format!(
                        "at most {} with --size {size}: a send holds 65507 bytes",
                        MOST_UDP / size.0
                    ),
                ));
            } else if self.a_call() * size.0 > MOST_CALL {
                let most = MOST_CALL / (self.segments() * size.0);
                let expected = format!("at most {most} with --size {size}: a call holds 1 MiB");
                out.push(Problem::new("--batch", self.batch, expected));
            }
        }
        if !(1..=MOST_SEGMENTS).contains(&self.gso) {
            let expected = format!("1 to {MOST_SEGMENTS} datagrams a send");
            out.push(Problem::new("--gso", self.gso, expected));
        }
        if !(1..=MOST_BATCH).contains(&self.batch) {
            let expected = format!("1 to {MOST_BATCH} sends a call");
            out.push(Problem::new("--batch", self.batch, expected));
        }
        if let Some(span) = self.coalesce.filter(|span| span.0 > MOST_COALESCE_NS) {
            out.push(Problem::new("--coalesce", span, "0 to 10ms"));
        }
        if self.offered && self.rate == Rate::Max {
            out.push(Problem::new(
                "--offered",
                "true with --rate max",
                "a rate as a number, like 100Mbit; or leave it out: with --rate max the main \
                 figure is what arrives already",
            ));
        }
        if self.rate.is_zero() {
            out.push(Problem::new(
                "--rate",
                self.rate,
                "more than 0, like 50000pps or 100Mbit; max for no limit",
            ));
        }
        out
    }

    fn misfits(&self, job: &Job) -> Option<Problem> {
        if self.batch > 1 && job.engine == EngineKind::Uring {
            let expected = "1 with the engine uring, which hands over one send at a time";
            return Some(Problem::new("--batch", self.batch, expected));
        }
        let span = self.coalesce.filter(|span| span.0 > 0 && job.engine != EngineKind::Epoll)?;
        let expected = "0 with this engine; only epoll lets datagrams gather";
        Some(Problem::new("--coalesce", span, expected))
    }

    fn flows_rest(&self, _job: &Job) -> bool {
        true
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let params = self.clone();
        let handshake = context
            .handshake
            .clone()
            .ok_or_else(|| Fault::input("udp needs an agent at the other end"))?;
        let timeout = context.job.timing.timeout_ns;
        let mut context = context.clone();
        // The job was settled for the first size of a sweep, and a bit rate is another packet rate
        // for each.
        context.job.schedule = params.schedule();
        let paced = context.job.schedule.per_s().is_some();
        workers::client(&context, &params.setup(), move |flow| {
            let inner =
                UdpClient::new(params.size(), params.segments(), params.batch.max(1), paced);
            Handshake::new(handshake.clone(), flow, true, timeout, inner)
        })
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        let params = self.clone();
        let (offset, shared) = (context.peer_clock_offset_ns, context.shared_clock);
        let stays = context.stays;
        let coalesce_ns = self.coalesce_ns(context.job.engine);
        if coalesce_ns > 0 {
            context.sockets.note_setting("coalesce_ns", || coalesce_ns.to_string());
        }
        let setup = WorkersSetup { coalesce_ns, ..params.setup() };
        workers::server(context, &setup, move |accepted| {
            WithRegistration::new(
                UdpServer::new(params.size(), offset, shared, stays),
                accepted.registration.clone(),
            )
        })
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        rates(&mut out, trial, self);
        if let Some(server) = trial.server {
            delivery(&mut out, trial.client, server);
        }
        if self.segments() > 1 {
            out.metric("gso_segments", self.segments() as f64);
        }
        if self.batch > 1 {
            out.metric("batch_sends", f64::from(self.batch));
        }
        if self.a_call() > 1 {
            let flags = self.flags_of_many();
            out.warnings.push(Warning::new(
                WarningKind::Offload,
                format!(
                    "{} datagrams left with each call ({flags}): a datagram costs less than one \
                     that is sent by itself",
                    self.a_call()
                ),
                format!("compare only with results of the same {flags}"),
            ));
        }
        out
    }
}

/// Adds the rates that were asked for and that left.
fn rates(out: &mut Figures, trial: &TrialReports<'_>, params: &Params) {
    let client = trial.client;
    let of = |counter| client.drained.of(counter);
    out.metric("sent_packets_per_s", figures::per_s(client, Counter::Sent));
    out.metric("sent_bits_per_s", figures::per_s(client, Counter::SentBytes) * 8.0);
    let errors = of(Counter::CountedErrors);
    out.metric("errors", errors as f64);
    if errors > 0 {
        let reasons: Vec<_> =
            client.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        out.warnings.push(Warning::new(
            WarningKind::Errors,
            format!("{errors} sends failed: {}", reasons.join(", ")),
            "look at the client's machine: what it refused to send is in no other figure",
        ));
    }
    if trial.job.schedule.per_s().is_some() {
        let intended = of(Counter::Intended) * params.a_call();
        let unsent = of(Counter::Unsent) * params.a_call();
        out.metric("intended_per_s", intended as f64 / figures::seconds(client));
        out.metric("queued", (of(Counter::Queued) * params.a_call()) as f64);
        out.metric("unsent", unsent as f64);
        // A rate that is offered need not be kept.
        if unsent > 0 && !trial.job.is_offered() {
            out.warnings.push(Warning::new(
                WarningKind::Unsent,
                format!("{unsent} datagrams were due and not sent before the end"),
                "lower --rate, or use more --threads and --connections: one thread cannot send \
                 faster",
            ));
        }
    }
}

/// Adds what arrived, and how.
fn delivery(out: &mut Figures, client: &EndReport, server: &EndReport) {
    let arrived = |counter| server.drained.of(counter);
    out.metric("received_packets_per_s", figures::per_s(server, Counter::Completed));
    out.metric("received_bits_per_s", figures::per_s(server, Counter::ReceivedBytes) * 8.0);
    let sent = client.drained.of(Counter::Sent);
    let received = arrived(Counter::Completed);
    let lost = sent.saturating_sub(received);
    out.metric("lost_packets", lost as f64);
    if sent > 0 {
        out.metric("lost_ratio", lost as f64 / sent as f64);
    }
    out.metric("reordered", arrived(Counter::Reordered) as f64);
    out.metric("duplicates", arrived(Counter::Duplicates) as f64);
    let extra = |name| server.extra.get(name).copied();
    if let (Some(sum), Some(flows)) = (extra(JITTER_SUM), extra(JITTER_FLOWS)) {
        out.metric("jitter_ns", sum / flows.max(1.0));
    }
    if let Some(foreign) = extra(FOREIGN) {
        out.explanation.push(format!(
            "{foreign} datagrams that were not of this test came to its sockets; they are in no \
             figure"
        ));
    }
    out.invariant("received_le_sent", received <= sent, || {
        format!("{sent} datagrams sent, {received} received")
    });
    if let Some(text) = server.latency.get(&LatencyKind::Delay) {
        let counted = arrived(Counter::Counted);
        let in_histogram = Histogram::from_base64(text).map_or(0, |histogram| histogram.count());
        out.invariant("histogram_holds_every_packet", counted == in_histogram, || {
            format!("{counted} datagrams, {in_histogram} in the histogram")
        });
    }
}

#[cfg(test)]
mod tests;
