//! `ping`: ICMP echo, IPv4 and IPv6.
//!
//! An open loop: echo `i` is due at `i` times the interval, whatever became of the ones before.
//! Every echo that is under way has a socket of its own, so that a lost one delays no other. The
//! round trip is `service_ns`, measured in the program. Like every other latency here, it includes
//! the way through both kernels.
//!
//! An ICMP datagram socket is taken where the system allows one, a raw socket otherwise. A router's
//! report (host unreachable and the like) counts as a failure of the echo that the socket was
//! waiting for. Raw sockets get each other's errors. So with several echoes under way the reason is
//! right, but the echo it is counted for may be another one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use hopbench_model::units::{Bytes, Span};
use hopbench_model::{
    Counter, Fault, Job, LatencyKind, Nanos, Problem, SECOND, Schedule, Sweep, Warning, WarningKind,
};
use hopbench_sys::Socket;
use serde::{Deserialize, Serialize};

use crate::flow::failure::explain;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport, echo_identifier};
use crate::worker::passive_end::passive_end;
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

mod echoes;
mod packet;

use echoes::{Echoes, MOST_PACKET};

/// The parameters.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Echoes to send, instead of as many as fit into --time; without warm-up
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Time from one echo to the next, like 200ms
    #[arg(short = 'i', long, value_name = "TIME", default_value = "1s")]
    every: Span,
    /// Bytes after the ICMP header; a sweep like 56,1024 measures each
    #[arg(long, value_name = "SIZE", default_value = "56")]
    size: Sweep<Bytes>,
}

/// The largest payload over IPv4, bytes.
const MOST_SIZE: u64 = 65_507;
/// The shortest and the longest interval, ns.
const EVERY: std::ops::RangeInclusive<Nanos> = 1_000_000..=3600 * SECOND;
/// The longest trial, ns.
const LONGEST: Nanos = 24 * 3600 * SECOND;
/// The most sockets; with more echoes under way a lost one may delay another.
const MOST_SOCKETS: u64 = 64;
/// What the window of a counted trial is shorter than its echoes' time, ns. Intended times are
/// rounded, and the echo after the last one must not fall inside.
const MARGIN: Nanos = 100;

impl TypedWorkload for Params {
    const NAME: &'static str = "ping";
    const SUMMARY: &'static str =
        "ICMP echo: round-trip time and loss to any host, without an agent";

    fn metrics(&self) -> Vec<String> {
        figures::names(&[&[
            "received",
            "transmitted",
            "lost",
            "lost_ratio",
            "duplicates",
            "stale",
            "intended_per_s",
            "queued",
            "unsent",
        ]])
    }

    // It has a schedule, and its figure is the round trip all the same.
    fn latency(_: &Job) -> Option<LatencyKind> {
        Some(LatencyKind::Service)
    }

