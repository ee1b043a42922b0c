//! How the flows of a trial find its server's end.

use std::collections::BTreeSet;
use std::sync::Arc;

use hopbench_load::crew::{Acceptor, Context, Crew};
use hopbench_load::workload::Workload;
use hopbench_load::{Tickets, bystander, door};
use hopbench_model::Fault;
use hopbench_wire::{FlowLedger, Prepare, Role, WorkloadCode};

use crate::gate::Pass;
use crate::runs::{Run, Runs};
use crate::shared::Shared;

/// Keeps the way to a trial's server open; dropping it shuts it.
pub(crate) enum Entrance {
    /// Flows say which run they are of.
    Run(Arc<Runs>, u32),
    /// Requests over HTTP show the trial's credential.
    Http(#[expect(dead_code, reason = "what counts is when it is dropped")] Pass),
    /// Nothing of ours answers: the kernel does, or a server program.
    Shut,
}

/// HTTP connections that a trial takes besides its own: proxies may open more than they are sent,
/// and one that ended may be seen to end only after its successor came.
const MORE_CONNECTIONS: usize = 1024;

/// The open flows of a trial's server, among all of the agent's.
pub(crate) fn tickets(shared: &Shared, workload: &dyn Workload, connections: u32) -> Arc<Tickets> {
    let most = workload.over_http().then_some(2 * connections as usize + MORE_CONNECTIONS);
    shared.runs.tickets().part(most)
}

/// Whether this end has no workers: somebody else answers.
pub(crate) fn looks_on(workload: &dyn Workload, prepare: &Prepare) -> bool {
    let answers_itself = WorkloadCode::from_code(workload.nature().code).is_some();
    prepare.role == Role::Server && !answers_itself && (prepare.looks_on || !prepare.watch.is_empty())
}

/// Starts a server's workers and opens the way to them.
pub(crate) fn open(
    shared: &Shared,
    workload: &'static dyn Workload,
    context: &Context,
    prepare: &Prepare,
    tickets: &Arc<Tickets>,
) -> Result<(Crew, Entrance), Fault> {
    let code = WorkloadCode::from_code(workload.nature().code);
    if looks_on(workload, prepare) {
        return Ok((bystander(context)?, Entrance::Shut));
    }
    let (crew, acceptor) = workload.server(context)?;
    match code {
        Some(code) => match enter(shared, code, workload, prepare, acceptor, tickets) {
            Ok(entrance) => Ok((crew, entrance)),
            Err(fault) => {
                context.window.stop();
                drop(crew.join());
                Err(fault)
            }
        },
        None => match &context.credential {
            Some(credential) => {
                let pass = shared.gate.open_to(credential.clone(), door(acceptor, Arc::clone(tickets)));
                Ok((crew, Entrance::Http(pass)))
            }
            None => Ok((crew, Entrance::Shut)),
        },
    }
}

fn enter(
    shared: &Shared,
    code: WorkloadCode,
    workload: &'static dyn Workload,
    prepare: &Prepare,
    acceptor: Acceptor,
    tickets: &Arc<Tickets>,
) -> Result<Entrance, Fault> {
    let run = Run {
        key: prepare.key.clone(),
        code,
        workload,
        job: prepare.job.clone(),
        acceptor,
        tickets: Arc::clone(tickets),
        ledger: FlowLedger::new(),
        registered: BTreeSet::new(),
    };
    shared.runs.enter(prepare.run, run)?;
    Ok(Entrance::Run(Arc::clone(&shared.runs), prepare.run))
}

impl Drop for Entrance {
    fn drop(&mut self) {
        if let Self::Run(runs, number) = self {
            runs.remove(*number);
        }
    }
}
