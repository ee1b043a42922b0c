//! The proof that the traffic took its path, from counters and reports.
//!
//! Nothing here trusts the plan. The agents say who took part, and the links say where packets
//! went. A link on the way must have carried at least the payload that arrived. A tunnel or NIC
//! beside the way must have stayed still. The counts of proxies are compared with those of the
//! clients. Nothing here reads anything: counters and reports come from the lab.

mod agents;
pub(crate) mod counter_names;
mod facts;
mod growth;
mod links;
mod peer;
mod trial_traffic;

use hopbench_model::Proof;
use hopbench_testbed::{Counters, Seen};

pub(crate) use agents::peers;
pub(crate) use facts::{AgentFacts, WayFacts};
pub(crate) use peer::prove_peer;

use growth::Grown;
use trial_traffic::TrialTraffic;

/// Evidence for every hop of a path.
pub(crate) fn prove(
    way: &WayFacts<'_>,
    known: &AgentFacts<'_>,
    before: &Counters,
    after: &Counters,
    seen: &Seen<'_>,
) -> Vec<Proof> {
    let traffic = TrialTraffic::of(way.endpoints, seen);
    let grown = Grown { before, after };
    let mut proofs = vec![
        agents::placed(known, "client", &way.endpoints.clients, seen),
        agents::placed(known, "server", &way.endpoints.servers, seen),
    ];
    proofs.extend(agents::held(known));
    proofs.extend(known.sandboxes.keys().map(|pod| agents::contained(known, pod, seen)));
    proofs.extend(agents::peer(known, seen));
    proofs.extend(links::translated(way, &grown, traffic, seen.job.bypasses_proxies()));
    proofs.extend(hopbench_testbed::proxy_proofs(
        &way.endpoints.path,
        way.proxies,
        before,
        after,
        seen,
    ));
    proofs.extend(links::carried(&way.packet_path, &grown, traffic));
    proofs.push(links::still(way, &grown, traffic, seen.job.bypasses_proxies()));
    proofs
}

#[cfg(test)]
mod tests;
