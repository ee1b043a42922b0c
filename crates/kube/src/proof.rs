//! The proof of a path: evidence of the way that the traffic took, by the API server, the agents
//! and the servers' peers.
//!
//! Nothing here trusts the plan. The places of pods are read back, agents are asked for their
//! identity, and servers report their peers. The links between are the cluster's own, and their
//! packets are not counted.

mod agents;
mod backends;
pub(crate) mod facts;
pub(crate) mod node_proxies;
mod peer;
mod subject;

use std::collections::BTreeSet;

use hopbench_model::Proof;
use hopbench_testbed::Seen;
use hopbench_testbed::placement::PodId;

use self::facts::ProofFacts;
pub(crate) use self::subject::alike;

/// Evidence for every hop of a path.
pub(crate) fn prove(known: &ProofFacts<'_>, seen: &Seen<'_>) -> Vec<Proof> {
    let mut proofs = vec![
        agents::placed(known, "client", &known.ends.clients, seen),
        agents::placed(known, "server", known.servers, seen),
    ];
    let sandboxed =
        known.ends.clients.iter().chain(known.servers).filter(|pod| pod.place.runtime.is_some());
    let sandboxed: BTreeSet<&PodId> = sandboxed.collect();
    proofs.extend(sandboxed.into_iter().map(|pod| agents::contained(known, pod, seen)));
    proofs.extend(peer::peer(known, seen));
    proofs.extend(backends::behind(known));
    proofs.extend(backends::served(known, seen));
    proofs.extend(subject::proof(known));
    proofs
}
