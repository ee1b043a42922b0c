//! The balance of the nodes of one role: whether they worked equally hard.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{NodeCost, ProxyCost, Warning, WarningKind, proxy_role};

/// The busiest node of a role works harder than the mean of them by more than this factor ...
const FACTOR: f64 = 1.5;
/// ... and by more cores than this: below it what else runs on a machine makes the difference.
const LEAST: f64 = 0.2;

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
        WarningKind::UnbalancedNodes,
        format!(
            "the {role} are on {} nodes, and {node} did most: {what} {cores:.2} cores, {mean:.2} on average ({others})",
            names.len()
        ),
        "spread them evenly, or see what else runs on the busy node: the others could have carried more",
    ))
}

/// The same of the proxies of each role that the path names.
pub(super) fn of_proxies(proxies: &[ProxyCost], nodes: &[NodeCost]) -> Vec<Warning> {
    let mut roles: BTreeMap<&str, Vec<(&str, Option<f64>)>> = BTreeMap::new();
    for proxy in proxies.iter().filter(|proxy| proxy.named) {
        let cores = proxy.figures.get("cores").copied();
        roles.entry(proxy_role(&proxy.name)).or_default().push((&proxy.node, cores));
    }
    roles
        .iter()
        .filter_map(|(role, cores)| uneven(&format!("proxies {role}"), cores, nodes))
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
            "the servers are on 3 nodes, and a did most: its processes there used 2.00 cores, 1.00 on average (b 0.25, c 0.75)"
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
        let told = of_proxies(&pair(0.1), &[]);
        assert!(
            told.len() == 1
                && told[0].detail.starts_with("the proxies gateway are on 2 nodes, and a"),
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
