//! `rr`: a request, an answer, and again on the same connection; over TCP or UDP.
//!
//! Latency is a full round trip. Over UDP a datagram that does not come back is counted as lost
//! after the timeout and never stalls the test.

use clap::Args;
use hopbench_model::units::Bytes;
use hopbench_model::{Counter, Fault, Job, Nanos, Problem, Sweep};
use serde::{Deserialize, Serialize};

use crate::flow::failure::lost;
use crate::flow::handshake::Handshake;
use crate::flow::udp_registration::WithRegistration;
use crate::flow::{BEYOND, Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::secured::{self, Layer};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::encryption::FlowTls;
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

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
    /// Exchange UDP datagrams instead of TCP segments
    #[arg(long)]
    #[serde(default)]
    udp: bool,
    #[command(flatten)]
    #[serde(flatten)]
    tls: FlowTls,
}

/// The largest UDP payload over IPv4, bytes.
const MOST_UDP: u64 = 65_507;
/// Length of a datagram that registers a flow, bytes.
const REGISTRATION: usize = 64;
/// The largest message, bytes.
const MOST_TCP: u64 = 1 << 30;

impl Params {
    fn request(&self) -> usize {
        self.size.first().0 as usize
    }

    fn response(&self) -> usize {
        self.response.map_or_else(|| self.request(), |r| r.0 as usize)
    }

    fn setup(&self, job: &Job) -> WorkersSetup {
        let largest = self.request().max(self.response());
        WorkersSetup {
            receive_bytes: if self.udp {
                MOST_UDP as usize
            } else {
                self.tls.receive_bytes(largest.min(256 * 1024) + BEYOND)
            },
            fill_bytes: largest.min(256 * 1024),
            options: SocketOptions::default(),
            transport: if self.udp { Transport::Udp } else { Transport::Tcp },
            watch_sockets: true,
            coalesce_ns: 0,
            grace: job.timing.timeout_ns,
        }
    }
}

impl TypedWorkload for Params {
    const NAME: &'static str = "rr";
    const SUMMARY: &'static str = "request and response over one connection: round-trip latency";
    const CODE: u8 = 3;

    fn metrics(&self) -> Vec<String> {
        let own = ["retransmitted_segments", "lost"];
        figures::names(&[figures::EXCHANGES, &own, secured::FIGURES])
    }

    fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        let (most, why) = if self.udp {
            (MOST_UDP, "1B to 65507B in a datagram")
        } else {
            (MOST_TCP, "1B to 1GiB")
        };
        let sizes = self.size.values().iter().map(|s| ("--size", *s));
        for (flag, size) in sizes.chain(self.response.map(|r| ("--response", r))) {
            if size.0 == 0 || size.0 > most {
                out.push(Problem::new(flag, size, why));
            }
        }
        if self.udp && self.tls.is_on() {
            out.push(Problem::new("--tls", "--udp", "TCP: datagrams are not encrypted"));
        }
        out.extend(self.tls.problems());
        // An agent never answers over UDP with more than it was sent.
        if self.udp && self.size.values().iter().any(|s| self.response.is_some_and(|r| r > *s)) {
            out.push(Problem::new(
                "--response",
                self.response.unwrap_or_default(),
                "at most --size with --udp",
            ));
        }
        out
    }

    fn flows_rest(&self, _job: &Job) -> bool {
        true
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let handshake = context
            .handshake
            .clone()
            .ok_or_else(|| Fault::input("rr needs an agent at the other end"))?;
        let timeout = context.job.timing.timeout_ns;
        let (request, response, udp) = (self.request(), self.response(), self.udp);
        let tls = self.tls.clients(context)?;
        workers::client(context, &self.setup(&context.job), move |flow| {
            let inner = if udp {
                RrClient::Datagram(DatagramClient::new(request, response, timeout))
            } else {
                RrClient::Stream(StreamClient::new(request, response, timeout))
            };
            let inner = Layer::standing(tls.of_flow(flow), timeout, inner);
            Handshake::new(handshake.clone(), flow, udp, timeout, inner)
        })
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        let (request, response, udp) = (self.request(), self.response(), self.udp);
        let work = context.server_work_ns;
        let tls = self.tls.server(context)?;
        workers::server(context, &self.setup(&context.job), move |accepted| {
            let flow = if udp {
                let server = DatagramServer { request, answer: vec![0; response], work };
                RrServer::Datagram(WithRegistration::new(server, accepted.registration.clone()))
            } else {
                RrServer::Stream(StreamServer { request, response, left: request, work })
            };
            Layer::accepted(tls.as_ref(), flow)
        })
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        figures::exchanges(&mut out, trial);
        figures::of_tls(&mut out, trial.client);
        if let Some(tcp) = figures::tcp(trial.client) {
            out.metric("retransmitted_segments", tcp.retransmitted_segments as f64);
        }
        if self.udp {
            out.metric("lost", trial.client.errors.get("lost").copied().unwrap_or(0) as f64);
        }
        // A path may duplicate datagrams; a stream's requests come once.
        if let Some(server) = trial.server.filter(|_| !self.udp) {
            let (asked, served) =
                (trial.client.drained.of(Counter::Sent), server.drained.of(Counter::Completed));
            out.invariant("served_le_sent", served <= asked, || {
                format!("{asked} sent, {served} served")
            });
        }
        out
    }
}

