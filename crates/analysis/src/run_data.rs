//! The records of a run, taken one by one. Only their figures are kept, so that the memory depends
//! on the plan and not on the records.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hopbench_model::{Failure, Profiles, Record, References, RunFile, point_label};
use serde_json::Value;

use crate::cells::batches::{self, Batches};
use crate::cells::{Cell, Distributions, Proofs, TrialKey, Unused, Warnings};
use crate::figures::{Kind, LinkFacts, Percentile, kinds, unusable};
use crate::stop::Rule;
use crate::text::cell_name::key;

/// Why a record of no cell is in no figure.
const UNPLANNED: &str = "the plan in run.json has no such cell";

/// The records of a run so far.
#[derive(Debug, Clone)]
pub struct RunData {
    pub(crate) run: RunFile,
    /// The workloads by name, in the scenario's order; one that is only searched has no points.
    pub(crate) workloads: Vec<Workload>,
    /// The workload of each point of the plan.
    pub(crate) workload_of: Vec<usize>,
    pub(crate) path_names: HashMap<String, usize>,
    /// What each path is compared with.
    pub(crate) references: References,
    /// When the rounds of a cell end early.
    pub(crate) rule: Option<Rule>,
    /// The point's index, by workload and point as JSON.
    pub(crate) point_names: HashMap<(String, String), usize>,
    /// Facts about the paths' links.
    pub(crate) links: Vec<LinkFacts>,
    pub(crate) cells: HashMap<(usize, usize), Cell>,
    /// The points whose rounds were put together in batches, once they were.
    pub(crate) batches: BTreeMap<usize, Batches>,
    /// For the comparison of the 99th percentile of cells, by path and point, that were not in all
    /// rounds of their baseline: the cell and the baseline over the rounds of the cell.
    pub(crate) rested: BTreeMap<(usize, usize), (Cell, Cell)>,
    pub(crate) distributions: Distributions,
    pub(crate) warnings: Warnings,
    pub(crate) proofs: Vec<Proofs>,
    /// Why a trial is in no figure.
    pub(crate) failures: BTreeMap<TrialKey, Unused>,
    /// The trials of searches, which are in no cell.
    pub(crate) searches: Vec<Record>,
    /// The profiles, which are in no figure.
    pub(crate) profiles: Option<Profiles>,
}

/// A workload of the plan.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) kind: &'static Kind,
    /// Indices of its points in the plan, without those that are searched.
    pub(crate) points: Vec<usize>,
}

impl RunData {
    /// A run without records yet.
    pub fn new(run: &RunFile) -> Self {
        let plan = &run.plan;
        let mut workloads: Vec<Workload> = Vec::new();
        let mut workload_of = Vec::with_capacity(plan.points.len());
        for (index, point) in plan.points.iter().enumerate() {
            let known = workloads.iter().position(|workload| workload.name == point.workload);
            let known = known.unwrap_or_else(|| {
                let kind = kinds::of_job(&point.job);
                workloads.push(Workload { name: point.workload.clone(), kind, points: Vec::new() });
                workloads.len() - 1
            });
            if point.search.is_none() {
                workloads[known].points.push(index);
            }
            workload_of.push(known);
        }
        let skipped: BTreeSet<_> =
            run.skipped.iter().map(|s| (&s.path, &s.workload, &s.point)).collect();
        let measured = |cell: &&hopbench_model::Cell| {
            let (path, at) = plan.at(**cell);
            let skipped = !skipped.is_empty()
                && skipped.contains(&(&path.name, &at.workload, &point_label(&at.point)));
            !skipped && at.search.is_none()
        };
        let planned: BTreeSet<_> =
            plan.cells.iter().filter(measured).map(|cell| (cell.path, cell.point)).collect();
        let shown = workloads
            .iter()
            .filter(|workload| workload.kind.distribution.is_some())
            .flat_map(|workload| {
                let ends: BTreeSet<usize> = workload
                    .points
                    .first()
                    .into_iter()
                    .chain(workload.points.last())
                    .copied()
                    .collect();
                ends.into_iter()
                    .flat_map(|point| (0..plan.paths.len()).map(move |path| (path, point)))
            });
        let empty = |(path, point): (usize, usize)| {
            let path = &plan.paths[path];
            Cell::new(path.is_bypassed_by(&plan.points[point].job))
        };
        let point_name =
            |point: &hopbench_model::Point| (point.workload.clone(), key(&point.point));
        Self {
            batches: BTreeMap::new(),
            rested: BTreeMap::new(),
            distributions: Distributions::of(shown.filter(|cell| planned.contains(cell))),
            workload_of,
            references: plan.references(),
            rule: Rule::of(run),
            path_names: plan
                .paths
                .iter()
                .enumerate()
                .map(|(index, path)| (path.name.clone(), index))
                .collect(),
            point_names: plan
                .points
                .iter()
                .enumerate()
                .map(|(index, point)| (point_name(point), index))
                .collect(),
            links: vec![LinkFacts::default(); plan.paths.len()],
            cells: planned.into_iter().map(|cell| (cell, empty(cell))).collect(),
            warnings: Warnings::default(),
            proofs: vec![Proofs::default(); plan.paths.len()],
            failures: run.failures.iter().map(failed).collect(),
            searches: Vec::new(),
            profiles: None,
            workloads,
            run: run.clone(),
        }
    }

