//! Families of paths: those that differ only in their proxies.

use std::fmt;

use hopbench_model::{Path, References, Via};

/// Paths that differ only in the proxies that their traffic passes.
#[derive(Debug)]
pub(crate) struct Family {
    /// Their common part, in words.
    pub(crate) name: String,
    /// The variant of their proxies.
    pub(crate) variant: Option<String>,
    /// The subject of all of them.
    pub(crate) subject: Option<String>,
    /// The paths, in the scenario's order; each set of proxies once.
    pub(crate) members: Vec<Member>,
}

/// A path of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its index in the plan.
    pub(crate) path: usize,
    /// The proxies that its traffic passes.
    pub(crate) hops: Hops,
}

/// A set of proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hops {
    pub(crate) gateway: bool,
    pub(crate) server: bool,
    pub(crate) client: bool,
}

impl Hops {
    fn of(path: &Path) -> Self {
        let gateway = matches!(path.via, Via::Gateway(_));
        Self { gateway, server: path.mesh.has_server(), client: path.mesh.has_client() }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Whether a connection of a client ends at a proxy that is not in the server's pod.
    pub(crate) fn ends_connections(self) -> bool {
        self.gateway || self.client
    }

    fn len(self) -> u8 {
        u8::from(self.gateway) + u8::from(self.server) + u8::from(self.client)
    }

    fn holds(self, other: Self) -> bool {
        self.gateway >= other.gateway && self.server >= other.server && self.client >= other.client
    }

    /// Those that the other has not.
    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            gateway: self.gateway && !other.gateway,
            server: self.server && !other.server,
            client: self.client && !other.client,
        }
    }

    /// As a name of a path: `no proxy`, `with server sidecar`.
    pub(crate) fn with(self) -> String {
        if self.is_empty() { "no proxy".to_owned() } else { format!("with {self}") }
    }
}

impl fmt::Display for Hops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sidecars = match (self.server, self.client) {
            (true, true) => "both sidecars",
            (true, false) => "server sidecar",
            (false, true) => "client sidecar",
            (false, false) => "",
        };
        match (self.gateway, sidecars) {
            (true, "") => f.write_str("gateway"),
            (true, sidecars) => write!(f, "gateway, {sidecars}"),
            (false, sidecars) => f.write_str(sidecars),
        }
    }
}

/// The families of these paths that have at least two members, in the order of the paths. The twin
/// of the baseline is in none.
pub(crate) fn families(paths: &[Path], references: &References) -> Vec<Family> {
    let mut out: Vec<Family> = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        if !path.is_proxied()
            || references.is_twin(index)
            || paths[..index].iter().any(|known| kin(known, path))
        {
            continue;
        }
        let mut members: Vec<Member> = Vec::new();
        let of_it = |other: &&(usize, &Path)| {
            !references.is_twin(other.0) && (kin(other.1, path) || is_base(other.1, path))
        };
        let mut candidates: Vec<(usize, &Path)> =
            paths.iter().enumerate().filter(|one| of_it(&one)).collect();
        // Of several paths without a proxy, the one with nothing in between is what a gateway is
        // added to.
        candidates.sort_by_key(|(_, other)| {
            !other.is_proxied() && other.via != path.via && other.via != Via::Direct
        });
        for (path, other) in candidates {
            let member = Member { path, hops: Hops::of(other) };
            if !members.iter().any(|known| known.hops == member.hops) {
                members.push(member);
            }
        }
        if members.len() > 1 {
            let by = path.family.map(|family| format!(", {family}")).unwrap_or_default();
            let name = format!("{} → {}, {}{by}", path.from, path.to, path.entrance());
            out.push(Family {
                name,
                variant: path.variant.as_ref().map(|variant| variant.name.clone()),
                subject: path.subject.clone(),
                members,
            });
        }
    }
    out
}

/// Whether both are proxied and differ in their sidecars only.
fn kin(one: &Path, other: &Path) -> bool {
    one.is_proxied()
        && other.is_proxied()
        && ends(one, other)
        && (&one.via, &one.gateway_name) == (&other.via, &other.gateway_name)
        && one.variant == other.variant
}

/// Whether this is the way of the other without any proxy. In front of a gateway stands nothing
/// else that could stand in its place: there it is the direct path.
fn is_base(base: &Path, path: &Path) -> bool {
    let via = match &path.via {
        Via::Gateway(_) => matches!(base.via, Via::Direct | Via::ClusterIp),
        via => base.via == *via,
    };
    !base.is_proxied() && via && ends(base, path)
}

fn ends(one: &Path, other: &Path) -> bool {
    (&one.from, &one.to, one.clients, one.backends, one.family, &one.subject)
        == (&other.from, &other.to, other.clients, other.backends, other.family, &other.subject)
}

/// The indices of the sets that lead from the smallest to a largest, each holding the one before.
/// The gateway is first, then the server's sidecar, then the client's.
pub(crate) fn chain(sets: &[Hops]) -> Vec<usize> {
    let rank = |set: Hops| (set.len(), !set.gateway, !set.server, !set.client);
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|at| rank(sets[*at]));
    let mut out: Vec<usize> = Vec::new();
    for at in order {
        if out.last().is_none_or(|last| sets[at].holds(sets[*last]) && sets[at] != sets[*last]) {
            out.push(at);
        }
    }
    out
}

/// The steps by one proxy (or the smallest there are) that are not in the chain. They are pairs of
/// indices, in the order in which a reader follows them.
pub(crate) fn others(sets: &[Hops], chain: &[usize]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(|at| sets[*at].len());
    let smaller = |from: usize, to: usize| sets[to].holds(sets[from]) && sets[to] != sets[from];
    let adjacent = |from: usize, to: usize| {
        smaller(from, to)
            && !(0..sets.len()).any(|between| smaller(from, between) && smaller(between, to))
    };
    for through in order.iter().copied().filter(|at| !chain.contains(at)) {
        for from in order.iter().copied().filter(|from| adjacent(*from, through)) {
            out.push((from, through));
        }
        for to in order.iter().copied().filter(|to| adjacent(through, *to)) {
            out.push((through, to));
        }
    }
    let mut seen = Vec::new();
    out.retain(|pair| {
        let new = !seen.contains(pair);
        seen.push(*pair);
        new
    });
    out
}

#[cfg(test)]
mod tests;
