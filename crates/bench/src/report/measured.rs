//! The results of a session, row by row.

use std::collections::BTreeMap;
use std::fmt;

use hopbench_stats::Stop;
use serde::Serialize;

use crate::lab::machine::Machine;
use crate::row::Row;
use crate::row::goal::GoalState;
use crate::row::pairs::{JudgedGoal, RunPair, judge};

/// Everything that was measured, so far.
#[derive(Debug, Serialize)]
pub(crate) struct SessionResults {
    /// The machine.
    pub(crate) machine: Machine,
    /// Versions by program; ours is among them.
    pub(crate) versions: BTreeMap<String, String>,
    /// Length of each run, s.
    pub(crate) run_s: u32,
    /// Runs of each program in each row, where its goals are decided by then.
    pub(crate) pairs: u32,
    /// The most runs of a row that is not decided.
    pub(crate) most_pairs: u32,
    /// The rows that are done.
    pub(crate) rows: Vec<RowReport>,
}

/// The results of one row.
#[derive(Debug, Serialize)]
pub(crate) struct RowReport {
    /// Its name.
    pub(crate) name: String,
    /// A line about what was measured.
    pub(crate) what: String,
    /// The peer. Empty if there is none.
    pub(crate) against: &'static str,
    /// How it went.
    pub(crate) outcome: RowStatus,
    /// Its goals, judged.
    pub(crate) judgements: Vec<JudgedGoal>,
    /// The pairs behind that.
    pub(crate) runs: Vec<RunPair>,
    /// The commands, in order.
    pub(crate) commands: Vec<String>,
    /// The facts that a reader must know.
    pub(crate) note: String,
}

/// How a row went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowStatus {
    /// As planned.
    Measured,
    /// Not run, and why.
    Skipped(String),
    /// Broke, and why.
    Failed(String),
}

impl RowReport {
    /// The report on a row whose runs followed the plan.
    pub(crate) fn new(
        row: Row,
        plan: &Stop,
        outcome: RowStatus,
        runs: Vec<RunPair>,
        commands: Vec<String>,
    ) -> Self {
        let mut judgements: Vec<JudgedGoal> =
            row.goals.iter().map(|goal| judge(goal, plan, &runs)).collect();
        if let RowStatus::Failed(_) = outcome {
            // The pairs before the failure are shown; they are no verdict.
            judgements.iter_mut().for_each(|judgement| judgement.verdict = None);
        }
        Self {
            name: row.name,
            what: row.what,
            against: row.against,
            judgements,
            outcome,
            runs,
            commands,
            note: row.note,
        }
    }
}

impl SessionResults {
    /// Whether a row broke.
    pub(crate) fn failed(&self) -> bool {
        self.broken().next().is_some()
    }

    /// The rows that were not run, by reason, in the order of the table.
    pub(crate) fn skipped(&self) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let RowStatus::Skipped(why) = &row.outcome else { continue };
            match reasons.iter_mut().find(|(reason, _)| reason == why) {
                Some((_, rows)) => rows.push(&row.name),
                None => reasons.push((why, vec![&row.name])),
            }
        }
        reasons
    }

    /// The rows that broke, each with why.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().filter_map(|row| match &row.outcome {
            RowStatus::Failed(why) => Some((row.name.as_str(), why.as_str())),
            RowStatus::Measured | RowStatus::Skipped(_) => None,
        })
    }

    /// Each program with its version.
    pub(crate) fn versions(&self) -> String {
        let each = self.versions.iter().map(|(name, version)| format!("{name} {version}"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The goals by their verdicts.
    pub(crate) fn score(&self) -> Score {
        let mut score = Score::default();
        for judgement in self.rows.iter().flat_map(|row| &row.judgements) {
            match judgement.verdict {
                Some(GoalState::Met) => score.met += 1,
                Some(GoalState::NotMet) => score.missed += 1,
                Some(GoalState::NotDecided) => score.not_decided += 1,
                None => {}
            }
        }
        score
    }
}

/// How many goals got which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Score {
    /// Reached.
    pub(crate) met: usize,
    /// Not reached.
    pub(crate) missed: usize,
    /// Neither, with the pairs that there were.
    pub(crate) not_decided: usize,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { met, missed, not_decided } = self;
        let all = met + missed + not_decided;
        write!(f, "{met} of {all} goals reached, {missed} missed, {not_decided} not decided")
    }
}

/// A report for the tests of the formats.
#[cfg(test)]
pub(crate) fn sample() -> SessionResults {
    use crate::bench::Figures;

    let run = |ours: f64, peer: f64| RunPair {
        ours: Figures::from([("received_packets_per_s", ours)]),
        peer: Some(Figures::from([("received_packets_per_s", peer)])),
    };
    let runs = vec![run(110.0, 100.0), run(222.0, 200.0), run(330.0, 300.0)];
    let commands = vec!["client$ taskset -c 0 iperf3 -u".to_owned()];
    SessionResults {
        machine: Machine {
            cpu: "Test CPU".to_owned(),
            cpus: 2,
            kernel: "6.1".to_owned(),
            memory_gib: 7.8,
        },
        versions: BTreeMap::from([("iperf3".to_owned(), "3.12".to_owned())]),
        run_s: 3,
        pairs: 3,
        most_pairs: 6,
        rows: vec![
            sample_row("udp", RowStatus::Measured, runs, commands),
            sample_row(
                "rr-qperf",
                RowStatus::Skipped("qperf was not found".to_owned()),
                Vec::new(),
                Vec::new(),
            ),
        ],
    }
}

#[cfg(test)]
fn sample_row(
    name: &str,
    outcome: RowStatus,
    runs: Vec<RunPair>,
    commands: Vec<String>,
) -> RowReport {
    let row = crate::rows::rows().into_iter().find(|row| row.name == name).unwrap();
    RowReport::new(row, &crate::row::pairs::plan(3), outcome, runs, commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_broke_is_told_and_is_no_verdict_while_others_stand() {
        let mut report = sample();
        assert!(!report.failed());
        let runs = report.rows[0].runs.clone();
        let failed = RowStatus::Failed("connection lost".to_owned());
        report.rows.push(sample_row("udp", failed, runs, Vec::new()));
        assert!(report.failed());
        assert_eq!(report.broken().collect::<Vec<_>>(), [("udp", "connection lost")]);
        let one = Score { met: 1, ..Score::default() };
        assert_eq!(report.score(), one, "only the row that was measured is judged");
        assert!(crate::report::terminal(&report).contains("udp: failed: connection lost"));
    }

    #[test]
    fn rows_that_were_not_run_are_named_once_a_reason() {
        let mut report = sample();
        for why in ["qperf was not found", "no such CPU"] {
            let skipped = RowStatus::Skipped(why.to_owned());
            report.rows.push(sample_row("rr-sockperf-spin", skipped, Vec::new(), Vec::new()));
        }
        let expected = [
            ("qperf was not found", vec!["rr-qperf", "rr-sockperf-spin"]),
            ("no such CPU", vec!["rr-sockperf-spin"]),
        ];
        assert_eq!(report.skipped(), expected);
    }
}
