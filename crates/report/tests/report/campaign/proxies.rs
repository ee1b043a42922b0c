//! The cost of proxies in reports, with known answers.

use hopbench_model::Record;
use hopbench_report::campaign::{Summary, WaterfallStep, WaterfallSummary};

use super::fixture::Made;
use super::mesh::{self, mesh};
use super::{export, render, summary};

/// One workload at one rate, with exact figures: p50 of a path in a round, ns; cores of each end
/// and of each proxy.
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
            proxy.figures.insert(
                "cores".to_owned(),
                if proxy.name == "client-sidecar" { 0.07 } else { 0.06 },
            );
        }
    }
    made
}

/// Every round is slower than the one before; each sidecar always adds the same, and both a little
/// more than their sum.
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
    let of_it = |one: &&WaterfallSummary| {
        one.variant.as_deref() == Some(variant) && one.point["rate"] == 1000
    };
    summary.waterfall.iter().find(of_it).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.001 * 400_000.0
}

#[test]
fn a_step_is_the_difference_of_two_paths_round_by_round() {
    let summary = summary(&exact(3, added));
    let found = web(&summary, "plain");
    let labels: Vec<(&str, &str, Option<&str>)> = found
        .steps
        .iter()
        .map(|step| (step.label.as_str(), step.path.as_str(), step.against.as_deref()))
        .collect();
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
    for (step, ns, cpu) in
        [(0, 200e3, 50e3), (1, 50e3, 60e3), (2, 75e3, 70e3), (3, 125e3, 130e3), (5, 55e3, 60e3)]
    {
        let WaterfallStep { added, .. } = &found.steps[step];
        assert_eq!(
            added.iter().map(|a| a.name).collect::<Vec<_>>(),
            ["response_p50_ns", "response_p99_ns", "cpu_per_request_ns"]
        );
        assert!(near(added[0].spread.median, ns), "{step}: {added:?}");
        assert!((added[2].spread.median - cpu).abs() < 1e-3, "{step}: {added:?}");
        if step > 0 {
            let (low, high) = (added[0].spread.low.unwrap(), added[0].spread.high.unwrap());
            assert!(
                near(low, ns) && near(high, ns),
                "what changes between rounds hits both alike: {added:?}"
            );
        }
    }
    let shares: Vec<(&str, f64)> =
        found.steps[3].proxies.iter().map(|p| (p.name.as_str(), p.spread.median)).collect();
    assert_eq!(shares.len(), 2);
    assert!(
        shares.iter().any(|(name, ns)| *name == "client-sidecar" && (ns - 70e3).abs() < 1e-3),
        "{shares:?}"
    );
}

