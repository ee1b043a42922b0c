//! What a load would take that was not measured, with known answers.

use hopbench_report::campaign::{Asked, CapacitySummary, Need, Resource};
use serde_json::Value;

use super::fixture::{Made, Noise};
use super::mesh::mesh;
use super::{campaign, fixture};

fn capacity(made: &Made, asked: &str) -> CapacitySummary {
    campaign(made).capacity(asked.parse::<Asked>().unwrap())
}

fn need<'a>(found: &'a CapacitySummary, path: &str, proxy: &str, resource: Resource) -> &'a Need {
    let of_it = |need: &&Need| need.path == path && need.proxy == proxy && need.resource == resource;
    found.needs.iter().find(of_it).unwrap_or_else(|| panic!("no {path} {proxy}: {:#?}", found.needs))
}

/// Each proxy needs 10 millicores and 62 us a request, 4 MB and 50 kB a connection.
fn lines(rounds: u32) -> Made {
    let mut made = mesh(rounds);
    for record in &mut made.records {
        let connections = record.job["connections"].as_f64().unwrap();
        let rate = record.point.get("rate").and_then(Value::as_f64);
        if let Some(rate) = rate {
            record.metrics.insert("requests_per_s".to_owned(), rate);
        }
        for proxy in record.cost.proxies.iter_mut() {
            if let Some(rate) = rate {
                proxy.figures.insert("cores".to_owned(), 0.01 + 62e-6 * rate);
            }
            proxy.figures.insert("allocated_bytes".to_owned(), 4e6 + 5e4 * connections);
        }
    }
    made
}

#[test]
fn a_perfect_line_gives_the_exact_cost() {
    let found = capacity(&lines(3), "rps=20000, connections=5000");
    let near = |value: f64, is: f64| (value / is - 1.0).abs() < 1e-9;
    let one = need(&found, "both", "server-sidecar", Resource::Cores);
    let cost = one.cost.unwrap();
    assert!(near(cost.cost, 1.25) && near(cost.at_rest, 0.01) && near(cost.per_unit, 62e-6), "{cost:?}");
    assert!(near(cost.line_low, 1.25) && near(cost.trial_high, 1.25), "{cost:?}");
    assert_eq!((cost.measured_from, cost.measured_to, cost.trials), (100.0, 4000.0, 15));
    assert_eq!((cost.stretched, cost.far, one.workload.as_str()), (5.0, true, "web"));
    // Both sidecars together.
    assert!(near(need(&found, "both", "all proxies", Resource::Cores).cost.unwrap().cost, 2.5));
    let memory = need(&found, "both", "all proxies", Resource::AllocatedBytes);
    let cost = memory.cost.unwrap();
    assert!(near(cost.cost, 2.0 * (4e6 + 5e4 * 5000.0)), "{cost:?}");
    assert_eq!((cost.measured_to, cost.stretched, memory.workload.as_str()), (128.0, 5000.0 / 128.0, "pool"));
    // One proxy has its name, once.
    let server: Vec<_> =
        found.needs.iter().filter(|need| need.path == "server").map(|need| need.proxy.as_str()).collect();
    assert_eq!(server, ["server-sidecar", "server-sidecar"]);
    assert!(found.needs.iter().all(|need| need.path != "none"), "it has no proxies");
}

#[test]
fn what_was_measured_is_not_stretched() {
    let made = lines(3);
    let cost = |asked: &str| need(&capacity(&made, asked), "server", "server-sidecar", Resource::Cores).cost.unwrap();
    assert_eq!((cost("rps=3000").stretched, cost("rps=3000").far), (1.0, false));
    assert_eq!((cost("rps=7.9k").stretched, cost("rps=7.9k").far), (1.975, false));
    assert_eq!((cost("rps=8k").stretched, cost("rps=8k").far), (2.0, true));
    assert_eq!((cost("rps=50").stretched, cost("rps=50").far), (2.0, true));
    let text = |asked: &str| capacity(&made, asked).render("table").unwrap();
    assert!(text("rps=3000").contains("], within what was measured (100/s to 4000/s)"));
    assert!(!text("rps=3000").contains("Warning"));
    assert!(text("rps=9600").contains("2.4 times the highest measured load"), "{}", text("rps=9600"));
    assert!(text("rps=9600").contains("Warning: "));
    assert!(text("rps=50").contains("the lowest measured load (100/s) is 2.0"), "{}", text("rps=50"));
}

