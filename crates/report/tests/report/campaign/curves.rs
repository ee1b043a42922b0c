//! The cost of proxies over the load, with known answers.

use hopbench_model::{Schedule, Via};
use hopbench_report::campaign::{CurveSummary, Resource, Summary};
use serde_json::json;

use super::fixture::{self, Made};
use super::mesh::{self, mesh};
use super::{render, summary};

/// Sets what every proxy spends: cores by rate, round and whether it is named.
fn cores(made: &mut Made, of: impl Fn(f64, u32, bool) -> f64) {
    made.records.retain(|record| record.workload == "web");
    for record in &mut made.records {
        let rate = record.point["rate"].as_f64().unwrap();
        record.metrics.insert("requests_per_s".to_owned(), rate);
        for proxy in &mut record.cost.proxies {
            proxy.figures.insert("cores".to_owned(), of(rate, record.round, proxy.named));
        }
    }
}

fn curve<'a>(
    found: &'a Summary,
    workload: &str,
    path: &str,
    resource: Resource,
) -> &'a CurveSummary {
    let of_it =
        |c: &&CurveSummary| c.workload == workload && c.path == path && c.resource == resource;
    found.proxy_curves.iter().find(of_it).unwrap()
}

#[test]
fn cpu_over_the_rate_is_a_line_with_what_is_spent_at_rest() {
    let mut made = mesh(3);
    cores(&mut made, |rate, _, named| if named { 0.01 + 62e-6 * rate } else { 0.008 });
    let found = summary(&made);
    let curve = found
        .proxy_curves
        .iter()
        .find(|c| c.path == "both" && c.proxy == "server-sidecar")
        .unwrap();
    assert_eq!((curve.resource, curve.over.as_str()), (Resource::Cores, "requests_per_s"));
    let line = curve.line.unwrap();
    assert!((line.intercept - 0.01).abs() < 1e-9 && (line.slope - 62e-6).abs() < 1e-12, "{line:?}");
    assert_eq!((line.from, line.to, curve.measured_idle), (100.0, 4000.0, Some(0.008)));
    assert_eq!(
        curve.text,
        "server-sidecar: idle 0.010 cores [0.010, 0.010] (0.008 cores measured without traffic), \
         62.0 us [62.0, 62.0] CPU a request between 100/s and 4000/s"
    );
    // A curve that bends is not passed off as a line.
    cores(&mut made, |rate, _, _| 0.2 * (rate / 1000.0).sqrt());
    assert!(
        summary(&made).proxy_curves[0]
            .text
            .contains("; not a straight line: it misses a point by ")
    );
    made.records.retain(|record| record.point["rate"] == 100 || record.point["rate"] == 4000);
    let two = summary(&made);
    assert!(two.proxy_curves[0].line.is_none());
    let text = &two.proxy_curves[0].text;
    assert!(
        text.contains(" at 4000/s") && text.ends_with("; a line needs 3 different loads"),
        "{text}"
    );
}

#[test]
fn rates_that_were_not_reached_are_one_place() {
    let mut made = mesh(3);
    cores(&mut made, |rate, _, _| 0.01 + 62e-6 * rate);
    // From 1000/s on, nothing more comes about, in every round a little else.
    for record in made.records.iter_mut().filter(|record| record.point["rate"].as_u64() > Some(500))
    {
        let off = record.point["rate"].as_f64().unwrap() / 1000.0 + f64::from(record.round);
        record.metrics.insert("requests_per_s".to_owned(), 900.0 + off);
    }
    let all = summary(&made);
    assert!(curve(&all, "web", "both", Resource::Cores).line.is_some(), "100, 500 and 900");
    made.records.retain(|record| record.point["rate"] != 100);
    let two = summary(&made);
    assert!(curve(&two, "web", "both", Resource::Cores).line.is_none(), "500 and 900");
}

#[test]
fn every_round_has_a_line_and_the_rounds_say_how_well_it_is_known() {
    let mut made = mesh(3);
    // Everything costs more in each round: the lines are 0.01 + 60 us, 0.02 + 70 us, 0.03 + 80 us.
    cores(&mut made, |rate, round, _| {
        0.01 * f64::from(round) + (5e-5 + 1e-5 * f64::from(round)) * rate
    });
    let found = summary(&made);
    let line = curve(&found, "web", "both", Resource::Cores).line.unwrap();
    let near = |value: f64, is: f64| (value - is).abs() < 1e-9;
    assert!(near(line.intercept, 0.02) && near(line.slope, 7e-5), "{line:?}");
    // Student's t with 2 degrees of freedom: 4.302653 / sqrt(3) = 2.484138 deviations on each side.
    let at = |middle: f64, deviation: f64| {
        [middle - 2.484138 * deviation, middle + 2.484138 * deviation]
    };
    let [low, high] = at(0.02, 0.01);
    assert!(
        (line.intercept_low.unwrap() - low).abs() < 1e-6
            && (line.intercept_high.unwrap() - high).abs() < 1e-6
    );
    let [low, high] = at(7e-5, 1e-5);
    assert!(near(line.slope_low.unwrap(), low) && near(line.slope_high.unwrap(), high), "{line:?}");
    assert_eq!(line.rounds, 3);
    // What of a round was measured in another session is no part of its line.
    let late = |record: &&mut hopbench_model::Record| {
        record.round == 3 && record.point["rate"].as_u64() > Some(1000)
    };
    made.records.iter_mut().filter(late).for_each(|record| record.session = 2);
    made.records.retain(|record| record.round != 3 || record.point["rate"] != 100);
    assert_eq!(curve(&summary(&made), "web", "both", Resource::Cores).line.unwrap().rounds, 2);
    made.records.retain(|record| record.round == 1);
    let one = summary(&made);
    let one = curve(&one, "web", "both", Resource::Cores);
    let line = one.line.unwrap();
    assert_eq!((line.rounds, line.slope_low, line.intercept_high), (1, None, None));
    assert!(
        one.text.starts_with("client-sidecar: idle 0.010 cores (") && !one.text.contains('['),
        "{}",
        one.text
    );
}

