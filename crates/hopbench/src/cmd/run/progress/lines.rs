//! Events of a run in words, a line each.

use hopbench_model::Record;
use hopbench_report::number::counted;
use hopbench_run::Event;
use hopbench_run::results::TrialId;

use crate::cmd::run::headline::headline;
use crate::cmd::run::{narrowing, searching};

/// An event in words.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// The words.
    pub(super) text: String,
    /// Whether nobody should have to look for it: a warning, a failure, the start.
    pub(super) is_news: bool,
}

/// What is known of the trial that is measured.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Its place in the run and its name: `[3/102] round 1 bridge latency`.
    trial: String,
    /// Whether nobody knows yet how many trials there will be: a stop rule ends the rounds.
    is_open: bool,
}

impl Lines {
    /// The event in words; `None` where there is nothing to say.
    pub(super) fn of(&mut self, event: &Event<'_>) -> Option<Line> {
        let (text, is_news) = match event {
            // All of it is searched.
            Event::RunStarted { run, trials: 0, .. } => {
                (format!("{}: run {}", run.plan.name, run.run_id), true)
            }
            Event::RunStarted { run, trials, left } => {
                let rest =
                    if left < trials { format!(", {left} of them left") } else { String::new() };
                let about = if run.plan.stop.is_some() { "about " } else { "" };
                let trials = format!("{about}{}", counted(*trials as u64, "trial", "trials"));
                (format!("{}: {trials}{rest}, run {}", run.plan.name, run.run_id), true)
            }
            Event::Note(note) => ((*note).to_owned(), true),
            Event::CellSkipped(cell) => {
                let name = format!("{} {} {}", cell.path, cell.workload, cell.point);
                (format!("skipped {}: {}", name.trim_end(), cell.reason), true)
            }
            Event::RoundStarted { round, open, cells, widest_share, goal_share } => {
                self.is_open = true;
                (narrowing::round(*round, (*open, *cells), *widest_share, *goal_share), false)
            }
            Event::RoundsDone { ended, rounds } => {
                self.is_open = false;
                (narrowing::ended(ended, *rounds), false)
            }
            Event::TrialStarted { trial, number, trials, .. } => {
                let about = if self.is_open { "~" } else { "" };
                self.trial =
                    format!("[{number}/{about}{trials}] round {} {}", trial.round, name(trial));
                return None;
            }
            Event::SearchTrialStarted { trial, .. } => {
                self.trial = format!("[search] {}", name(trial));
                return None;
            }
            // The line of its search says more.
            Event::TrialDone(record) if is_step(record) => return None,
            Event::TrialDone(record) => {
                (format!("{}: {}", self.trial, headline(record)), !record.is_usable())
            }
            Event::TrialFailed(failure) => {
                let point = format!("{} {} {}", failure.path, failure.workload, failure.point);
                (
                    format!(
                        "FAILED round {} {}: {}",
                        failure.round,
                        point.trim_end(),
                        failure.reason
                    ),
                    true,
                )
            }
            Event::PathGivenUp { path, round, trials } => {
                let more = counted(*trials as u64, "more trial", "more trials");
                (
                    format!(
                        "{path}: three trials in a row failed; {more} of it not tried in round \
                         {round}"
                    ),
                    true,
                )
            }
            Event::SearchesStarted { searches, left } => {
                let rest =
                    if left < searches { format!(", {left} of them left") } else { String::new() };
                (format!("{}{rest}", counted(*searches as u64, "search", "searches")), false)
            }
            Event::SearchStep { path, workload, point, goal, step, next } => {
                (searching::step(path, workload, point, goal, step, *next), false)
            }
            Event::SearchDone { path, workload, point, step, outcome, value } => {
                (searching::done(path, workload, point, step, *outcome, *value), false)
            }
            Event::RunDone { .. } => return None,
        };
        Some(Line { text, is_news })
    }
}

/// Whether a record shows a search something.
fn is_step(record: &Record) -> bool {
    record.search.is_some() && record.is_usable()
}

/// `bridge latency size=64B`.
pub(super) fn name(trial: &TrialId) -> String {
    let TrialId { path, workload, point, .. } = trial;
    format!("{path} {workload} {point}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use hopbench_model::Failure;

    use super::*;

    #[test]
    fn failures_and_notes_are_news_and_trials_are_not() {
        let mut lines = Lines::default();
        let text = |text: &str| text.to_owned();
        let (path, workload, point) = (text("bridge"), text("web"), String::new());
        let failure =
            Failure { path, workload, point, round: 2, reason: text("the agent is gone") };
        let failed = lines.of(&Event::TrialFailed(&failure)).unwrap();
        assert_eq!(
            (failed.text.as_str(), failed.is_news),
            ("FAILED round 2 bridge web: the agent is gone", true)
        );
        assert!(lines.of(&Event::Note("a node is busy")).unwrap().is_news);
        let started = lines.of(&Event::SearchesStarted { searches: 3, left: 2 }).unwrap();
        assert_eq!(started, Line { text: text("3 searches, 2 of them left"), is_news: false });
    }
}
