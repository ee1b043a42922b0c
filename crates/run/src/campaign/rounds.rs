//! The rounds of a campaign.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Cell, Failure, Fault, Nanos, Plan, Stopped};
use hopbench_sys::clock;

use super::event::{Event, Observer};
use super::order::order;
use super::stopping::{Open, Stopping, cell_name};
use super::{Around, Campaign, Next, id};
use crate::results::{self, TrialId};

/// So many failures of a path in a row say that the next will fail too.
const MOST_FAILURES: u32 = 3;

/// One round of some cells.
struct Round {
    number: u32,
    /// The cells in their order, each with whether it was measured before.
    cells: Vec<(Cell, bool)>,
    /// Trials of the rounds before it.
    before: usize,
    /// Trials of the whole run, and those of later rounds that are not measured yet, cell by cell: estimates where there is
    /// a stop rule.
    trials: usize,
    later: Vec<(Cell, usize)>,
    /// When the time for trials is used up.
    until: Option<Nanos>,
}

impl Campaign {
    /// Walks through the rounds. What is lost before has failed.
    pub(super) fn walk(&mut self, around: &mut Around<'_>, lost: Vec<(TrialId, String)>) -> Result<(), Fault> {
        let plan = around.plan;
        let mut stopping = self.stopping(plan)?;
        let (trials, left) = self.expected(&stopping, plan);
        around.observer.event(&Event::RunStarted { run: self.folder.run(), trials, left });
        for (trial, reason) in lost {
            self.fail(trial, reason, false, around.observer)?;
        }
        let mut ended_at = None;
        let (mut before, mut over) = (0, false);
        for number in 1..=plan.rounds {
            let open = stopping.round(number);
            let round = self.round(plan, number, &open, before);
            before += round.cells.len();
            if round.cells.iter().all(|(_, done)| *done) {
                stopping.begin(number, &open);
                continue;
            }
            // A session does a round in any case: who goes on with little time comes forward.
            if self.began.is_some_and(|began| stopping.is_over(clock::now() - began)) {
                over = true;
                break;
            }
            let began = *self.began.get_or_insert_with(clock::now);
            let until = plan.stop.as_ref().and_then(|rule| rule.budget_ns).map(|ns| began.saturating_add(ns));
            let round = Round { until, ..round };
            if let Some(rule) = stopping.rule() {
                around.observer.event(&Event::RoundStarted {
                    round: number,
                    open: open.len(),
                    cells: stopping.count(),
                    widest_share: stopping.widest(number),
                    goal_share: rule.half_width_share,
                });
            }
            stopping.begin(number, &open);
            self.pass(&round, &mut stopping, &mut ended_at, around)?;
            if self.ended.interrupted {
                break;
            }
            self.tell(plan, &mut stopping, false, around.observer)?;
        }
        self.tell(plan, &mut stopping, over, around.observer)?;
        if stopping.rule().is_some() && stopping.count() > 0 {
            around.observer.event(&Event::RoundsDone { ended: stopping.ended(over), rounds: plan.rounds });
        }
        Ok(())
    }

    /// One pass over the cells of a round.
    fn pass(
        &mut self,
        round: &Round,
        stopping: &mut Stopping<'_>,
        ended_at: &mut Option<Nanos>,
        around: &mut Around<'_>,
    ) -> Result<(), Fault> {
        let plan = around.plan;
        let mut in_a_row: BTreeMap<usize, u32> = BTreeMap::new();
        let left = |from: usize| {
            let cells = round.cells.iter().enumerate().skip(from);
            cells.filter(|(_, (_, done))| !done).map(|(at, (cell, _))| (at, *cell))
        };
        for (at, cell) in left(0) {
            if around.observer.interrupted() {
                self.ended.interrupted = true;
                break;
            }
            let trial = id(plan, cell, round.number);
            let failures = in_a_row.entry(cell.path).or_default();
            if *failures >= MOST_FAILURES {
                self.give_up(trial, around.observer)?;
                continue;
            }
            let job = &plan.points[cell.point].job;
            around.observer.event(&Event::TrialStarted {
                trial: &trial,
                number: round.before + at + 1,
                trials: round.trials,
                cell: at + 1,
                cells: round.cells.len(),
                rounds: plan.rounds,
                job,
                left_ns: self.left_ns(plan, round, left(at).map(|(_, cell)| cell)),
            });
            let began = clock::now();
            let next = self.one(cell, round.number, around)?;
            match &next {
                Next::Stop => {
                    self.ended.interrupted = true;
                    break;
                }
                Next::Good(record) => {
                    *failures = 0;
                    stopping.take(cell, record);
                }
                Next::Failed => {
                    *failures += 1;
                    if *failures == MOST_FAILURES {
                        let rest = left(at + 1).filter(|(_, other)| other.path == cell.path).count();
                        let path = &plan.paths[cell.path].name;
                        if rest > 0 {
                            around.observer.event(&Event::PathGivenUp { path, round: round.number, trials: rest });
                        }
                    }
                }
            }
            self.learn(job, began, ended_at, matches!(next, Next::Good(_)));
        }
        Ok(())
    }