#[test]
fn what_was_not_measured_leaves_the_other_steps() {
    let mut made = exact(2, added);
    made.records.retain(|record| record.path != "server" && record.path != "gateway");
    let found = summary(&made);
    let labels = |variant: &str| {
        web(&found, variant).steps.iter().map(|s| s.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        labels("plain"),
        ["no proxy", "+ client sidecar", "+ server sidecar", "= both sidecars"]
    );
    assert_eq!(labels("stats"), ["no proxy", "+ both sidecars"]);
    let gateway = found.waterfall.iter().find(|one| one.family.ends_with("gateway@c")).unwrap();
    assert_eq!(gateway.steps[1].label, "+ gateway, server sidecar");
    made.records.retain(|record| record.path == "none");
    assert!(summary(&made).waterfall.is_empty(), "one path adds nothing to itself");
}

#[test]
fn rounds_of_different_sessions_and_unknown_proxies_make_no_step() {
    let mut made = exact(2, added);
    made.records
        .iter_mut()
        .filter(|record| record.path == "both")
        .for_each(|record| record.session = 2);
    let server = |record: &&mut Record| record.path == "server";
    made.records.iter_mut().filter(server).for_each(|record| record.cost.proxies.clear());
    let found = summary(&made);
    let steps = &web(&found, "plain").steps;
    assert!(steps.iter().all(|step| step.path != "both"), "{steps:?}");
    let server = steps.iter().find(|step| step.path == "server").unwrap();
    let names: Vec<_> = server.added.iter().map(|added| added.name).collect();
    assert_eq!(
        names,
        ["response_p50_ns", "response_p99_ns"],
        "its proxy's CPU is not known, so the sum is not"
    );
}

#[test]
fn connecting_to_a_proxy_before_the_servers_is_no_step() {
    let mut made = mesh(2);
    // Short connections in the place of the bulk.
    for point in made.run.plan.points.iter_mut().filter(|point| point.workload == "bulk") {
        point.job.workload = "crr".to_owned();
    }
    for record in made.records.iter_mut().filter(|record| record.workload == "bulk") {
        record.latency = [("connect_ns".to_owned(), mesh::of(&[80_000]))].into();
        record.metrics.insert("connections_per_s".to_owned(), 1000.0);
    }
    let found = summary(&made);
    let of_it =
        |one: &&WaterfallSummary| one.workload == "bulk" && one.variant.as_deref() == Some("plain");
    let steps: Vec<&WaterfallStep> =
        found.waterfall.iter().filter(of_it).flat_map(|one| &one.steps).collect();
    let connects =
        |step: &WaterfallStep| step.added.iter().any(|added| added.name.starts_with("connect_"));
    let mut told: Vec<(&str, bool, bool)> = steps
        .iter()
        .map(|step| (step.path.as_str(), connects(step), step.note.contains("first proxy")))
        .collect();
    told.sort_unstable();
    told.dedup();
    let expected = [
        ("both", false, true),
        ("client", false, true),
        ("gateway", false, true),
        ("gateway-server", false, true),
        ("none", true, false),
        ("server", true, false),
    ];
    assert_eq!(told, expected);
    assert!(
        steps
            .iter()
            .all(|step| step.added.iter().any(|added| added.name == "cpu_per_connection_ns")),
        "{steps:?}"
    );
    // Beside the baseline's, these times would be another's.
    let bulk = found.workloads.iter().find(|workload| workload.name == "bulk").unwrap();
    let note = "connect times not compared: connecting ends at the first proxy";
    for cell in &bulk.cells {
        let compared = cell.path == "server";
        let p50 = cell.figure("connect_p50_ns").unwrap();
        assert_eq!(
            (p50.ratio.is_some(), p50.note.is_empty()),
            (compared, compared || cell.path == "none"),
            "{cell:?}"
        );
        let rate = cell.figure("connections_per_s").unwrap();
        assert_eq!(rate.ratio.is_some(), cell.path != "none", "{cell:?}");
    }
    let told = render(&made, "table").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains(&format!("- {note} (client, both, both-stats, gateway, gateway-server)")),
        "{told}"
    );
    let csv = render(&made, "csv");
    let row = csv
        .lines()
        .find(|row| row.starts_with("client,") && row.contains(",connect_p50_ns,"))
        .unwrap();
    assert_eq!(row.matches(note).count(), 1, "{row}");
}

#[test]
fn a_step_says_what_makes_it_doubtful() {
    let mut made = mesh(3);
    for record in &mut made.records {
        let (path, rate) =
            (record.path.as_str(), record.point.get("rate").and_then(serde_json::Value::as_u64));
        match (path, rate) {
            ("both", Some(4000)) => record.limited_by = "cpu:proxy:server-sidecar".to_owned(),
            ("both", Some(2000)) => {
                record.metrics.insert("requests_per_s".to_owned(), 1900.0);
            }
            // All that was asked for was sent, and a part of it failed.
            ("both", Some(1000)) => {
                record.metrics.insert("requests_per_s".to_owned(), 950.0);
                record.metrics.insert("error_ratio".to_owned(), 0.05);
            }
            ("both", Some(500)) if record.round == 2 => record.session = 2,
            ("both", Some(100)) if record.round < 3 => {
                record.testbed_changed = Some("pod b restarted".to_owned());
            }
            _ => {}
        }
    }
    let notes = |made: &Made, rate: u64, label: &str| {
        let found = summary(made);
        let of_it = |one: &&WaterfallSummary| {
            one.variant.as_deref() == Some("plain") && one.point.get("rate") == Some(&rate.into())
        };
        let waterfall = found.waterfall.iter().find(of_it).unwrap().clone();
        assert_eq!(waterfall.note, "");
        waterfall.steps.iter().find(|step| step.label == label).unwrap().note.clone()
    };
    for (rate, note) in [
        (100, "2 rounds not compared: the testbed changed meanwhile"),
        (500, "2 of 3 rounds: the others were measured in different sessions"),
        (1000, "5.0 % failed (both)"),
        (2000, "the asked rate was not reached (both)"),
        (4000, "the asked rate was not reached (both)"),
    ] {
        assert_eq!(notes(&made, rate, "+ client sidecar"), note, "{rate}");
        assert_eq!(notes(&made, rate, "+ server sidecar"), "", "{rate}: neither path is the one");
        assert_eq!(notes(&made, rate, "+ server sidecar to that"), note, "{rate}");
    }
    // A path that works off its backlog did more, not less.
    let mut backlog = mesh(3);
    for record in
        backlog.records.iter_mut().filter(|record| record.path == "both" && record.round == 2)
    {
        record.limited_by = "unknown".to_owned();
        record.metrics.entry("requests_per_s".to_owned()).and_modify(|rate| *rate *= 1.027);
    }
    let more = "more was done than asked: it worked off what was left undone in the warm-up (both)";
    assert_eq!(notes(&backlog, 2000, "+ client sidecar"), more);
    // Two clients are asked for twice as much.
    made.run.plan.paths.iter_mut().for_each(|path| path.clients = 2);
    assert_eq!(notes(&made, 100, "no proxy"), "the asked rate was not reached (none)");
}

