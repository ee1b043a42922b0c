//! What proxies add and spend, with known answers.

use hopbench_model::Record;
use hopbench_report::campaign::{Resource, Step, Summary, WaterfallSummary};

use super::fixture::Made;
use super::mesh::{self, mesh};
use super::{render, summary};

/// One workload at one rate, with exact figures: p50 of a path in a round, ns; cores of each end and of each proxy.
fn exact(rounds: u32, p50_ns: impl Fn(&str, u32) -> u64) -> Made {
    let mut made = mesh(rounds);
    made.records.retain(|record| record.workload == "web");
    for record in &mut made.records {
        let ns = p50_ns(&record.path, record.round);
        record.latency.insert("response_ns".to_owned(), mesh::of(&[ns]));
        record.metrics.insert("requests_per_s".to_owned(), 1000.0);
        record.cost.client.insert("cores".to_owned(), 0.02);
        record.cost.server.insert("cores".to_owned(), 0.03);
        for proxy in &mut record.cost.proxies {
            proxy.figures.insert("cores".to_owned(), if proxy.name == "client-sidecar" { 0.07 } else { 0.06 });
        }
    }
    made
}

/// Every round is slower than the one before; each sidecar always adds the same, and both a little more than their sum.
fn added(path: &str, round: u32) -> u64 {
    let base = 100_000 * u64::from(round);
    base + match path {
        "server" => 50_000,
        "client" => 70_000,
        "both" => 125_000,
        _ => 0,
    }
}

fn web<'a>(summary: &'a Summary, variant: &str) -> &'a WaterfallSummary {
    let of_it = |one: &&WaterfallSummary| one.variant.as_deref() == Some(variant) && one.point["rate"] == 1000;
    summary.waterfall.iter().find(of_it).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.001 * 400_000.0
}

#[test]
fn a_step_is_the_difference_of_two_paths_round_by_round() {
    let summary = summary(&exact(3, added));
    let found = web(&summary, "plain");
    let labels: Vec<(&str, &str, Option<&str>)> =
        found.steps.iter().map(|step| (step.label.as_str(), step.path.as_str(), step.against.as_deref())).collect();
    assert_eq!(
        labels,
        [
            ("no proxy", "none", None),
            ("+ server sidecar", "server", Some("none")),
            ("+ client sidecar", "both", Some("server")),
            ("= both sidecars", "both", Some("none")),
            ("+ client sidecar alone", "client", Some("none")),
            ("+ server sidecar to that", "both", Some("client")),
        ]
    );
    for (step, ns, cpu) in [(0, 200e3, 50e3), (1, 50e3, 60e3), (2, 75e3, 70e3), (3, 125e3, 130e3), (5, 55e3, 60e3)] {
        let Step { added, .. } = &found.steps[step];
        assert_eq!(
            added.iter().map(|a| a.name).collect::<Vec<_>>(),
            ["response_p50_ns", "response_p99_ns", "cpu_per_request_ns"]
        );
        assert!(near(added[0].median, ns), "{step}: {added:?}");
        assert!((added[2].median - cpu).abs() < 1e-3, "{step}: {added:?}");
        if step > 0 {
            let (low, high) = (added[0].low.unwrap(), added[0].high.unwrap());
            assert!(near(low, ns) && near(high, ns), "what changes between rounds hits both alike: {added:?}");
        }
    }
    let shares: Vec<(&str, f64)> = found.steps[3].proxies.iter().map(|p| (p.name.as_str(), p.cpu_ns)).collect();
    assert_eq!(shares.len(), 2);
    assert!(shares.iter().any(|(name, ns)| *name == "client-sidecar" && (ns - 70e3).abs() < 1e-3), "{shares:?}");
}

#[test]
fn what_was_not_measured_leaves_the_other_steps() {
    let mut made = exact(2, added);
    made.records.retain(|record| record.path != "server" && record.path != "gateway");
    let found = summary(&made);
    let labels = |variant: &str| web(&found, variant).steps.iter().map(|s| s.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels("plain"), ["no proxy", "+ client sidecar", "+ server sidecar", "= both sidecars"]);
    assert_eq!(labels("stats"), ["no proxy", "+ both sidecars"]);
    let gateway = found.waterfall.iter().find(|one| one.family.ends_with("gateway@c")).unwrap();
    assert_eq!(gateway.steps[1].label, "+ gateway, server sidecar");
    made.records.retain(|record| record.path == "none");
    assert!(summary(&made).waterfall.is_empty(), "one path adds nothing to itself");
}

#[test]
fn rounds_of_different_sessions_and_unknown_proxies_make_no_step() {
    let mut made = exact(2, added);
    made.records.iter_mut().filter(|record| record.path == "both").for_each(|record| record.session = 2);
    let server = |record: &&mut Record| record.path == "server";
    made.records.iter_mut().filter(server).for_each(|record| record.cost.proxies.clear());
    let found = summary(&made);
    let steps = &web(&found, "plain").steps;
    assert!(steps.iter().all(|step| step.path != "both"), "{steps:?}");
    let server = steps.iter().find(|step| step.path == "server").unwrap();
    let names: Vec<_> = server.added.iter().map(|added| added.name).collect();
    assert_eq!(names, ["response_p50_ns", "response_p99_ns"], "its proxy's CPU is not known, so the sum is not");
}

