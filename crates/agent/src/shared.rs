//! The parts of an agent that all its trials share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hopbench_control::conductor::RunKey;
use hopbench_control::tls::OwnCertificate;
use hopbench_load::Throttle;
use hopbench_model::Job;
use rustls::ServerConfig;
use rustls::sign::SingleCertAndKey;

use crate::http_acceptor::HttpAcceptor;
use crate::limits::Limits;
use crate::limits::permits::Permits;
use crate::limits::threads::ThreadLimit;
use crate::port::flow_router::FlowRouter;

/// The parts that all trials of an agent share.
pub(crate) struct Shared {
    pub(crate) flow_router: Arc<FlowRouter>,
    /// The acceptor that answers HTTP on the port.
    pub(crate) http_acceptor: Arc<HttpAcceptor>,
    pub(crate) limits: Limits,
    pub(crate) throttle: Option<Arc<Throttle>>,
    /// What its flows and HTTP targets show over TLS.
    own_certificate: Option<OwnCertificate>,
    /// Worker threads of all trials.
    pub(crate) threads: Arc<ThreadLimit>,
    /// Whether a trial may open connections: an agent behind a port is not sent against others
    /// unless whoever started it said so.
    pub(crate) may_be_client: bool,
    /// What the run allows whose agent this is; absent: it is nobody's, and needs no permit.
    pub(crate) permits: Option<Permits>,
    /// Trials under way.
    pub(crate) trials: AtomicUsize,
}

impl Shared {
    /// How its servers speak TLS; `None`: they cannot.
    pub(crate) fn server_tls(&self) -> Option<Arc<ServerConfig>> {
        self.own_certificate.as_ref().map(|own| Arc::clone(&own.server))
    }

    /// The certificate that its clients show where one is asked for; `None`: none.
    pub(crate) fn client_certificate(&self) -> Option<Arc<SingleCertAndKey>> {
        self.own_certificate.as_ref().map(|own| Arc::clone(&own.certificate))
    }

    /// Whether threads or flows of this job would find no room now.
    pub(crate) fn lacks_room(&self, job: &Job) -> bool {
        self.threads.lacks(job) || self.flow_router.lacks(job.connections)
    }

    /// An agent without trials.
    pub(crate) fn new(limits: Limits, may_be_client: bool) -> Arc<Self> {
        Self::of_run(limits, may_be_client, None)
    }

    /// The same of a run, where there is one: without a permit of it the agent does nothing.
    pub(crate) fn of_run(limits: Limits, may_be_client: bool, run: Option<RunKey>) -> Arc<Self> {
        Arc::new(Self {
            flow_router: Arc::new(FlowRouter::new(limits.flow_limit())),
            http_acceptor: Arc::default(),
            throttle: limits.throttle().map(Arc::new),
            // No key makes the library refuse it; without one, handshakes find nobody.
            own_certificate: OwnCertificate::new().ok(),
            threads: ThreadLimit::new(limits.threads),
            limits,
            may_be_client,
            permits: run.map(Permits::of),
            trials: AtomicUsize::new(0),
        })
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("limits", &self.limits).finish_non_exhaustive()
    }
}
