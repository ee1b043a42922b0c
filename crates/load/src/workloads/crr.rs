//! `crr`: connect, request, response, close; a new connection for every exchange.
//!
//! ```text
//! client                                server
//!   │ SYN ───────────────────────────────► │
//!   │ ◄─────────────────────────── SYN ACK │   connect_ns: from here to the client's `connect` is done
//!   │ flow header + request ─────────────► │
//!   │ ◄────────────────────────── response │   reply_ns: from the request's end to the response's end
//!   │ ◄──────────────────────────────  FIN │   service_ns ended with the response
//!   │ FIN ───────────────────────────────► │
//! ```
//!
//! The server closes first. Who closes first keeps the connection in `TIME_WAIT` for a minute; at the server
//! that costs memory, at the client it would cost a local port, and 28 000 connections later there were none.
//! The client therefore waits for the server's FIN before it closes, and its port is free again at once.
//!
//! The server says no word of welcome on these flows: that would be a second answer. One plain connection
//! before the trial finds out whether the server can be reached at all; every failure after that is counted
//! and the trial goes on.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_model::units::Bytes;
use hopbench_model::{
    Counter, Fault, Job, LatencyKind, Nanos, Problem, Schedule, Sweep, Warning, WarningKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::crew::{self, Acceptor, Context, Crew, CrewSetup};
use crate::dial::{SocketOptions, Transport};
use crate::figures;
use crate::flow::{Event, Flow, Op};
use crate::greeting::{Greeter, explain};
use crate::recorder::Recorder;
use crate::workload::{Figures, Nature, Trial, Workload, read_params};

/// The workload; see the [module](self).
#[derive(Debug)]
pub(super) struct Crr;

/// Its parameters.
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
}

/// The largest message, bytes.
const MOST_SIZE: u64 = 1 << 30;
/// Length of the header that opens a flow, bytes.
const HEADER: usize = 32;
/// Bytes of a request that leave together with the header; the rest follows from the filler.
const FIRST: usize = 64 * 1024;
/// Bytes of one call, at most.
const CHUNK: usize = 256 * 1024;
/// Pause of a flow after a failure: one that comes at once would come a million times a second.
const BACK_OFF: Nanos = 1_000_000;
/// The reason of a failure for want of a local port.
const NO_LOCAL_PORT: &str = "no_local_port";
/// The figure that counts connections which the server did not close in time.
const LEFT_OPEN: &str = "left_open_by_server";

impl Params {
    fn request(&self) -> usize {
        self.size.first().0 as usize
    }

    fn response(&self) -> usize {
        self.response
            .map_or_else(|| self.request(), |r| r.0 as usize)
    }

    fn setup(&self, job: &Job) -> CrewSetup {
        let largest = self.request().max(self.response()).min(CHUNK);
        CrewSetup {
            receive_bytes: largest,
            fill_bytes: largest,
            options: SocketOptions::default(),
            transport: Transport::Tcp,
            watch_sockets: false,
            grace: job.timing.timeout_ns,
        }
    }
}

