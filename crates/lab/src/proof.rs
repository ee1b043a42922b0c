//! What counters and reports say about the way that the traffic took.
//!
//! Nothing here trusts the plan: who took part is asked of the agents, where their packets went is asked of the links.
//! A link on the way must have carried at least the payload that arrived; a tunnel or NIC beside the way must have
//! stayed still. What proxies counted is compared with what the clients say they sent.

mod agents;
mod links;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopbench_model::{Counter, CpuSet, EndReport, HttpVersion, Proof};
use hopbench_testbed::{AgentId, Counters, Proxy, Seen};

use crate::cast::Cast;
use crate::pod::PodId;
use crate::service::Service;
use crate::trail::{Trail, Way};

pub(crate) use agents::{own_kernel, peers};

/// What was built, as far as a proof needs it.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    pub(crate) cast: &'a Cast,
    pub(crate) trail: &'a Trail,
    pub(crate) service: Option<&'a Service>,
    /// Tunnel devices that the lab has; others were not needed, and cannot carry anything.
    pub(crate) tunnels: &'a BTreeSet<&'static str>,
    /// CPUs that agents were held to, with those that their processes may use now.
    pub(crate) held: BTreeMap<&'a PodId, (Vec<usize>, Vec<CpuSet>)>,
    /// Inodes of the pods' network namespaces.
    pub(crate) namespaces: BTreeMap<&'a PodId, u64>,
    /// Network namespaces of the processes of each sandbox, for the pods that are in one.
    pub(crate) sandboxes: BTreeMap<&'a PodId, BTreeSet<u64>>,
    /// The kernel's release, as it is outside of sandboxes.
    pub(crate) kernel: String,
    /// Addresses that a server may see.
    pub(crate) peers: BTreeSet<Ipv4Addr>,
    /// The proxies in the path's pods.
    pub(crate) proxies: &'a [Proxy],
}

/// What the trial moved, from its start to its end, warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Load {
    out_bytes: u64,
    back_bytes: u64,
    /// Packets each way at least.
    packets: u64,
    connections: u64,
}

impl Load {
    fn of(cast: &Cast, seen: &Seen<'_>) -> Self {
        let completed: u64 = sum(seen.clients, Counter::Completed);
        let opened: u64 = sum(seen.clients, Counter::Connects);
        let (out_bytes, back_bytes) = Self::payload(cast, seen);
        Self {
            out_bytes,
            back_bytes,
            // An echo is a packet each way; whatever else was completed took one of all.
            packets: if seen.job.workload == "ping" { completed.max(1) } else { 1 },
            // Each client opens all the connections of the job; not every workload counts them.
            connections: opened.max(u64::from(seen.job.connections) * seen.clients.len() as u64),
        }
    }

    /// Payload that crossed every link, at least.
    fn payload(cast: &Cast, seen: &Seen<'_>) -> (u64, u64) {
        let (out_bytes, back_bytes) =
            (sum(seen.servers, Counter::ReceivedBytes), sum(seen.clients, Counter::ReceivedBytes));
        if seen.job.workload != "http" || !cast.path.is_proxied() || seen.job.bypasses_proxies() {
            return (out_bytes, back_bytes);
        }
        // Proxies write headers of their own: who gets a message behind them gets more than crossed the link before.
        // HTTP/2 packs headers: what is sure to cross is bodies, and only those of the window are known.
        if cast.path.variant.as_ref().is_some_and(|variant| variant.upstream == HttpVersion::Http2) {
            let bodies = seen.clients.iter().filter_map(|(_, end)| end.extra.get("body_bytes")).sum::<f64>();
            return (0, bodies as u64);
        }
        let least = |ends: [u64; 2]| ends.into_iter().filter(|bytes| *bytes > 0).min().unwrap_or(0);
        (
            least([out_bytes, sum(seen.clients, Counter::SentBytes)]),
            least([back_bytes, sum(seen.servers, Counter::SentBytes)]),
        )
    }

    fn bytes(self, way: Way) -> u64 {
        match way {
            Way::Out => self.out_bytes,
            Way::Back => self.back_bytes,
        }
    }
}

/// The sum of a counter of all ends of one side.
fn sum(ends: &[(AgentId, EndReport)], counter: Counter) -> u64 {
    ends.iter().map(|(_, end)| end.drained.of(counter)).sum()
}

/// Evidence for every hop of a path.
pub(crate) fn prove(known: &Known<'_>, before: &Counters, after: &Counters, seen: &Seen<'_>) -> Vec<Proof> {
    let load = Load::of(known.cast, seen);
    let grown = Grown { before, after };
    let mut proofs = vec![
        agents::placed(known, "client", &known.cast.clients, seen),
        agents::placed(known, "server", &known.cast.servers, seen),
    ];
    proofs.extend(agents::held(known));
    proofs.extend(known.sandboxes.keys().map(|pod| agents::contained(known, pod, seen)));
    proofs.extend(agents::peer(known, seen));
    proofs.extend(links::translated(known, &grown, load, seen.job.bypasses_proxies()));
    proofs.extend(hopbench_testbed::passed(&known.cast.path, known.proxies, before, after, seen));
    proofs.extend(links::carried(known.trail, &grown, load));
    proofs.push(links::still(known, &grown, load, seen.job.bypasses_proxies()));
    proofs
}

/// How counters grew.
#[derive(Debug)]
struct Grown<'a> {
    before: &'a Counters,
    after: &'a Counters,
}

impl Grown<'_> {
    /// `None`: there is no such counter.
    fn by(&self, name: &str) -> Option<u64> {
        Some(self.after.get(name)?.saturating_sub(*self.before.get(name)?))
    }
}

#[cfg(test)]
mod tests;