    /// The same without distributions, for an answer while the run goes on: nothing takes longer to
    /// summarise, and no answer has them.
    #[must_use]
    pub fn without_distributions(self) -> Self {
        Self { distributions: Distributions::default(), ..self }
    }

    /// The same with the profiles of the run.
    #[must_use]
    pub fn with_profiles(self, profiles: Option<Profiles>) -> Self {
        Self { profiles, ..self }
    }

    /// The run goes on, and this is what `run.json` says now: of its rounds, of what failed, of the
    /// cells that have ended.
    pub fn update(&mut self, run: &RunFile) {
        for (trial, unused) in run.failures.iter().map(failed) {
            self.failures.entry(trial).or_insert(unused);
        }
        self.rule = Rule::of(run);
        self.run.clone_from(run);
    }

    /// The path that this one is compared with, by name.
    pub(crate) fn reference_of(&self, name: &str) -> Option<&str> {
        let path = self.references.of(*self.path_names.get(name)?)?;
        Some(self.run.plan.paths[path].name.as_str())
    }

    /// Takes one record. One that cannot be used in a figure is listed with the reason.
    pub fn add(&mut self, record: &Record) {
        if record.run_id != self.run.run_id {
            let reason = format!("a record of another run: {}", record.run_id);
            self.fail(record, reason);
            return;
        }
        let path = self.path_names.get(&record.path).copied();
        if record.search.is_some() {
            self.add_search(record, path);
            return;
        }
        let point = self.point_names.get(&(record.workload.clone(), key(&record.point))).copied();
        let Some(cell) = path.zip(point).filter(|cell| self.cells.contains_key(cell)) else {
            self.fail(record, UNPLANNED.to_owned());
            return;
        };
        let workload = self.workload_of[cell.1];
        self.proofs[cell.0].add(record);
        self.links[cell.0].add(record);
        if let Some(reason) = unusable(record) {
            self.fail(record, reason);
            return;
        }
        // It was repeated, and this is its record.
        self.failures.remove(&TrialKey::of(record));
        let Some(kept) = self.cells.get_mut(&cell) else {
            return;
        };
        let kind = self.workloads[workload].kind;
        let plan = &self.run.plan;
        kept.add(record, kind, plan.paths[cell.0].proxies_carry(&plan.points[cell.1].job));
        self.warnings.add(workload, cell.0, record);
        if let Some(latency) = kind.distribution.and_then(|name| record.latency.get(name)) {
            self.distributions.add(cell, record.round, &latency.hdr);
        }
    }

