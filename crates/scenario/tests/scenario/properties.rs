//! Property tests of the reader: it ends and does not panic, whatever the input is; and what it
//! accepts makes sense.

mod scale;

use std::collections::HashSet;

use hopbench_model::{Path, Plan, SearchGoal, TestbedSpec, Variant, Via};
use hopbench_scenario::{MOST_CELLS, Overrides, SHIPPED, read};
use proptest::prelude::*;

use crate::common::{CLUSTER, on, plan, resolved, testbed, try_plan, vocabularies};

/// What every plan must be.
fn is_sound(plan: &Plan) {
    assert!((1..=1000).contains(&plan.rounds));
    assert!(!plan.cells.is_empty() && plan.cells.len() <= MOST_CELLS);
    let names: HashSet<_> = plan.paths.iter().map(|p| &p.name).collect();
    assert_eq!(names.len(), plan.paths.len(), "a path's name is there twice");
    assert!(plan.baseline.as_ref().is_none_or(|name| names.contains(name)));
    if let Some(stop) = &plan.stop {
        assert!(stop.min_rounds >= 3 && plan.rounds >= stop.min_rounds, "{stop:?}");
    }
    is_twin(plan);
    let nodes = plan.testbed.nodes();
    let (is_cluster, has_gateway) = match &plan.testbed {
        TestbedSpec::Kubernetes(cluster) => (true, cluster.gateway.is_some()),
        _ => (false, false),
    };
    for path in &plan.paths {
        assert!(nodes.contains(&path.from.node.as_str()) && nodes.contains(&path.to.node.as_str()));
        assert!(path.clients >= 1 && path.backends >= 1);
        assert_eq!(path.variant.is_some(), path.is_proxied(), "{}", path.name);
        for (has, place) in
            [(path.mesh.has_client(), &path.from), (path.mesh.has_server(), &path.to)]
        {
            let pod = place.network != "host" && (is_cluster || place.runtime.is_none());
            assert!(pod || !has, "a sidecar beside {place}");
        }
        if let Via::Gateway(node) = &path.via {
            assert_eq!(node.is_empty(), has_gateway, "{}", path.name);
            assert!(node.is_empty() || nodes.contains(&node.as_str()), "{}", path.name);
            assert!(!path.mesh.has_client(), "{}", path.name);
        }
    }
    let points: HashSet<_> =
        plan.points.iter().map(|p| (&p.workload, format!("{:?}", p.point))).collect();
    assert_eq!(points.len(), plan.points.len(), "a point is there twice");
    let cells: HashSet<_> = plan.cells.iter().collect();
    assert_eq!(cells.len(), plan.cells.len(), "a cell is there twice");
    for cell in &plan.cells {
        assert!(cell.path < plan.paths.len() && cell.point < plan.points.len());
    }
    // A tool of others has no workload of ours, but the job of one.
    for point in plan.points.iter().filter(|point| point.peer.is_none()) {
        let workload = hopbench_load::workload(&point.job.workload).expect("a workload");
        assert_eq!(
            point.job.problems().len() + workload.problems(&point.job).len(),
            0,
            "{:?}",
            point.job
        );
        if let Some(search) = &point.search {
            is_search(&search.goal);
        }
    }
}

/// The twin is the baseline in all but its name, and has no cell where that has none.
fn is_twin(plan: &Plan) {
    let of = |name: &Option<String>| {
        plan.paths.iter().position(|path| Some(&path.name) == name.as_ref())
    };
    let Some(twin) = of(&plan.twin) else {
        assert_eq!(plan.twin, None);
        return;
    };
    let baseline = of(&plan.baseline).expect("what it is the twin of");
    let name = plan.paths[twin].name.clone();
    assert_eq!(Path { name, ..plan.paths[baseline].clone() }, plan.paths[twin]);
    let points =
        |path| plan.cells.iter().filter(move |cell| cell.path == path).map(|cell| cell.point);
    let others: HashSet<_> = points(baseline).collect();
    assert!(points(twin).count() > 0);
    assert!(
        points(twin).all(|point| others.contains(&point) && plan.points[point].search.is_none())
    );
}

