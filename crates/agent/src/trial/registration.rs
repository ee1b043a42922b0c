//! The registration of a trial's server, by which its flows find it.

use std::collections::BTreeSet;
use std::sync::Arc;

use hopbench_load::workload::Workload;
use hopbench_load::{Acceptor, Context, FlowLimit, Workers, admit, passive_end};
use hopbench_model::{Fault, Job, Unit};
use hopbench_wire::{FlowLedger, Prepare, Role, WorkloadCode};

use crate::http_acceptor::routes::RouteGuard;
use crate::port::flow_router::{ExpectedRun, FlowRouter};
use crate::shared::Shared;

/// Keeps the way to a trial's server open; dropping it shuts it.
pub(crate) enum Registration {
    /// Flows say which run they are of.
    Flows(Arc<FlowRouter>, u32),
    /// Requests over HTTP show the trial's credential.
    Http(#[expect(dead_code, reason = "what counts is when it is dropped")] RouteGuard),
    /// Nothing of ours answers: the kernel does, or a server program.
    Closed,
}

/// HTTP connections that a trial takes besides its own: proxies may open more than they are sent,
/// and one that ended may be seen to end only after its successor came.
const MORE_CONNECTIONS: usize = 1024;

/// The open flows of a trial's server, among all of the agent's.
pub(crate) fn flow_limit(
    shared: &Shared,
    workload: &dyn Workload,
    connections: u32,
) -> Arc<FlowLimit> {
    let most = workload.kind().is_http().then_some(2 * connections as usize + MORE_CONNECTIONS);
    shared.flow_router.flow_limit().part(most)
}

/// Whether this end has no workers: somebody else answers.
pub(crate) fn looks_on(workload: &dyn Workload, prepare: &Prepare) -> bool {
    let is_told =
        prepare.looks_on || !prepare.watch.is_empty() || prepare.watch_container.is_some();
    match prepare.role {
        Role::Client => false,
        Role::Server => !workload.needs_agent() && is_told,
        Role::Onlooker => true,
    }
}

/// Whether this end answers requests, and works before that if its agent was told to.
pub(crate) fn answers(role: Role, job: &Job) -> bool {
    let kind = job.kind();
    role == Role::Server && kind.is_of_exchanges() && kind.unit == Unit::Requests
}

/// Starts a server's workers and opens the way to them. An onlooker has neither.
pub(crate) fn open(
    shared: &Shared,
    workload: &'static dyn Workload,
    context: &Context,
    prepare: &Prepare,
    flow_limit: &Arc<FlowLimit>,
) -> Result<(Workers, Registration), Fault> {
    let code = WorkloadCode::from_code(workload.code());
    if looks_on(workload, prepare) {
        return Ok((passive_end(context)?, Registration::Closed));
    }
    let (workers, acceptor) = workload.server(context)?;
    match code {
        Some(code) => match enter(shared, code, workload, prepare, acceptor, flow_limit) {
            Ok(registration) => Ok((workers, registration)),
            Err(fault) => {
                context.window.stop();
                drop(workers.join());
                Err(fault)
            }
        },
        None => match &context.credential {
            Some(credential) => {
                let admitted = admit(acceptor, Arc::clone(flow_limit));
                let route = shared.http_acceptor.open_to(credential.clone(), admitted);
                Ok((workers, Registration::Http(route)))
            }
            None => Ok((workers, Registration::Closed)),
        },
    }
}

fn enter(
    shared: &Shared,
    code: WorkloadCode,
    workload: &'static dyn Workload,
    prepare: &Prepare,
    acceptor: Acceptor,
    flow_limit: &Arc<FlowLimit>,
) -> Result<Registration, Fault> {
    let run = ExpectedRun {
        key: prepare.key.clone(),
        code,
        workload,
        job: prepare.job.clone(),
        acceptor,
        flow_limit: Arc::clone(flow_limit),
        ledger: FlowLedger::new(),
        registered: BTreeSet::new(),
    };
    shared.flow_router.enter(prepare.run, run)?;
    Ok(Registration::Flows(Arc::clone(&shared.flow_router), prepare.run))
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Self::Flows(flow_router, number) = self {
            flow_router.remove(*number);
        }
    }
}
