//! The driver of one cell's search: one parameter after the other.

use hopbench_model::{
    Cell, Path, Plan, Point, SCAN, SearchGoal, SearchOutcome, SearchSpec, SearchStep,
};
use hopbench_stats::{Ceiling, Highest, Knee, Measurement, Outcome, Search, Why, summary};

use super::load::{self, Load, Parameter, askable, grain, shown};
use super::observation::figure;
use crate::results::{CellName, Searched, TrialId};

/// Trials of a search that fail one after the other before it does.
pub(super) const MOST_FAILURES: u32 = 3;

/// A search over one parameter after the other, for a path and a point of the plan.
pub(in crate::campaign) struct SearchDriver<'p> {
    pub(super) path: &'p Path,
    pub(super) point: &'p Point,
    pub(super) spec: &'p SearchSpec,
    /// Why it cannot be measured any more, if it cannot: what was found is known all the same.
    pub(super) gone: Option<String>,
    /// The search that is on; `None`: all have ended.
    stage: Option<Stage>,
    /// What was found of the parameters before.
    settled: Vec<Load>,
    /// Whether all of them were found.
    is_found: bool,
    /// Number of the cell's last trial, of whatever search.
    pub(super) steps: u32,
    /// Trials that failed in a row.
    failures: u32,
}

/// A search over one parameter.
struct Stage {
    parameter: Parameter,
    search: Box<dyn Search>,
}

/// The result of a search over one parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageEnd {
    pub(super) outcome: SearchOutcome,
    /// The figure at the load that was found; absent: none was found, or it is between those that
    /// were measured.
    pub(super) value: Option<f64>,
}

impl<'p> SearchDriver<'p> {
    /// The search of a cell; `None`: its point asks for none.
    pub(in crate::campaign) fn new(plan: &'p Plan, cell: Cell) -> Option<Self> {
        let (path, point) = plan.at(cell);
        let spec = point.search.as_ref()?;
        let mut driver = Self {
            path,
            point,
            spec,
            gone: None,
            stage: None,
            settled: Vec::new(),
            is_found: true,
            steps: 0,
            failures: 0,
        };
        driver.stage = match &spec.goal {
            SearchGoal::Knee { connections, .. } if !connections.is_empty() => {
                driver.knee(Parameter::Connections, connections.iter().copied())
            }
            SearchGoal::Knee { .. } => driver.threads(),
            goal => driver.rate(goal),
        };
        Some(driver)
    }

    /// The search of a cell that cannot be measured any more, for this reason.
    pub(in crate::campaign) fn gone(plan: &'p Plan, cell: Cell, reason: String) -> Option<Self> {
        Some(Self { gone: Some(reason), ..Self::new(plan, cell)? })
    }

    fn knee(&self, parameter: Parameter, levels: impl Iterator<Item = u32>) -> Option<Stage> {
        let SearchGoal::Knee { least_growth, .. } = &self.spec.goal else { return None };
        let levels: Vec<f64> = levels.map(f64::from).collect();
        (!levels.is_empty())
            .then(|| Stage { parameter, search: Box::new(Knee::new(&levels, *least_growth)) })
    }

    /// Threads at the connections that were found; more threads than connections cannot be had.
    fn threads(&self) -> Option<Stage> {
        let SearchGoal::Knee { threads, .. } = &self.spec.goal else { return None };
        let most = self.most_threads();
        self.knee(
            Parameter::Threads,
            threads.iter().copied().filter(|threads| f64::from(*threads) <= most),
        )
    }

    /// The connections that were found, or those of the job where there was nothing to find.
    fn most_threads(&self) -> f64 {
        self.settled
            .first()
            .map_or_else(|| f64::from(self.point.job.connections), |found| found.value)
    }

    fn rate(&self, goal: &SearchGoal) -> Option<Stage> {
        let rates = goal.rates()?;
        let (lowest, highest) =
            (self.askable(rates.lowest_per_s), self.askable(rates.highest_per_s));
        let grain = grain(&self.point.job, self.path.clients);
        let repeats = self.spec.repeats as usize;
        let search: Box<dyn Search> = match goal {
            SearchGoal::Knee { .. } => return None,
            SearchGoal::Slo { limit_ns, precision, .. } => {
                let search = Highest::slo(*limit_ns as f64, lowest, highest, *precision, repeats);
                Box::new(search.in_grains(grain).scanning(self.spec.scan_width()))
            }
            SearchGoal::Cpu { ceiling, .. } => {
                Box::new(Ceiling::new(*ceiling, lowest, highest, repeats).in_grains(grain))
            }
            SearchGoal::Lossless { loss_share, precision, .. } => {
                let search = Highest::lossless(*loss_share, lowest, highest, *precision, repeats);
                Box::new(search.in_grains(grain))
            }
        };
        Some(Stage { parameter: Parameter::Rate, search })
    }

