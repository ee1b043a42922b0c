//! Runs that are not alike: what differs is named, what cannot be compared is listed.

use hopbench_model::{Cell, Fault, FaultKind, SearchGoal, TestbedSpec, fixture};
use hopbench_report::comparison::{Asked, Comparison, compare, comparison_format};

use super::{Made, attempt, compared, made, row, values};

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
    let matters: Vec<_> = differences(&found)
        .into_iter()
        .filter(|(_, matters)| *matters)
        .map(|(text, _)| text)
        .collect();
    assert_eq!(
        matters,
        [
            "environment kernel: Linux 6.18.0, Linux 6.19.0",
            "plan testbed.lab.nodes.a.link_bits_per_s+testbed.lab.nodes.b.link_bits_per_s: 10.00 \
             Gbit/s, 5.000 Gbit/s",
            "testbed envoy version: unknown, 1.40.0",
        ]
    );
    let refused = attempt(&a, &b, &STRICT).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Input);
    for named in [
        "--strict",
        "kernel: Linux 6.18.0, now Linux 6.19.0",
        "envoy version",
        "nodes.b.link_bits_per_s",
    ] {
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
    assert_eq!(
        differences(&same),
        [("plan rounds: 4, 9".to_owned(), false), ("plan seed: 42, 43".to_owned(), false)]
    );
    // Another window is compared, and told.
    b.run.plan.points[0].job.timing.window_ns *= 3;
    let found = compared(&a, &b, &Asked::default());
    assert!(
        differences(&found).contains(&("plan timing.window_ns of bulk: 2s, 6s".to_owned(), true))
    );
    assert!(
        found.not_compared.is_empty() && row(&found, "host", "received_bits_per_s").ratio.is_some()
    );
    assert!(attempt(&a, &b, &STRICT).is_err());
    // Other traffic is not.
    b.run.plan.points[0].job.connections = 9;
    let found = compared(&a, &b, &Asked::default());
    assert!(found.comparisons.iter().all(|row| row.workload == "ask"));
    let texts: Vec<_> =
        found.not_compared.iter().map(|cell| format!("{}: {}", cell.cell, cell.reason)).collect();
    assert_eq!(
        texts,
        [
            "host bulk: another job: connections 4, now 9",
            "bridge bulk: another job: connections 4, now 9"
        ]
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
    let texts: Vec<_> =
        found.not_compared.iter().map(|cell| format!("{}: {}", cell.cell, cell.reason)).collect();
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
    for named in
        ["results/run-1 has host bulk", "bridge ask size=64B", "results/run-2 has host-2 bulk"]
    {
        assert!(refused.text.contains(named), "{named}: {}", refused.text);
    }
}

#[test]
fn searches_are_counted_and_their_trials_in_no_cell() {
    let (mut a, mut b) = (made(6, 1, |_| 1.0), made(6, 2, |_| 1.0));
    for made in [&mut a, &mut b] {
        let goal =
            SearchGoal::Knee { connections: vec![1, 2], threads: Vec::new(), least_growth: 0.05 };
        made.run.plan.points[1].search = Some(fixture::search(goal));
        let step: hopbench_model::SearchStep = serde_json::from_value(serde_json::json!({
            "goal": "knee", "step": 1, "parameter": "connections", "load": 1.0, "why": "raise",
            "figure": "requests_per_s",
            "within": true,
        }))
        .unwrap();
        let searched = |record: &&mut hopbench_model::Record| record.workload == "ask";
        made.records
            .iter_mut()
            .filter(searched)
            .for_each(|record| record.search = Some(step.clone()));
    }
    let found = compared(&a, &b, &Asked::default());
    assert_eq!(found.searches, 2);
    assert!(found.comparisons.iter().all(|row| row.workload == "bulk"));
    let reasons: Vec<_> = found.not_compared.iter().map(|cell| cell.reason.as_str()).collect();
    assert_eq!(reasons, ["in the baseline: not ended, after 1 trial"; 2]);
    assert_eq!(found.candidate[0].used_trials, 12);
    let table = (comparison_format("table").unwrap().render)(&found, false);
    assert!(
        table.contains("2 searches are not compared: in the baseline: not ended, after 1 trial"),
        "it says why: {table}"
    );
}

/// These runs on each side.
fn sides(a: &[&Made], b: &[&Made], asked: &Asked) -> Result<Comparison, Fault> {
    let side = |runs: &[&Made]| runs.iter().map(|made| values(made, asked)).collect::<Vec<_>>();
    compare(&side(a), &side(b), asked)
}

#[test]
fn a_run_counts_once_within_a_side_and_across_both() {
    let (a, b, c) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0), made(4, 3, |_| 1.0));
    let asked = Asked::default();
    for (ones, others, told) in [
        (
            vec![&a],
            vec![&b, &a],
            "found run run-1 2 times (results/run-1 as baseline, results/run-1 as candidate)",
        ),
        (
            vec![&a, &c],
            vec![&b, &c],
            "found run run-3 2 times (results/run-3 as baseline, results/run-3 as candidate)",
        ),
        (
            vec![&a; 3],
            vec![&b; 3],
            "found run run-1 3 times (results/run-1 as baseline, results/run-1 as baseline, \
             results/run-1 as baseline)",
        ),
    ] {
        let refused = sides(&ones, &others, &asked).unwrap_err();
        assert_eq!(refused.kind, FaultKind::Input);
        assert!(
            refused.text.contains(told) && refused.text.contains("measure the scenario again"),
            "{}",
            refused.text
        );
    }
    // The identity counts, not the folder.
    let copy =
        hopbench_report::comparison::Values::new("elsewhere/copy".to_owned(), a.run.clone(), &[]);
    let refused = compare(&[values(&a, &asked), copy], &[values(&b, &asked)], &asked).unwrap_err();
    assert!(
        refused.text.contains("results/run-1 as baseline, elsewhere/copy as baseline"),
        "{}",
        refused.text
    );
    assert!(sides(&[&a, &c], &[&b], &asked).is_ok());
    assert!(sides(&[&a], &[&a], &asked).is_ok(), "a run alone against itself is told, not refused");
}

