//! `http`: requests of HTTP/1.1 or HTTP/2 against any URL, over TCP or TLS, in a closed or an open
//! loop.
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
mod bytes;
mod client;
mod multiplexed;
mod outcome;
mod params;
mod reason;
mod streams;
mod sums;
mod tls;
mod workers;

use std::sync::Arc;

use hopbench_model::{Fault, Job, Problem};

pub(super) use self::bytes::{from_hex, read, to_hex};
use self::client::ClientPlan;
pub(super) use self::multiplexed::{MultiplexedPlan, WINDOW_BYTES, is_of_http_1};
pub(super) use self::outcome::{METRICS, RESPONSE_MESSAGES, figures as figures_of};
pub(super) use self::params::Params;
pub(super) use self::streams::{is_one, one, wrong_streams};
pub(super) use self::tls::TlsParams;
pub(super) use self::workers::{Spoken, client as client_workers, server as server_workers};
use crate::worker::accepted::Acceptor;
use crate::worker::secured;
use crate::worker::workers::{Context, Workers};
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

impl TypedWorkload for Params {
    const NAME: &'static str = "http";
    const SUMMARY: &'static str = "HTTP requests against any URL: rate, latency, statuses, errors";

    fn metrics(&self) -> Vec<String> {
        figures::names(&[figures::EXCHANGES, METRICS, secured::FIGURES])
    }

    /// Everything but `url`: that is the command's TARGET, and whoever reads the command line puts
    /// it into the parameters before `settle` and `problems` are called.
    fn complete(self) -> Result<Self, clap::Error> {
        self.with_files()
    }

    fn problems(&self) -> Vec<Problem> {
        self.mistakes()
    }

    fn misfits(&self, job: &Job) -> Option<Problem> {
        self.misfit(job)
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
                expected_messages: None,
            })
        });
        let spoken = match multiplexed {
            Some(plan) => Spoken::Multiplexed(plan),
            None => Spoken::Single(Arc::new(ClientPlan {
                request: request.bytes().into(),
                is_head: !request.expects_body(),
                keep_alive: self.keep_alive(),
                timestamps: self.timestamps(context.target)?,
                timeout_ns,
                expected_body_bytes: self.expected_body_bytes(),
            })),
        };
        workers::client(context, tls.as_ref(), spoken)
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        workers::server(context, self.keep_alive(), self.body_bytes(), self.streams())
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        let mut out = outcome::figures(trial, self.streams());
        if !self.keep_alive() {
            out.explanation.push(
                "every request has a connection of its own: the service time begins with connecting"
                    .to_owned(),
            );
        }
        out
    }
}
