//! `http`: requests of HTTP/1.1 or HTTP/2 against any URL, over TCP or TLS, in a closed or an open loop.
//!
//! - The *service time* runs from the real start of the exchange to the last byte of its answer. On
//!   an open connection the exchange starts with the sending. If a connection must be made first,
//!   it starts with the connecting. That is so for every exchange with `--no-keep-alive`, and after
//!   an answer or an error that ended the connection.
//! - The *response time* runs from the intended start (open loops).
//! - An answer with a status of 400 or more is an error. It is counted by its status and by a
//!   reason, and is in no latency. A proxy that refuses quickly must not look like a fast server.
//! - Over TLS (`https://`) the times of an exchange and of a connection contain its encryption, and
//!   `connect_ns` contains the handshake, which `tls_ns` has alone.
//! - A server may close a connection that rests. That shows only when the connection is used again.
//!   The request is then sent once more on a new connection, which `reconnects` counts. Its times
//!   run from the first attempt.

mod agree;
mod client;
mod multiplexed;
mod params;
mod reason;
mod sums;

use std::sync::Arc;

use hopbench_model::{
    Counter, EndReport, EngineKind, Fault, Job, LatencyKind, Nanos, Problem, SECOND, Schedule,
    Warning, WarningKind,
};
use hopbench_stats::Histogram;

use self::agree::agree;
use self::client::{Client, ClientPlan};
use self::multiplexed::{Multiplexed, MultiplexedPlan};
pub(super) use self::params::Params;
use crate::flow::either::Either;
use crate::target;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport, reach};
use crate::worker::secured::{self, Layer, TlsClient};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

/// The setting of a server's report that says that its agent answered the requests.
const TARGET: &str = "http_target";
/// What exchanges may take beyond their timeout at the end, so that the last ones still see it.
const GRACE_NS: Nanos = SECOND / 10;

impl TypedWorkload for Params {
    const NAME: &'static str = "http";
    const SUMMARY: &'static str = "HTTP requests against any URL: rate, latency, statuses, errors";

    fn metrics(&self) -> Vec<String> {
        let own = [
            "sent_bits_per_s",
            "received_bits_per_s",
            "connects",
            "reconnects",
            "response_body_bytes",
            "response_header_bytes",
            "unexpected_sizes",
            secured::HANDSHAKES,
            secured::RESUMED,
            secured::CUT_OFF,
        ];
        figures::names(&[figures::EXCHANGES, &own])
    }

    /// Everything but `url`: that is the command's TARGET, and whoever reads the command line puts
    /// it into the parameters before `settle` and `problems` are called.
    fn complete(self) -> Result<Self, clap::Error> {
        self.with_files()
    }

    fn problems(&self) -> Vec<Problem> {
        self.mistakes()
    }

    fn flows_rest(&self, _job: &Job) -> bool {
        self.keep_alive()
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let job = &context.job;
        let request = self
            .template(context.credential.as_ref())
            .map_err(|problems| Fault::from_problems(&problems))?;
        let tls = self
            .tls_client(context.credential.as_ref(), &context.sockets)
            .map_err(|problems| Fault::from_problems(&problems))?;
        let timeout_ns = job.timing.timeout_ns;
        let multiplexed = self.http2().then(|| {
            Arc::new(MultiplexedPlan {
                connection: Arc::new(self.connection(&request, context.credential.as_ref())),
                timeout_ns,
                expected_body_bytes: self.expected_body_bytes(),
            })
        });
        let (target, notes) = (context.target, &context.sockets);
        match (&tls, &multiplexed) {
            (Some(tls), _) => secured::reach(target, tls, timeout_ns, notes)?,
            (None, Some(plan)) => agree(target, &plan.connection, timeout_ns, notes)?,
            (None, None) => reach(target, timeout_ns, notes)?,
        }
        // Flow i is with thread i modulo threads.
        let threads = match job.engine {
            EngineKind::Threads => job.connections,
            _ => job.threads.min(job.connections),
        };
        let threads = threads.max(1) as usize;
        let tls: Vec<TlsClient> =
            tls.iter().flat_map(|tls| vec![tls; threads]).map(TlsClient::apart).collect();
        let plan = Arc::new(ClientPlan {
            request: request.bytes().into(),
            is_head: !request.expects_body(),
            keep_alive: self.keep_alive(),
            timeout_ns: job.timing.timeout_ns,
            expected_body_bytes: self.expected_body_bytes(),
        });
        let setup = WorkersSetup {
            receive_bytes: multiplexed::RECEIVE_BYTES.max(secured::RECEIVE_BYTES),
            fill_bytes: 0,
            options: SocketOptions::default(),
            transport: Transport::Tcp,
            watch_sockets: self.keep_alive(),
            grace: job.timing.timeout_ns.saturating_add(GRACE_NS),
        };
        workers::client(context, &setup, move |flow| {
            let tls = tls.get(flow as usize % threads);
            let connection = match &multiplexed {
                Some(plan) => Either::Second(Box::new(Multiplexed::new(Arc::clone(plan)))),
                None => Either::First(Client::new(Arc::clone(&plan))),
            };
            Layer::client(tls, connection)
        })
    }