/// A search has somewhere to begin and somewhere to end.
fn is_search(goal: &SearchGoal) {
    match goal {
        SearchGoal::Knee { connections, threads, .. } => {
            assert!(
                connections.len() >= 2
                    && connections[0] >= 1
                    && connections.is_sorted_by(|a, b| a < b),
                "{goal:?}"
            );
            assert!(threads.is_sorted_by(|a, b| a < b) && threads.first() != Some(&0), "{goal:?}");
        }
        SearchGoal::Slo { rates, .. }
        | SearchGoal::Cpu { rates, .. }
        | SearchGoal::Lossless { rates, .. } => {
            assert!(
                0.0 < rates.lowest_per_s && rates.lowest_per_s < rates.highest_per_s,
                "{goal:?}"
            );
            assert!(rates.highest_per_s.is_finite(), "{goal:?}");
        }
    }
}

/// A problem says where, what, and what instead, in one line that a terminal can be trusted with.
fn try_one(text: &str) {
    match try_plan(text) {
        Ok(plan) => is_sound(&plan),
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in &problems {
                let line = problem.to_string();
                assert!(!problem.found.is_empty() && !problem.expected.is_empty(), "{line}");
                assert!(!line.chars().any(|c| c.is_control()), "{line:?}");
                assert!(line.len() < 6000, "{} bytes", line.len());
                assert!(problem.line <= text.matches(['\n', '\r']).count() + 1, "{line}");
            }
        }
    }
}

/// Pieces that scenarios are made of.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "name", "paths", "places", "workloads", "testbed", "lab", "kubernetes", "hosts", "networks",
    "servers", "labels", "name", "image", "patch", "gateway", "prometheus", "address@x:80",
    "load-balancer", "pod+kata@worker-1.example", "10.0.0.1:7474", "0644", "nodes", "zone", "link",
    "10Gbit", "rounds", "0", "1", "-1", "3", "1e9", "host@a", "bridge+runsc@b", "->", " via ",
    "node-port@c", "bridge@a", "gateway@c", "stop", "ci", "budget", "a-a", "baseline", "2%",
    "search", "knee", "slo", "p99", "cpu", "of", "proxy gateway", "lossless", "rates", "1..9",
    "connections", " mesh ", "mesh", "both", "server", "client", "none", "variants", "plain",
    "stats", "mtls", "true", "concurrency", "upstream", "cluster-ip", "rr", "stream", "http",
    "ping", "size", "[", "]", "{", "}", ":", ": ", ", ", "\n", "\n  ", "- ", "'", "\"", "&a ", "*a",
    "!!str ", "#", "|", ">", "? ", "---\n", "%", "1:256KiB:*64", "1,2", "from", "to", "factor",
    "step", "response", "path", "server", "nginx", "time", "null", "~", "\t", "\u{feff}",
    "18446744073709551616", "inf", "kinds", "*", "..", "\u{0}", "ä",
];

/// A text with pieces in the place of some of its characters: where, how many, which.
fn changed(text: &str, changes: Vec<(prop::sample::Index, usize, &str)>) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, cut, piece) in changes {
        let from = at.index(text.len() + 1);
        let to = (from + cut).min(text.len());
        text.splice(from..to, piece.chars());
    }
    text.into_iter().collect()
}

/// What stands between two pods, and whether proxies are in it.
const WAYS: &[(&str, bool)] = &[
    ("", false),
    (" via cluster-ip", false),
    (" mesh none", false),
    (" mesh client", true),
    (" via cluster-ip mesh both", true),
    (" via gateway@c", true),
    (" via gateway@c mesh server", true),
];

