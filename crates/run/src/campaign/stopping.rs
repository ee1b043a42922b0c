//! The stopping of cells: as many rounds as needed, and the precision of the cells that are done.
//!
//! The cells of a round follow from the values of the rounds before it, and from nothing else. So a
//! run that was killed and goes on makes the trials that it would have made. A trial that failed is
//! simply no value.

mod expected;
mod figure;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hopbench_model::{Cell, Plan, Point, Record, StopRule, StopWhy, Stopped, TrialOutcome};
use hopbench_stats::{FEWEST_TO_STOP, Look, Stop};

use crate::results::{CellName, TrialId};
pub use expected::looked_at_instead;
use figure::Figure;

/// The cells of a plan that have rounds, with what was measured of them.
#[derive(Debug)]
pub(super) struct Stopping<'a> {
    plan: &'a Plan,
    /// Absent: every cell has all rounds.
    rule: Option<&'a StopRule>,
    cells: Vec<Followed>,
    /// The place of each cell among them.
    places: HashMap<Cell, usize>,
    /// What was said already.
    said: BTreeSet<String>,
}

/// One cell.
#[derive(Debug)]
struct Followed {
    cell: Cell,
    name: CellName,
    /// The places of the cells that need its next round, if it has one: its own, or those of all at
    /// its point.
    needed_by: Vec<usize>,
    /// What can be looked at, the best first.
    figures: Vec<Figure>,
    /// By round, the value of each of these.
    values: BTreeMap<u32, Vec<Option<f64>>>,
    /// The last round that it was in; 0: none yet.
    last: u32,
}

/// A cell that is in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) cell: Cell,
    /// Rounds that will about follow.
    pub(super) more: u32,
}

/// The number of cells that ended their rounds, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CellsEnded {
    /// They are sure enough.
    pub narrow: usize,
    /// The time was used up before they were.
    pub by_budget: usize,
    /// They are not after all rounds that the plan allows.
    pub by_rounds: usize,
    /// They go on when the run is resumed.
    pub open: usize,
}

/// The points that are compared with this one, because a tool of others measures one of both.
fn beside(plan: &Plan, at: usize) -> impl Iterator<Item = usize> {
    let of = |point: &'_ Point| {
        let peer = point.peer.as_ref();
        peer.map_or_else(|| point.workload.clone(), |peer| peer.of.clone())
    };
    let point = &plan.points[at];
    let has_peers = plan.points.iter().any(|point| point.peer.is_some());
    let all = plan.points.iter().enumerate().filter(move |_| has_peers);
    all.filter(move |(other, there)| {
        *other != at
            && (point.peer.is_some() || there.peer.is_some())
            && there.point == point.point
            && of(there) == of(point)
    })
    .map(|(other, _)| other)
}

impl<'a> Stopping<'a> {
    /// The cells of a plan, without those that are searched; of none anything is known yet.
    pub(super) fn new(plan: &'a Plan) -> Self {
        let rule = plan.stop.as_ref();
        let in_rounds = plan.cells.iter().filter(|cell| plan.points[cell.point].search.is_none());
        let places: HashMap<Cell, usize> = in_rounds.clone().copied().zip(0..).collect();
        let mut at_point = vec![Vec::new(); plan.points.len()];
        let numbered = in_rounds.clone().zip(0..);
        numbered.for_each(|(cell, place)| at_point[cell.point].push((cell.path, place)));
        let references = plan.references();
        let followed = |cell: &Cell| {
            let mut needed_by: Vec<usize> = match references.base_of(cell.path) {
                Some(base) => at_point[cell.point]
                    .iter()
                    .filter(|(path, _)| *path == base || references.of(*path) == Some(base))
                    .map(|(_, place)| *place)
                    .collect(),
                None => vec![places[cell]],
            };
            // A tool of others is compared with what it stands beside.
            let beside = beside(plan, cell.point).map(|point| Cell { point, ..*cell });
            needed_by.extend(beside.filter_map(|cell| places.get(&cell)));
            let figures =
                rule.map(|rule| Figure::of_job(&rule.metric, &plan.points[cell.point].job));
            let (cell, name, figures) =
                (*cell, CellName::of(plan, *cell), figures.unwrap_or_default());
            Followed { cell, name, needed_by, figures, values: BTreeMap::new(), last: 0 }
        };
        Self { plan, rule, cells: in_rounds.map(followed).collect(), places, said: BTreeSet::new() }
    }