#[test]
fn noise_makes_intervals_that_hold_the_truth() {
    let mut made = lines(6);
    let mut noise = Noise(5);
    for proxy in made.records.iter_mut().flat_map(|record| &mut record.cost.proxies) {
        *proxy.figures.get_mut("cores").unwrap() *= noise.about(0.05);
    }
    let found = capacity(&made, "rps=6000");
    let cost = need(&found, "both", "all proxies", Resource::Cores).cost.unwrap();
    let truth = 0.02 + 124e-6 * 6000.0;
    assert!(cost.trial_low < cost.line_low && cost.line_low < truth && truth < cost.line_high, "{cost:?}");
    assert!(cost.line_high < cost.trial_high && cost.line_high - cost.line_low < 0.1 * truth, "{cost:?}");
}

#[test]
fn where_nothing_can_be_fitted_it_says_why() {
    let mut made = lines(2);
    let why = |made: &Made, asked: &str, resource| {
        let found = capacity(made, asked);
        let of_both: Vec<&Need> = found.needs.iter().filter(|n| n.path == "both" && n.resource == resource).collect();
        assert_eq!(of_both.len(), 1, "said once: {of_both:#?}");
        assert!(of_both[0].cost.is_none());
        of_both[0].why_not.clone()
    };
    made.records.retain(|record| record.workload != "web" || record.point["rate"].as_u64() <= Some(500));
    assert_eq!(why(&made, "rps=5", Resource::Cores), "2 different rates measured (100 to 500), a line needs 3");
    let text = capacity(&made, "rps=5").render("table").unwrap();
    assert!(
        text.contains(
            "all proxies (web): no cores: 2 different rates measured (100 to 500), a line
    needs 3
"
        ),
        "{text}"
    );
    // Rates that were not reached are one.
    let mut made = lines(2);
    for record in made.records.iter_mut().filter(|record| record.point.get("rate").and_then(Value::as_u64) > Some(500))
    {
        record.metrics.insert("requests_per_s".to_owned(), 510.0);
    }
    assert_eq!(why(&made, "rps=5", Resource::Cores), "2 different rates measured (100 to 510), a line needs 3");
    made.records.retain(|record| record.workload != "web");
    assert!(why(&made, "rps=5", Resource::Cores).starts_with("no trial with `rate`s that vary: a closed loop"));
    for proxy in made.records.iter_mut().flat_map(|record| &mut record.cost.proxies) {
        proxy.figures.remove("allocated_bytes");
        proxy.figures.insert("rss_bytes".to_owned(), 4e7);
    }
    let memory = why(&made, "connections=5", Resource::AllocatedBytes);
    assert!(
        memory.starts_with("no trial says what they have allocated, and resident memory is the largest so far"),
        "{memory}"
    );
    assert!(memory.ends_with("at most 80.0 MB was resident"), "{memory}");
    made.records.retain(|record| record.workload != "pool");
    assert_eq!(why(&made, "connections=5", Resource::AllocatedBytes), "no trials with `connections` that vary");
    let bare = fixture::connections();
    assert!(capacity(&bare, "rps=5").render("table").unwrap().ends_with("\nNo path of this run has proxies.\n"));
}

#[test]
fn a_load_is_told_in_every_format() {
    let made = lines(3);
    let found = capacity(&made, "rps=20k, connections=5k");
    let table = found.render("table").unwrap();
    assert!(
        table.starts_with("mesh (made up): what the proxies would take at 20000 requests/s and 5000\nconnections\n"),
        "{table}"
    );
    assert!(
        table.contains("  - all proxies (web): 2.50 cores [line 2.50, 2.50; one trial 2.50, 2.50], ! 5.0\n"),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= hopbench_report::WIDTH), "{table}");
    // 2 x (4 MB + 5000 x 50 kB), in the unit of reports and in that of Kubernetes.
    let text = table.replace("\n    ", " ");
    assert!(
        text.contains("all proxies (pool): 508 MB (484 MiB) allocated [line 508, 508; one trial 508, 508]"),
        "{text}"
    );
    let markdown = found.render("markdown").unwrap();
    assert!(markdown.contains("| 508 MB (484 MiB) allocated | 508 to 508 |"), "{markdown}");
    let row = "| both | web | all proxies | 2.50 cores | 2.50 to 2.50 | 2.50 to 2.50 | 100/s to 4000/s | 5.0 times the";
    assert!(markdown.contains(row), "{markdown}");
    let heads = markdown.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count());
    assert!(heads.clone().count() > 5 && heads.clone().all(|n| n == 9), "{markdown}");
    let json: Value = serde_json::from_str(&found.render("json").unwrap()).unwrap();
    assert_eq!(
        (json["schema"].as_str(), json["asked"]["requests_per_s"].as_f64()),
        (Some("hopbench.capacity/1"), Some(2e4))
    );
    let both = json["needs"].as_array().unwrap().iter().find(|need| need["path"] == "both").unwrap();
    assert!((both["cost"].as_f64().unwrap() - 2.5).abs() < 1e-9 && both.get("why_not").is_none(), "{both}");
    assert_eq!(found.render("html"), None);
}
