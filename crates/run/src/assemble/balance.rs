//! The balance of a role: whether its members carried equal shares, and its nodes worked equally
//! hard.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::number::percentage;
use hopbench_model::{Member, NODE_PROXY, NodeCost, ProxyCost, Warning, WarningKind, proxy_role};

/// A member of a role carries more than its equal share by at least this factor, or a node works
/// harder than the mean of its role by more than it ...
const FACTOR: f64 = 1.5;
/// ... and the node by more cores than this: below it what else runs on a machine makes the
/// difference.
const LEAST: f64 = 0.2;
/// Shares that an equal random assignment of the connections gives more often than this are no
/// finding.
const BY_CHANCE: f64 = 0.001;

/// A warning for each role one of whose members carried far more than an equal share of its
/// requests, of its bytes or of its connections.
pub(super) fn of_members(members: &[Member]) -> Vec<(&str, Warning)> {
    let mut groups: Vec<(&str, &str)> = members.iter().map(Member::group).collect();
    groups.dedup();
    let told = |group: (&'_ str, &'_ str)| {
        let all: Vec<&Member> = members.iter().filter(|one| one.group() == group).collect();
        Some((all.first()?.role.as_str(), of_group(&all)?))
    };
    groups.into_iter().filter_map(told).collect()
}

/// What each of the members carried; `None` if one of them does not say.
type Counted = fn(&Member) -> Option<u64>;

fn of_group(members: &[&Member]) -> Option<Warning> {
    let counts = |of: Counted| members.iter().map(|one| of(one)).collect::<Option<Vec<u64>>>();
    let connections = counts(|one| one.connections)?;
    let all_connections: u64 = connections.iter().sum();
    let carried: [(&str, Counted); 3] = [
        ("requests", |one| one.requests),
        ("bytes of payload", |one| one.bytes),
        ("connections", |one| one.connections),
    ];
    let (what, most, own, all) = carried.into_iter().find_map(|(what, of)| {
        let each = counts(of)?;
        let all: u64 = each.iter().sum();
        let (most, own) = each.into_iter().enumerate().max_by_key(|(_, count)| *count)?;
        let share = own as f64 / all.max(1) as f64;
        is_beyond_chance(share, all_connections, members.len()).then_some((what, most, own, all))
    })?;
    let (member, equal) = (members[most], percentage(1.0 / members.len() as f64));
    let share = |of: u64, all: u64| percentage(of as f64 / all.max(1) as f64);
    let beside = if what == "connections" {
        String::new()
    } else {
        format!(
            ", and had {} % of {all_connections} connections",
            share(connections[most], all_connections)
        )
    };
    let role = match (member.of.as_str(), members.len()) {
        ("", count) if member.warmup_included => format!("{count} proxies {}", member.role),
        ("", count) => format!("{count} {}s", member.role),
        (end, count) => format!("{count} workers of the {end}"),
    };
    let warmup = if member.warmup_included { ", warm-up included" } else { "" };
    Some(Warning::new(
        WarningKind::Unbalanced,
        format!(
            "{role}: {} on node {} carried {} % of {all} {what}{beside}{warmup}; an equal share is \
             {equal} %",
            member.name,
            member.node,
            share(own, all),
        ),
        "see what assigns connections: session affinity, long-lived connections, one weight for \
         all; the others could have carried more",
    ))
}

/// Whether a member of `members` has this share of the work, from 0 to 1, by more than chance: if
/// each of the connections, all of which carry the same, went to any member with equal probability.
/// The bound on the tail of the binomial distribution is that of H. Chernoff, 1952; the factor
/// `members` is for having picked the largest of so many shares (Bonferroni).
fn is_beyond_chance(share: f64, connections: u64, members: usize) -> bool {
    let equal = 1.0 / members.max(1) as f64;
    if members < 2 || share < FACTOR * equal {
        return false;
    }
    let term = |is: f64, expected: f64| if is > 0.0 { is * (is / expected).ln() } else { 0.0 };
    let divergence = term(share, equal) + term(1.0 - share, 1.0 - equal);
    members as f64 * (-(connections as f64) * divergence).exp() <= BY_CHANCE
}

