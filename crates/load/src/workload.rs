//! The contract of a workload: parameters, both ends, figures.

pub(crate) mod arguments;
pub(crate) mod encryption;
pub(crate) mod figures;
pub(crate) mod typed;

use clap::{ArgMatches, Command};
use hopbench_model::units::Bytes;
use hopbench_model::{
    EndReport, EngineKind, Fault, Invariant, Job, LatencyKind, Params, Problem, Warning,
    WorkloadKind,
};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::worker::accepted::Acceptor;
use crate::worker::workers::{Context, Workers};

/// One sort of traffic. Everything about it stands in one file: parameters, both ends, figures.
pub trait Workload: Sync {
    /// Its name in commands, scenarios and records; also the file's name.
    fn name(&self) -> &'static str;

    /// One line for `hopbench list workloads` and `--help`.
    fn summary(&self) -> &'static str;

    /// The traits of all its jobs. Jobs of version 0.1 do not carry them, so that the kinds of its
    /// workloads are in a table of the crate `model`. Any other workload says its kind.
    fn kind(&self) -> WorkloadKind;

    /// Its number in the headers of its flows; 0 where the other end is not an agent. A number is
    /// never given to another workload.
    fn code(&self) -> u8;

    /// Whether the other end must be an agent.
    fn needs_agent(&self) -> bool {
        self.code() > 0
    }

    /// The metrics that records of a job can have from it, its throughput first.
    fn metrics(&self, job: &Job) -> Vec<String>;

    /// The metrics that records can have from it, whatever their job.
    fn every_metric(&self) -> Vec<String>;

    /// The latency of a job that matters most; `None`: it measures none.
    fn latency(&self, job: &Job) -> Option<LatencyKind>;

    /// Adds the workload's own flags to a command.
    fn arguments(&self, command: Command) -> Command;

    /// The parameters that were given as flags; parameters that are swept are arrays. The URL of
    /// `http` is the command's TARGET: whoever reads the command line puts it among them.
    ///
    /// # Errors
    /// Flags that do not fit together.
    fn params(&self, matches: &ArgMatches) -> Result<Params, clap::Error>;

    /// Fills in what follows from the parameters: connections, schedule, times.
    fn settle(&self, job: &mut Job);

    /// The job of several clients together, each of which does `job`: what their servers are
    /// prepared for.
    fn together(&self, job: &Job, clients: u32) -> Job;

    /// Everything that is wrong with a job of this workload, besides what [`Job::problems`] finds.
    fn problems(&self, job: &Job) -> Vec<Problem>;

    /// Whether the flows of a job come to rest when load ends, with nothing under way: see
    /// [`stays`].
    fn flows_rest(&self, job: &Job) -> bool;

    /// Whether the server sends on this flow.
    fn server_sends(&self, job: &Job, flow: u32) -> bool;

    /// Starts the client's workers; they connect and then wait for the window.
    ///
    /// # Errors
    /// What keeps it from starting.
    fn client(&self, context: &Context) -> Result<Workers, Fault>;

    /// Starts the server's workers and says where accepted flows go. Where no program of ours
    /// answers (`ping`) there are no workers, and no flows.
    ///
    /// # Errors
    /// What keeps it from starting.
    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault>;

    /// The figures of a trial from what both ends saw.
    fn figures(&self, trial: &TrialReports<'_>) -> Figures;
}

/// Whether both ends of a job can stay prepared for another visit. An engine that spins cannot: its
/// workers never sleep once load began.
pub fn stays(workload: &dyn Workload, job: &Job) -> bool {
    job.engine != EngineKind::Spin && workload.flows_rest(job)
}

/// The flags of a client's certificate.
const OF_CERTIFICATES: [&str; 2] = ["tls-cert", "tls-key"];

/// What is expected of a workload that has no such flag, where others have it, and what to do;
/// `None`: nothing is to be said of it. The flag is without its dashes.
///
/// A flow of an agent's workload begins with its header, and TLS behind it. So nobody else could
/// ask for a certificate, and an agent knows the flow by its header.
pub fn without_flag(workload: &dyn Workload, flag: &str) -> Option<&'static str> {
    let is_missed = workload.needs_agent() && OF_CERTIFICATES.contains(&flag);
    is_missed.then_some(
        "no client certificate: only an agent answers this workload; measure `http` or `grpc`, or \
         give `tls-mutual` where it has `tls`",
    )
}

/// The reports of both ends of a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialReports<'a> {
    /// The job.
    pub job: &'a Job,
    /// What the client saw.
    pub client: &'a EndReport,
    /// What the server saw, where it is an agent.
    pub server: Option<&'a EndReport>,
    /// Whether both ends read one clock.
    pub shared_clock: bool,
    /// Whether proxies stand between the ends: the sockets of the two are then not of one
    /// connection.
    pub proxied: bool,
}

/// The figures of a trial.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// By name, with the unit in the name.
    pub metrics: BTreeMap<String, f64>,
    /// What must hold.
    pub invariants: Vec<Invariant>,
    /// Caveats.
    pub warnings: Vec<Warning>,
    /// What follows from the figures, in sentences for a person: the difference explained, and the
    /// like.
    pub explanation: Vec<String>,
}

impl Figures {
    /// Sets a metric.
    pub fn metric(&mut self, name: &str, value: f64) {
        self.metrics.insert(name.to_owned(), value);
    }

    /// States something that must hold; `detail` says the numbers where it does not.
    pub fn invariant(&mut self, name: &str, ok: bool, detail: impl FnOnce() -> String) {
        let detail = if ok { String::new() } else { detail() };
        self.invariants.push(Invariant { name: name.to_owned(), ok, detail });
    }
}

/// The jobs of a sweep, one for each size, with the size where it makes the difference.
pub fn points(job: &Job) -> Vec<(BTreeMap<String, Value>, Job)> {
    let Some(sizes) = job.sizes() else {
        return vec![(BTreeMap::new(), job.clone())];
    };
    let is_swept = sizes.values().len() > 1;
    let point = |size: &Bytes| {
        let varies = is_swept.then(|| ("size".to_owned(), Value::String(size.to_string())));
        varies.into_iter().collect()
    };
    sizes.values().iter().map(|size| (point(size), job.with_size(*size))).collect()
}
