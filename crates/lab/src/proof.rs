//! What counters and reports say about the way that the traffic took.
//!
//! Nothing here trusts the plan: who took part is asked of the agents, where their packets went is asked of the links.
//! A link on the way must have carried at least the payload that arrived; a tunnel or NIC beside the way must have
//! stayed still.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};

use hopbench_model::{Counter, CpuSet, EndReport, Proof, Via};
use hopbench_testbed::{AgentId, Counters, Seen};

use crate::counters::{of_backend, of_link, of_service};
use crate::demand::{Cast, PodId};
use crate::service::{Service, translator};
use crate::trail::{Link, Side, Stage, Trail, Way, tunnels};

/// A link beside the way may carry this much all the same, bytes: address resolution, and the end of the trial before.
/// The least after a trial that moved next to nothing, and the most after any.
const STILL_BYTES: (u64, u64) = (2048, 8192);

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
    fn of(seen: &Seen<'_>) -> Self {
        let sum = |ends: &[(AgentId, EndReport)], counter| ends.iter().map(|(_, end)| end.drained.of(counter)).sum();
        let completed: u64 = sum(seen.clients, Counter::Completed);
        let opened: u64 = sum(seen.clients, Counter::Connects);
        Self {
            out_bytes: sum(seen.servers, Counter::ReceivedBytes),
            back_bytes: sum(seen.clients, Counter::ReceivedBytes),
            // An echo is a packet each way; whatever else was completed took one of all.
            packets: if seen.job.workload == "ping" { completed.max(1) } else { 1 },
            // Each client opens all the connections of the job; not every workload counts them.
            connections: opened.max(u64::from(seen.job.connections) * seen.clients.len() as u64),
        }
    }

    fn bytes(self, way: Way) -> u64 {
        match way {
            Way::Out => self.out_bytes,
            Way::Back => self.back_bytes,
        }
    }
}

/// Evidence for every hop of a path.
pub(crate) fn prove(known: &Known<'_>, before: &Counters, after: &Counters, seen: &Seen<'_>) -> Vec<Proof> {
    let load = Load::of(seen);
    let grown = Grown { before, after };
    let mut proofs =
        vec![placed(known, "client", &known.cast.clients, seen), placed(known, "server", &known.cast.servers, seen)];
    proofs.extend(held(known));
    proofs.extend(known.sandboxes.keys().map(|pod| contained(known, pod, seen)));
    proofs.extend(peer(known, seen));
    proofs.extend(translated(known, &grown, load));
    proofs.extend(carried(known.trail, &grown, load));
    proofs.push(still(known.trail, known.tunnels, &grown, load));
    proofs
}

/// Whether the agents are where they were put.
fn placed(known: &Known<'_>, end: &str, pods: &[PodId], seen: &Seen<'_>) -> Proof {
    let mut wrong = Vec::new();
    let mut namespaces = BTreeSet::new();
    for pod in pods {
        let built = known.namespaces.get(pod).map(u64::to_string);
        let outside = known.sandboxes.get(pod).map(|inodes| {
            // A sandbox shows numbers of its own: its processes are looked at from outside. Helpers have other namespaces.
            let own = inodes.iter().map(u64::to_string).find(|inode| Some(inode) == built.as_ref());
            own.or_else(|| inodes.first().map(u64::to_string))
        });
        let said = match &outside {
            Some(looked) => looked.as_ref(),
            None => seen.machines.get(&pod.agent()).and_then(|machine| machine.get("netns")),
        };
        match (said, built) {
            (Some(said), Some(built)) if *said == built => {
                namespaces.insert(built);
            }
            (Some(said), Some(built)) => wrong.push(format!("{pod} is in namespace {said}, its pod is {built}")),
            (None, _) => wrong.push(format!("{pod} did not say in which namespace it is")),
            (_, None) => wrong.push(format!("{pod} was never built")),
        }
    }
    let list = namespaces.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let place = pods.first().map(|pod| &pod.place);
    let node = place.map_or("?", |place| place.node.as_str());
    let names = summary(pods);
    let evidence =
        if wrong.is_empty() { format!("{names} on node {node}, namespace {list}") } else { wrong.join("; ") };
    Proof { hop: end.to_owned(), evidence, ok: wrong.is_empty() && !pods.is_empty() }
}