    /// Reads the 99th percentiles of each point from as many rounds as it takes. A stop rule that
    /// looked at them has looked at each round.
    pub(crate) fn pool(&mut self) {
        for workload in self.workloads.iter() {
            let Some(figure) = workload.kind.latency(Percentile::P99) else { continue };
            for point in &workload.points {
                let ruled = |cell: (usize, usize)| {
                    let rule = self.rule.as_ref();
                    rule.and_then(|rule| rule.figure(cell, workload.kind)) == Some(figure)
                };
                if self.cells.keys().any(|cell| cell.1 == *point && ruled(*cell)) {
                    continue;
                }
                self.rested.extend(self.rested(*point, figure));
                let of_point = self.cells.iter_mut().filter(|(cell, _)| cell.1 == *point);
                let mut cells: Vec<&mut Cell> = of_point.map(|(_, cell)| cell).collect();
                let pooled = batches::pool(&mut cells, figure);
                self.batches.extend(pooled.map(|pooled| (*point, pooled)));
            }
        }
        // Nobody reads them again, and they are most of what is kept.
        let rounds = self.cells.values_mut().flat_map(|cell| &mut cell.rounds);
        rounds.for_each(|round| round.samples = None);
    }

    /// The cells of a point that were not in all rounds, for the comparison of this figure.
    fn rested(&self, point: usize, figure: usize) -> Vec<((usize, usize), (Cell, Cell))> {
        let side = |path: usize| self.cells.get(&(path, point));
        let one = |path: usize| {
            let of = self.references.of(path).filter(|_| !self.references.is_twin(path))?;
            let twin = self.references.twin_of(of).and_then(side);
            let both = batches::of_shared_rounds(side(path)?, side(of)?, twin, figure)?;
            Some(((path, point), both))
        };
        (0..self.run.plan.paths.len()).filter_map(one).collect()
    }

    /// Takes a trial of a search: it is in no cell, but its path is proved and its caveats count
    /// like those of others.
    fn add_search(&mut self, record: &Record, path: Option<usize>) {
        let workload = self.workloads.iter().position(|workload| workload.name == record.workload);
        let Some((path, workload)) = path.zip(workload) else {
            self.fail(record, UNPLANNED.to_owned());
            return;
        };
        self.proofs[path].add(record);
        self.links[path].add(record);
        let mut kept = record.clone();
        kept.intervals.clear();
        kept.latency.values_mut().for_each(|latency| latency.hdr.clear());
        kept.job = what_searches_read(&record.job);
        self.searches.push(kept);
        if let Some(reason) = unusable(record) {
            self.fail(record, reason);
            return;
        }
        self.failures.remove(&TrialKey::of(record));
        self.warnings.add(workload, path, record);
    }

    /// The trials of searches as they came, with those that are in no figure. Each is without its
    /// intervals and the texts of its histograms, and of its job it has the load.
    pub fn searches(&self) -> Vec<&Record> {
        self.searches.iter().collect()
    }

    /// Lists a record that is in no figure. A trial is listed once, with the first reason: that of
    /// `run.json`, or of its first record. Only records know whether a proof is missing.
    fn fail(&mut self, record: &Record, reason: String) {
        let is_unproved = record.error.is_some() && record.proof.iter().any(|proof| !proof.ok);
        let unused = || Unused { reason, is_unproved: false };
        self.failures.entry(TrialKey::of(record)).or_insert_with(unused).is_unproved |= is_unproved;
    }
}

/// The part of a trial's job that searches look at. Many records share one job, which may be long:
/// a copy for each would take memory that the files do not.
fn what_searches_read(job: &Value) -> Value {
    let part = |name: &&str| Some(((*name).to_owned(), job.get(name)?.clone()));
    ["workload", "schedule", "burst", "threads", "connections", "timing"]
        .iter()
        .filter_map(part)
        .collect()
}

/// A line of `run.json` about a trial that is in no figure.
fn failed(failure: &Failure) -> (TrialKey, Unused) {
    let reason = failure.reason.clone();
    (TrialKey::of_failure(failure), Unused { reason, is_unproved: false })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_search_keeps_the_load_of_a_job_and_not_its_parameters() {
        let job = json!({
            "workload": "http", "threads": 2, "params": {"header": ["x".repeat(1 << 20)]},
        });
        assert_eq!(what_searches_read(&job), json!({"workload": "http", "threads": 2}));
        assert_eq!(what_searches_read(&json!("not a job")), json!({}));
    }
}
