//! Proof of a mesh with its proxies on the nodes, from what those counted around a trial.

use hopbench_model::{MeshMode, MeshProvider, Path, Proof, Via, proxy_role};
use hopbench_testbed::{Counters, Range, Route, Seen, Sent, proxy_growth};

use crate::provision::proxy_pods::NODE_PROXY;

/// Evidence that the proxies took the traffic of a path, or that they did not where it names none.
/// `counters` are those before the trial and after it.
pub(crate) fn prove(
    provider: MeshProvider,
    path: &Path,
    route: &Route,
    counters: (&Counters, &Counters),
    seen: &Seen<'_>,
) -> Vec<Proof> {
    let grown = Grown { route, counters };
    if !grown.has_any() {
        // No path of the plan has a mesh.
        return Vec::new();
    }
    let mode = if seen.job.bypasses_proxies() { MeshMode::None } else { path.mesh };
    let sent = Sent::all(seen);
    if provider == MeshProvider::Cilium {
        return if mode.is_none() {
            Vec::new()
        } else {
            vec![requests(&grown, sent.requests, mode)]
        };
    }
    let ends = [("client", mode.has_client()), ("server", mode.has_server())];
    ends.map(|(end, takes)| connections(&grown, end, takes, path, &sent, mode)).into()
}

/// The growth of the counters of all proxies on the nodes of a route.
struct Grown<'a> {
    route: &'a Route,
    counters: (&'a Counters, &'a Counters),
}

impl Grown<'_> {
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.route.proxies.iter().map(|proxy| proxy.name.as_str());
        names.filter(|name| proxy_role(name) == NODE_PROXY)
    }

    fn has_any(&self) -> bool {
        self.names().next().is_some()
    }

    fn by(&self, counter: &str) -> u64 {
        let (before, after) = self.counters;
        let of = |name| proxy_growth(before, after, name).get(counter).copied();
        self.names().filter_map(of).sum()
    }
}

/// The connections of one end as its ztunnel counted them.
fn connections(
    grown: &Grown<'_>,
    end: &str,
    takes: bool,
    path: &Path,
    sent: &Sent,
    mode: MeshMode,
) -> Proof {
    let of = |counter: &str| grown.by(&format!("{end}_{counter}"));
    let (all, safe, bytes) = (of("connections"), of("mtls_connections"), of("bytes"));
    let hop = format!("{end}'s ztunnel");
    if !takes {
        let evidence = format!("not on this path: connections +{all}");
        return Proof { hop, evidence, ok: all == 0 };
    }
    let by_others = matches!(&path.via, Via::Gateway(_));
    let wanted = match end {
        // A gateway keeps its connections, and opens more for itself.
        "server" if by_others => Range { least: 0, most: u64::MAX },
        // One that carries nothing may never reach the server.
        "server" => Range { least: sent.used.least, ..sent.connections },
        _ => sent.connections,
    };
    let clients = if by_others {
        String::new()
    } else {
        format!(", the clients opened {}", sent.connections)
    };
    let evidence = format!("connections +{all}, {safe} of them with mTLS{clients}; bytes +{bytes}");
    // Between two ends in the mesh nothing goes without.
    let is_safe = mode != MeshMode::Both || by_others || safe == all;
    Proof { hop, evidence, ok: wanted.holds(all) && is_safe && (bytes > 0 || !by_others) }
}

/// The requests of a path as Cilium's agents counted them: those of others are among them.
fn requests(grown: &Grown<'_>, sent: Range, mode: MeshMode) -> Proof {
    let count = grown.by("requests");
    let passes = if mode == MeshMode::Both { 2 } else { 1 };
    let least = sent.least * passes;
    let evidence = format!(
        "requests +{count} on its nodes, at least {least} were to be taken; others may be among them"
    );
    Proof { hop: "Cilium's proxy".to_owned(), evidence, ok: count >= least }
}

#[cfg(test)]
mod tests;
