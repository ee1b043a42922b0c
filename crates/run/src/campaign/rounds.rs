//! The rounds of a campaign.

mod allocation;
pub(super) mod earlier;
pub(super) mod order;

use std::collections::{BTreeMap, HashSet};

use hopbench_model::number::long_time;
use hopbench_model::{Cell, Failure, Fault, Nanos, Plan, SECOND, Stopped};
use hopbench_sys::clock;

use super::event::{Event, Observer};
use super::stopping::{Open, Stopping};
use super::{Around, Campaign, Next};
use crate::results::{self, CellName, TrialId};
use allocation::Allocation;
use earlier::Earlier;
use order::order;

/// So many failures of a path in a row say that the next will fail too.
const MOST_FAILURES: u32 = 3;

/// One round of some cells.
struct Round {
    number: u32,
    /// The cells in their order, each with whether it was measured before.
    cells: Vec<(Cell, bool)>,
    /// Trials of the rounds before it.
    before: usize,
    /// Cells that rest in it.
    resting: u64,
    /// Trials of the whole run, and those of later rounds that are not measured yet, cell by cell:
    /// estimates where there is a stop rule.
    trials: usize,
    later: Vec<(Cell, usize)>,
}

impl Campaign {
    /// Walks through the rounds. What is lost before has failed.
    pub(super) fn walk(
        &mut self,
        around: &mut Around<'_>,
        lost: Vec<(TrialId, String)>,
    ) -> Result<(), Fault> {
        let plan = around.plan;
        let earlier = Earlier::of(plan, &self.done);
        let mut stopping = self.stopping(plan)?;
        let mut allocation = self.allocation(plan)?;
        let (trials, left) = expected(
            plan,
            |round| self.with_time(plan, stopping.round(round)),
            &stopping,
            &earlier,
        );
        around.observer.event(&Event::RunStarted { run: self.folder.run(), trials, left });
        for (trial, reason) in self.missing(plan, lost)? {
            self.fail(trial, reason, false, around.observer)?;
        }
        let mut ended_at = None;
        let (mut before, mut over, mut cut, mut spared) = (0, false, false, 0);
        let (made, spent_ns) = (self.folder.run().plan.rounds, self.folder.run().spent_ns);
        for number in 1..=plan.rounds {
            allocation.look(number);
            let all = self.with_time(plan, stopping.round(number));
            let (open, resting): (Vec<Open>, Vec<Open>) =
                all.into_iter().partition(|open| allocation.has(open.cell, number));
            let mut round = Round::new(plan, number, &open, before, &earlier);
            // What was made all the same was not spared.
            let rests = |open: &&Open| !earlier.has(open.cell, number);
            round.resting = resting.iter().filter(rests).count() as u64;
            spared += round.resting;
            before += round.cells.len();
            if round.cells.iter().all(|(_, done)| *done) {
                stopping.begin(number, &open);
                continue;
            }
            // What is missing of rounds that were begun is made up for in any case.
            let is_begun = plan.budget_ns.is_some() && number <= made;
            if !self.begins(plan, &open) && !is_begun {
                over = true;
                break;
            }
            if plan.budget_ns.is_some() {
                self.folder.update(|run| {
                    if number >= run.plan.rounds {
                        (run.plan.rounds, run.spared_trials) = (number, spared);
                    }
                })?;
            }
            if let Some(rule) = stopping.rule() {
                around.observer.event(&Event::RoundStarted {
                    round: number,
                    open: open.len(),
                    cells: stopping.count(),
                    widest_share: stopping.widest(number, &open),
                    goal_share: rule.half_width_share,
                });
            }
            stopping.begin(number, &open);
            let missing =
                self.pass(&round, (&mut stopping, &mut allocation), &mut ended_at, around)?;
            if let Some(budget) = &self.rounds_budget {
                let spent_ns = spent_ns.saturating_add(budget.used_ns(clock::now()));
                self.folder.update(|run| run.spent_ns = spent_ns)?;
            }
            if self.ended.interrupted {
                cut = true;
                if number >= made {
                    self.shorten(&round, missing, around)?;
                }
                break;
            }
            self.tell(&mut stopping, false, around.observer)?;
        }
        self.tell(&mut stopping, over, around.observer)?;
        if plan.budget_ns.is_some() && plan.has_rounds() && !over && !cut {
            self.note_most(plan, around.observer)?;
        }
        if stopping.rule().is_some() && stopping.count() > 0 {
            around
                .observer
                .event(&Event::RoundsDone { ended: stopping.ended(over), rounds: plan.rounds });
        }
        Ok(())
    }

