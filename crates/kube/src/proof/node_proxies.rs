//! Proof of a mesh with its proxies on the nodes, from what those counted around a trial.

use hopbench_model::{
    BYPASSES_PROXY, MeshMode, MeshProvider, NODE_PROXY, Path, Proof, Via, proxy_role,
};
use hopbench_testbed::{Counters, Range, Route, Seen, Sent, proxy_growth};

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
        let evidence = "no proxy on its nodes is known".to_owned();
        let none = Proof { hop: NODE_PROXY.to_owned(), evidence, ok: false };
        // Without a mesh on any path of the plan nobody looks for them.
        return if path.mesh.is_none() { Vec::new() } else { vec![none] };
    }
    let bypassed = seen.job.bypasses_proxies();
    let mode = if bypassed { MeshMode::None } else { path.mesh };
    let sent = Sent::all(seen);
    if provider == MeshProvider::Cilium {
        return if mode.is_none() { Vec::new() } else { vec![requests(&grown, sent.requests)] };
    }
    let ends = [("client", mode.has_client()), ("server", mode.has_server())];
    let why = if bypassed { BYPASSES_PROXY } else { "not on this path" };
    let proof = |(end, takes)| match takes {
        true => connections(&grown, end, path, &sent),
        false => idle(&grown, end, why),
    };
    ends.map(proof).into()
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

fn hop(end: &str) -> String {
    format!("{end}'s ztunnel")
}

/// A ztunnel that must not have taken anything of this end.
fn idle(grown: &Grown<'_>, end: &str, why: &str) -> Proof {
    let all = grown.by(&format!("{end}_connections"));
    Proof { hop: hop(end), evidence: format!("{why}: connections +{all}"), ok: all == 0 }
}

/// The connections of one end as its ztunnel counted them.
fn connections(grown: &Grown<'_>, end: &str, path: &Path, sent: &Sent) -> Proof {
    let of = |counter: &str| grown.by(&format!("{end}_{counter}"));
    let (all, safe, bytes) = (of("connections"), of("mtls_connections"), of("bytes"));
    let by_others = matches!(&path.via, Via::Gateway(_));
    let wanted = match end {
        // A gateway keeps its connections, and opens more for itself.
        "server" if by_others => Range { least: 0, most: u64::MAX },
        // One that carries nothing may never reach the server.
        "server" => Range { least: sent.used.least, ..sent.connections },
        _ => sent.connections,
    };
    let told = if by_others {
        String::new()
    } else {
        format!(", the clients opened {}", sent.connections)
    };
    let evidence = format!("connections +{all}, {safe} of them with mTLS{told}; bytes +{bytes}");
    // Between two ends in the mesh nothing goes without, where the client's ztunnel knows the
    // server by its address.
    let knows_server = matches!(path.via, Via::Direct | Via::ClusterIp);
    let is_safe = path.mesh != MeshMode::Both || !knows_server || safe == all;
    // Connections that stood before the trial show in their bytes.
    let is_used = bytes > 0 || all > 0 && !by_others;
    Proof { hop: hop(end), evidence, ok: wanted.holds(all) && is_safe && is_used }
}

/// The HTTP that Cilium's agents counted on the nodes of a path: that of others is among it.
fn requests(grown: &Grown<'_>, sent: Range) -> Proof {
    let count = grown.by("requests");
    let evidence = format!(
        "HTTP counted on its nodes +{count}, the clients sent {sent}; that of others is among it, \
         and some may lack"
    );
    Proof { hop: "Cilium's proxy".to_owned(), evidence, ok: count > 0 || sent.least == 0 }
}

#[cfg(test)]
mod tests;