    fn askable(&self, rate: f64) -> f64 {
        askable(&self.point.job, self.path.clients, rate)
    }

    /// The load to measure next; `None`: it has ended.
    pub(super) fn next(&self) -> Option<Load> {
        let Stage { parameter, search } = self.stage.as_ref()?;
        let value = search.next_load()?;
        let value = if *parameter == Parameter::Rate { self.askable(value) } else { value };
        Some(Load { parameter: *parameter, value })
    }

    /// All that is put into the job for the next trial; empty: it has ended.
    pub(super) fn loads(&self) -> Vec<Load> {
        self.next()
            .map(|next| self.settled.iter().copied().chain([next]).collect())
            .unwrap_or_default()
    }

    /// The point of the cell with these loads in its job, for the trial of this number.
    pub(super) fn at(&self, loads: &[Load], step: u32) -> Result<Point, String> {
        load::at(self.point, self.path.clients, loads, step, false)
    }

    /// The same for the trial that the search makes next, which may be one of a scan.
    pub(super) fn next_point(&self, step: u32) -> Result<Point, String> {
        let is_scan = self.stage.as_ref().is_some_and(|stage| stage.search.is_scanning());
        load::at(self.point, self.path.clients, &self.loads(), step, is_scan)
    }

    /// The cell, without any load.
    pub(super) fn name(&self) -> CellName {
        CellName::new(&self.path.name, &self.point.workload, &self.point.point)
    }

    /// The trial of this number, at a load.
    pub(super) fn trial(&self, load: Option<Load>, step: u32) -> TrialId {
        self.trial_of(load.map(|load| (load.parameter.name(), load.value)), step)
    }

    fn trial_of(&self, load: Option<(&str, f64)>, step: u32) -> TrialId {
        let mut point = self.point.point.clone();
        point.extend(load.map(|(parameter, value)| (parameter.to_owned(), shown(value))));
        CellName::new(&self.path.name, &self.point.workload, &point).trial(step)
    }

    /// Whether a trial of an earlier session is one of this cell.
    pub(super) fn has_made(&self, past: &Searched) -> bool {
        let Searched { trial, step, .. } = past;
        // Labels are made for those alone that can be of it: every trial is held against every
        // search.
        let can_be = self.path.name == trial.path && self.point.workload == trial.workload;
        can_be && self.trial_of(Some((&step.parameter, step.load)), trial.round) == *trial
    }

    /// Whether a trial of an earlier session was made at these loads: its step says the last of
    /// them, its job has them all.
    pub(super) fn was_at(&self, past: &Searched, loads: &[Load]) -> bool {
        let Searched { step, job, .. } = past;
        let is_last = |load: &Load| {
            load.parameter.name() == step.parameter && (load.value / step.load - 1.0).abs() < 1e-9
        };
        let has_all = |at: Point| {
            job["connections"] == at.job.connections && job["threads"] == at.job.threads
        };
        loads.last().is_some_and(is_last) && self.at(loads, step.step).is_ok_and(has_all)
    }

    /// What the trial of this number at a load is for; nothing was seen yet.
    pub(super) fn step(&self, at: Load, step: u32, why: &str) -> SearchStep {
        SearchStep {
            goal: self.spec.goal.name().to_owned(),
            step,
            parameter: at.parameter.name().to_owned(),
            load: at.value,
            why: why.to_owned(),
            figure: figure(&self.spec.goal, &self.point.job),
            value: None,
            within: false,
            broken: Vec::new(),
            found: None,
            outcome: None,
        }
    }

    /// Tells it what was seen at the load that it asked for, in the trial of this number. Its step
    /// has all but the bounds that were broken.
    pub(super) fn observe(
        &mut self,
        step: u32,
        seen: Measurement,
    ) -> Option<(SearchStep, Option<StageEnd>)> {
        let next = self.next()?;
        let stage = self.stage.as_mut()?;
        let before = stage.search.found().len();
        stage.search.observe(next.value, seen);
        let found = stage.search.found().get(before).copied();
        (self.steps, self.failures) = (step, 0);
        let why = match stage.search.trace().last().map_or(Why::Again, |step| step.why) {
            Why::Scan => SCAN,
            Why::Raise => "raise",
            Why::Narrow => "narrow",
            Why::Again => "again",
            Why::Confirm => "confirm",
        };
        let ended = self.ended(stage_end(self.stage.as_ref()?));
        let told = SearchStep {
            value: Some(seen.value).filter(|value| value.is_finite()),
            within: seen.within,
            found: found.map(|rate| self.askable(rate)),
            outcome: ended.as_ref().map(|ended| ended.outcome),
            ..self.step(next, step, why)
        };
        if let Some(ended) = &ended {
            self.turn(next.parameter, ended.outcome);
        }
        Some((told, ended))
    }