    /// The rule; `None`: every cell has all rounds.
    pub(super) fn rule(&self) -> Option<&'a StopRule> {
        self.rule
    }

    /// The number of cells that have rounds.
    pub(super) fn count(&self) -> usize {
        self.cells.len()
    }

    /// Takes what was measured before. Rounds of all sessions count, as in the figure that reports
    /// show of the cell: the interval is one for that.
    pub(super) fn take_all(&mut self, records: impl Iterator<Item = Record>) {
        let mut by_name: BTreeMap<CellName, &mut Followed> =
            self.cells.iter_mut().map(|followed| (followed.name.clone(), followed)).collect();
        for record in records.filter(|record| record.search.is_none()) {
            if let Some(followed) = by_name.get_mut(&TrialId::of(&record).cell()) {
                followed.take(&record);
            }
        }
    }

    /// Takes what a trial of a cell came to.
    pub(super) fn take(&mut self, cell: Cell, record: &Record) {
        self.cells[self.places[&cell]].take(record);
    }

    /// The cells of a round, from 1, in the plan's order: those that are not sure enough with the
    /// rounds before it. The baseline and its twin go on while any path at that point does: who is
    /// compared with them needs them in the same rounds.
    pub(super) fn round(&self, round: u32) -> Vec<Open> {
        if round > self.plan.rounds {
            return Vec::new();
        }
        let own: Vec<Option<u32>> =
            self.cells.iter().map(|followed| self.more(followed, round)).collect();
        let open = |followed: &Followed| {
            let more = followed.needed_by.iter().filter_map(|place| own[*place]).max()?;
            Some(Open { cell: followed.cell, more })
        };
        self.cells.iter().filter_map(open).collect()
    }

    /// A round begins, with these cells.
    pub(super) fn begin(&mut self, round: u32, open: &[Open]) {
        for Open { cell, .. } in open {
            let followed = &mut self.cells[self.places[cell]];
            followed.last = followed.last.max(round);
        }
    }

    /// Half the width of the widest interval of the cells of a round, as a share, with what there
    /// was before it. `None`: none has an interval worth a word yet.
    pub(super) fn widest(&self, round: u32, open: &[Open]) -> Option<f64> {
        let looks =
            open.iter().filter_map(|open| self.look(&self.cells[self.places[&open.cell]], round));
        let looks = looks.filter(|look| look.rounds >= FEWEST_TO_STOP);
        looks.filter_map(|look| look.half_width_share).max_by(f64::total_cmp)
    }

    /// The names of the cells that have rounds.
    pub(super) fn names(&self) -> BTreeSet<&CellName> {
        self.cells.iter().map(|followed| &followed.name).collect()
    }

    /// The cells whose rounds have ended, with those that go on if the time is used up; none
    /// without a rule.
    pub(super) fn stopped(&self, over: bool) -> Vec<Stopped> {
        let ended = |followed: &Followed| {
            let (why, look) = (self.why(followed, over)?, self.look(followed, u32::MAX)?);
            let rounds = followed.rounds();
            // It had none, or its failures say it.
            if rounds == 0 || (why == StopWhy::Rounds && followed.values.is_empty()) {
                return None;
            }
            let CellName { path, workload, point } = followed.name.clone();
            let (half_width_share, instead) =
                (look.half_width_share, self.instead(followed).is_some());
            let figure =
                followed.figure(u32::MAX).map(|(_, figure)| figure.to_string()).unwrap_or_default();
            Some(Stopped { path, workload, point, rounds, why, half_width_share, figure, instead })
        };
        self.cells.iter().filter_map(ended).collect()
    }

    /// How the cells stand now, where the time is used up or not.
    pub(super) fn ended(&self, over: bool) -> CellsEnded {
        let mut out = CellsEnded::default();
        for followed in &self.cells {
            *match self.why(followed, over) {
                Some(StopWhy::Narrow) => &mut out.narrow,
                Some(StopWhy::Budget) => &mut out.by_budget,
                Some(StopWhy::Rounds) => &mut out.by_rounds,
                None => &mut out.open,
            } += 1;
        }
        out
    }

    /// Why the rounds of a cell ended; `None`: it goes on. `over`: the time is used up.
    fn why(&self, followed: &Followed, over: bool) -> Option<StopWhy> {
        let had_all = followed.rounds() >= self.plan.rounds;
        if !had_all && !over && self.goes_on(followed) {
            return None;
        }
        let is_narrow = self.look(followed, u32::MAX).is_some_and(|look| look.narrow_enough);
        Some(match (is_narrow, had_all) {
            (true, _) => StopWhy::Narrow,
            (false, true) => StopWhy::Rounds,
            (false, false) => StopWhy::Budget,
        })
    }

    /// What is to be known of what is looked at, a sentence for each workload where it is not what
    /// was asked for. Each is said once.
    pub(super) fn news(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        for followed in &self.cells {
            let Some(why) = self.instead(followed) else { continue };
            let note = format!("stop: {}: {why}", followed.name.workload);
            if self.said.insert(note.clone()) {
                out.push(note);
            }
        }
        out
    }

    /// Why a cell is looked at by another figure than the rule asks for; `None`: it is not.
    fn instead(&self, followed: &Followed) -> Option<String> {
        let (_, figure) = followed.figure(u32::MAX)?;
        figure.instead(&self.rule?.metric, &self.plan.points[followed.cell.point].job)
    }

    /// Whether a cell is in the round after its last.
    fn goes_on(&self, followed: &Followed) -> bool {
        let next = followed.rounds() + 1;
        let needs_it = |place: &usize| self.more(&self.cells[*place], next).is_some();
        next <= self.plan.rounds && followed.needed_by.iter().any(needs_it)
    }

    /// What there was of a cell before a round; `None` without a rule.
    fn look(&self, followed: &Followed, round: u32) -> Option<Look> {
        Some(self.stop()?.look(&followed.values_before(round)))
    }

    fn stop(&self) -> Option<Stop> {
        let rule = self.rule?;
        Some(Stop {
            half_width_share: rule.half_width_share,
            min_rounds: rule.min_rounds as usize,
            max_rounds: self.plan.rounds as usize,
        })
    }

    /// Rounds that a cell will about need after this one; `None`: it does not need this one for
    /// itself.
    fn more(&self, followed: &Followed, round: u32) -> Option<u32> {
        let rest = self.plan.rounds - round;
        let Some((stop, look)) = self.stop().zip(self.look(followed, round)) else {
            return Some(rest);
        };
        let least = stop.min_rounds.max(FEWEST_TO_STOP);
        // The width of so few says little; without any width nothing ends but the rounds.
        let expected = || stop.expected_rounds(&look).unwrap_or(stop.max_rounds);
        let needed = if look.rounds < least { least } else { expected() };
        let more = u32::try_from(needed.saturating_sub(look.rounds + 1)).unwrap_or(rest);
        look.goes_on().then(|| more.min(rest))
    }
}

impl Followed {
    /// Takes a record, unless its figures must not be used. Reports leave out rounds in which the
    /// testbed changed: what is sure only with them is not sure.
    fn take(&mut self, record: &Record) {
        if record.outcome() == TrialOutcome::Good {
            let values = self.figures.iter().map(|figure| figure.of(record)).collect();
            self.values.insert(record.round, values);
        }
    }

    /// The rounds that it has been in.
    fn rounds(&self) -> u32 {
        self.last.max(self.values.last_key_value().map_or(0, |(round, _)| *round))
    }

    /// The first figure that any record before a round has, with its place.
    fn figure(&self, round: u32) -> Option<(usize, &Figure)> {
        let has =
            |place: usize| self.values.range(..round).any(|(_, values)| values[place].is_some());
        self.figures.iter().enumerate().find(|(place, _)| has(*place))
    }

    fn values_before(&self, round: u32) -> Vec<f64> {
        let Some((place, _)) = self.figure(round) else { return Vec::new() };
        self.values.range(..round).filter_map(|(_, values)| values[place]).collect()
    }
}

#[cfg(test)]
pub(super) mod tests;
