//! `push`: messages that the server sends on a schedule to each connection, and the times of their
//! arrival.
//!
//! ```text
//! server, one connection                       client
//!   t0 + phase           ── message 0 ───────►   delay_ns: intended time to last byte read
//!   t0 + phase + 1/rate  ── message 1 ───────►   gap_ns: between two messages' last bytes
//!          ...
//!   end of the window    ── FIN ─────────────►
//! ```
//!
//! A message starts with 16 bytes, both numbers `u64` little endian: its number, and its intended
//! time on the server's clock, ns. Filler makes up its size. A message whose predecessor is still
//! being sent is sent late, never skipped. A message that was not begun 10 ms after the end of the
//! window is unsent.
//!
//! A delay runs on two clocks. If both ends are on one machine, they share a clock, and it is a
//! one-way delay. Otherwise it is the time beyond that of the fastest message of its connection so
//! far, and the record says so.

mod client;
mod message;
mod server;

use clap::{Args, ValueEnum};
use hopbench_model::units::{Bytes, per_s};
use hopbench_model::{
    Counter, EndReport, Fault, Job, LatencyKind, Nanos, Problem, SECOND, Sweep, Warning,
    WarningKind,
};
use hopbench_stats::Histogram;
use serde::{Deserialize, Deserializer, Serialize};

use crate::flow::handshake::Handshake;
use crate::worker::accepted::{Accepted, Acceptor};
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::secured::{self, Layer};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::encryption::FlowTls;
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

use client::{Clocks, PushClient};
use message::{CHUNK, CLEAN_CLOSES, HEADER, LATE_MESSAGES, MAX_MESSAGES, MIN_MESSAGES};
use server::PushServer;

/// The parameters.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Bytes of a message, from 16B; a sweep like 1kB:256kB:*4 measures each
    #[arg(long, value_name = "SIZE", default_value = "25kB")]
    size: Sweep<Bytes>,
    /// Messages a second to each connection
    #[arg(
        long,
        value_name = "PER-S",
        default_value = "20",
        allow_negative_numbers = true,
        value_parser = per_s
    )]
    #[serde(deserialize_with = "number")]
    rate: f64,
    /// Spread the connections' messages over the period, or send them all at once
    #[arg(long, value_enum, default_value = "spread")]
    stagger: Stagger,
    #[command(flatten)]
    #[serde(flatten)]
    tls: FlowTls,
}

/// How the schedules of several connections lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stagger {
    Spread,
    Together,
}

/// The largest message, bytes.
const MOST_SIZE: u64 = 1 << 30;
/// The highest rate of a connection, messages a second.
const MOST_RATE: f64 = 1e6;

/// JSON has no infinite numbers, so they arrive as null.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Params {
    fn size(&self) -> usize {
        self.size.first().0 as usize
    }

    /// Between two messages of a connection, ns.
    fn period(&self) -> f64 {
        SECOND as f64 / self.rate
    }

    /// How much later than the first connection's the messages of flow `flow` are due.
    fn phase(&self, flow: u32, connections: u32) -> Nanos {
        match self.stagger {
            Stagger::Spread => {
                (self.period() * f64::from(flow) / f64::from(connections.max(1))) as Nanos
            }
            Stagger::Together => 0,
        }
    }

    /// For receives of so many bytes.
    fn setup(&self, receive_bytes: usize) -> WorkersSetup {
        WorkersSetup {
            receive_bytes: self.tls.receive_bytes(receive_bytes),
            fill_bytes: self.size().min(CHUNK),
            options: SocketOptions::default(),
            transport: Transport::Tcp,
            watch_sockets: true,
            coalesce_ns: 0,
            grace: 5 * SECOND,
        }
    }
}

impl TypedWorkload for Params {
    const NAME: &'static str = "push";
    const SUMMARY: &'static str = "messages from the server on a schedule: delay, gaps, lateness";
    const CODE: u8 = 2;

    fn metrics(&self) -> Vec<String> {
        let own = [
            "messages_per_s",
            "messages",
            "min_messages_per_connection",
            "max_messages_per_connection",
            "received_bits_per_s",
            "sent_bits_per_s",
            "retransmitted_bytes",
            "retransmitted_segments",
            "intended_per_s",
            "queued",
            "unsent",
            "late",
        ];
        figures::names(&[&own, secured::FIGURES])
    }

    fn latency(_: &Job) -> Option<LatencyKind> {
        Some(LatencyKind::Delay)
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        for size in self.size.values() {
            if size.0 < HEADER as u64 || size.0 > MOST_SIZE {
                out.push(Problem::new("--size", size, "16B (the header of a message) to 1GiB"));
            }
        }
        if !(self.rate > 0.0 && self.rate <= MOST_RATE) {
            out.push(Problem::new(
                "--rate",
                if self.rate.is_finite() {
                    self.rate.to_string()
                } else {
                    "not a finite number".to_owned()
                },
                "more than 0 and at most 1 000 000 messages a second",
            ));
        }
        out.extend(self.tls.problems());
        out
    }

