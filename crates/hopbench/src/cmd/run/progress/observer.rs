//! The observer of a run for people.

use hopbench_model::{Nanos, RunFile, SECOND, Tick};
use hopbench_report::campaign::{LiveScreen, Summary};
use hopbench_report::number::counted;
use hopbench_run::results::TrialId;
use hopbench_run::{Event, Observer};
use hopbench_stats::FEWEST_TO_JUDGE;
use hopbench_sys::clock::now;
use hopbench_wire::Role;

use super::lines::name;
use super::log::Log;
use super::pace::Pace;
use super::status::{Status, clock};
use crate::cmd::run::known::Known;
use crate::ctrl_c::CtrlC;
use crate::output::{Bar, is_styled};

/// What stands in the place of everything else once the user wants the end.
const ENDING: &str = "ending with what was measured; Ctrl-C again ends at once";
/// Between two drawings, and between two lines where nothing is drawn, ns.
const DRAWN_EVERY: Nanos = SECOND / 2;
const TOLD_EVERY: Nanos = 10 * SECOND;

/// Tells on standard error how far a run is, and what is known. It draws before trials only: while
/// one is measured it leaves the machine alone.
pub(in crate::cmd::run) struct Progress {
    bar: Bar,
    log: Log,
    /// Whether every line of the log is told.
    is_verbose: bool,
    ctrl_c: CtrlC,
    started_at: Nanos,
    known: Known,
    pace: Pace,
    status: Status,
    /// How the rounds go, where they end when the figures are sure enough.
    round: Option<String>,
    /// Whether there are rounds enough for verdicts.
    is_open: bool,
}

impl Progress {
    /// Draws on `bar`, which others may suspend to say something.
    pub(in crate::cmd::run) fn new(
        ctrl_c: CtrlC,
        bar: Bar,
        log: Log,
        known: Known,
        is_verbose: bool,
    ) -> Self {
        let started_at = now();
        let pace = match bar.is_shown() {
            true => Pace::new(DRAWN_EVERY, started_at),
            false => Pace::new(TOLD_EVERY, started_at + TOLD_EVERY),
        };
        Self {
            bar,
            log,
            is_verbose,
            ctrl_c,
            started_at,
            known,
            pace,
            status: Status::default(),
            round: None,
            is_open: false,
        }
    }

    /// A trial begins: it may be time to tell how far the run is.
    fn begin(&mut self, trial: &TrialId, run: Option<&RunFile>) {
        let began = now();
        self.status.began.get_or_insert(began);
        self.status.trial = name(trial);
        let is_told = self.bar.is_shown() || !self.is_verbose;
        if !is_told || !self.pace.is_due(began) {
            return;
        }
        let Some(summary) = self.known.summary(run) else { return };
        if self.bar.is_shown() {
            self.bar.show(&self.drawn(&summary, began));
        } else {
            self.bar.remark(self.status.line(summary.decided(), began));
        }
        self.pace.made(began, now());
    }

    /// The answer so far, and below it where the run is.
    fn drawn(&self, summary: &Summary, now: Nanos) -> String {
        let (width, height) = self.bar.room();
        let status = self.status.drawn(summary.decided(), now);
        let height = height.saturating_sub(status.len() + 1);
        let screen = LiveScreen { width, height, is_styled: is_styled(), is_open: self.is_open };
        let mut lines = screen.lines(summary);
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(status);
        lines.join("\n")
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(line) = self.log.line(event).filter(|line| line.is_news || self.is_verbose) {
            self.bar.remark(&line.text);
        }
        self.known.take(event);
        match event {
            Event::RunStarted { run, .. } => {
                self.status.budget = run.plan.budget_ns.map(|budget| (budget, run.spent_ns));
                self.is_open = run.plan.most_rounds() as usize >= FEWEST_TO_JUDGE;
            }
            Event::RoundStarted { round, open, cells, .. } => {
                self.round = Some(format!("round {round}, {open} of {cells} cells open"));
            }
            Event::RoundsDone { .. } => self.round = None,
            Event::TrialStarted { run, trial, rounds, left_ns, .. } => {
                self.status.left_ns = Some(*left_ns);
                let number = trial.round;
                self.status.stage = match &self.round {
                    Some(round) => round.clone(),
                    None if run.plan.budget_ns.is_some() => format!("round {number}"),
                    None => format!("round {number} of {rounds}"),
                };
                self.begin(trial, Some(run));
            }
            Event::SearchTrialStarted { trial, pass, place, of, .. } => {
                self.status.left_ns = None;
                self.status.stage = format!("searching, pass {pass}, {place} of {of}");
                self.begin(trial, None);
            }
            Event::RunDone { run, ended, .. } => {
                self.bar.clear();
                if !self.bar.is_shown() {
                    let trials = counted((ended.good + ended.errors) as u64, "trial", "trials");
                    let time = clock(now().saturating_sub(self.started_at));
                    self.bar.remark(format_args!("{}: {trials} in {time}", run.plan.name));
                }
            }
            _ => {}
        }
    }

    fn tick(&mut self, _: Role, _: usize, _: &Tick) {
        // The trial is cut: there is nothing to disturb any more.
        if self.ctrl_c.wanted() {
            self.bar.show(ENDING);
        }
    }

    fn interrupted(&self) -> bool {
        self.ctrl_c.wanted()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.clear();
    }
}