/// The client's end of either transport.
enum RrClient {
    Stream(StreamClient),
    Datagram(DatagramClient),
}

impl Flow for RrClient {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Rest
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match self {
            Self::Stream(client) => client.on(event, now, out),
            Self::Datagram(client) => client.on(event, now, out),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        match self {
            Self::Stream(_) => &[],
            Self::Datagram(client) => &client.request,
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        Some(match self {
            Self::Stream(client) => client.sent_at + client.timeout,
            Self::Datagram(client) => client.sent_at + client.timeout,
        })
    }
}

struct StreamClient {
    request: usize,
    response: usize,
    timeout: Nanos,
    left: usize,
    intended: Nanos,
    sent_at: Nanos,
}

impl StreamClient {
    fn new(request: usize, response: usize, timeout: Nanos) -> Self {
        Self { request, response, timeout, left: 0, intended: 0, sent_at: 0 }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Go { intended } => {
                (self.intended, self.sent_at, self.left) = (intended, now, self.request);
                out.sending(intended, now);
                Op::SendFill(self.left)
            }
            Event::Sent(n) => {
                out.count(Counter::SentBytes, n as u64);
                self.left -= n;
                if self.left > 0 {
                    return Op::SendFill(self.left);
                }
                self.left = self.response;
                Op::Recv(self.left + BEYOND)
            }
            Event::Received(bytes) if bytes.len() > self.left => Op::Abort(Box::new(
                Fault::measuring("the server sent more than the answer that it was asked for"),
            )),
            Event::Received(bytes) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                self.left -= bytes.len();
                if self.left > 0 {
                    return Op::Recv(self.left + BEYOND);
                }
                out.completed(self.intended, self.sent_at, now);
                Op::Rest
            }
            Event::Finish => Op::End,
            other => lost(&other, "the server closed it"),
        }
    }
}

/// The first bytes of a datagram carry its number, as many as fit. So a late answer is told from
/// the one that is waited for.
struct DatagramClient {
    request: Vec<u8>,
    response: usize,
    timeout: Nanos,
    number: u64,
    intended: Nanos,
    sent_at: Nanos,
}

