//! The figures of a run that is compared with another.

mod far;
mod kept;

use std::collections::{BTreeSet, HashMap};

use hopbench_model::{Point, Record, References, RunFile, TrialOutcome};
use hopbench_stats::{noise_floor, paired, summary::mean};
use serde::Serialize;

pub(super) use self::far::{Far, values};
pub(super) use self::kept::Kept;
use self::kept::Round;
use super::gate::Bound;
use super::measure::Measure;
use crate::figures::kinds;
use crate::run_data::RunData;
use crate::text::cell_name::key;

/// The figures of a run, cell by cell; records are taken one by one and only their figures are
/// kept.
#[derive(Debug)]
pub struct Values {
    pub(crate) label: String,
    pub(crate) run: RunFile,
    /// By the index of the point in the plan.
    pub(crate) measures: Vec<Vec<Measure>>,
    /// By the indices of path and point in the plan: the cells that have rounds.
    pub(crate) cells: HashMap<(usize, usize), Kept>,
    paths: HashMap<String, usize>,
    points: HashMap<(String, String), usize>,
    /// Names of metrics that were seen.
    pub(crate) metrics: BTreeSet<String>,
    /// Names of latencies that were seen.
    pub(crate) latencies: BTreeSet<String>,
    pub(crate) left_out: LeftOut,
    /// The trials of its searches, which are in no cell.
    pub(crate) searches: RunData,
    /// Trials of searches that can be used.
    pub(crate) search_trials: u64,
    /// Why a trial of a cell is not used, the first of each, by the indices of path and point.
    pub(crate) unused: HashMap<(usize, usize), String>,
}

/// Trials that are in no comparison.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LeftOut {
    /// In error: no proof of the path, figures that do not add up, no record at all.
    pub in_error: u64,
    /// Cut short.
    pub cut_short: u64,
    /// The testbed changed meanwhile.
    pub disturbed: u64,
    /// Of another run, or of no cell of the plan.
    pub foreign: u64,
}

impl Values {
    /// Of a run, called `label` (the name of its folder), before its first record. `bounds` say
    /// what is compared besides what reports show.
    pub fn new(label: String, run: RunFile, bounds: &[Bound]) -> Self {
        let plan = &run.plan;
        let measures = plan.points.iter().map(|point| {
            let kind = kinds::of_job(&point.job);
            let mut all = Measure::of_kind(kind);
            for bound in bounds {
                let asked = Measure::named(&bound.metric, kind);
                if all.iter().all(|known| known.name != asked.name) {
                    all.push(asked);
                }
            }
            all
        });
        let name = |point: &Point| (point.workload.clone(), key(&point.point));
        Self {
            label,
            measures: measures.collect(),
            cells: HashMap::new(),
            paths: plan
                .paths
                .iter()
                .enumerate()
                .map(|(index, path)| (path.name.clone(), index))
                .collect(),
            points: plan
                .points
                .iter()
                .enumerate()
                .map(|(index, point)| (name(point), index))
                .collect(),
            metrics: BTreeSet::new(),
            latencies: BTreeSet::new(),
            searches: RunData::new(&run),
            search_trials: 0,
            unused: HashMap::new(),
            left_out: LeftOut { in_error: run.failures.len() as u64, ..LeftOut::default() },
            run,
        }
    }

    /// Takes a record. The later of two of one trial counts; one of a search is of no cell.
    pub fn add(&mut self, record: &Record) {
        if record.search.is_some() && record.run_id == self.run.run_id {
            self.search_trials += u64::from(record.is_usable());
            self.searches.add(record);
            return;
        }
        let path = self.paths.get(&record.path).copied();
        let point = self.points.get(&(record.workload.clone(), key(&record.point))).copied();
        let Some((path, point)) = path.zip(point).filter(|_| record.run_id == self.run.run_id)
        else {
            self.left_out.foreign += 1;
            return;
        };
        let left_out = &mut self.left_out;
        let why = match record.outcome() {
            TrialOutcome::Good => None,
            TrialOutcome::Disturbed(what) => {
                Some((&mut left_out.disturbed, format!("the testbed changed meanwhile: {what}")))
            }
            TrialOutcome::CutShort(why) => {
                Some((&mut left_out.cut_short, format!("cut short: {why}")))
            }
            TrialOutcome::Error(why) => Some((&mut left_out.in_error, why.to_owned())),
        };
        if let Some((count, reason)) = why {
            *count += 1;
            self.unused.entry((path, point)).or_insert(reason);
            return;
        }
        for name in record.metrics.keys() {
            if !self.metrics.contains(name) {
                self.metrics.insert(name.clone());
            }
        }
        for (name, _) in record.latency.iter().filter(|(_, latency)| latency.count > 0) {
            if !self.latencies.contains(name) {
                self.latencies.insert(name.clone());
            }
        }
        let proxied = self.run.plan.paths[path].proxies_carry(&self.run.plan.points[point].job);
        let measures = self.measures[point].iter();
        let figures = measures.clone().map(|measure| measure.of(record, proxied)).collect();
        let samples = measures.map(|measure| measure.samples(record)).collect();
        let kept = self.cells.entry((path, point)).or_default();
        let late = record.is_generator_limited();
        let (session, saturated_per_s) = (record.session, record.saturated_per_s());
        let round = Round { session, late, saturated_per_s, figures, samples };
        kept.rounds.insert(record.round, round);
    }

    /// Trials that are used.
    pub(crate) fn used(&self) -> u64 {
        self.cells.values().map(|cell| cell.rounds.len() as u64).sum()
    }

    /// By how much a figure of the run's A/A pair differed at a point, as a share; `None` without
    /// such a pair.
    pub(crate) fn floor(
        &self,
        (path, point): (usize, usize),
        measure: usize,
        far: Option<Far>,
    ) -> Option<f64> {
        let pairs = match far {
            Some(far) => self.pair((path, point)).map(|(twin, base)| far.pairs(twin, base)),
            None => self.twins((path, point), measure),
        };
        noise_floor(&[paired(&pairs?).ok()?])
    }

    /// The same as the difference of their means, in the figure's unit: a figure that is 0 in some
    /// round has it, too.
    pub(crate) fn absolute_floor(&self, cell: (usize, usize), measure: usize) -> Option<f64> {
        let (twin, baseline): (Vec<f64>, Vec<f64>) = self.twins(cell, measure)?.into_iter().unzip();
        Some((mean(&twin)? - mean(&baseline)?).abs())
    }

    /// A figure of the A/A pair at a point, round by round: that of the second half, and the
    /// baseline's.
    fn twins(&self, cell: (usize, usize), measure: usize) -> Option<Vec<(f64, f64)>> {
        let (twin, baseline) = self.pair(cell)?;
        let pair = |(round, here): (&u32, &Round)| {
            let there = baseline.rounds.get(round).filter(|there| there.session == here.session)?;
            let pair = (here.figures[measure], there.figures[measure]);
            (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
        };
        Some(twin.rounds.iter().filter_map(pair).collect())
    }

    /// What each path of the run is compared with.
    pub(crate) fn references(&self) -> &References {
        &self.searches.references
    }

    /// The A/A pair of a cell: the twin of what its path is compared with, and that. A path that
    /// others are compared with has its own.
    fn pair(&self, (path, point): (usize, usize)) -> Option<(&Kept, &Kept)> {
        let references = self.references();
        let base = references.base_of(path).or_else(|| references.of(path))?;
        let of = |path: usize| self.cells.get(&(path, point));
        Some((of(references.twin_of(base)?)?, of(base)?))
    }
}