#[test]
fn what_is_spent_at_rest_is_told_only_where_it_can_be_seen() {
    let mut made = mesh(3);
    cores(&mut made, |rate, _, named| if named { 62e-6 * rate - 0.002 } else { 0.008 });
    let text = |made: &Made| curve(&summary(made), "web", "both", Resource::Cores).text.clone();
    assert!(
        text(&made).contains("idle not seen: below what the fit can tell (0.008 cores measured"),
        "{}",
        text(&made)
    );
    // The ends of an interval are not negative either.
    cores(
        &mut made,
        |rate, round, named| {
            if named { 62e-6 * rate + 0.003 * (f64::from(round) - 1.5) } else { 0.008 }
        },
    );
    assert!(
        text(&made).contains("idle 0.002 cores [0.000, 0.009]")
            || text(&made).contains("idle 0.001 cores [0.000, 0.009]"),
        "{}",
        text(&made)
    );
    made.records.retain(|record| record.point["rate"].as_u64() >= Some(1000));
    assert!(text(&made).contains("idle 0.00"), "1000 is a quarter of 4000: {}", text(&made));
    for record in made.records.iter_mut().filter(|record| record.point["rate"] == 1000) {
        record.metrics.insert("requests_per_s".to_owned(), 1010.0);
    }
    assert!(
        text(&made).starts_with("client-sidecar: 0.008 cores measured without traffic, 6"),
        "{}",
        text(&made)
    );
}

#[test]
fn closed_loops_and_other_sweeps_have_points_and_no_line() {
    let found = summary(&mesh(2));
    let closed = curve(&found, "pool", "both", Resource::Cores);
    assert!(closed.line.is_none() && closed.points.len() == 3, "{closed:?}");
    assert!(
        closed.text.contains("/s (connections=128)") && !closed.text.contains("a line needs"),
        "{}",
        closed.text
    );
    // Two parameters vary: a line for each size.
    let paths = vec![mesh::path("both", Via::Direct, hopbench_model::MeshMode::Both, "plain")];
    let mut points = Vec::new();
    for size in [1, 64] {
        for rate in [100, 500, 2000] {
            let job = fixture::job("http", json!({}), Schedule::Rate(f64::from(rate)), 16);
            points.push(fixture::point(
                "web",
                &[("rate", json!(rate)), ("size", json!(size))],
                job,
            ));
        }
    }
    let same = fixture::Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut made = fixture::measured(fixture::run("two", paths, points, 2, None), |_| same);
    let proxies =
        mesh(1).records.iter().find(|record| record.path == "both").unwrap().cost.proxies.clone();
    made.records.iter_mut().for_each(|record| record.cost.proxies.clone_from(&proxies));
    cores(&mut made, |rate, _, _| 0.01 + 62e-6 * rate);
    for record in made.records.iter_mut().filter(|record| record.point["size"] == 64) {
        record
            .cost
            .proxies
            .iter_mut()
            .for_each(|proxy| *proxy.figures.get_mut("cores").unwrap() += 0.5);
    }
    let found = summary(&made);
    let lines: Vec<_> = found.proxy_curves.iter().filter(|c| c.proxy == "server-sidecar").collect();
    let told: Vec<_> = lines
        .iter()
        .map(|c| (c.at["size"].clone(), (c.line.unwrap().intercept * 1e3).round()))
        .collect();
    assert_eq!(told, [(json!(1), 10.0), (json!(64), 510.0)]);
    assert!(
        lines[1].text.starts_with("server-sidecar at size=64: idle 0.510 cores"),
        "{}",
        lines[1].text
    );
    // The same points of one rate: nothing but the size varies.
    made.run.plan.points.retain(|point| point.point["rate"] == 100);
    made.run.plan.cells.truncate(made.run.plan.points.len());
    made.records.retain(|record| record.point["rate"] == 100);
    let sizes = summary(&made);
    let sizes = curve(&sizes, "web", "both", Resource::Cores);
    assert!(sizes.line.is_none() && sizes.text.contains("(rate=100 size=64)"), "{}", sizes.text);
}

