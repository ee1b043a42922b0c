//! Runs that are not alike: what differs is named, what cannot be compared is listed.

use hopbench_model::{Cell, FaultKind, SearchGoal, SearchSpec, TestbedSpec};
use hopbench_report::comparison::{Asked, Comparison};

use super::{attempt, compared, made, row};

const STRICT: Asked = Asked { minimum_effect: None, bounds: Vec::new(), strict: true };

/// What differs, as `OF NAMES: BASELINE, CANDIDATE`, and whether it matters.
fn differences(found: &Comparison) -> Vec<(String, bool)> {
    let text = |d: &hopbench_report::comparison::Difference| {
        (format!("{} {}: {}, {}", d.of, d.names.join("+"), d.baseline, d.candidate), d.matters)
    };
    found.differences.iter().map(text).collect()
}

#[test]
fn what_differs_between_the_machines_is_named_and_refused_when_strict() {
    let (a, mut b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    b.run.environment.insert("hostname".to_owned(), "elsewhere".to_owned());
    b.run.testbed.insert("node a address".to_owned(), "10.0.0.9".to_owned());
    b.run.testbed.insert("pod eni@c mtu_bytes".to_owned(), "1500".to_owned());
    let harmless = attempt(&a, &b, &STRICT).unwrap();
    assert_eq!(
        differences(&harmless),
        [
            ("environment hostname: unknown, elsewhere".to_owned(), false),
            ("testbed node a address: unknown, 10.0.0.9".to_owned(), false),
            ("testbed pod eni@c mtu_bytes: unknown, 1500".to_owned(), false),
        ]
    );
    b.run.environment.insert("kernel".to_owned(), "Linux 6.19.0".to_owned());
    b.run.testbed.insert("envoy version".to_owned(), "1.40.0".to_owned());
    let TestbedSpec::Lab(lab) = &mut b.run.plan.testbed else { unreachable!("it is a lab") };
    lab.nodes[0].link_bits_per_s = Some(5_000_000_000);
    lab.nodes[1].link_bits_per_s = Some(5_000_000_000);
    let found = compared(&a, &b, &Asked::default());
    let matters: Vec<_> =
        differences(&found).into_iter().filter(|(_, matters)| *matters).map(|(text, _)| text).collect();
    assert_eq!(
        matters,
        [
            "environment kernel: Linux 6.18.0, Linux 6.19.0",
            "plan testbed.lab.nodes.a.link_bits_per_s+testbed.lab.nodes.b.link_bits_per_s: 10.00 Gbit/s, 5.000 Gbit/s",
            "testbed envoy version: unknown, 1.40.0",
        ]
    );
    let refused = attempt(&a, &b, &STRICT).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Input);
    for named in ["--strict", "kernel: Linux 6.18.0, now Linux 6.19.0", "envoy version", "nodes.b.link_bits_per_s"] {
        assert!(refused.text.contains(named), "{named}: {}", refused.text);
    }
    assert!(!refused.text.contains("hostname"), "{}", refused.text);
}

#[test]
fn another_plan_is_named_and_another_job_is_not_compared() {
    let (a, mut b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    b.run.plan.seed = 43;
    b.run.plan.points.iter_mut().for_each(|point| point.job.seed += 1);
    b.run.plan.rounds = 9;
    let same = attempt(&a, &b, &STRICT).unwrap();
    assert_eq!(differences(&same), [("plan rounds: 4, 9".to_owned(), false), ("plan seed: 42, 43".to_owned(), false)]);
    // Another window is compared, and told.
    b.run.plan.points[0].job.timing.window_ns *= 3;
    let found = compared(&a, &b, &Asked::default());
    assert!(differences(&found).contains(&("plan timing.window_ns of bulk: 2s, 6s".to_owned(), true)));
    assert!(found.not_compared.is_empty() && row(&found, "host", "received_bits_per_s").ratio.is_some());
    assert!(attempt(&a, &b, &STRICT).is_err());
    // Other traffic is not.
    b.run.plan.points[0].job.connections = 9;
    let found = compared(&a, &b, &Asked::default());
    assert!(found.comparisons.iter().all(|row| row.workload == "ask"));
    let texts: Vec<_> = found.not_compared.iter().map(|cell| format!("{}: {}", cell.cell, cell.reason)).collect();
    assert_eq!(
        texts,
        ["host bulk: another job: connections 4, now 9", "bridge bulk: another job: connections 4, now 9"]
    );
}

#[test]
fn cells_of_one_side_are_listed() {
    let (mut a, mut b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    a.run.plan.cells.retain(|cell| *cell != Cell { path: 0, point: 0 });
    b.records.retain(|record| record.path != "bridge" || record.workload != "ask");
    b.run.skipped.push(hopbench_model::Skipped {
        path: "bridge".to_owned(),
        workload: "ask".to_owned(),
        point: "size=64B".to_owned(),
        reason: "nft is not installed".to_owned(),
    });
    let found = compared(&a, &b, &Asked::default());
    let texts: Vec<_> = found.not_compared.iter().map(|cell| format!("{}: {}", cell.cell, cell.reason)).collect();
    assert_eq!(
        texts,
        [
            "bridge ask size=64B: no usable trial in the candidate: nft is not installed",
            "host bulk: only the candidate has it"
        ]
    );
    let cells: std::collections::BTreeSet<_> =
        found.comparisons.iter().map(|r| (r.path.as_str(), r.workload.as_str())).collect();
    assert_eq!(cells, [("host", "ask"), ("bridge", "bulk")].into());
}

#[test]
fn nothing_in_common_is_refused_with_what_each_has() {
    let (a, mut b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    b.run.plan.paths.iter_mut().for_each(|path| path.name.push_str("-2"));
    b.records.iter_mut().for_each(|record| record.path.push_str("-2"));
    let refused = attempt(&a, &b, &Asked::default()).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Input);
    for named in ["results/run-1 has host bulk", "bridge ask size=64B", "results/run-2 has host-2 bulk"] {
        assert!(refused.text.contains(named), "{named}: {}", refused.text);
    }
}

#[test]
fn searches_are_counted_and_their_trials_in_no_cell() {
    let (mut a, mut b) = (made(6, 1, |_| 1.0), made(6, 2, |_| 1.0));
    for made in [&mut a, &mut b] {
        let goal = SearchGoal::Knee { connections: vec![1, 2], threads: Vec::new(), least_growth: 0.05 };
        made.run.plan.points[1].search = Some(SearchSpec { goal, errors_share: 0.01, equal_load: false });
        let step: hopbench_model::SearchStep = serde_json::from_value(serde_json::json!({
            "goal": "knee", "step": 1, "parameter": "connections", "load": 1.0, "why": "raise", "figure": "requests_per_s",
            "within": true,
        }))
        .unwrap();
        let searched = |record: &&mut hopbench_model::Record| record.workload == "ask";
        made.records.iter_mut().filter(searched).for_each(|record| record.search = Some(step.clone()));
    }
    let found = compared(&a, &b, &Asked::default());
    assert_eq!(found.searches, 2);
    assert!(found.comparisons.iter().all(|row| row.workload == "bulk"));
    let reasons: Vec<_> = found.not_compared.iter().map(|cell| cell.reason.as_str()).collect();
    assert_eq!(reasons, ["in the baseline: not ended, after 1 trial"; 2]);
    assert_eq!(found.candidate[0].used_trials, 12);
    let table = hopbench_report::comparison::comparison_format("table").unwrap().render(&found, false);
    assert!(table.contains("2 searches are not compared"), "{table}");
}
