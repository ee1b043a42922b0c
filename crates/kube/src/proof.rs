//! What the API server, the agents and the servers' peers say about the way that the traffic took.
//!
//! Nothing here trusts the plan: where the pods are is read back, who the agents are is asked of them, whom the servers
//! talked with is in their reports. The links between are the cluster's own: nobody here counts what crosses them.

mod agents;
mod backends;
mod peer;

use hopbench_model::Proof;
use hopbench_testbed::Seen;

use crate::built::Built;
use crate::cast::Cast;
use crate::fronts::Front;
use crate::pod::PodId;

/// What is known of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) built: &'a Built,
    pub(crate) cast: &'a Cast,
    pub(crate) servers: &'a [PodId],
    /// Its Service for who answers.
    pub(crate) front: Option<&'a Front>,
}

/// Evidence for every hop of a path.
pub(crate) fn prove(known: &Known<'_>, seen: &Seen<'_>) -> Vec<Proof> {
    let mut proofs = vec![
        agents::placed(known, "client", &known.cast.clients, seen),
        agents::placed(known, "server", known.servers, seen),
    ];
    let sandboxed = known.cast.clients.iter().chain(known.servers).filter(|pod| pod.place.runtime.is_some());
    let sandboxed: std::collections::BTreeSet<&PodId> = sandboxed.collect();
    proofs.extend(sandboxed.into_iter().map(|pod| agents::contained(known, pod, seen)));
    proofs.extend(peer::peer(known, seen));
    proofs.extend(backends::behind(known));
    proofs.extend(backends::served(known, seen));
    proofs
}

#[cfg(test)]
mod tests;
