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
pub(crate) use facts::ProofFacts;
pub(crate) use peer::prove_peer;

use growth::Grown;
use trial_traffic::TrialTraffic;

/// Evidence for every hop of a path.
pub(crate) fn prove(
    known: &ProofFacts<'_>,
    before: &Counters,
    after: &Counters,
    seen: &Seen<'_>,
) -> Vec<Proof> {
    let traffic = TrialTraffic::of(known.endpoints, seen);
    let grown = Grown { before, after };
    let mut proofs = vec![
        agents::placed(known, "client", &known.endpoints.clients, seen),
        agents::placed(known, "server", &known.endpoints.servers, seen),
    ];
    proofs.extend(agents::held(known));
    proofs.extend(known.sandboxes.keys().map(|pod| agents::contained(known, pod, seen)));
    proofs.extend(agents::peer(known, seen));
    proofs.extend(links::translated(known, &grown, traffic, seen.job.bypasses_proxies()));
    proofs.extend(hopbench_testbed::proxy_proofs(
        &known.endpoints.path,
        known.proxies,
        before,
        after,
        seen,
    ));
    proofs.extend(links::carried(known.packet_path, &grown, traffic));
    proofs.push(links::still(known, &grown, traffic, seen.job.bypasses_proxies()));
    proofs
}

#[cfg(test)]
mod tests;