    fn server_sends(&self, _flow: u32) -> bool {
        true
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let params = self.clone();
        let handshake = context
            .handshake
            .clone()
            .ok_or_else(|| Fault::input("push needs an agent at the other end"))?;
        let timeout = context.job.timing.timeout_ns;
        let clocks =
            Clocks { server_offset_ns: context.peer_clock_offset_ns, shared: context.shared_clock };
        let tls = self.tls.clients(context)?;
        workers::client(context, &params.setup(CHUNK), move |flow| {
            let client = PushClient::new(params.size(), clocks);
            let inner = Layer::standing(tls.of_flow(flow), timeout, client);
            Handshake::new(handshake.clone(), flow, false, timeout, inner)
        })
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        let params = self.clone();
        let connections = context.job.connections;
        // The client says nothing after its handshake.
        let setup = params.setup(64);
        let tls = self.tls.server(context)?;
        workers::server(context, &setup, move |accepted: &Accepted| {
            let phase = params.phase(accepted.flow, connections);
            let server = PushServer::new(params.size(), params.period(), phase);
            Layer::accepted(tls.as_ref(), server)
        })
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        let client = trial.client;
        let messages = client.drained.of(Counter::Counted) as f64;
        out.metric("messages", messages);
        out.metric(
            "messages_per_s",
            figures::completed_per_s(client, client.drained.of(Counter::Counted), Some(1)),
        );
        out.metric("received_bits_per_s", figures::per_s(client, Counter::ReceivedBytes) * 8.0);
        figures::of_tls(&mut out, client);
        for name in [MIN_MESSAGES, MAX_MESSAGES] {
            if let Some(messages) = client.extra.get(name) {
                out.metric(name, *messages);
            }
        }
        // Where it is gone, what came here is told all the same.
        let Some(server) = trial.server else {
            return out;
        };
        out.metric("sent_bits_per_s", figures::per_s(server, Counter::SentBytes) * 8.0);
        if let Some(tcp) = figures::tcp(server) {
            out.metric("retransmitted_bytes", tcp.retransmitted_bytes as f64);
            out.metric("retransmitted_segments", tcp.retransmitted_segments as f64);
        }
        schedule_kept(&mut out, server);
        conservation(&mut out, trial, server);
        if !trial.shared_clock {
            out.warnings.push(Warning::new(
                WarningKind::RelativeClock,
                "the ends have no common clock: delay_ns is what each message took longer than the \
                 fastest message of its connection so far, warm-up included",
                "compare delays only with each other; run both ends on one machine for one-way \
                 delays",
            ));
        }
        out
    }
}

/// Adds the server's schedule, and what came of it.
fn schedule_kept(out: &mut Figures, server: &EndReport) {
    let of = |counter| server.drained.of(counter);
    let (intended, unsent, counted) =
        (of(Counter::Intended), of(Counter::Unsent), of(Counter::Counted));
    let late = server.extra.get(LATE_MESSAGES).copied().unwrap_or(0.0);
    out.metric("intended_per_s", intended as f64 / figures::seconds(server));
    out.metric("queued", of(Counter::Queued) as f64);
    out.metric("unsent", unsent as f64);
    out.metric("late", late);
    if unsent > 0 {
        out.warnings.push(Warning::new(
            WarningKind::Unsent,
            format!(
                "{unsent} of {intended} messages were due and not sent before the end: connections \
                 were full"
            ),
            "lower --rate or --size; the delays shown leave these messages out",
        ));
    }
    out.invariant("intended_are_accounted_for", intended == counted + unsent, || {
        format!("{intended} intended, {counted} sent, {unsent} unsent")
    });
}

/// No message and no byte comes from nowhere, or gets lost.
fn conservation(out: &mut Figures, trial: &TrialReports<'_>, server: &EndReport) {
    let client = trial.client;
    let messages = (server.drained.of(Counter::Sent), client.drained.of(Counter::Completed));
    let bytes = (server.drained.of(Counter::SentBytes), client.drained.of(Counter::ReceivedBytes));
    let detail = || {
        format!(
            "{} messages ({} bytes) sent, {} messages ({} bytes) received",
            messages.0, bytes.0, messages.1, bytes.1
        )
    };
    out.invariant("received_le_sent", messages.1 <= messages.0 && bytes.1 <= bytes.0, detail);
    let clean = |end: &EndReport| {
        end.incomplete.is_none()
            && end.extra.get(CLEAN_CLOSES).is_some_and(|n| *n == f64::from(trial.job.connections))
    };
    if clean(client) && clean(server) {
        out.invariant(
            "received_eq_sent_at_close",
            messages.0 == messages.1 && bytes.0 == bytes.1,
            detail,
        );
    }
    let counted = client.drained.of(Counter::Counted);
    let in_histogram = client
        .latency
        .get(&LatencyKind::Delay)
        .and_then(|text| Histogram::from_base64(text).ok())
        .map_or(0, |histogram| histogram.count());
    out.invariant("histogram_holds_every_message", counted == in_histogram, || {
        format!("{counted} messages, {in_histogram} in the histogram")
    });
}

#[cfg(test)]
mod tests;
