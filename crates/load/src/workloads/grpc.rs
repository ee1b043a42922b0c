//! `grpc`: calls of gRPC over HTTP/2, of any server's methods, in a closed or an open loop.
//!
//! - A call is an exchange of `http`, with the same times. It ends with its trailers.
//! - A call whose status is not 0 is an error, and is in no latency. Statuses are counted apart
//!   from what breaks streams and connections.
//! - A URL without a path calls the service of the target, which docs/echo.proto defines.

mod method;
mod params;

use std::sync::Arc;

use hopbench_model::{Fault, Job, Pattern, Problem, Transport, WorkloadKind};

pub(super) use self::params::Params;
use super::http::{
    METRICS, MultiplexedPlan, RESPONSE_MESSAGES, Spoken, client_workers, figures_of, server_workers,
};
use crate::worker::accepted::Acceptor;
use crate::worker::secured;
use crate::worker::workers::{Context, Workers};
use crate::workload::figures;
use crate::workload::typed::TypedWorkload;
use crate::workload::{Figures, TrialReports};

impl TypedWorkload for Params {
    const NAME: &'static str = "grpc";
    const SUMMARY: &'static str = "gRPC calls of any method: rate, latency, statuses, errors";

    fn kind() -> WorkloadKind {
        WorkloadKind {
            transport: Transport::Http,
            pattern: Pattern::Exchanges,
            ..WorkloadKind::PLAIN
        }
    }

    fn metrics(&self) -> Vec<String> {
        figures::names(&[figures::EXCHANGES, METRICS, secured::FIGURES, &[RESPONSE_MESSAGES]])
    }

    /// Everything but `url`, as with `http`.
    fn complete(self) -> Result<Self, clap::Error> {
        self.with_files()
    }

    fn problems(&self) -> Vec<Problem> {
        self.mistakes()
    }

    fn flows_rest(&self, _job: &Job) -> bool {
        true
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        let credential = context.credential.as_ref();
        let wrong = |problems: Vec<Problem>| Fault::from_problems(&problems);
        let connection = self.connection(credential).map_err(wrong)?;
        let tls = self.tls_client(credential, &context.sockets).map_err(wrong)?;
        let plan = MultiplexedPlan {
            connection: Arc::new(connection),
            timeout_ns: context.job.timing.timeout_ns,
            expected_body_bytes: None,
            expected_messages: self.expected_messages(),
        };
        client_workers(context, tls.as_ref(), Spoken::Multiplexed(Arc::new(plan)))
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        server_workers(context, true, self.body_bytes(), self.streams())
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        figures_of(trial, self.streams())
    }
}