#[test]
fn what_nothing_paces_says_once_that_every_path_has_another_throughput() {
    let made = mesh(2);
    let found = summary(&made);
    for waterfall in &found.waterfall {
        let is_paced = waterfall.workload == "web";
        let note = if is_paced { "" } else { "every path at another throughput" };
        assert_eq!(waterfall.note, note, "{}", waterfall.workload);
    }
    let count = |name: &str| found.waterfall.iter().filter(|one| one.workload == name).count();
    assert!(count("pool") > 0 && count("bulk") > 0);
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        let told = page.matches("! every path").count();
        assert_eq!(told, count("pool") + count("bulk"), "{format}");
    }
    // The notes of the answer, of which a page has all, have one for both.
    assert_eq!(render(&made, "html").matches("what each hop adds: ").count(), 1);
    // At a rate of its own a stream is the same load on every path.
    let mut paced = mesh(2);
    let bulk = paced.run.plan.points.iter_mut().find(|point| point.workload == "bulk").unwrap();
    bulk.job.params["rate"] = "1Gbit".into();
    assert!(
        summary(&paced).waterfall.iter().all(|one| one.workload != "bulk" || one.note.is_empty())
    );
}

#[test]
fn a_waterfall_names_its_first_path_and_every_list_of_paths_what_proxies_do() {
    let mut made = mesh(2);
    for path in made.run.plan.paths.iter_mut().filter(|path| path.name == "both") {
        path.variant.as_mut().unwrap().mtls = false;
    }
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        assert!(page.contains("no proxy (none)"), "{format}");
        assert!(page.contains("no TLS, any HTTP, 2 workers"), "{format}");
        assert!(page.contains("mTLS, any HTTP, 2 workers"), "{format}");
    }
}