    /// The rounds of a budget ended because a run has no more than so many.
    fn note_most(&mut self, plan: &Plan, observer: &mut dyn Observer) -> Result<(), Fault> {
        let run = self.folder.run();
        let times = self.times(run.plan.budget_ns.unwrap_or_default());
        let (rounds, [spent, budget]) = (plan.rounds, times);
        let note = format!(
            "the rounds ended after {spent} of {budget}: a run has at most {rounds}. A longer \
             `time` of its trials uses more"
        );
        observer.event(&Event::Note(&note));
        self.folder.update(|run| run.notes.push(format!("session {}: {note}", run.session)))
    }

    /// The time that the rounds took, and this budget, as words.
    fn times(&self, budget_ns: Nanos) -> [String; 2] {
        let words = |ns: Nanos| long_time(ns.saturating_add(SECOND / 2) / SECOND);
        [self.folder.run().spent_ns, budget_ns].map(words)
    }

    /// The user ended the rounds of a budget, in this round, of which so many trials are missing.
    /// If nothing but rounds was to be measured, what there is of them is a run with less time.
    fn shorten(
        &mut self,
        round: &Round,
        missing: usize,
        around: &mut Around<'_>,
    ) -> Result<(), Fault> {
        let run = self.folder.run();
        let Some(budget_ns) = run.plan.budget_ns else { return Ok(()) };
        let has_searches = run.plan.points.iter().any(|point| point.search.is_some());
        if has_searches || (self.done.is_empty() && self.ended.good == 0) {
            return Ok(());
        }
        self.ended.interrupted = false;
        let all = round.cells.len();
        // A round of which there is nothing was none.
        let is_none = missing == all && round.number > 1;
        let times = self.times(budget_ns);
        let mut note = format!("the user ended the rounds after {} of {}", times[0], times[1]);
        if missing > 0 && !is_none {
            let number = round.number;
            note.push_str(&format!(
                ": {missing} of the {all} trials of round {number} were not made"
            ));
        }
        around.observer.event(&Event::Note(&note));
        self.folder.update(|run| {
            if is_none {
                run.plan.rounds -= 1;
                run.spared_trials -= round.resting;
            }
            run.notes.push(format!("session {}: {note}", run.session));
        })
    }