/// Whether the agents may use those CPUs only that they were held to. None was: there is nothing to prove.
fn held(known: &Known<'_>) -> Option<Proof> {
    let agents = known.held.iter().map(|(pod, (asked, found))| {
        let within = |set: &CpuSet| set.0.iter().all(|cpu| asked.contains(cpu));
        let list = |cpus: &[usize]| CpuSet(cpus.to_vec()).to_string();
        match found.iter().find(|set| !within(set)).or_else(|| found.first()) {
            None => (format!("{pod} is gone"), false),
            Some(set) if within(set) => (format!("{pod} on {set}"), true),
            Some(set) => (format!("{pod} was held to {} and may use {set}", list(asked)), false),
        }
    });
    let agents: Vec<(String, bool)> = agents.collect();
    let evidence = agents.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("; ");
    (!agents.is_empty()).then(|| Proof { hop: "CPUs".to_owned(), evidence, ok: agents.iter().all(|(_, ok)| *ok) })
}

/// Whether an agent that belongs into a runtime has a kernel that is not ours.
fn contained(known: &Known<'_>, pod: &PodId, seen: &Seen<'_>) -> Proof {
    let hop = pod.place.runtime.clone().unwrap_or_default();
    let inside = seen.machines.get(&pod.agent()).and_then(|machine| machine.get("kernel"));
    let (evidence, ok) = match inside {
        Some(inside) => (format!("kernel {inside} in {pod}, {} outside", known.kernel), *inside != known.kernel),
        None => (format!("{pod} did not say which kernel it has"), false),
    };
    Proof { hop, evidence, ok }
}

/// The kernel's release, as an agent without a sandbox says it.
pub(crate) fn own_kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// `bridge@a`, `20 x bridge@a`.
fn summary(pods: &[PodId]) -> String {
    match pods {
        [] => "nobody".to_owned(),
        [pod] => pod.to_string(),
        [pod, ..] => format!("{} x {}", pods.len(), pod.place),
    }
}

/// Whether the servers saw the addresses that this way leaves in a packet. Without agents as servers nobody tells.
fn peer(known: &Known<'_>, seen: &Seen<'_>) -> Option<Proof> {
    let peers: BTreeSet<&str> =
        seen.servers.iter().flat_map(|(_, end)| &end.flows).map(|flow| flow.peer.as_str()).collect();
    if peers.is_empty() {
        return None;
    }
    let address = |text: &str| text.parse::<SocketAddr>().ok().map(|peer| peer.ip().to_canonical());
    let expected = |text: &&str| address(text).is_some_and(|peer| known.peers.iter().any(|own| peer == *own));
    let strangers: Vec<&str> = peers.iter().copied().filter(|peer| !expected(peer)).collect();
    let wanted: Vec<String> = known.peers.iter().filter(|own| !own.is_loopback()).map(ToString::to_string).collect();
    let (evidence, ok) = if strangers.is_empty() {
        let addresses: BTreeSet<String> = peers.iter().filter_map(|p| address(p)).map(|p| p.to_string()).collect();
        (format!("the server saw {}", addresses.into_iter().collect::<Vec<_>>().join(", ")), true)
    } else {
        (format!("the server saw {}, not {}", strangers.join(", "), wanted.join(" or ")), false)
    };
    Some(Proof { hop: "peer".to_owned(), evidence, ok })
}

/// Whether every connection was translated.
fn translated(known: &Known<'_>, grown: &Grown<'_>, load: Load) -> Option<Proof> {
    let node = translator(known.cast)?;
    let hop = format!("dnat on {node}");
    let Some(service) = known.service else {
        return Some(Proof { hop, evidence: "the path's Service was never built".to_owned(), ok: false });
    };
    let Some(total) = grown.by(&of_service(node, service)) else {
        return Some(Proof { hop, evidence: "the Service has no counter on this node".to_owned(), ok: false });
    };
    let hits = |backend: usize| -> u64 {
        service.ports.iter().filter_map(|port| grown.by(&of_backend(node, service, port.port, backend))).sum()
    };
    let backends = service.ports[0].backends.len();
    let each: Vec<String> = (0..backends).map(|backend| hits(backend).to_string()).collect();
    let sum: u64 = (0..backends).map(hits).sum();
    let evidence = format!(
        "{total} connections translated ({} to the backends), {} were opened",
        each.join(" + "),
        load.connections
    );
    Some(Proof { hop, evidence, ok: total >= load.connections && sum == total })
}