/// A warning where the ends of a role are on several nodes and one of these does most of the work.
/// `cores` are what the role's processes used, by node; `nodes` the machines, none where the nodes
/// are one machine.
pub(super) fn uneven(
    role: &str,
    cores: &[(&str, Option<f64>)],
    nodes: &[NodeCost],
) -> Option<Warning> {
    let names: BTreeSet<&str> = cores.iter().map(|(node, _)| *node).collect();
    let processes =
        cores.iter().map(|(node, cores)| Some((*node, (*cores)?))).collect::<Option<Vec<_>>>();
    let machines = names.iter().map(|name| {
        let node = nodes.iter().find(|node| node.name == *name && !node.per_cpu_busy.is_empty())?;
        Some((*name, node.busy_cores))
    });
    let machines = machines.collect::<Option<BTreeMap<_, _>>>();
    let (what, odd) = None
        .or_else(|| Some(("its processes there used", Odd::of(&sums(&processes?))?)))
        .or_else(|| Some(("all work there took", Odd::of(&machines?)?)))?;
    let Odd { node, cores, others, mean } = odd;
    Some(Warning::new(
        WarningKind::Unbalanced,
        format!(
            "the {role} are on {} nodes, and {node} did most: {what} {cores:.2} cores, {mean:.2} \
             on average ({others})",
            names.len()
        ),
        "spread them evenly, or see what else runs on the busy node: the others could have carried \
         more",
    ))
}

/// The same of the proxies of each role that the path names.
pub(super) fn of_proxies<'a>(
    proxies: &'a [ProxyCost],
    nodes: &[NodeCost],
) -> Vec<(&'a str, Warning)> {
    let mut roles: BTreeMap<&str, Vec<(&str, Option<f64>)>> = BTreeMap::new();
    // Those on nodes carry what belongs to others, too, and serve both ends.
    let is_own = |proxy: &&ProxyCost| proxy.named && proxy_role(&proxy.name) != NODE_PROXY;
    for proxy in proxies.iter().filter(is_own) {
        let cores = proxy.figures.get("cores").copied();
        roles.entry(proxy_role(&proxy.name)).or_default().push((&proxy.node, cores));
    }
    roles
        .iter()
        .filter_map(|(role, cores)| {
            Some((*role, uneven(&format!("proxies {role}"), cores, nodes)?))
        })
        .collect()
}

fn sums<'a>(cores: &[(&'a str, f64)]) -> BTreeMap<&'a str, f64> {
    let mut out = BTreeMap::new();
    for (node, cores) in cores {
        *out.entry(*node).or_insert(0.0) += cores;
    }
    out
}

/// A node that works harder than the others of its role.
struct Odd {
    node: String,
    cores: f64,
    mean: f64,
    /// What the others used.
    others: String,
}

