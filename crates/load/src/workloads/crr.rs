//! `crr`: connect, request, response, close; a new connection for every exchange.
//!
//! ```text
//! client                                server
//!   │ SYN ───────────────────────────────► │
//!   │ ◄─────────────────────────── SYN ACK │   connect_ns: until the client knows that it stands
//!   │ flow header + request ─────────────► │
//!   │ ◄────────────────────────── response │   reply_ns: request's start to response's end
//!   │ ◄──────────────────────────────  FIN │   service_ns: connect_ns + reply_ns
//!   │ FIN ───────────────────────────────► │
//! ```
//!
//! The server closes first. The end that closes first keeps the connection in `TIME_WAIT` for a
//! minute. At the server that costs memory. At the client it would cost a local port, and after 28
//! 000 connections none would be left. So the client waits for the server's FIN before it closes,
//! and its port is free again at once.
//!
//! The server does not say on these flows that they are accepted: that would be a second answer.
//! Over TLS the handshake follows the flow header, and `connect_ns` contains it.
//!
//! One plain connection before the trial finds out whether the server can be reached at all. Every
//! failure after that is counted, and the trial goes on.

use std::sync::Arc;

use clap::Args;
use hopbench_model::units::Bytes;
use hopbench_model::{Counter, Fault, Job, Nanos, Problem, Sweep, Warning, WarningKind};
use serde::{Deserialize, Serialize};

use crate::admission::flow_limit::REFUSED_FLOWS;
use crate::flow::{BEYOND, Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport, reach};
use crate::worker::secured::{self, Layer};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::encryption::FlowTls;
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

mod client;

use client::{CHUNK, Client, LEFT_OPEN, NO_LOCAL_PORT};

/// The parameters.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Bytes of a request; a sweep like 1:256KiB:*64 measures each
    #[arg(long, value_name = "SIZE", default_value = "1")]
    size: Sweep<Bytes>,
    /// Bytes of an answer [default: as the request]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Bytes>,
    #[command(flatten)]
    #[serde(flatten)]
    tls: FlowTls,
}

/// The largest message, bytes.
const MOST_SIZE: u64 = 1 << 30;

impl Params {
    fn request(&self) -> usize {
        self.size.first().0 as usize
    }

    fn response(&self) -> usize {
        self.response.map_or_else(|| self.request(), |r| r.0 as usize)
    }

    fn setup(&self, job: &Job) -> WorkersSetup {
        let largest = self.request().max(self.response()).min(CHUNK);
        WorkersSetup {
            receive_bytes: self.tls.receive_bytes(largest + BEYOND),
            fill_bytes: largest,
            options: SocketOptions::default(),
            transport: Transport::Tcp,
            watch_sockets: false,
            coalesce_ns: 0,
            grace: job.timing.timeout_ns,
        }
    }
}

impl TypedWorkload for Params {
    const NAME: &'static str = "crr";
    const SUMMARY: &'static str = "connect, request, response, close: new connections a second";
    const CODE: u8 = 4;

    fn metrics(&self) -> Vec<String> {
        let own = [
            "connections_per_s",
            "connects",
            "no_local_port",
            "left_open_by_server",
            "refused_flows",
        ];
        figures::names(&[&own, figures::EXCHANGES, secured::FIGURES])
    }

    fn problems(&self) -> Vec<Problem> {
        let sizes = self.size.values().iter().map(|size| ("--size", *size));
        let all = sizes.chain(self.response.map(|response| ("--response", response)));
        let wrong = all.filter(|(_, size)| size.0 == 0 || size.0 > MOST_SIZE);
        let wrong = wrong.map(|(flag, size)| Problem::new(flag, size, "1B to 1GiB"));
        wrong.chain(self.tls.problems()).collect()
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let job = &context.job;
        let handshake = context
            .handshake
            .clone()
            .ok_or_else(|| Fault::input("crr needs an agent at the other end"))?;
        reach(context.target, job.timing.timeout_ns, &context.sockets)?;
        let (connections, timeout) = (job.connections, job.timing.timeout_ns);
        let sizes = (self.request(), self.response());
        let tls = self.tls.clients(context)?;
        workers::client(context, &self.setup(job), move |slot| {
            let tls = tls.of_flow(slot);
            let handshake = Arc::clone(&handshake);
            let flow = Client::new(handshake, slot, connections, sizes, timeout, tls.is_some());
            Layer::connecting(tls, flow)
        })
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        let (request, response) = (self.request(), self.response());
        let tls = self.tls.server(context)?;
        workers::server(context, &self.setup(&context.job), move |_| {
            let flow = Server { left: request, response, counted: false };
            Layer::accepted(tls.as_ref(), flow)
        })
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        figures::exchanges(&mut out, trial);
        let client = trial.client;
        figures::of_tls(&mut out, client);
        if let Some(rate) = out.metrics.get("requests_per_s").copied() {
            out.metric("connections_per_s", rate);
        }
        out.metric("connects", figures::in_window(client, Counter::Connects) as f64);
        let exhausted = client.errors.get(NO_LOCAL_PORT).copied().unwrap_or(0);
        out.metric("no_local_port", exhausted as f64);
        if exhausted > 0 {
            out.warnings.push(Warning::new(
                WarningKind::PortExhaustion,
                format!(
                    "{exhausted} connections were not even tried: the client had no local port \
                     left for this server"
                ),
                "widen net.ipv4.ip_local_port_range at the client, set net.ipv4.tcp_tw_reuse=1 if \
                 ports are held by TIME_WAIT (see `ss -tan state time-wait`), or lower --rate or \
                 --connections",
            ));
        }
        if let Some(left_open) = client.extra.get(LEFT_OPEN) {
            out.metric(LEFT_OPEN, *left_open);
        }
        if let Some(server) = trial.server {
            if let Some(refused) = server.extra.get(REFUSED_FLOWS) {
                out.metric(REFUSED_FLOWS, *refused);
                out.warnings.push(Warning::new(
                    WarningKind::Limited,
                    format!(
                        "{refused} connections were refused: the agent had as many flows open as \
                         it allows"
                    ),
                    "ask for fewer --connections, or raise the agent's --max-flows",
                ));
            }
            let (asked, done) =
                (client.drained.of(Counter::Connects), client.drained.of(Counter::Completed));
            let served = server.drained.of(Counter::Completed);
            out.invariant("served_le_connects", served <= asked, || {
                format!("{asked} connects, {served} served")
            });
            out.invariant("completed_le_served", done <= served, || {
                format!("{done} completed, {served} served")
            });
        }
        out
    }
}

/// The server's end of one connection, whose header was read before it came here.
struct Server {
    left: usize,
    response: usize,
    counted: bool,
}

impl Flow for Server {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Recv(self.left + BEYOND)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, _now: Nanos, out: &mut Recorder) -> Op {
        if !self.counted {
            self.counted = true;
            out.count(Counter::Connects, 1);
        }
        match event {
            Event::Received(bytes) if bytes.len() <= self.left => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                self.left -= bytes.len();
                if self.left > 0 {
                    return Op::Recv(self.left + BEYOND);
                }
                self.left = self.response;
                Op::SendFill(self.left)
            }
            Event::Sent(n) => {
                out.count(Counter::SentBytes, n as u64);
                self.left -= n;
                if self.left > 0 {
                    return Op::SendFill(self.left);
                }
                out.count(Counter::Completed, 1);
                Op::End
            }
            // The client's side of the story is the one that is told.
            _ => Op::End,
        }
    }
}