impl Workload for Crr {
    fn name(&self) -> &'static str {
        "crr"
    }

    fn summary(&self) -> &'static str {
        "connect, request, response, close: new connections a second"
    }

    fn nature(&self) -> Nature {
        Nature {
            needs_agent: true,
            scheduled: true,
            datagrams: false,
            connections: 1,
            schedule: Schedule::Closed,
            target: "HOST[:PORT]",
            code: 4,
        }
    }

    fn arguments(&self, command: Command) -> Command {
        Params::augment_args(command)
    }

    fn params(&self, matches: &ArgMatches) -> Result<Value, clap::Error> {
        Ok(serde_json::json!(Params::from_arg_matches(matches)?))
    }

    fn problems(&self, job: &Job) -> Vec<Problem> {
        let params = match read_params::<Params>(job) {
            Ok(params) => params,
            Err(fault) => return vec![Problem::new("crr", "its parameters", fault.text)],
        };
        let sizes = params.size.values().iter().map(|s| ("--size", *s));
        sizes
            .chain(params.response.map(|r| ("--response", r)))
            .filter(|(_, size)| size.0 == 0 || size.0 > MOST_SIZE)
            .map(|(flag, size)| Problem::new(flag, size, "1B to 1GiB"))
            .collect()
    }

    fn client(&self, context: &Context) -> Result<Crew, Fault> {
        let job = &context.job;
        let params = read_params::<Params>(job)?;
        let greeter = context
            .greeter
            .clone()
            .ok_or_else(|| Fault::input("crr needs an agent at the other end"))?;
        reach(context.target, job.timing.timeout_ns)?;
        let (connections, timeout) = (job.connections, job.timing.timeout_ns);
        crew::client(context, &params.setup(job), move |slot| {
            Client::new(Arc::clone(&greeter), slot, connections, &params, timeout)
        })
    }

    fn server(&self, context: &Context) -> Result<(Crew, Acceptor), Fault> {
        let params = read_params::<Params>(&context.job)?;
        let (request, response) = (params.request(), params.response());
        crew::server(context, &params.setup(&context.job), move |_| Server {
            left: request,
            response,
            counted: false,
        })
    }

    fn figures(&self, trial: &Trial<'_>) -> Figures {
        let mut out = Figures::default();
        figures::exchanges(&mut out, trial);
        let client = trial.client;
        if let Some(rate) = out.metrics.get("requests_per_s").copied() {
            out.metric("connections_per_s", rate);
        }
        out.metric(
            "connects",
            figures::in_window(client, Counter::Connects) as f64,
        );
        let exhausted = client.errors.get(NO_LOCAL_PORT).copied().unwrap_or(0);
        out.metric("no_local_port", exhausted as f64);
        if exhausted > 0 {
            out.warnings.push(Warning::new(
                WarningKind::PortExhaustion,
                format!("{exhausted} connections were not even tried: the client had no local port left for this server"),
                "widen net.ipv4.ip_local_port_range at the client, set net.ipv4.tcp_tw_reuse=1 if ports are held by \
                 TIME_WAIT (see `ss -tan state time-wait`), or lower --rate or --connections",
            ));
        }
        if let Some(left_open) = client.extra.get(LEFT_OPEN) {
            out.metric(LEFT_OPEN, *left_open);
        }
        if let Some(server) = trial.server {
            let (asked, done) = (
                client.drained.of(Counter::Connects),
                client.drained.of(Counter::Completed),
            );
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

/// One connection that is opened and closed again: an unreachable server is the environment's fault, and that
/// must be known before anything is measured.
fn reach(target: SocketAddr, timeout: Nanos) -> Result<(), Fault> {
    // The standard library refuses a timeout of zero.
    let timeout = Duration::from_nanos(timeout.max(1));
    TcpStream::connect_timeout(&target, timeout)
        .map(drop)
        .map_err(|error| {
            Fault::environment(format!("cannot connect to {target}: {}", explain(&error)))
        })
}

/// What a failure is called in records.
fn reason(error: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    match error.kind() {
        K::AddrNotAvailable => NO_LOCAL_PORT,
        K::ConnectionRefused => "refused",
        K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe => "reset",
        K::TimedOut => "timeout",
        K::HostUnreachable | K::NetworkUnreachable => "unreachable",
        // ENFILE and EMFILE.
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => "too_many_open_files",
        _ => "socket_error",
    }
}

/// The client's end: one connection after the other.
struct Client {
    greeter: Arc<dyn Greeter>,
    /// The number of the next connection's flow; `step` further is the one after.
    flow: u32,
    step: u32,
    request: usize,
    response: usize,
    timeout: Nanos,
    state: State,
    /// The header and the start of the request.
    bytes: Vec<u8>,
    sent: usize,
    left: usize,
    intended: Nanos,
    /// When the attempt to connect began.
    began: Nanos,
    /// When the last byte of the request was taken.
    asked: Nanos,
    deadline: Nanos,
    failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connecting,
    Asking,
    Answer,
    /// The answer is complete; the server's FIN is waited for.
    Ending,
    Closing,
}

impl Client {
    fn new(
        greeter: Arc<dyn Greeter>,
        slot: u32,
        connections: u32,
        params: &Params,
        timeout: Nanos,
    ) -> Self {
        let request = params.request();
        let mut client = Self {
            bytes: (0..HEADER + request.min(FIRST)).map(|i| i as u8).collect(),
            greeter,
            flow: slot,
            step: connections,
            request,
            response: params.response(),
            timeout,
            state: State::Idle,
            sent: 0,
            left: 0,
            intended: 0,
            began: 0,
            asked: 0,
            deadline: 0,
            failed: false,
        };
        client.write_header();
        client
    }

    /// Headers are made between exchanges: their cost is in no latency.
    fn write_header(&mut self) {
        self.bytes[..HEADER].copy_from_slice(&self.greeter.tcp(self.flow));
        self.flow = self.flow.wrapping_add(self.step);
    }

    fn begin(&mut self, intended: Nanos, now: Nanos, out: &mut Recorder) -> Op {
        (self.intended, self.began, self.deadline) =
            (intended, now, now.saturating_add(self.timeout));
        (self.sent, self.failed, self.state) = (0, false, State::Connecting);
        out.sending(intended, now);
        Op::Connect
    }

    #[inline]
    fn connected(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::Connects, 1);
        out.latency(LatencyKind::Connect, now, now.saturating_sub(self.began));
        self.state = State::Asking;
        Op::Send
    }

    #[inline]
    fn sent(&mut self, n: usize, now: Nanos, out: &Recorder) -> Op {
        // The header is no payload.
        let payload = |sent: usize| sent.saturating_sub(HEADER);
        out.count(
            Counter::SentBytes,
            (payload(self.sent + n) - payload(self.sent)) as u64,
        );
        self.sent += n;
        if self.sent < self.bytes.len() {
            return Op::Send;
        }
        let left = HEADER + self.request - self.sent;
        if left > 0 {
            return Op::SendFill(left.min(CHUNK));
        }
        (self.asked, self.left, self.state) = (now, self.response, State::Answer);
        Op::Recv(self.left)
    }

    #[inline]
    fn received(&mut self, n: usize, now: Nanos, out: &mut Recorder) -> Op {
        out.count(Counter::ReceivedBytes, n as u64);
        self.left = self.left.saturating_sub(n);
        if self.left > 0 {
            return Op::Recv(self.left);
        }
        if out.completed(self.intended, self.began, now) {
            out.latency_of_counted(LatencyKind::Reply, now.saturating_sub(self.asked));
        }
        // The server's FIN follows its last byte at once; the exchange's own time is no measure for it.
        (self.state, self.deadline) = (State::Ending, now.saturating_add(self.timeout));
        Op::Recv(1)
    }

    fn fail(&mut self, reason: &'static str, now: Nanos, out: &mut Recorder) -> Op {
        out.failed(reason, self.intended, now);
        self.failed = true;
        self.close()
    }

    /// Whatever is under way is given up, so that the next exchange starts from nothing.
    fn close(&mut self) -> Op {
        self.state = State::Closing;
        Op::Disconnect
    }
}

impl Flow for Client {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (State::Idle, Event::Go { intended }) => self.begin(intended, now, out),
            (State::Connecting, Event::Connected) => self.connected(now, out),
            (State::Asking, Event::Sent(n)) => self.sent(n, now, out),
            (State::Answer, Event::Received(bytes)) => self.received(bytes.len(), now, out),
            (State::Ending, event) => {
                if matches!(event, Event::TimedOut) {
                    out.add_extra(LEFT_OPEN, 1.0);
                }
                self.close()
            }
            (State::Closing, Event::Disconnected) => {
                self.write_header();
                self.state = State::Idle;
                if self.failed {
                    Op::Wait(now + BACK_OFF)
                } else {
                    Op::Rest
                }
            }
            (State::Idle, Event::Timer) => Op::Rest,
            (State::Idle, _) => Op::End,
            (_, Event::TimedOut) => {
                out.count(Counter::Timeouts, 1);
                self.fail("timeout", now, out)
            }
            (_, Event::Failed(error)) => {
                let reason = reason(&error);
                if reason == "timeout" {
                    out.count(Counter::Timeouts, 1);
                }
                self.fail(reason, now, out)
            }
            (_, Event::Closed) => self.fail("closed_early", now, out),
            (_, other) => Op::Abort(Box::new(Fault::measuring(format!(
                "crr met an unexpected {other:?}"
            )))),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.bytes[self.sent.min(self.bytes.len())..]
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(self.deadline)
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
        Op::Recv(self.left)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, _now: Nanos, out: &mut Recorder) -> Op {
        if !self.counted {
            self.counted = true;
            out.count(Counter::Connects, 1);
        }
        match event {
            Event::Received(bytes) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                self.left -= bytes.len();
                if self.left > 0 {
                    return Op::Recv(self.left);
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