#[test]
fn a_bar_goes_from_the_first_path_to_the_last_where_one_between_lacks_the_figure() {
    let mut made = exact(2, added);
    made.records.retain(|record| record.point["rate"] == 1000);
    // The parts of the first bar.
    let parts = |made: &Made| -> Vec<String> {
        let page = render(made, "html");
        let title = page.find("\"title\":\"response p50: what each hop adds\"").unwrap();
        let start = page[..title].rfind("{\"id\":").unwrap();
        let mut chart =
            serde_json::Deserializer::from_str(&page[start..]).into_iter::<serde_json::Value>();
        let chart = chart.next().unwrap().unwrap();
        let of_first = |series: &&serde_json::Value| {
            series["points"].as_array().unwrap().iter().any(|p| p[0] == 0.0)
        };
        let series = chart["series"].as_array().unwrap().iter().filter(of_first);
        series.map(|series| series["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(parts(&made), ["no proxy", "+ server sidecar", "+ client sidecar"]);
    let server = |record: &&mut Record| record.path == "server";
    made.records.iter_mut().filter(server).for_each(|record| {
        record.latency.remove("response_ns");
    });
    assert_eq!(parts(&made), ["no proxy", "= both sidecars"]);
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
        ("csv", ",bypasses proxy,both,plain,"),
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
        ("csv", ",503 UF 24x,both,plain,"),
        ("json", "\"503 UF\": 24"),
        ("html", "<small class=\"remark\">503 UF 24x</small>"),
    ] {
        assert!(render(&made, format).contains(text), "{format}");
    }
}

#[test]
fn work_that_moves_to_a_proxy_makes_no_end_cheaper() {
    let made = exact(3, added);
    let mut found = summary(&made);
    let cell = |found: &Summary, path: &str| {
        let web = found.workloads.iter().find(|workload| workload.name == "web").unwrap();
        web.cells
            .iter()
            .find(|cell| cell.path == path && cell.point["rate"] == 1000)
            .unwrap()
            .clone()
    };
    // Ends 20 and 30 us, proxies 70 and 60.
    for (path, us) in [("none", 50), ("server", 110), ("client", 120), ("both", 180)] {
        let sum = cell(&found, path).figure("cpu_per_request_ns").unwrap().clone();
        assert!((sum.spread.median - f64::from(us) * 1e3).abs() < 1e-6, "{path}: {sum:?}");
        let verdict = sum.ratio.and_then(|ratio| ratio.verdict).map(|verdict| verdict.text);
        assert_eq!(
            verdict.is_some_and(|text| text.starts_with("dearer by ")),
            path != "none",
            "{path}"
        );
        for end in ["client_cpu_per_request_ns", "server_cpu_per_request_ns"] {
            let one = cell(&found, path).figure(end).unwrap().clone();
            let says = one.note.starts_with("no verdict: proxies do work of this end");
            assert_eq!(says, path != "none", "{path} {end}: {one:?}");
            assert!(one.ratio.is_none_or(|ratio| ratio.verdict.is_none()), "{path} {end}");
        }
    }
    let csv = render(&made, "csv");
    let row = csv
        .lines()
        .find(|row| row.starts_with("both,") && row.contains(",client_cpu_per_request_ns,"))
        .unwrap();
    assert!(
        row.contains(
            ",no verdict: proxies do work of this end on one of the two paths; compare the sum,"
        ),
        "{row}"
    );
    // Between two paths with the same proxies each end does the same work.
    let mut alike = exact(3, added);
    alike.run.plan.baseline = Some("both".to_owned());
    found = summary(&alike);
    let client =
        |path: &str| cell(&found, path).figure("client_cpu_per_request_ns").unwrap().clone();
    assert!(
        client("both-stats").note.is_empty()
            && client("both-stats").ratio.unwrap().verdict.is_some()
    );
    assert!(client("server").ratio.unwrap().verdict.is_none());
    // What no proxy sees, no proxy takes over: the sum is that of the ends.
    let mut packets = mesh(2);
    for point in packets.run.plan.points.iter_mut().filter(|point| point.workload == "echo") {
        point.job.workload = "udp".to_owned();
    }
    for record in packets.records.iter_mut().filter(|record| record.workload == "echo") {
        record.metrics.insert("received_packets_per_s".to_owned(), 1000.0);
        record.cost.client.insert("cores".to_owned(), 0.01);
        record.cost.server.insert("cores".to_owned(), 0.02);
        record.cost.proxies.retain(|proxy| !proxy.named);
    }
    let found = summary(&packets);
    let echo = found.workloads.iter().find(|workload| workload.name == "echo").unwrap();
    for cell in &echo.cells {
        assert_eq!(
            cell.figure("cpu_per_packet_ns").unwrap().spread.median,
            30_000.0,
            "{}",
            cell.path
        );
        assert!(cell.figure("client_cpu_per_packet_ns").unwrap().note.is_empty(), "{}", cell.path);
    }
}

#[test]
fn proxies_that_are_not_known_leave_no_sum() {
    let mut made = exact(2, added);
    made.records
        .iter_mut()
        .filter(|record| record.path == "server")
        .for_each(|record| record.cost.proxies.clear());
    let found = summary(&made);
    let web = found.workloads.iter().find(|workload| workload.name == "web").unwrap();
    let known = |path: &str| {
        let cell = web.cells.iter().find(|cell| cell.path == path).unwrap();
        (
            cell.figure("cpu_per_request_ns").is_some(),
            cell.figure("client_cpu_per_request_ns").is_some(),
        )
    };
    assert_eq!(
        (known("server"), known("both"), known("none")),
        ((false, true), (true, true), (true, true))
    );
}

#[test]
fn memory_is_shown_whoever_metered_it() {
    let seen = mesh(2);
    let mut metered = seen.clone();
    for record in &mut metered.records {
        // Clusters of old versions made no sum.
        record.metrics.remove("proxy_rss_bytes");
        for proxy in &mut record.cost.proxies {
            let bytes = proxy.figures.remove("rss_bytes").unwrap();
            proxy.figures.insert("memory_bytes".to_owned(), bytes);
        }
    }
    for format in ["table", "csv", "markdown"] {
        assert_eq!(render(&metered, format), render(&seen, format), "{format}");
    }
    assert!(render(&metered, "csv").contains(",proxy_rss_bytes,4"));
    assert_eq!(export::text(&metered, "istio-csv"), export::text(&seen, "istio-csv"));
}