impl Odd {
    fn of(nodes: &BTreeMap<&str, f64>) -> Option<Self> {
        let mean = nodes.values().sum::<f64>() / nodes.len().max(1) as f64;
        let (node, cores) = nodes.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        let is_odd = nodes.len() > 1 && *cores > FACTOR * mean && *cores > mean + LEAST;
        if !is_odd {
            return None;
        }
        let others = nodes
            .iter()
            .filter(|(name, _)| *name != node)
            .map(|(name, cores)| format!("{name} {cores:.2}"));
        let others = others.collect::<Vec<_>>().join(", ");
        Some(Self { node: (*node).to_owned(), cores: *cores, mean, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str, busy_cores: f64) -> NodeCost {
        NodeCost {
            name: name.to_owned(),
            busy_cores,
            per_cpu_busy: vec![0.5; 4],
            ..NodeCost::default()
        }
    }

    fn detail(cores: &[(&str, Option<f64>)], nodes: &[NodeCost]) -> Option<String> {
        uneven("servers", cores, nodes).map(|warning| warning.detail)
    }

    #[test]
    fn one_node_that_does_most_is_told_and_small_or_fair_differences_are_not() {
        let (a, b, c) =
            (|cores| ("a", Some(cores)), |cores| ("b", Some(cores)), |cores| ("c", Some(cores)));
        let text = detail(&[a(2.0), b(0.25), c(0.75)], &[]).unwrap();
        assert_eq!(
            text,
            "the servers are on 3 nodes, and a did most: its processes there used 2.00 cores, 1.00 \
             on average (b 0.25, c 0.75)"
        );
        // Exactly 1.5 times the mean is not more than that; nor is a fair share of three servers to
        // one.
        assert_eq!(detail(&[a(1.5), b(0.5)], &[]), None);
        assert!(detail(&[a(1.6), b(0.5)], &[]).is_some());
        // Little is nothing, and one node has nothing to be compared with, however many ends it
        // has.
        assert_eq!(detail(&[a(0.3), b(0.1)], &[]), None);
        assert_eq!(detail(&[a(3.0), a(0.1)], &[]), None);
        // Several ends of a node count together: 2 x 0.5 here, 1.0 there.
        assert_eq!(detail(&[a(0.5), a(0.5), b(1.0)], &[]), None);
        assert!(detail(&[a(1.0), a(1.0), b(0.2)], &[]).is_some());
    }

    /// What is taken for a finding is one in fewer than 1 of 1000 random assignments: here of 40
    /// connections to three members, counted out.
    #[test]
    fn equal_random_assignments_are_hardly_ever_a_finding() {
        const TIMES: u64 = 50_000;
        let mut state = 1u64;
        let mut findings = 0;
        for _ in 0..TIMES {
            let mut members = [0u64; 3];
            for _ in 0..40 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                members[((state >> 33) % 3) as usize] += 1;
            }
            let most = members.into_iter().max().unwrap_or(0) as f64;
            findings += u64::from(is_beyond_chance(most / 40.0, 40, 3));
        }
        assert!(findings <= TIMES / 1000, "{findings} of {TIMES}");
    }

    #[test]
    fn few_connections_and_small_differences_are_no_finding() {
        // All at one of three by chance: 3 x (1/3)^8 is 0.46 in a thousand, with 7 it is 1.4.
        assert_eq!([8, 7].map(|connections| is_beyond_chance(1.0, connections, 3)), [true, false]);
        assert!(!is_beyond_chance(0.49, 1_000_000, 3), "less than 1.5 times the equal share");
        assert!(is_beyond_chance(0.51, 1000, 3));
        assert!(!is_beyond_chance(1.0, 1000, 1) && !is_beyond_chance(0.0, 0, 2));
    }

    #[test]
    fn proxies_say_that_their_counts_begin_with_the_warm_up() {
        let gateway = |name: &str, requests| Member {
            role: "gateway".to_owned(),
            name: name.to_owned(),
            node: "c".to_owned(),
            connections: Some(requests / 10),
            requests: Some(requests),
            warmup_included: true,
            ..Member::default()
        };
        let members = [gateway("gateway", 2520), gateway("gateway#2", 480)];
        let told = of_members(&members);
        assert_eq!(told[0].0, "gateway");
        assert_eq!(
            told[0].1.detail,
            "2 proxies gateway: gateway on node c carried 84 % of 3000 requests, and had 84 % of \
             300 connections, warm-up included; an equal share is 50 %"
        );
    }

    #[test]
    fn the_machines_tell_what_the_processes_do_not() {
        let unknown = [("a", None), ("b", None)];
        assert_eq!(detail(&unknown, &[]), None);
        let text = detail(&unknown, &[machine("a", 0.2), machine("b", 3.9)]).unwrap();
        assert!(text.contains("b did most: all work there took 3.90 cores"), "{text}");
        // A machine whose CPUs nobody read says nothing of the others either.
        let unread = NodeCost { per_cpu_busy: Vec::new(), ..machine("a", 0.0) };
        assert_eq!(detail(&unknown, &[unread, machine("b", 3.9)]), None);
        let fair = [("a", Some(1.0)), ("b", Some(1.0))];
        assert!(
            detail(&fair, &[machine("a", 0.9), machine("b", 3.9)]).is_some(),
            "others work there"
        );
    }

    #[test]
    fn proxies_of_one_role_are_compared_with_each_other_only() {
        let proxy = |name: &str, node: &str, cores: f64, named| ProxyCost {
            name: name.to_owned(),
            node: node.to_owned(),
            named,
            figures: [("cores".to_owned(), cores)].into(),
        };
        let pair =
            |second| [proxy("gateway", "a", 3.0, true), proxy("gateway#2", "b", second, true)];
        let apart = pair(0.1);
        let told = of_proxies(&apart, &[]);
        assert!(
            told.len() == 1
                && told[0].1.detail.starts_with("the proxies gateway are on 2 nodes, and a"),
            "{told:?}"
        );
        assert_eq!(of_proxies(&pair(2.5), &[]), []);
        let others =
            [proxy("client-sidecar", "a", 3.0, true), proxy("server-sidecar", "b", 0.1, true)];
        assert_eq!(of_proxies(&others, &[]), []);
        assert_eq!(
            of_proxies(
                &[proxy("gateway", "a", 3.0, true), proxy("gateway#2", "b", 0.0, false)],
                &[]
            ),
            []
        );
    }
}
