//! What a person sees of a run: a live line on a terminal, a line a trial elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use hopbench_model::{Counts, Record, Tick};
use hopbench_report::number::counted;
use hopbench_report::{Step, live_line};
use hopbench_run::results::TrialId;
use hopbench_run::{Event, Observer};
use hopbench_wire::Role;

use super::headline::headline;
use super::narrowing;
use super::searching;
use crate::cmd::interrupt::Interrupt;
use crate::output::{Bar, remark};

/// Tells on standard error how far a run is.
pub(super) struct Progress {
    bar: Bar,
    terminal: bool,
    interrupt: Interrupt,
    /// How the rounds go, where they end when the figures are sure enough.
    round: Option<String>,
    /// Where the trial stands in the run, and its workload's kind.
    place: String,
    plain: String,
    kind: String,
    ends: BTreeMap<(bool, usize), Tick>,
    /// The clients together, and the servers together, at the tick before.
    before: Option<[Tick; 2]>,
}

impl Progress {
    /// Draws on `bar`, which others may suspend to say something.
    pub(super) fn new(interrupt: Interrupt, bar: Bar) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self {
            bar,
            terminal,
            interrupt,
            round: None,
            place: String::new(),
            plain: String::new(),
            kind: String::new(),
            ends: BTreeMap::new(),
            before: None,
        }
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        if self.terminal {
            self.bar.remark(line);
        } else {
            remark(line);
        }
    }

    /// One side's ends together, as they stood last.
    fn side(&self, server: bool) -> Tick {
        let mut counts = Counts::default();
        let ends = || self.ends.iter().filter(|((is_server, _), _)| *is_server == server).map(|(_, tick)| tick);
        ends().for_each(|tick| counts.add(&tick.counts));
        Tick { t_ns: ends().map(|tick| tick.t_ns).max().unwrap_or(0), counts, ..Tick::default() }
    }
}

/// Whether a record shows a search something.
fn is_step(record: &Record) -> bool {
    record.search.is_some() && record.error.is_none() && record.incomplete.is_none()
}

/// `bridge latency size=64B`.
fn name(trial: &TrialId) -> String {
    let TrialId { path, workload, point, .. } = trial;
    format!("{path} {workload} {point}").trim_end().to_owned()
}

/// `1:05` or `2:00:05`.
fn clock(ns: u64) -> String {
    let s = ns.div_ceil(1_000_000_000);
    let (hours, minutes, seconds) = (s / 3600, s / 60 % 60, s % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            // All of it is searched.
            Event::RunStarted { run, trials: 0, .. } => self.say(&format!("{}: run {}", run.plan.name, run.run_id)),
            Event::RunStarted { run, trials, left } => {
                let rest = if left < trials { format!(", {left} of them left") } else { String::new() };
                let about = if run.plan.stop.is_some() { "about " } else { "" };
                let trials = format!("{about}{}", counted(*trials as u64, "trial", "trials"));
                self.say(&format!("{}: {trials}{rest}, run {}", run.plan.name, run.run_id));
            }
            Event::Note(note) => self.say(note),
            Event::CellSkipped(cell) => {
                let name = format!("{} {} {}", cell.path, cell.workload, cell.point);
                self.say(&format!("skipped {}: {}", name.trim_end(), cell.reason));
            }
            Event::RoundStarted { round, open, cells, widest_share, goal_share } => {
                let line = narrowing::round(*round, (*open, *cells), *widest_share, *goal_share);
                if !self.terminal {
                    self.say(&line);
                }
                self.round = Some(line);
            }
            Event::RoundsDone { ended, rounds } => {
                self.round = None;
                self.say(&narrowing::ended(ended, *rounds));
            }
            Event::TrialStarted { trial, number, trials, cell, cells, rounds, job, left_ns } => {
                self.ends.clear();
                self.before = None;
                self.kind.clone_from(&job.workload);
                let (name, left) = (name(trial), clock(*left_ns));
                // Where it is not known when the rounds end, how far they are says more than which it is.
                (self.plain, self.place) = match &self.round {
                    Some(round) => (
                        format!("[{number}/~{trials}] round {} {name}", trial.round),
                        format!("{round}, {left} left\ncell {cell} of {cells}: {name}"),
                    ),
                    None => (
                        format!("[{number}/{trials}] round {} {name}", trial.round),
                        format!("round {} of {rounds}, cell {cell} of {cells}, {left} left\n{name}", trial.round),
                    ),
                };
                self.bar.show(&self.place);
            }
            // The line of its search says more.
            Event::TrialDone(record) if is_step(record) => {}
            Event::TrialDone(record) => self.say(&format!("{}: {}", self.plain, headline(record))),
            Event::TrialFailed(failure) => {
                let point = format!("{} {} {}", failure.path, failure.workload, failure.point);
                self.say(&format!("FAILED round {} {}: {}", failure.round, point.trim_end(), failure.reason));
            }
            Event::PathGivenUp { path, round, trials } => self.say(&format!(
                "{path}: three trials in a row failed; {} of it not tried in round {round}",
                counted(*trials as u64, "more trial", "more trials")
            )),
            Event::SearchesStarted { searches, left } => {
                let rest = if left < searches { format!(", {left} of them left") } else { String::new() };
                self.say(&format!("{}{rest}", counted(*searches as u64, "search", "searches")));
            }
            Event::SearchTrialStarted { trial, pass, place, of, job } => {
                self.ends.clear();
                self.before = None;
                self.kind.clone_from(&job.workload);
                self.plain = format!("[search] {}", name(trial));
                self.place = format!("searching, pass {pass}, {place} of {of}\n{}", name(trial));
                self.bar.show(&self.place);
            }
            Event::SearchStep { path, workload, point, goal, step, beyond, next } => {
                self.say(&searching::step(path, workload, point, goal, step, *beyond, *next));
            }
            Event::SearchDone { path, workload, point, step, outcome, value } => {
                self.say(&searching::done(path, workload, point, step, *outcome, *value));
            }
            Event::RunDone { .. } => self.bar.clear(),
        }
    }

    fn tick(&mut self, role: Role, end: usize, tick: &Tick) {
        if !self.terminal {
            return;
        }
        self.ends.insert((role == Role::Server, end), tick.clone());
        // Once an interval is enough.
        if role == Role::Server || end > 0 {
            return;
        }
        let now = [self.side(false), self.side(true)];
        let start = Tick { t_ns: tick.t_ns.min(0), ..Tick::default() };
        let before = self.before.take().unwrap_or_else(|| [start.clone(), start]);
        let server = (now[1].t_ns > before[1].t_ns).then_some(Step { before: &before[1], now: &now[1] });
        let line = live_line(&self.kind, Step { before: &before[0], now: &now[0] }, server);
        self.bar.show(&format!("{}\n{line}", self.place));
        self.before = Some(now);
    }

    fn interrupted(&self) -> bool {
        self.interrupt.wanted()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_left_are_rounded_up() {
        assert_eq!(clock(0), "0:00");
        assert_eq!(clock(1), "0:01");
        assert_eq!(clock(65_000_000_000), "1:05");
        assert_eq!(clock(7_205_000_000_000), "2:00:05");
    }
}