    /// The schedule and the number of sockets follow from the interval; with a count the times do,
    /// too.
    fn settle(&self, job: &mut Job) {
        let every = self.every.0.clamp(*EVERY.start(), *EVERY.end());
        job.schedule = Schedule::Rate(SECOND as f64 / every as f64);
        job.connections =
            job.timing.timeout_ns.div_ceil(every).saturating_add(1).min(MOST_SOCKETS) as u32;
        job.threads = job.threads.min(job.connections);
        if let Some(count) = self.count {
            job.timing.warmup_ns = 0;
            job.timing.window_ns =
                count.saturating_mul(every).saturating_sub(MARGIN).max(*EVERY.start());
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        for size in self.size.values().iter().filter(|s| s.0 > MOST_SIZE) {
            out.push(Problem::new("--size", size, "0 to 65507B"));
        }
        if !EVERY.contains(&self.every.0) {
            out.push(Problem::new("--every", self.every, "1ms to 1h"));
        }
        if let Some(count) = self.count {
            if count == 0 {
                out.push(Problem::new("--count", count, "at least 1"));
            } else if count.saturating_mul(self.every.0) > LONGEST {
                out.push(Problem::new(
                    "--count",
                    count,
                    "echoes for at most 24h; lower it, or --every",
                ));
            }
        }
        out
    }

    fn flows_rest(&self, _job: &Job) -> bool {
        true
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let mut context = context.clone();
        // ICMP has no ports; a socket counts as connected when it has one all the same.
        context.target.set_port(1);
        permitted(context.target)?;
        let setup = WorkersSetup {
            receive_bytes: MOST_PACKET,
            fill_bytes: 0,
            options: SocketOptions::default(),
            transport: Transport::Icmp,
            watch_sockets: false,
            coalesce_ns: 0,
            grace: context.job.timing.timeout_ns,
        };
        let (v6, size) = (context.target.is_ipv6(), self.size.first().0 as usize);
        let timeout = context.job.timing.timeout_ns;
        workers::client(&context, &setup, move |flow| {
            Echoes::new(v6, echo_identifier(flow), size, timeout)
        })
    }

    /// The other end's kernel answers.
    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        Ok((passive_end(context)?, Arc::new(drop)))
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        let client = trial.client;
        let drained = |counter| client.drained.of(counter);
        let (received, lost) = (drained(Counter::Counted), drained(Counter::CountedErrors));
        let transmitted = received + lost;
        out.metric("transmitted", transmitted as f64);
        out.metric("received", received as f64);
        out.metric("lost", lost as f64);
        if transmitted > 0 {
            out.metric("lost_ratio", lost as f64 / transmitted as f64);
        }
        out.metric("duplicates", drained(Counter::Duplicates) as f64);
        if drained(Counter::Stale) > 0 {
            out.metric("stale", drained(Counter::Stale) as f64);
        }
        if lost > 0 {
            let reasons: Vec<_> =
                client.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
            out.warnings.push(Warning::new(
                WarningKind::Errors,
                format!("{lost} of {transmitted} echoes were not answered: {}", reasons.join(", ")),
                "echoes may be filtered or limited on the way: compare with `hopbench rr --udp`",
            ));
        }
        let (intended, unsent) = (drained(Counter::Intended), drained(Counter::Unsent));
        out.metric("intended_per_s", intended as f64 / figures::seconds(client));
        out.metric("queued", drained(Counter::Queued) as f64);
        out.metric("unsent", unsent as f64);
        if unsent > 0 {
            out.warnings.push(Warning::new(
                WarningKind::Unsent,
                format!(
                    "{unsent} echoes were due and never sent: every socket waited for an answer"
                ),
                "lower --timeout or raise --every",
            ));
        }
        // A trial that was cut leaves echoes under way, at most one a socket.
        let open =
            unsent + if client.incomplete.is_some() { u64::from(trial.job.connections) } else { 0 };
        out.invariant(
            "intended_are_accounted_for",
            transmitted <= intended && intended - transmitted <= open,
            || format!("{intended} intended, {transmitted} transmitted, {unsent} unsent"),
        );
        figures::histogram_holds_all(&mut out, client);
        out
    }
}

/// Whether this process may send echoes to `target` at all: known before anything is measured.
fn permitted(target: SocketAddr) -> Result<(), Fault> {
    let Err(error) = Socket::icmp(target, echo_identifier(0)) else {
        return Ok(());
    };
    Err(Fault::environment(if error.kind() == io::ErrorKind::PermissionDenied {
        let range =
            std::fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap_or_default();
        let range = range.split_whitespace().collect::<Vec<_>>().join(" ");
        format!(
            "no ICMP socket is allowed here. A datagram socket needs a group of this process in \
             net.ipv4.ping_group_range, which is `{range}`: allow all with `sysctl -w \
             net.ipv4.ping_group_range=\"0 2147483647\"`. A raw socket needs CAP_NET_RAW: run as \
             root, or `setcap cap_net_raw+ep` the program"
        )
    } else {
        format!("cannot send ICMP echoes to {}: {}", target.ip(), explain(&error))
    }))
}