#[test]
fn allocated_memory_over_connections_is_a_line_and_resident_memory_is_the_largest_so_far() {
    let mut made = mesh(2);
    for record in made.records.iter_mut().filter(|record| record.workload == "pool") {
        let connections = record.job["connections"].as_f64().unwrap();
        for proxy in &mut record.cost.proxies {
            proxy.figures.insert("allocated_bytes".to_owned(), 4e6 + 5e4 * connections);
        }
    }
    let found = summary(&made);
    let line = curve(&found, "pool", "both", Resource::AllocatedBytes).line.unwrap();
    assert!((line.intercept - 4e6).abs() < 1.0 && (line.slope - 5e4).abs() < 1e-3, "{line:?}");
    let resident = curve(&found, "pool", "both", Resource::RssBytes);
    assert!(resident.line.is_none() && resident.measured_idle.is_none(), "{resident:?}");
    assert!(
        resident.text.starts_with("client-sidecar: resident, largest so far: "),
        "{}",
        resident.text
    );
    assert!(!resident.text.contains("a line needs"), "{}", resident.text);
    let rates = found.proxy_curves.iter().filter(|c| c.workload == "web");
    assert!(
        rates.clone().count() > 0 && rates.clone().all(|c| c.resource == Resource::Cores),
        "16 connections in all"
    );
    for format in ["table", "markdown", "html"] {
        assert!(render(&made, format).contains("largest so far"), "{format}");
    }
}

#[test]
fn the_proxies_of_several_clients_are_added_up() {
    let mut made = mesh(2);
    cores(&mut made, |rate, _, named| if named { 0.01 + 62e-6 * rate } else { 0.008 });
    let mut pool = mesh(2);
    pool.records.retain(|record| record.workload == "pool");
    made.records.extend(pool.records);
    made.run.plan.paths.iter_mut().for_each(|path| path.clients = 2);
    for record in &mut made.records {
        let twins: Vec<_> =
            record.cost.proxies.iter().filter(|p| p.name == "client-sidecar").cloned().collect();
        record.cost.proxies.extend(twins.into_iter().map(|mut twin| {
            twin.name = "client-sidecar#2".to_owned();
            twin
        }));
    }
    let found = summary(&made);
    let of_both = found.proxy_curves.iter().filter(|c| c.workload == "web" && c.path == "both");
    let kinds: Vec<(&str, u32)> = of_both.map(|c| (c.proxy.as_str(), c.proxies)).collect();
    assert_eq!(kinds, [("client-sidecar", 2), ("server-sidecar", 1)]);
    let two = curve(&found, "web", "both", Resource::Cores);
    let line = two.line.unwrap();
    assert!(
        (line.intercept - 0.02).abs() < 1e-9 && (line.slope - 124e-6).abs() < 1e-12,
        "{line:?}"
    );
    assert_eq!(two.measured_idle, Some(0.016));
    assert!(two.text.starts_with("client-sidecar, 2 together: idle 0.020 cores"), "{}", two.text);
    let xs: Vec<f64> = curve(&found, "pool", "both", Resource::AllocatedBytes)
        .points
        .iter()
        .map(|p| p.x)
        .collect();
    assert_eq!(xs, [16.0, 64.0, 256.0], "connections of both clients");
    let shares = found.waterfall.iter().flat_map(|one| &one.steps).flat_map(|step| &step.proxies);
    assert!(shares.clone().count() > 0 && shares.clone().all(|share| !share.name.contains('#')));
}

#[test]
fn idle_is_that_of_the_same_pods() {
    let mut made = mesh(2);
    cores(&mut made, |rate, _, named| if named { 0.01 + 62e-6 * rate } else { 0.008 });
    let idle =
        |made: &Made, path: &str| curve(&summary(made), "web", path, Resource::Cores).measured_idle;
    assert_eq!(
        idle(&made, "both"),
        Some(0.008),
        "beside the bare path, whose pods are those of the first variant"
    );
    assert_eq!(idle(&made, "both-stats"), None, "these pods are its own");
    assert_eq!(idle(&made, "gateway"), None);
    made.records.retain(|record| record.path == "none" || record.path == "both");
    let mut bare = |change: fn(&mut hopbench_model::Path)| {
        let paths = made.run.plan.paths.clone();
        made.run.plan.paths.iter_mut().filter(|path| path.name == "none").for_each(change);
        let found = idle(&made, "both");
        made.run.plan.paths = paths;
        found
    };
    assert_eq!(bare(|_| {}), Some(0.008));
    assert_eq!(bare(|path| path.via = Via::ClusterIp), None, "servers of a Service are others");
    assert_eq!(bare(|path| path.clients = 2), None);
    assert_eq!(bare(|path| path.backends = 2), None);
    assert_eq!(bare(|path| path.to.node = "c".to_owned()), None);
}
