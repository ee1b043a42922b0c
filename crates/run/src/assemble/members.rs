//! The members of each role, with what each of them carried and spent.

use std::collections::BTreeMap;

use hopbench_model::{Counter, Counts, Job, Member, NODE_PROXY, ProxyCost, proxy_role};

use super::end::{End, spent_seconds};

/// The members of a role that are kept, those that carried most.
const MOST: usize = 64;

/// The ends of one side.
pub(super) struct Side<'a> {
    /// `client` or `server`.
    pub(super) role: &'static str,
    pub(super) ends: &'a [End<'a>],
    /// What each spent.
    pub(super) spent: &'a [BTreeMap<String, f64>],
    /// How many should have reported.
    pub(super) all: usize,
    /// Whether the ends do the work themselves; otherwise a program does, which they look at.
    pub(super) works: bool,
}

/// The members of a side, then the workers of each of its ends. Nothing where an end did not
/// report, as nobody knows what it carried. `job` is that of each client.
pub(super) fn of_side(job: &Job, side: &Side<'_>) -> Vec<Member> {
    let is_told = side.works && side.ends.len() == side.all;
    if !is_told {
        return Vec::new();
    }
    let several = side.ends.len() > 1;
    let mut out = Vec::new();
    let mut workers = Vec::new();
    for (number, (end, spent)) in side.ends.iter().zip(side.spent).enumerate() {
        let name =
            if several { format!("{} {}", side.role, number + 1) } else { side.role.to_owned() };
        let (start, last) = (&end.report.start, &end.report.end);
        let opened = (side.role == "client").then_some(u64::from(job.connections));
        let cpu_s =
            spent.get("cores").map(|cores| cores * spent_seconds(end.report).unwrap_or(0.0));
        out.push(Member {
            role: side.role.to_owned(),
            name: name.clone(),
            node: end.node.to_owned(),
            cpu_s,
            ..carried(job, &start.counts, &last.counts, opened)
        });
        let edges = &end.report.workers;
        let each = edges.start.iter().zip(&edges.end).enumerate();
        // A worker that began after the window's start has no reading there.
        let all_began = edges.start.len() == edges.end.len();
        workers.extend(each.filter(|_| all_began).map(|(at, (start, last))| Member {
            role: "worker".to_owned(),
            of: name.clone(),
            name: format!("worker {}", at + 1),
            node: end.node.to_owned(),
            ..carried(job, start, last, opened.map(|all| of_worker(all, at, end.threads)))
        }));
    }
    if !several {
        out.clear();
    }
    out.extend(workers);
    out
}

/// Of so many connections of a client, those that its worker of this number has.
fn of_worker(all: u64, at: usize, workers: u32) -> u64 {
    let workers = u64::from(workers.max(1));
    (all + workers - 1).saturating_sub(at as u64) / workers
}

/// The work between two readings, with so many connections; `None`: those that are counted.
fn carried(job: &Job, start: &Counts, last: &Counts, connections: Option<u64>) -> Member {
    let grown = last.since(start);
    let is_of_exchanges = job.kind().is_of_exchanges();
    let bytes = grown.of(Counter::SentBytes) + grown.of(Counter::ReceivedBytes);
    let open = || last.of(Counter::Accepted).saturating_sub(start.of(Counter::Ended));
    Member {
        connections: Some(connections.unwrap_or_else(open)),
        requests: is_of_exchanges.then(|| grown.of(Counter::Completed)),
        bytes: (!is_of_exchanges).then_some(bytes),
        ..Member::default()
    }
}

/// The proxies of each role that the path names, where there are several.
pub(super) fn of_proxies(proxies: &[ProxyCost]) -> Vec<Member> {
    // Those on nodes serve both ends, and carry what belongs to others, too.
    let is_own = |proxy: &&ProxyCost| proxy.named && proxy_role(&proxy.name) != NODE_PROXY;
    let named = || proxies.iter().filter(is_own);
    let of_role = |role: &str| named().filter(|proxy| proxy_role(&proxy.name) == role).count();
    let one = |proxy: &ProxyCost| {
        let figure = |name: &str| proxy.figures.get(name).copied();
        let count = |name| figure(name).map(|count: f64| count as u64);
        Member {
            role: proxy_role(&proxy.name).to_owned(),
            name: proxy.name.clone(),
            node: proxy.node.clone(),
            connections: count("downstream_connections"),
            requests: count("requests"),
            cpu_s: figure("cpu_s"),
            warmup_included: true,
            ..Member::default()
        }
    };
    named().filter(|proxy| of_role(proxy_role(&proxy.name)) > 1).map(one).collect()
}

/// Of each role the members that carried most.
pub(super) fn shortened(members: Vec<Member>) -> Vec<Member> {
    let mut kept: Vec<Member> = Vec::new();
    let mut groups: Vec<Vec<Member>> = Vec::new();
    for member in members {
        match groups.iter_mut().find(|group| group[0].group() == member.group()) {
            Some(group) => group.push(member),
            None => groups.push(vec![member]),
        }
    }
    for mut group in groups {
        if group.len() > MOST {
            let carried = |m: &Member| m.requests.or(m.bytes).or(m.connections);
            group.sort_by_key(|member| std::cmp::Reverse(carried(member)));
            group.truncate(MOST);
        }
        kept.append(&mut group);
    }
    kept
}
