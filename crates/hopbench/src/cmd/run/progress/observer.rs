//! The observer of a run for people.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use hopbench_model::{Counts, Job, Nanos, Record, Tick, Unit, WorkloadKind};
use hopbench_report::number::counted;
use hopbench_report::{Step, live_line};
use hopbench_run::{Event, Observer};
use hopbench_sys::clock::now;
use hopbench_wire::Role;

use super::lines::name;
use super::live::{Live, clock};
use super::log::Log;
use super::pace::Pace;
use crate::cmd::run::headline::figure;
use crate::interrupt::Interrupt;
use crate::output::{Bar, remark};

/// What stands in the place of everything else once the user wants the end.
const ENDING: &str = "ending: what was measured of this trial is kept; Ctrl-C again ends at once";

/// Tells on standard error how far a run is.
pub(in crate::cmd::run) struct Progress {
    bar: Bar,
    log: Log,
    /// Whether every line of the log is told.
    is_verbose: bool,
    is_terminal: bool,
    interrupt: Interrupt,
    started_at: Nanos,
    pace: Pace,
    live: Live,
    /// How the rounds go, where they end when the figures are sure enough.
    round: Option<String>,
    /// What the trial's throughput counts.
    unit: Unit,
    ends: BTreeMap<(bool, usize), Tick>,
    /// The clients together, and the servers together, at the tick before.
    before: Option<[Tick; 2]>,
}

impl Progress {
    /// Draws on `bar`, which others may suspend to say something.
    pub(in crate::cmd::run) fn new(
        interrupt: Interrupt,
        bar: Bar,
        log: Log,
        is_verbose: bool,
    ) -> Self {
        let started_at = now();
        Self {
            bar,
            log,
            is_verbose,
            is_terminal: std::io::stderr().is_terminal(),
            interrupt,
            started_at,
            pace: Pace::new(started_at),
            live: Live::default(),
            round: None,
            unit: WorkloadKind::PLAIN.unit,
            ends: BTreeMap::new(),
            before: None,
        }
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        if self.is_terminal {
            self.bar.remark(line);
        } else {
            remark(line);
        }
    }

    /// Draws the line in place; `rate` is what the trial moves now.
    fn draw(&self, rate: &str) {
        if self.interrupt.wanted() {
            self.bar.show(ENDING);
        } else {
            self.bar.show(&self.live.drawn(rate));
        }
    }

    /// A trial begins: how far the run is may be worth a line.
    fn begin(&mut self, job: &Job) {
        self.ends.clear();
        self.before = None;
        self.unit = job.kind().unit;
        if self.is_terminal {
            self.draw("");
            return;
        }
        let (done, all) = self.live.trials.unwrap_or_default();
        if !self.is_verbose && self.pace.is_due(now(), done, all) {
            self.say(&self.live.line());
        }
    }

    /// One side's ends together, as they stood last.
    fn side(&self, server: bool) -> Tick {
        let mut counts = Counts::default();
        let ends = || {
            self.ends
                .iter()
                .filter(|((is_server, _), _)| *is_server == server)
                .map(|(_, tick)| tick)
        };
        ends().for_each(|tick| counts.add(&tick.counts));
        Tick { t_ns: ends().map(|tick| tick.t_ns).max().unwrap_or(0), counts, ..Tick::default() }
    }
}

/// `bridge latency: 66.0 us`; `None` for a trial without figures.
fn latest(record: &Record) -> Option<String> {
    Some(format!("{} {}: {}", record.path, record.workload, figure(record)?))
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(line) = self.log.line(event).filter(|line| line.is_news || self.is_verbose) {
            self.say(&line.text);
        }
        match event {
            Event::RoundStarted { round, open, cells, .. } => {
                self.round = Some(format!("round {round}, {open} of {cells} cells open"));
            }
            Event::RoundsDone { .. } => self.round = None,
            Event::TrialStarted { trial, number, trials, job, left_ns, .. } => {
                self.live.trials = Some((number.saturating_sub(1), *trials));
                self.live.left_ns = Some(*left_ns);
                // Where it is not known when the rounds end, how far they are says more.
                self.live.stage = self.round.clone().unwrap_or_default();
                self.live.trial = name(trial);
                self.begin(job);
            }
            Event::SearchTrialStarted { trial, pass, place, of, job } => {
                self.live.trials = None;
                self.live.left_ns = None;
                self.live.stage = format!("searching, pass {pass}, {place} of {of}");
                self.live.trial = name(trial);
                self.begin(job);
            }
            Event::TrialDone(record) => {
                if let Some(latest) = latest(record) {
                    self.live.latest = latest;
                }
            }
            Event::RunDone { run, ended, .. } => {
                self.bar.clear();
                if !self.is_terminal {
                    let trials = counted((ended.good + ended.errors) as u64, "trial", "trials");
                    let time = clock(now().saturating_sub(self.started_at));
                    self.say(&format!("{}: {trials} in {time}", run.plan.name));
                }
            }
            _ => {}
        }
    }

    fn tick(&mut self, role: Role, end: usize, tick: &Tick) {
        if !self.is_terminal {
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
        let server =
            (now[1].t_ns > before[1].t_ns).then_some(Step { before: &before[1], now: &now[1] });
        let line = live_line(self.unit, Step { before: &before[0], now: &now[0] }, server);
        self.draw(&line);
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