#[test]
fn traffic_that_no_proxy_sees_is_marked_and_adds_nothing() {
    let made = mesh(2);
    let found = summary(&made);
    assert!(found.waterfall.iter().all(|one| one.workload != "echo"));
    assert!(found.proxy_curves.iter().all(|curve| curve.workload != "echo"));
    let echo = found.workloads.iter().find(|workload| workload.name == "echo").unwrap();
    let marked: Vec<bool> = echo.cells.iter().map(|cell| cell.bypasses_proxy).collect();
    assert_eq!(marked, [false, true, true, true, true, true, true]);
    for (format, mark) in [
        ("table", "- bypasses proxy (server, client, both, both-stats, gateway and 1 more)"),
        ("markdown", "- bypasses proxy (server, client"),
        ("csv", ",bypasses proxy,both,plain\n"),
        ("json", "\"bypasses_proxy\": true"),
        ("html", "<small class=\"remark\">bypasses proxy</small>"),
    ] {
        assert!(render(&made, format).contains(mark), "{format}");
    }
}

#[test]
fn failures_stand_beside_their_cells() {
    let made = mesh(2);
    for (format, text) in [
        ("table", "- 503 UF 24x (both connections=128)"),
        ("markdown", "- 503 UF 24x (both connections=128)"),
        ("csv", ",503 UF 24x,both,plain\n"),
        ("json", "\"503 UF\": 24"),
        ("html", "<small class=\"remark\">503 UF 24x</small>"),
    ] {
        assert!(render(&made, format).contains(text), "{format}");
    }
}

#[test]
fn cpu_over_the_rate_is_a_line_with_what_is_spent_at_rest() {
    let mut made = mesh(3);
    made.records.retain(|record| record.workload == "web");
    for record in &mut made.records {
        let rate = record.point["rate"].as_f64().unwrap();
        record.metrics.insert("requests_per_s".to_owned(), rate);
        for proxy in &mut record.cost.proxies {
            let cores = if proxy.named { 0.01 + 62e-6 * rate } else { 0.008 };
            proxy.figures.insert("cores".to_owned(), cores);
        }
    }
    let found = summary(&made);
    let curve = found.proxy_curves.iter().find(|c| c.path == "both" && c.proxy == "server-sidecar").unwrap();
    assert_eq!((curve.resource, curve.over.as_str()), (Resource::Cores, "requests_per_s"));
    let line = curve.line.unwrap();
    assert!((line.idle - 0.01).abs() < 1e-9 && (line.slope - 62e-6).abs() < 1e-12, "{line:?}");
    assert_eq!((line.from, line.to, curve.measured_idle), (100.0, 4000.0, Some(0.008)));
    assert_eq!(
        curve.text,
        "server-sidecar: idle 0.010 cores [0.010, 0.010] (0.008 cores measured without traffic), 62.0 us [62.0, 62.0] CPU a request \
         between 100/s and 4000/s"
    );
    // A curve that bends is not passed off as a line.
    for record in &mut made.records {
        let rate = record.point["rate"].as_f64().unwrap();
        for proxy in &mut record.cost.proxies {
            proxy.figures.insert("cores".to_owned(), 0.2 * (rate / 1000.0).sqrt());
        }
    }
    assert!(summary(&made).proxy_curves[0].text.contains("; not a straight line: it misses a point by "));
    made.records.retain(|record| record.point["rate"] == 100 || record.point["rate"] == 4000);
    let two = summary(&made);
    assert!(two.proxy_curves[0].line.is_none());
    let text = &two.proxy_curves[0].text;
    assert!(text.contains(" at 4000/s") && text.ends_with("; a line needs 3 different loads"), "{text}");
}

#[test]
fn memory_over_connections_is_a_line_too() {
    let mut made = mesh(2);
    for record in made.records.iter_mut().filter(|record| record.workload == "pool") {
        let connections = record.job["connections"].as_f64().unwrap();
        for proxy in &mut record.cost.proxies {
            proxy.figures.insert("rss_bytes".to_owned(), 4e7 + 5e4 * connections);
        }
    }
    let found = summary(&made);
    let of = |resource| {
        found.proxy_curves.iter().find(move |c| c.workload == "pool" && c.path == "both" && c.resource == resource)
    };
    let line = of(Resource::RssBytes).unwrap().line.unwrap();
    assert!((line.idle - 4e7).abs() < 1.0 && (line.slope - 5e4).abs() < 1e-3, "{line:?}");
    assert!(of(Resource::AllocatedBytes).is_some());
    let rates = found.proxy_curves.iter().filter(|c| c.workload == "web");
    assert!(rates.clone().count() > 0 && rates.clone().all(|c| c.resource == Resource::Cores), "16 connections in all");
}