impl DatagramClient {
    fn new(request: usize, response: usize, timeout: Nanos) -> Self {
        Self { request: vec![0; request], response, timeout, number: 0, intended: 0, sent_at: 0 }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Go { intended } => {
                self.number += 1;
                copy_number(&self.number.to_le_bytes(), &mut self.request);
                (self.intended, self.sent_at) = (intended, now);
                out.sending(intended, now);
                Op::Send
            }
            Event::Sent(n) => {
                out.count(Counter::SentBytes, n as u64);
                Op::Recv(MOST_UDP as usize)
            }
            Event::Received(bytes) => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                let known = bytes.len().min(8);
                if bytes.len() != self.response
                    || bytes[..known] != self.number.to_le_bytes()[..known]
                {
                    out.count(Counter::Stale, 1);
                    return Op::Recv(MOST_UDP as usize);
                }
                out.completed(self.intended, self.sent_at, now);
                Op::Rest
            }
            Event::TimedOut => {
                out.count(Counter::Timeouts, 1);
                out.failed("lost", self.intended, now);
                Op::Rest
            }
            // An ICMP error that belongs to an earlier datagram: this one's fate is still open.
            Event::Failed(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                Op::Recv(MOST_UDP as usize)
            }
            Event::Finish => Op::End,
            other => lost(&other, "the server closed it"),
        }
    }
}

fn copy_number(number: &[u8; 8], into: &mut [u8]) {
    let known = into.len().min(8);
    into[..known].copy_from_slice(&number[..known]);
}

/// The server's end of either transport.
enum RrServer {
    Stream(StreamServer),
    Datagram(WithRegistration<DatagramServer>),
}

impl Flow for RrServer {
    fn start(&mut self, now: Nanos) -> Op {
        match self {
            Self::Stream(server) => Op::Recv(server.request + BEYOND),
            Self::Datagram(server) => server.start(now),
        }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match self {
            Self::Stream(server) => server.on(&event, now, out),
            Self::Datagram(server) => server.on(event, now, out),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        match self {
            Self::Stream(_) => &[],
            Self::Datagram(server) => server.outgoing(),
        }
    }
}

struct StreamServer {
    request: usize,
    response: usize,
    left: usize,
    /// How long it spins before each answer, ns.
    work: Nanos,
}

impl StreamServer {
    #[inline]
    fn on(&mut self, event: &Event<'_>, now: Nanos, out: &Recorder) -> Op {
        match event {
            Event::Received(bytes) if bytes.len() <= self.left => {
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                self.left -= bytes.len();
                if self.left > 0 {
                    return Op::Recv(self.left + BEYOND);
                }
                self.left = self.response;
                if self.work > 0 {
                    return Op::Spin(now + self.work);
                }
                Op::SendFill(self.left)
            }
            Event::Timer => Op::SendFill(self.left),
            Event::Sent(n) => {
                out.count(Counter::SentBytes, *n as u64);
                self.left -= n;
                if self.left > 0 {
                    return Op::SendFill(self.left);
                }
                out.count(Counter::Completed, 1);
                self.left = self.request;
                Op::Recv(self.left + BEYOND)
            }
            // The client's side of the story is the one that is told. One that asks again before it
            // has its answer is no client of this workload.
            _ => Op::End,
        }
    }
}

struct DatagramServer {
    request: usize,
    answer: Vec<u8>,
    /// As [`StreamServer::work`].
    work: Nanos,
}

impl Flow for DatagramServer {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::Recv(MOST_UDP as usize)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.answer
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match event {
            Event::Received(bytes) => {
                // A registration that was repeated late is no request. Where it is as long as one,
                // it is told by its token: requests have zeros there.
                let token = bytes.get(16..32).filter(|_| bytes.len() == REGISTRATION);
                if bytes.len() != self.request
                    || token.is_some_and(|token| token.iter().any(|b| *b != 0))
                {
                    return Op::Recv(MOST_UDP as usize);
                }
                out.count(Counter::ReceivedBytes, bytes.len() as u64);
                let known = self.answer.len().min(8);
                self.answer[..known].copy_from_slice(&bytes[..known]);
                if self.work > 0 {
                    return Op::Spin(now + self.work);
                }
                Op::Send
            }
            Event::Timer => Op::Send,
            Event::Sent(n) => {
                out.count(Counter::SentBytes, n as u64);
                out.count(Counter::Completed, 1);
                Op::Recv(MOST_UDP as usize)
            }
            Event::Failed(_) => Op::Recv(MOST_UDP as usize),
            _ => Op::End,
        }
    }
}