#[test]
fn a_side_is_of_one_plan_and_other_circumstances_on_it_are_told() {
    let (a, b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    let asked = Asked::default();
    // Another job, in a run that is said to be the same.
    let mut other = made(4, 3, |_| 1.0);
    other.run.plan.points[0].job.connections = 9;
    other.run.plan.name = "changed".to_owned();
    let refused = sides(&[&a], &[&b, &other], &asked).unwrap_err();
    for named in [
        "--more-b: found results/run-3",
        "of the candidate results/run-2: scenario `changed` and not `made up`; ",
        "connections of bulk: 4, now 9",
    ] {
        assert!(
            refused.kind == FaultKind::Input && refused.text.contains(named),
            "{named}: {}",
            refused.text
        );
    }
    // Nothing in common with the side, although the other side has it all.
    let mut foreign = made(4, 3, |_| 1.0);
    foreign.run.plan.name = "another".to_owned();
    foreign.run.plan.paths.iter_mut().for_each(|path| path.name.push_str("-2"));
    foreign.records.iter_mut().for_each(|record| record.path.push_str("-2"));
    let refused = sides(&[&a, &foreign], &[&b], &asked).unwrap_err();
    assert!(refused.text.contains("--more-a: found results/run-3"), "{}", refused.text);
    assert!(refused.text.contains("no cell of `another` is one of `made up`"), "{}", refused.text);
    // Another seed and more rounds are the same thing; another kernel is told, and refused when
    // strict.
    let mut again = made(6, 3, |_| 1.0);
    again.run.plan.seed += 1;
    assert!(sides(&[&a, &again], &[&b], &STRICT).unwrap().unlike.is_empty());
    // What several runs differ in alike is named once.
    let mut third = made(6, 4, |_| 1.0);
    third.run.plan.seed += 2;
    let found = sides(&[&a], &[&again, &third], &asked).unwrap();
    let text = (comparison_format("table").unwrap().render)(&found, false);
    assert_eq!(text.matches("plan seed").count(), 1, "{text}");
    again.run.environment.insert("kernel".to_owned(), "Linux 6.19.0".to_owned());
    again.run.plan.cells.pop();
    again.run.plan.name = "nearly".to_owned();
    let found = sides(&[&a, &again], &[&b], &asked).unwrap();
    let texts: Vec<_> = found.unlike.iter().map(|unlike| unlike.text()).collect();
    assert_eq!(
        texts,
        [
            "baseline results/run-3: plan: name: made up in the first run of the side, nearly here",
            "baseline results/run-3: plan: cells: 4 with 3 cells in common in the first run of the \
             side, 3 with 3 cells in common here",
            "baseline results/run-3: environment: kernel: Linux 6.18.0 in the first run of the \
             side, Linux 6.19.0 here",
        ]
    );
    assert!(
        found.differences.iter().all(|difference| !difference.matters),
        "A and B agree: {:?}",
        found.differences
    );
    for (format, head) in [
        ("table", "\nRuns of one side are not alike\n  - "),
        ("markdown", "\n#### Runs of one side are not alike\n"),
    ] {
        let text = (comparison_format(format).unwrap().render)(&found, false);
        assert!(text.contains(head) && text.contains("Linux 6.19.0 here"), "{text}");
    }
    let refused = sides(&[&a, &again], &[&b], &STRICT).unwrap_err();
    assert!(
        refused.text.contains("--strict") && refused.text.contains("Linux 6.19.0 here"),
        "{}",
        refused.text
    );
}
