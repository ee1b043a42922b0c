//! The proof of a path: evidence of the way that the traffic took, by the API server, the agents
//! and the servers' peers.
//!
//! Nothing here trusts the plan. The places of pods are read back, agents are asked for their
//! identity, and servers report their peers. The links between are the cluster's own, and their
//! packets are not counted. Tools of others say less: only where they ran.

mod agents;
mod backends;
pub(crate) mod facts;
pub(crate) mod node_proxies;
mod peer;
mod subject;

use std::collections::BTreeSet;
use std::net::IpAddr;

use hopbench_model::Proof;
use hopbench_testbed::Seen;
use hopbench_testbed::placement::PodId;

use self::facts::ProofFacts;
pub(crate) use self::subject::alike;

/// Evidence of where the processes of a tool of others ran. `seen` has what they said of their
/// machines, in the place of what agents say. `has_server`: the tool brought a server.
pub(crate) fn of_tool(
    known: &ProofFacts<'_>,
    clients: &[PodId],
    has_server: bool,
    seen: &Seen<'_>,
) -> Vec<Proof> {
    let mut proofs = vec![agents::placed(known, "client", clients, seen)];
    if has_server {
        proofs.push(agents::placed(known, "server", known.servers, seen));
    }
    proofs
}

/// Evidence of the way of a tool's traffic and of what its pods are, which needs nobody's word but
/// the API server's. `target` is the address that its client was told.
pub(crate) fn of_tools_way(known: &ProofFacts<'_>, target: IpAddr) -> Vec<Proof> {
    let way = backends::behind(known).unwrap_or_else(|| backends::at(known, target));
    [way].into_iter().chain(subject::proof(known)).collect()
}

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