proptest! {
    #![proptest_config(
        ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() }
    )]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        try_one(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_heap_of_pieces_panics(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60),
    ) {
        try_one(&pieces.concat());
    }

    /// A few changes to a scenario that is right: most of it is still understood.
    #[test]
    fn no_mutation_panics(
        which in 0..SHIPPED.len(),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0usize..20, proptest::sample::select(PIECES)),
            1..4,
        ),
    ) {
        try_one(&changed(SHIPPED[which].text, changes));
    }

    /// Paths without proxies stay, the others are there once for each variant: in order, and each
    /// name once.
    #[test]
    fn variants_multiply_the_paths_that_have_proxies(
        ways in proptest::collection::vec(proptest::sample::select(WAYS), 1..6),
        variants in proptest::sample::subsequence(Variant::known(), 1..=7).prop_shuffle(),
    ) {
        let named = |n: usize| format!("p{n}");
        let path = |(n, (way, _)): (usize, &(&str, bool))| {
            format!("{}: bridge@a -> bridge@b{way}", named(n))
        };
        let paths: Vec<String> = ways.iter().enumerate().map(path).collect();
        let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        let any = ways.iter().any(|(_, proxied)| *proxied);
        let mesh = if any {
            format!("mesh: {{variants: [{}]}}\n", known.join(", "))
        } else {
            String::new()
        };
        let paths = paths.join(", ");
        let plan = plan(&format!("name: x\npaths: {{{paths}}}\n{mesh}workloads: {{w: rr}}\n"));
        is_sound(&plan);
        let mut expected = Vec::new();
        for (n, (_, proxied)) in ways.iter().enumerate() {
            match (proxied, variants.as_slice()) {
                (false, _) => expected.push((named(n), None)),
                (true, [one]) => expected.push((named(n), Some(one.clone()))),
                (true, several) => {
                    let one = |v: &Variant| (format!("{}.{}", named(n), v.name), Some(v.clone()));
                    expected.extend(several.iter().map(one));
                }
            }
        }
        let made: Vec<_> = plan.paths.into_iter().map(|path| (path.name, path.variant)).collect();
        prop_assert_eq!(made, expected);
    }

    /// The same for all that can be said of a cluster.
    #[test]
    fn no_mutation_of_a_cluster_panics(
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0usize..20, proptest::sample::select(PIECES)),
            0..4,
        ),
    ) {
        let path = "macvlan+kata@a -> eni@b via gateway";
        let text = on(&format!("testbed:\n  kubernetes:{CLUSTER}paths: {{p: {path}}}"));
        try_one(&changed(&text, changes));
    }

    /// Nodes share a zone on a cluster if and only if they do in the lab that it replaces.
    #[test]
    fn zones_of_a_lab_stay_as_they_are(
        zones in proptest::collection::vec(proptest::option::of("[xyz]"), 2..8),
    ) {
        let name = |n: usize| format!("n{n}");
        let node = |(n, zone): (usize, &Option<String>)| {
            zone.as_ref().map_or_else(
                || format!("{}: ", name(n)),
                |zone| format!("{}: {{zone: {zone}}}", name(n)),
            )
        };
        let nodes: Vec<String> = zones.iter().enumerate().map(node).collect();
        let paths: Vec<String> =
            (1..zones.len()).map(|n| format!("p{n}: host@n0 -> host@n{n}")).collect();
        let (nodes, paths) = (nodes.join(", "), paths.join(", "));
        let text = on(&format!("testbed: {{lab: {{nodes: {{{nodes}}}}}}}\npaths: {{{paths}}}"));
        let plan = resolved(&text, &testbed("kubernetes")).plan;
        is_sound(&plan);
        let TestbedSpec::Kubernetes(cluster) = &plan.testbed else { panic!("no cluster") };
        prop_assert_eq!(cluster.nodes.len(), zones.len());
        for (n, node) in cluster.nodes.iter().enumerate() {
            prop_assert_eq!(&node.name, &name(n));
            for (m, other) in cluster.nodes.iter().enumerate() {
                prop_assert_eq!(node.zone == other.zone, zones[n] == zones[m]);
            }
        }
        prop_assert_eq!(cluster.nodes[0].zone.is_none(), zones.iter().all(Option::is_none));
    }

    #[test]
    fn no_filter_panics(filter in "[a-z=,*?0-9:.]{0,30}") {
        let overrides = Overrides { only: vec![filter], ..Overrides::default() };
        if let Ok(resolved) = read("x.yaml", SHIPPED[0].text, &vocabularies(), &overrides) {
            is_sound(&resolved.plan);
        }
    }
}

#[test]
fn the_shipped_are_sound() {
    SHIPPED.iter().for_each(|scenario| is_sound(&plan(scenario.text)));
}

/// Lines may end as on other systems, and keys may be in any order.
#[test]
fn the_same_in_other_words() {
    for scenario in SHIPPED {
        let original = plan(scenario.text);
        assert_eq!(plan(&scenario.text.replace('\n', "\r\n")), original, "{}", scenario.name);
    }
    let text = "workloads: {w: {rr: {receive-nothing: 1}}}\nname: x\npaths: {p: host@a -> host@b}";
    assert!(try_plan(text).is_err());
    let one = "name: x\nseed: 1\npaths: {p: host@a -> host@b}\n\
               workloads: {w: {stream: {send-buffer: 1MiB}}}\n";
    let other = "workloads: {w: {stream: {send_buffer: 1MiB}}}\npaths:\n  p:\n    to: host@b\n    \
                 from: host@a\nseed: 1\nname: x\n";
    assert_eq!(plan(one), plan(other));
}