    /// Its end, with rates that can be asked for.
    fn ended(&self, outcome: Option<SearchOutcome>) -> Option<StageEnd> {
        let stage = self.stage.as_ref()?;
        let outcome = match outcome? {
            SearchOutcome::Found { load, low, high } if stage.parameter == Parameter::Rate => {
                SearchOutcome::Found { load: self.askable(load), low, high }
            }
            other => other,
        };
        let at = |load: f64| {
            let here = stage.search.trace().iter().filter(|step| {
                step.why != Why::Scan && step.load == load && step.seen.value.is_finite()
            });
            summary::median(&here.map(|step| step.seen.value).collect::<Vec<_>>())
        };
        let value = self.best(stage.parameter, outcome).and_then(at);
        Some(StageEnd { outcome, value })
    }

    /// The load that an outcome stands for: where even the highest is not too high, that one.
    fn best(&self, parameter: Parameter, outcome: SearchOutcome) -> Option<f64> {
        let most = |levels: &[u32]| levels.iter().max().map(|level| f64::from(*level));
        match (outcome, &self.spec.goal) {
            (SearchOutcome::Found { load, .. }, _) => Some(load),
            (SearchOutcome::AboveHighest, SearchGoal::Knee { connections, threads, .. }) => {
                match parameter {
                    // Those beyond the connections were left out.
                    Parameter::Threads => {
                        let most = self.most_threads();
                        threads
                            .iter()
                            .map(|level| f64::from(*level))
                            .filter(|level| *level <= most)
                            .reduce(f64::max)
                    }
                    _ => most(connections),
                }
            }
            (SearchOutcome::AboveHighest, goal) => {
                goal.rates().map(|rates| self.askable(rates.highest_per_s))
            }
            (SearchOutcome::BelowLowest | SearchOutcome::GaveUp { .. }, _) => None,
        }
    }

    /// Goes on to the next parameter, if there is one.
    fn turn(&mut self, parameter: Parameter, outcome: SearchOutcome) {
        match self.best(parameter, outcome) {
            Some(value) => self.settled.push(Load { parameter, value }),
            None => self.is_found = false,
        }
        let is_next = parameter == Parameter::Connections && self.is_found;
        self.stage = if is_next { self.threads() } else { None };
    }

    /// Whether there is a trial left that can be made.
    pub(super) fn is_open(&self) -> bool {
        self.gone.is_none() && self.failures < MOST_FAILURES && self.next().is_some()
    }

    /// What was found of every parameter, the first one last; empty where something was not, or not
    /// yet.
    pub(super) fn found(&self) -> Vec<Load> {
        let is_over = self.stage.is_none() && self.is_found;
        if is_over { self.settled.iter().rev().copied().collect() } else { Vec::new() }
    }

    /// A trial failed; whether the search has, too.
    pub(super) fn failed(&mut self) -> bool {
        self.failures += 1;
        self.failures >= MOST_FAILURES
    }

    /// It cannot go on, whatever is tried.
    pub(super) fn give_up(&mut self) {
        self.failures = MOST_FAILURES;
    }

    /// Takes a trial of an earlier session into account; whether it is the one that was to come.
    pub(super) fn replay(&mut self, past: &Searched) -> bool {
        let step = &past.step;
        let seen = Measurement { value: step.value.unwrap_or(f64::NAN), within: step.within };
        let taken = self.was_at(past, &self.loads()) && self.observe(step.step, seen).is_some();
        self.steps = self.steps.max(step.step);
        taken
    }
}

/// The end of a search, as records say it; `None`: it goes on.
fn stage_end(stage: &Stage) -> Option<SearchOutcome> {
    let finite = |load: f64| Some(load).filter(|load| load.is_finite());
    Some(match stage.search.outcome() {
        Outcome::Searching => return None,
        Outcome::Found { load, low, high } => {
            SearchOutcome::Found { load, low, high: finite(high) }
        }
        Outcome::AboveHighest => SearchOutcome::AboveHighest,
        Outcome::BelowLowest => SearchOutcome::BelowLowest,
        Outcome::GaveUp { low, high } => {
            SearchOutcome::GaveUp { low: finite(low).filter(|low| *low > 0.0), high: finite(high) }
        }
    })
}

/// Whether a cell is searched, and an earlier session measured something of that.
pub(in crate::campaign) fn is_begun(plan: &Plan, cell: Cell, searched: &[Searched]) -> bool {
    SearchDriver::new(plan, cell)
        .is_some_and(|driver| searched.iter().any(|past| driver.has_made(past)))
}

#[cfg(test)]
pub(super) mod tests;
