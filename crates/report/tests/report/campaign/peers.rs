//! Tools of others beside our workloads: their place in tables, and their ratio to ours.

use hopbench_analysis::Outcome;
use hopbench_model::{Cell, Peer, Point};
use serde_json::json;

use super::fixture::{self, Made};
use super::{render, summary};

/// What the tool says of itself.
const WHY: &str = "iperf3 counts the slow start of TCP";

/// A run whose throughput a tool measured, too, at this share of ours on every path.
fn beside(share: f64, rounds: u32) -> Made {
    let mut made = fixture::quickstart(rounds);
    let plan = &mut made.run.plan;
    let ours = plan.points.iter().position(|point| point.workload == "throughput").unwrap();
    let peer = Peer { tool: "iperf3".to_owned(), of: "throughput".to_owned() };
    let mut job = plan.points[ours].job.clone();
    job.kind = Some(job.kind());
    job.workload = "peer-stream".to_owned();
    let theirs = Point {
        workload: peer.workload(),
        peer: Some(peer.clone()),
        job,
        ..plan.points[ours].clone()
    };
    plan.points.push(theirs);
    let point = plan.points.len() - 1;
    let cells: Vec<Cell> = plan.cells.iter().filter(|cell| cell.point == ours).copied().collect();
    plan.cells.extend(cells.iter().map(|cell| Cell { point, ..*cell }));
    let records = made.records.iter().filter(|record| record.workload == "throughput");
    let mut theirs: Vec<_> = records.cloned().collect();
    for record in &mut theirs {
        record.workload = peer.workload();
        record.job = json!({"workload": "peer-stream"});
        record.metrics.retain(|name, _| name == "received_bits_per_s");
        record.metrics.values_mut().for_each(|value| *value *= share);
        record.explanation = vec![WHY.to_owned()];
        record.cost = Default::default();
        record.limited_by = String::new();
    }
    made.records.extend(theirs);
    made
}

#[test]
fn a_tool_is_compared_with_ours_round_by_round() {
    for (share, outcome, text) in [
        (0.9, Outcome::Worse, "slower by 10 % [10, 10]"),
        (1.25, Outcome::Better, "faster by 25 % [25, 25]"),
        (1.0, Outcome::Same, "same within"),
    ] {
        let summary = summary(&beside(share, 6));
        let workload =
            summary.workloads.iter().find(|one| one.name == "throughput (iperf3)").unwrap();
        let peer = workload.peer.as_ref().unwrap();
        assert_eq!((peer.tool.as_str(), peer.of.as_str()), ("iperf3", "throughput"));
        assert_eq!(peer.differs, [WHY]);
        let paths: Vec<&str> = peer.comparisons.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["host", "bridge", "overlay", "eni", "node-port"]);
        for one in &peer.comparisons {
            assert_eq!(one.figure, "received_bits_per_s");
            let spread = one.ratio.spread.unwrap();
            assert!((spread.median / share - 1.0).abs() < 1e-9, "{}", spread.median);
            let verdict = one.ratio.verdict.as_ref().unwrap();
            assert_eq!(verdict.outcome, outcome, "{}", verdict.text);
            assert!(verdict.text.starts_with(text), "{}", verdict.text);
        }
        // Among each other its paths are compared as ours are.
        let ours = summary.workloads.iter().find(|one| one.name == "throughput").unwrap();
        assert!(ours.peer.is_none() && workload.comparison(&workload.cells[2]).is_some());
        assert!(!summary.run.imported);
    }
}

/// Cells that rest would have fewer rounds in common with what they are compared with.
#[test]
fn neither_rests() {
    let settled = |made: &Made| {
        let settled = super::campaign(made).comparison_state().settled;
        let name = |(_, point): (usize, usize)| made.run.plan.points[point].workload.clone();
        settled.into_iter().map(name).collect::<Vec<_>>()
    };
    let alone = settled(&fixture::quickstart(12));
    assert!(alone.iter().any(|name| name == "throughput"), "{alone:?}");
    let both = settled(&beside(0.9, 12));
    assert!(!both.is_empty() && !both.iter().any(|name| name.starts_with("throughput")));
}

#[test]
fn what_a_tool_does_not_state_has_no_column() {
    let summary = summary(&beside(0.9, 3));
    let workload = summary.workloads.last().unwrap();
    let names: Vec<&str> = workload.figures.iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["received_bits_per_s"]);
    assert_eq!(workload.setting, "measured by iperf3, 4 connections, size 128KiB, window 2s");
}

#[test]
fn pages_show_both_and_the_reason() {
    let made = beside(0.9, 6);
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in ["iperf3 to throughput", WHY, "slower by 10 %"] {
            assert!(words.contains(text), "{format}: no `{text}` in {page}");
        }
    }
    let table = render(&made, "table");
    let title = "throughput (iperf3) measured by iperf3";
    assert!(table.lines().any(|line| line == title), "{table}");
    let ours = table.find("\nthroughput (stream)").unwrap();
    assert!(ours < table.find(title).unwrap());
    let json: serde_json::Value = serde_json::from_str(&render(&made, "json")).unwrap();
    let peers = json["workloads"].as_array().unwrap().iter().filter(|one| one["peer"].is_object());
    assert_eq!(peers.count(), 1);
}