    fn give_up(&mut self, trial: TrialId, observer: &mut dyn Observer) -> Result<(), Fault> {
        let reason = format!("not tried: {MOST_FAILURES} trials of this path in a row failed in this round");
        self.fail(trial, reason, false, observer)
    }

    /// The cells of a plan, with what was measured of them before where that decides whether they go on.
    fn stopping<'p>(&self, plan: &'p Plan) -> Result<Stopping<'p>, Fault> {
        let mut stopping = Stopping::new(plan);
        if stopping.rule().is_some() && !self.done.is_empty() {
            let (_, records) = results::open(self.folder.path())?;
            // The folder was looked through when it was taken up.
            stopping.take_all(records.filter_map(Result::ok));
        }
        Ok(stopping)
    }

    /// A round of these cells.
    fn round(&self, plan: &Plan, number: u32, open: &[Open], before: usize) -> Round {
        let later = |open: &Open| {
            let rounds = number + 1..=number.saturating_add(open.more);
            let is_left = |round: &u32| self.done.is_empty() || !self.done.contains(&id(plan, open.cell, *round));
            (open.cell, rounds.filter(is_left).count())
        };
        let more: usize = open.iter().map(|open| 1 + open.more as usize).sum();
        let ordered = order(plan, number).into_iter().filter(|cell| open.iter().any(|open| open.cell == *cell));
        Round {
            number,
            cells: ordered.map(|cell| (cell, self.done.contains(&id(plan, cell, number)))).collect(),
            before,
            trials: before + more,
            later: open.iter().map(later).collect(),
            until: None,
        }
    }

    /// Trials of the whole run and those that are left, as far as the values so far say.
    fn expected(&self, stopping: &Stopping<'_>, plan: &Plan) -> (usize, usize) {
        let (mut trials, mut left) = (0, 0);
        for number in 1..=plan.rounds {
            let open = stopping.round(number);
            let round = self.round(plan, number, &open, trials);
            let here = round.cells.iter().filter(|(_, done)| !done).count();
            trials += round.cells.len();
            left += here;
            // What follows depends on what comes.
            if stopping.rule().is_some() && here > 0 {
                let later: usize = round.later.iter().map(|(_, trials)| trials).sum();
                return (round.trials, left + later);
            }
        }
        (trials, left)
    }

    /// Time that the rest of a round and the rounds after it will take.
    fn left_ns(&self, plan: &Plan, round: &Round, rest: impl Iterator<Item = Cell>) -> Nanos {
        let trial_ns = |cell: Cell| self.trial_ns(&plan.points[cell.point].job);
        let rest = rest.map(trial_ns).fold(0, Nanos::saturating_add);
        let later = round.later.iter().map(|(cell, trials)| trial_ns(*cell).saturating_mul(*trials as u64));
        let later = later.fold(0, Nanos::saturating_add);
        let all = rest.saturating_add(later);
        // The round in which the time ends is finished.
        round.until.map_or(all, |until| all.min(until.saturating_sub(clock::now()).max(rest)))
    }

    /// Writes down which cells need no more rounds, and says what is to be known of what is looked at. What an earlier
    /// session found of cells that this one cannot measure stands.
    fn tell(
        &mut self,
        plan: &Plan,
        stopping: &mut Stopping<'_>,
        over: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Fault> {
        if stopping.rule().is_none() {
            return Ok(());
        }
        let ours: BTreeSet<_> = plan.cells.iter().map(|cell| cell_name(plan, *cell)).collect();
        let is_ours = |s: &Stopped| ours.contains(&(s.path.clone(), s.workload.clone(), s.point.clone()));
        let run = self.folder.run();
        let mut stopped: Vec<Stopped> = run.stopped.iter().filter(|stopped| !is_ours(stopped)).cloned().collect();
        stopped.extend(stopping.stopped(over));
        let mut news = stopping.news();
        news.retain(|note| !run.notes.contains(note));
        news.iter().for_each(|note| observer.event(&Event::Note(note)));
        let before = run.failures.len();
        let is_needless = |failure: &Failure| {
            let of_cell =
                |s: &&Stopped| (&s.path, &s.workload, &s.point) == (&failure.path, &failure.workload, &failure.point);
            stopped.iter().find(of_cell).is_some_and(|stopped| failure.round > stopped.rounds)
        };
        // What failed in an earlier session, and now turns out not to be needed, is not missing.
        self.folder.forget_if(is_needless);
        let run = self.folder.run();
        if stopped == run.stopped && before == run.failures.len() && news.is_empty() {
            return Ok(());
        }
        self.folder.update(|run| {
            run.stopped = stopped;
            run.notes.extend(news);
        })
    }
}