    /// One pass over the cells of a round. The trials of it that the user did not let happen.
    fn pass(
        &mut self,
        round: &Round,
        (stopping, allocation): (&mut Stopping<'_>, &mut Allocation),
        ended_at: &mut Option<Nanos>,
        around: &mut Around<'_>,
    ) -> Result<usize, Fault> {
        let plan = around.plan;
        let mut in_a_row: BTreeMap<usize, u32> = BTreeMap::new();
        let left = |from: usize| {
            let cells = round.cells.iter().enumerate().skip(from);
            cells.filter(|(_, (_, done))| !done).map(|(at, (cell, _))| (at, *cell))
        };
        for (at, cell) in left(0) {
            if around.observer.interrupted() {
                self.ended.interrupted = true;
                return Ok(left(at).count());
            }
            let trial = CellName::of(plan, cell).trial(round.number);
            let failures = in_a_row.entry(cell.path).or_default();
            if *failures >= MOST_FAILURES {
                self.give_up(trial, around.observer)?;
                continue;
            }
            let job = &plan.points[cell.point].job;
            around.observer.event(&Event::TrialStarted {
                run: self.folder.run(),
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
                Next::Stop { made } => {
                    self.ended.interrupted = true;
                    return Ok(left(at + usize::from(*made)).count());
                }
                Next::Good(record) => {
                    *failures = 0;
                    stopping.take(cell, record);
                    allocation.take((**record).clone());
                }
                Next::Failed => {
                    *failures += 1;
                    if *failures == MOST_FAILURES {
                        let rest =
                            left(at + 1).filter(|(_, other)| other.path == cell.path).count();
                        let path = &plan.paths[cell.path].name;
                        if rest > 0 {
                            around.observer.event(&Event::PathGivenUp {
                                path,
                                round: round.number,
                                trials: rest,
                            });
                        }
                    }
                }
            }
            self.learn(job, began, ended_at, matches!(next, Next::Good(_)));
        }
        Ok(0)
    }

    fn give_up(&mut self, trial: TrialId, observer: &mut dyn Observer) -> Result<(), Fault> {
        let reason =
            format!("not tried: {MOST_FAILURES} trials of this path in a row failed in this round");
        self.fail(trial, reason, false, observer)
    }

    /// The cells of a plan, with what was measured of them before where that decides whether they
    /// go on.
    fn stopping<'p>(&self, plan: &'p Plan) -> Result<Stopping<'p>, Fault> {
        let mut stopping = Stopping::new(plan);
        if stopping.rule().is_some() && !self.done.is_empty() {
            let (_, records) = results::open(self.folder.path())?;
            // The folder was looked through when it was taken up.
            stopping.take_all(records.filter_map(Result::ok));
        }
        Ok(stopping)
    }

    /// The allocation of the time among the cells of `plan`, with what was measured before.
    fn allocation(&self, plan: &Plan) -> Result<Allocation, Fault> {
        let run = self.folder.run();
        if self.done.is_empty() {
            return Ok(Allocation::of(run, plan, std::iter::empty()));
        }
        let (_, records) = results::open(self.folder.path())?;
        Ok(Allocation::of(run, plan, records.filter_map(Result::ok)))
    }

    /// Of trials that can no longer be made, those that are missing. Of a budget those are not in
    /// which the cell rested, and not those of rounds that were made without it.
    fn missing(
        &self,
        plan: &Plan,
        lost: Vec<(TrialId, String)>,
    ) -> Result<Vec<(TrialId, String)>, Fault> {
        if lost.is_empty() || plan.budget_ns.is_none() {
            return Ok(lost);
        }
        let mut by_round: BTreeMap<u32, Vec<(TrialId, String)>> = BTreeMap::new();
        for (trial, reason) in lost {
            by_round.entry(trial.round).or_default().push((trial, reason));
        }
        let (mut allocation, mut out) = (self.allocation(plan)?, Vec::new());
        for round in 1..=self.folder.run().plan.rounds {
            allocation.look(round);
            let trials = by_round.remove(&round).unwrap_or_default();
            out.extend(trials.into_iter().filter(|(trial, _)| allocation.had(trial)));
        }
        Ok(out)
    }

    /// Whether a round of these cells begins now.
    fn begins(&mut self, plan: &Plan, open: &[Open]) -> bool {
        let round_ns = self.round_ns(plan, open);
        match &mut self.rounds_budget {
            Some(budget) => budget.begins(clock::now(), round_ns / 2),
            None => self.budget.begins(clock::now(), 0),
        }
    }

    /// These cells, with no more rounds to follow than there is time for.
    fn with_time(&self, plan: &Plan, mut open: Vec<Open>) -> Vec<Open> {
        let left = self.rounds_budget.as_ref().and_then(|budget| budget.left_ns(clock::now()));
        if let Some(left_ns) = left {
            let more = left_ns / self.round_ns(plan, &open).max(1);
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            open.iter_mut().for_each(|open| open.more = open.more.min(more));
        }
        open
    }