    /// The HTTP target of an agent. It measures any URL; this one is only where the trial's server
    /// is the agent itself.
    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        context.sockets.note_setting(TARGET, || "answers".to_owned());
        target::workers(context, self.keep_alive(), self.body_bytes(), self.streams())
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = Figures::default();
        figures::exchanges_at_once(&mut out, trial, self.streams());
        figures::bit_rates(&mut out, "", trial.client);
        let connects = figures::in_window(trial.client, Counter::Connects);
        out.metric("connects", connects as f64);
        answers(&mut out, trial.client);
        for name in [secured::HANDSHAKES, secured::RESUMED, secured::CUT_OFF] {
            if let Some(count) = trial.client.extra.get(name) {
                out.metric(name, *count);
            }
        }
        if trial.job.schedule == Schedule::Closed {
            littles_law(&mut out, trial, self.streams());
        }
        if let Some(server) = trial.server.filter(|server| server.settings.contains_key(TARGET)) {
            let (answered, served) = (
                trial.client.drained.of(Counter::Completed),
                server.drained.of(Counter::Completed),
            );
            out.invariant("answered_le_served", answered <= served, || {
                format!("{answered} answered, {served} served")
            });
        }
        if let Some(n) = trial.client.errors.get(reason::NO_LOCAL_PORT) {
            out.warnings.push(Warning::new(
                WarningKind::PortExhaustion,
                format!("{n} connections found no free local port"),
                "keep connections alive, widen net.ipv4.ip_local_port_range, or lower the rate",
            ));
        }
        if !self.keep_alive() {
            out.explanation
                .push("every request has a connection of its own: the service time begins with connecting".to_owned());
        }
        out
    }
}

/// What the flows summed up over the answers that were counted.
fn answers(out: &mut Figures, client: &EndReport) {
    let sum = |name: &str| client.extra.get(name).copied().unwrap_or(0.0);
    out.metric("reconnects", sum(sums::RECONNECTS));
    let counted = client.drained.of(Counter::Counted);
    if counted > 0 {
        out.metric("response_body_bytes", sum(sums::BODY_BYTES) / counted as f64);
        out.metric("response_header_bytes", sum(sums::HEADER_BYTES) / counted as f64);
    }
    let unexpected = sum(sums::UNEXPECTED_SIZES);
    if unexpected > 0.0 {
        out.metric("unexpected_sizes", unexpected);
        out.warnings.push(Warning::new(
            WarningKind::ReadBack,
            format!("{unexpected} of {counted} bodies were not as long as --expect-size says"),
            "compare `response_body_bytes` with what the server should send",
        ));
    }
    let limited = sum(sums::LIMITED);
    if limited > 0.0 {
        out.warnings.push(Warning::new(
            WarningKind::ReadBack,
            format!("on {limited} connections the server takes fewer requests at once than --streams says"),
            "raise the server's limit, or take fewer streams and more connections",
        ));
    }
    let surplus = sum(sums::SURPLUS);
    if surplus > 0.0 {
        out.warnings.push(Warning::new(
            WarningKind::Errors,
            format!("{surplus} answers were followed by bytes that nobody asked for; their connections were closed"),
            "look at the server's Content-Length, and at bodies in answers that must not have one",
        ));
    }
}

/// Exchanges under way at one time, on average, are rate times service time; in a closed loop there
/// is at most one a connection. The last exchange of each connection may end after the window, and
/// not more than the longest exchange after it.
fn littles_law(out: &mut Figures, trial: &TrialReports<'_>, at_once: u32) {
    let text = trial.client.latency.get(&LatencyKind::Service);
    let Some(service) = text.and_then(|text| Histogram::from_base64(text).ok()) else {
        return;
    };
    let spent_ns = service.mean() * service.count() as f64;
    let places = f64::from(trial.job.connections) * f64::from(at_once);
    let had_ns = places * (trial.client.window_ns + service.max()) as f64;
    // The mean of a histogram is right to 0.05 %, its maximum to 0.1 %.
    out.invariant("littles_law", spent_ns <= had_ns * 1.01, || {
        format!(
            "{spent_ns} ns of service on {} connections that had {had_ns} ns",
            trial.job.connections
        )
    });
}
