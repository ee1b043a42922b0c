//! The order to prepare a trial: its checks, and what flows and requests show of it.

use std::net::SocketAddr;
use std::sync::Arc;

use hopbench_load::http::Credential;
use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload;
use hopbench_load::workload::Workload;
use hopbench_model::{Fault, Transport};
use hopbench_wire::{Prepare, Role, WorkloadCode};

use super::cpus;
use crate::limits::make_room;
use crate::port::flow_handshake::RunHandshake;
use crate::shared::Shared;

/// The workload and the target of an order that this agent follows.
pub(super) fn check(
    prepare: &Prepare,
    shared: &Shared,
) -> Result<(&'static dyn Workload, SocketAddr), Fault> {
    if prepare.role == Role::Client && !shared.may_be_client {
        return Err(Fault::environment(
            "this agent only serves and opens no connections; `hopbench serve --both-ends` does \
             both",
        ));
    }
    let job = &prepare.job;
    // A workload of this name and another kind is another workload.
    let workload =
        workload(&job.workload).filter(|workload| workload.kind() == job.kind()).ok_or_else(
            || Fault::input(format!("workload `{}` is not known to this agent", job.workload)),
        )?;
    let mut problems = job.problems();
    if problems.is_empty() {
        problems = workload.problems(job);
    }
    if !problems.is_empty() {
        return Err(Fault::from_problems(&problems));
    }
    cpus::check(job, prepare.role)?;
    shared.limits.refuse(job)?;
    // An onlooker has no connections.
    if prepare.role != Role::Onlooker {
        make_room(job)?;
    }
    let target = target(prepare)?;
    if let Some(permits) = &shared.permits {
        // ICMP has no ports.
        permits.check(prepare, target, workload.kind().transport == Transport::Icmp)?;
    }
    Ok((workload, target))
}

/// The address that a client connects to; others need none.
fn target(prepare: &Prepare) -> Result<SocketAddr, Fault> {
    match (&prepare.target, prepare.role) {
        (Some(text), _) => text
            .parse()
            .map_err(|_| Fault::input(format!("target `{text}` is not an address with a port"))),
        (None, Role::Server | Role::Onlooker) => Ok(SocketAddr::from(([0, 0, 0, 0], 0))),
        (None, Role::Client) => Err(Fault::input("a client needs a target")),
    }
}

/// The handshake of the trial's flows; `None` where the workload has none.
pub(super) fn handshake(
    prepare: &Prepare,
    workload: &'static dyn Workload,
) -> Option<Arc<RunHandshake>> {
    let code = WorkloadCode::from_code(workload.code())?;
    Some(Arc::new(RunHandshake {
        run: prepare.run,
        key: prepare.key.clone(),
        code,
        workload,
        job: prepare.job.clone(),
        first_flow: prepare.first_flow,
        all_connections: prepare.all_connections,
    }))
}

/// The credential of the trial's requests. A server over HTTP always wants it; a client shows it
/// only to agents.
pub(super) fn credential(prepare: &Prepare, workload: &dyn Workload) -> Option<Credential> {
    let shows = prepare.role == Role::Server || prepare.shows_credential;
    if workload.kind().is_http() && shows {
        Some(Credential::new(&prepare.key.credential(prepare.run)))
    } else {
        None
    }
}

/// The number of the client that the order is for. Each has as many flow numbers as connections.
pub(super) fn client_number(prepare: &Prepare) -> ClientNumber {
    let own = prepare.job.connections.max(1);
    ClientNumber { number: prepare.first_flow / own, of: (prepare.all_connections / own).max(1) }
}