    /// Time that a round of these cells will take.
    fn round_ns(&self, plan: &Plan, open: &[Open]) -> Nanos {
        let trial_ns = |open: &Open| self.trial_ns(&plan.points[open.cell.point].job);
        open.iter().map(trial_ns).fold(0, Nanos::saturating_add)
    }

    /// Time that the rest of a round and the rounds after it will take.
    fn left_ns(&self, plan: &Plan, round: &Round, rest: impl Iterator<Item = Cell>) -> Nanos {
        let trial_ns = |cell: Cell| self.trial_ns(&plan.points[cell.point].job);
        let rest = rest.map(trial_ns).fold(0, Nanos::saturating_add);
        let later =
            round.later.iter().map(|(cell, trials)| trial_ns(*cell).saturating_mul(*trials as u64));
        let later = later.fold(0, Nanos::saturating_add);
        let all = rest.saturating_add(later);
        // The round in which the time ends is finished.
        self.rounds_budget
            .as_ref()
            .unwrap_or(&self.budget)
            .until()
            .map_or(all, |until| all.min(until.saturating_sub(clock::now()).max(rest)))
    }

    /// Writes down which cells need no more rounds, and says what is to be known of what is looked
    /// at. What an earlier session found of cells that this one cannot measure stands.
    fn tell(
        &mut self,
        stopping: &mut Stopping<'_>,
        over: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Fault> {
        if stopping.rule().is_none() {
            return Ok(());
        }
        let ours = stopping.names();
        let is_ours = |stopped: &&Stopped| ours.contains(&CellName::of_stopped(stopped));
        let run = self.folder.run();
        let others = run.stopped.iter().filter(|stopped| !is_ours(stopped)).cloned();
        let stopped: Vec<Stopped> = others.chain(stopping.stopped(over)).collect();
        let mut news = stopping.news();
        news.retain(|note| !run.notes.contains(note));
        news.iter().for_each(|note| observer.event(&Event::Note(note)));
        let before = run.failures.len();
        let rounds: BTreeMap<CellName, u32> =
            stopped.iter().map(|s| (CellName::of_stopped(s), s.rounds)).collect();
        let is_needless = |failure: &Failure| {
            rounds
                .get(&TrialId::of_failure(failure).cell())
                .is_some_and(|rounds| failure.round > *rounds)
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

impl Round {
    /// A round of these cells, after so many trials of the rounds before it.
    fn new(plan: &Plan, number: u32, open: &[Open], before: usize, earlier: &Earlier) -> Self {
        let is_open: HashSet<Cell> = open.iter().map(|open| open.cell).collect();
        let ordered = order(plan, number).into_iter().filter(|cell| is_open.contains(cell));
        let more: usize = open.iter().map(|open| 1 + open.more as usize).sum();
        let later = |open: &Open| (open.cell, earlier.left(open.cell, number, open.more));
        Self {
            number,
            cells: ordered.map(|cell| (cell, earlier.has(cell, number))).collect(),
            before,
            resting: 0,
            trials: before + more,
            later: open.iter().map(later).collect(),
        }
    }
}

/// Trials of the whole run and those that are left, as far as the values so far say.
fn expected(
    plan: &Plan,
    open: impl Fn(u32) -> Vec<Open>,
    stopping: &Stopping<'_>,
    earlier: &Earlier,
) -> (usize, usize) {
    let mut before = 0;
    for number in 1..=plan.rounds {
        let round = Round::new(plan, number, &open(number), before, earlier);
        let here = round.cells.iter().filter(|(_, done)| !done).count();
        // Without a rule the first round knows all that follow; with one, what follows depends on
        // what comes.
        if stopping.rule().is_none() || here > 0 {
            let later: usize = round.later.iter().map(|(_, trials)| trials).sum();
            return (round.trials, here + later);
        }
        before += round.cells.len();
    }
    (before, 0)
}