/// Whether every link of the way carried the traffic, one proof for each group of links.
fn carried(trail: &Trail, grown: &Grown<'_>, load: Load) -> Vec<Proof> {
    let mut groups: Vec<(&[Link], Vec<&Stage>)> = Vec::new();
    for stage in &trail.stages {
        match groups.iter_mut().find(|(links, _)| *links == stage.links) {
            Some((_, stages)) => stages.push(stage),
            None => groups.push((&stage.links, vec![stage])),
        }
    }
    let proof = |(links, stages): &(&[Link], Vec<&Stage>)| {
        let seen: Vec<(String, bool)> = stages.iter().map(|stage| crossed(stage, stages, grown, load)).collect();
        let hop = match links {
            [link] => link.to_string(),
            [link, ..] => format!("{} links like {link}", links.len()),
            [] => String::new(),
        };
        let ok = seen.iter().all(|(_, ok)| *ok);
        let evidence = seen.into_iter().map(|(text, _)| text).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        Proof { hop, evidence: evidence.join("; "), ok }
    };
    groups.iter().map(proof).collect()
}

/// Whether links carried what a stage asks for. A link that several stages use on the same side, like the NIC of a node
/// that forwards, must have carried the sum.
fn crossed(stage: &Stage, all: &[&Stage], grown: &Grown<'_>, load: Load) -> (String, bool) {
    let same: Vec<_> = all.iter().filter(|other| other.side == stage.side).collect();
    let payload: u64 = same.iter().map(|other| load.bytes(other.way)).sum();
    let least = load.packets * same.len() as u64;
    let sum = |unit| stage.links.iter().map(|link| grown.by(&of_link(link, stage.side, unit))).sum::<Option<u64>>();
    let verb = match stage.side {
        Side::Receives => "received",
        Side::Sends => "sent",
    };
    match (sum("bytes"), sum("packets")) {
        (Some(bytes), Some(packets)) => (
            format!("{verb} {bytes} bytes in {packets} packets, at least {payload} in {least} were to cross"),
            bytes >= payload && packets >= least,
        ),
        _ => (format!("{verb}: no counter"), false),
    }
}

/// Whether the tunnels and NICs beside the way stayed still.
fn still(trail: &Trail, built: &BTreeSet<&str>, grown: &Grown<'_>, load: Load) -> Proof {
    // Half of the smaller part that moved: a way that was taken in one direction only shows, too.
    let moved = [load.out_bytes, load.back_bytes].into_iter().filter(|bytes| *bytes > 0).min().unwrap_or(0);
    let allowed = (moved / 2).clamp(STILL_BYTES.0, STILL_BYTES.1);
    let tunnels = tunnels();
    let there = |link: &Link| !tunnels.contains(link.name.as_str()) || built.contains(link.name.as_str());
    let seen = trail.still.iter().filter(|(link, _)| there(link)).map(|(link, side)| {
        let counter = of_link(link, *side, "bytes");
        let name = counter.trim_end_matches("_bytes");
        match grown.by(&counter) {
            Some(bytes) => (format!("{name} {bytes} bytes"), bytes <= allowed),
            None => (format!("{name} has no counter"), false),
        }
    });
    let seen: Vec<(String, bool)> = seen.collect();
    let loud: Vec<&str> = seen.iter().filter(|(_, ok)| !ok).map(|(text, _)| text.as_str()).collect();
    let evidence = match (loud.is_empty(), seen.is_empty()) {
        (true, true) => "there is no tunnel or NIC beside it".to_owned(),
        (true, false) => seen.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", "),
        (false, _) => format!("the traffic must not be there: {}", loud.join(", ")),
    };
    Proof { hop: "no other way".to_owned(), evidence, ok: loud.is_empty() }
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

/// Addresses that the servers of a path may see: the clients', or those of the node that sends or translates.
pub(crate) fn peers(
    cast: &Cast,
    service: Option<&Service>,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
    of_node: impl Fn(&str) -> Vec<Ipv4Addr>,
) -> BTreeSet<Ipv4Addr> {
    let from_node = cast.path.from.network == "host";
    let masquerades = service.is_some_and(|service| service.masquerades);
    let mut peers = BTreeSet::new();
    match &cast.path.via {
        // What comes in at a node and stays there does not pass the chain that masquerades.
        Via::NodePort(node) if !(cast.path.to.network == "host" && cast.path.to.node == *node) => {
            peers.extend(of_node(node));
        }
        _ if from_node || (masquerades && cast.path.via == Via::ClusterIp) => {
            peers.extend(of_node(&cast.path.from.node));
        }
        _ => peers.extend(cast.clients.iter().filter_map(address)),
    }
    peers
}

#[cfg(test)]
mod tests;
