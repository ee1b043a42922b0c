//! What came out, for people and for programs.

mod cell;
mod json;
mod markdown;
mod terminal;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::machine::Machine;
use crate::pairs::{Judgement, Pair, judge};
use crate::row::Row;

pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use terminal::terminal;

/// Everything that was measured, so far.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Where.
    pub(crate) machine: Machine,
    /// Versions by program; ours is among them.
    pub(crate) versions: BTreeMap<String, String>,
    /// Peers that were not found.
    pub(crate) missing: Vec<&'static str>,
    /// Length of each run, s.
    pub(crate) run_s: u32,
    /// Runs of each program in each row.
    pub(crate) pairs: u32,
    /// The rows that are done.
    pub(crate) rows: Vec<RowReport>,
}

/// What came out of one row.
#[derive(Debug, Serialize)]
pub(crate) struct RowReport {
    /// Its name.
    pub(crate) name: String,
    /// What was measured.
    pub(crate) what: String,
    /// Against whom; empty where nobody.
    pub(crate) against: &'static str,
    /// How it went.
    pub(crate) outcome: Outcome,
    /// Its goals, judged.
    pub(crate) judgements: Vec<Judgement>,
    /// The pairs behind that.
    pub(crate) runs: Vec<Pair>,
    /// The commands, in order.
    pub(crate) commands: Vec<String>,
    /// What a reader must know.
    pub(crate) note: &'static str,
}

/// How a row went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// As planned.
    Measured,
    /// Not run, and why.
    Skipped(String),
    /// Broke, and why.
    Failed(String),
}

impl RowReport {
    /// The report on a row.
    pub(crate) fn new(row: &dyn Row, outcome: Outcome, runs: Vec<Pair>, commands: Vec<String>) -> Self {
        Self {
            name: row.name(),
            what: row.what(),
            against: row.against(),
            judgements: row.goals().iter().map(|goal| judge(goal, &runs)).collect(),
            outcome,
            runs,
            commands,
            note: row.note(),
        }
    }
}

impl Report {
    /// Whether a row broke.
    pub(crate) fn failed(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)))
    }

    /// Goals that were reached, and goals that were judged.
    pub(crate) fn score(&self) -> (usize, usize) {
        let judged: Vec<bool> = self.rows.iter().flat_map(|row| &row.judgements).filter_map(|j| j.met).collect();
        (judged.iter().filter(|met| **met).count(), judged.len())
    }
}

/// A report for the tests of the formats.
#[cfg(test)]
fn sample() -> Report {
    use crate::figures::Figures;
    use crate::rows::ROWS;

    let row = ROWS.iter().find(|row| row.name() == "udp").unwrap();
    let run = |ours: f64, peer: f64| Pair {
        ours: Figures::from([("received_packets_per_s", ours)]),
        peer: Some(Figures::from([("received_packets_per_s", peer)])),
    };
    let runs = vec![run(110.0, 100.0), run(210.0, 200.0), run(330.0, 300.0)];
    let commands = vec!["client$ taskset -c 0 iperf3 -u".to_owned()];
    let skipped = ROWS.iter().find(|row| row.name() == "rr-qperf").unwrap();
    Report {
        machine: Machine { cpu: "Test CPU".to_owned(), cpus: 2, kernel: "6.1".to_owned(), memory_gib: 7.8 },
        versions: BTreeMap::from([("iperf3".to_owned(), "3.12".to_owned())]),
        missing: vec!["qperf"],
        run_s: 3,
        pairs: 3,
        rows: vec![
            RowReport::new(*row, Outcome::Measured, runs, commands),
            RowReport::new(*skipped, Outcome::Skipped("qperf was not found".to_owned()), Vec::new(), Vec::new()),
        ],
    }
}
