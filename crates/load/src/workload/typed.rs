//! A workload as its file defines it: a type, which is its parameters.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command};
use hopbench_model::{Fault, Job, LatencyKind, Params, Problem, WorkloadKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Figures, TrialReports, Workload};
use crate::worker::accepted::Acceptor;
use crate::worker::workers::{Context, Workers};

/// The contract of a workload's file. The type that implements this has the parameters: flags for
/// the command line, JSON for records, and values for both ends.
pub(crate) trait TypedWorkload:
    Args + Clone + Serialize + DeserializeOwned + Any + Send + Sync
{
    /// As [`Workload::name`].
    const NAME: &'static str;
    /// As [`Workload::summary`].
    const SUMMARY: &'static str;
    /// As [`Workload::code`].
    const CODE: u8 = 0;

    /// As [`Workload::kind`].
    fn kind() -> WorkloadKind {
        WorkloadKind::of(Self::NAME)
    }

    /// As [`Workload::latency`].
    fn latency(job: &Job) -> Option<LatencyKind> {
        let has_rate = job.schedule.per_s().is_some();
        Some(if has_rate { LatencyKind::Response } else { LatencyKind::Service })
    }

    /// Completes what the flags said, as by reading a file.
    ///
    /// # Errors
    /// Flags that do not fit together, or a file that cannot be read.
    fn complete(self) -> Result<Self, clap::Error> {
        Ok(self)
    }

    /// As [`Workload::metrics`].
    fn metrics(&self) -> Vec<String>;

    /// Metrics that only other parameters bring.
    fn more_metrics() -> Vec<String> {
        Vec::new()
    }

    /// As [`Workload::settle`].
    fn settle(&self, _job: &mut Job) {}

    /// As [`Workload::together`].
    fn together(&self, job: &Job, clients: u32) -> Job {
        Job { connections: job.connections.saturating_mul(clients), ..job.clone() }
    }

    /// The values that are wrong.
    fn problems(&self) -> Vec<Problem>;

    /// The problem of the values beside the rest of the job.
    fn misfits(&self, _job: &Job) -> Option<Problem> {
        None
    }

    /// As [`Workload::flows_rest`].
    fn flows_rest(&self, _job: &Job) -> bool {
        false
    }

    /// As [`Workload::server_sends`].
    fn server_sends(&self, _flow: u32) -> bool {
        false
    }

    /// As [`Workload::client`].
    fn client(&self, context: &Context) -> Result<Workers, Fault>;

    /// As [`Workload::server`].
    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault>;

    /// As [`Workload::figures`].
    fn figures(&self, trial: &TrialReports<'_>) -> Figures;
}

/// A [`TypedWorkload`] as a [`Workload`]: the one place where a job's parameters get their type.
pub(crate) struct Of<W>(PhantomData<fn() -> W>);

impl<W> fmt::Debug for Of<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Of")
    }
}

impl<W: TypedWorkload> Of<W> {
    /// For the list of workloads.
    pub(crate) const NEW: Self = Self(PhantomData);

    fn of(job: &Job) -> Result<Arc<W>, Fault> {
        let typed = job.params.typed();
        typed.map_err(|error| Fault::input(format!("parameters of `{}`: {error}", job.workload)))
    }

    /// The parameters of no flags.
    fn defaults() -> Option<W> {
        let command = W::augment_args(Command::new(W::NAME).no_binary_name(true));
        let matches = command.try_get_matches_from([""; 0]).ok()?;
        W::from_arg_matches(&matches).ok()
    }

    /// The parameters of a job, or the defaults where another version wrote others.
    fn of_any(job: &Job) -> Option<Arc<W>> {
        Self::of(job).ok().or_else(|| Self::defaults().map(Arc::new))
    }
}

impl<W: TypedWorkload> Workload for Of<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn summary(&self) -> &'static str {
        W::SUMMARY
    }

    fn kind(&self) -> WorkloadKind {
        W::kind()
    }

    fn code(&self) -> u8 {
        W::CODE
    }

    fn metrics(&self, job: &Job) -> Vec<String> {
        Self::of_any(job).map_or_else(Vec::new, |own| own.metrics())
    }

    fn every_metric(&self) -> Vec<String> {
        let own = Self::defaults().map_or_else(Vec::new, |own| own.metrics());
        [own, W::more_metrics()].concat()
    }

    fn latency(&self, job: &Job) -> Option<LatencyKind> {
        W::latency(job)
    }

    fn arguments(&self, command: Command) -> Command {
        W::augment_args(command)
    }

    fn params(&self, matches: &ArgMatches) -> Result<Params, clap::Error> {
        let own = W::from_arg_matches(matches)?.complete()?;
        Params::of(own)
            .map_err(|error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error))
    }

    fn settle(&self, job: &mut Job) {
        if let Ok(own) = Self::of(job) {
            own.settle(job);
        }
    }

    fn together(&self, job: &Job, clients: u32) -> Job {
        Self::of_any(job).map_or_else(|| job.clone(), |own| own.together(job, clients))
    }

    fn problems(&self, job: &Job) -> Vec<Problem> {
        match Self::of(job) {
            Ok(own) => own.problems().into_iter().chain(own.misfits(job)).collect(),
            Err(fault) => vec![Problem::new(W::NAME, "its parameters", fault.text)],
        }
    }

    fn flows_rest(&self, job: &Job) -> bool {
        Self::of(job).is_ok_and(|own| own.flows_rest(job))
    }

    fn server_sends(&self, job: &Job, flow: u32) -> bool {
        Self::of(job).is_ok_and(|own| own.server_sends(flow))
    }

    fn client(&self, context: &Context) -> Result<Workers, Fault> {
        Self::of(&context.job)?.client(context)
    }

    fn server(&self, context: &Context) -> Result<(Workers, Acceptor), Fault> {
        Self::of(&context.job)?.server(context)
    }

    fn figures(&self, trial: &TrialReports<'_>) -> Figures {
        Self::of_any(trial.job).map_or_else(Figures::default, |own| own.figures(trial))
    }
}
