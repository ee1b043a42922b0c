//! What a load would cost in proxies that was not measured: their cores over requests a second, and what they allocate over
//! connections, each a line through the trials of a run, with how far it is stretched.
//!
//! The trials are those of the curves: rates that were asked for, and connections. A closed loop makes the load that the
//! path lets it make, and resident memory is the largest so far, whatever the order of the trials was: through these goes
//! no line.

mod asked;
mod texts;

use std::collections::BTreeMap;

use hopbench_model::{Path, point_label};
use hopbench_stats::{Capacity, FEWEST_PLACES, Interval, places};
use serde::Serialize;
use serde_json::Value;

pub use self::asked::Asked;

use super::{Curve, Over, Resource, Sweep, loads, named, spent, sweeps};
use crate::campaign::cell::Round;
use crate::campaign::kind::Work;
use crate::campaign::{Campaign, Workload};

/// The version of [`CapacitySummary`].
pub const CAPACITY_SCHEMA: &str = "hopbench.capacity/1";
/// What all proxies of a path are called together.
const ALL: &str = "all proxies";
/// From this many times the highest measured load on, the intervals mean little.
const FAR: f64 = 2.0;

/// What a load would take, by path and proxy.
#[derive(Debug, Clone, Serialize)]
pub struct CapacitySummary {
    /// [`CAPACITY_SCHEMA`].
    pub schema: &'static str,
    /// The run's identity.
    pub run_id: String,
    /// The scenario's name.
    pub name: String,
    /// The load.
    pub asked: Asked,
    /// What it would take: paths in the scenario's order.
    pub needs: Vec<Need>,
}

/// What the proxies of one kind on a path would spend, or those of all kinds.
#[derive(Debug, Clone, Serialize)]
pub struct Need {
    /// The path's name.
    pub path: String,
    /// The workload whose trials the line goes through; empty where none has any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workload: String,
    /// What all of these trials have in common, where several parameters vary.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Value>,
    /// The proxies' kind: their name on the path, without a number; or `all proxies`.
    pub proxy: String,
    /// What they spend: cores, or memory that they say they have allocated.
    pub resource: Resource,
    /// The load: requests a second over cores, connections over memory.
    pub load: f64,
    /// What it would cost; absent where nothing can be said.
    #[serde(flatten)]
    pub cost: Option<Cost>,
    /// Why nothing can be said; empty where something is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why_not: String,
}

/// What a load would cost, in cores or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// On the line.
    pub cost: f64,
    /// Where the line itself may run, 95 %: lower end, at least 0.
    pub line_low: f64,
    /// Upper end.
    pub line_high: f64,
    /// Where one more trial at that load would lie, 95 %: lower end, at least 0.
    pub trial_low: f64,
    /// Upper end.
    pub trial_high: f64,
    /// What it costs without load, on the line.
    pub at_rest: f64,
    /// What each unit of load adds.
    pub per_unit: f64,
    /// Trials behind it.
    pub trials: usize,
    /// The lowest load that was measured.
    pub measured_from: f64,
    /// The highest.
    pub measured_to: f64,
    /// How many times the highest measured load it is, or the lowest is it; 1 within what was measured.
    pub stretched: f64,
    /// Whether that is so far that the intervals mean little: they take it that the line goes on.
    pub far: bool,
}

impl Campaign {
    /// What a load would take of the proxies of each path that has any.
    pub fn capacity(&self, asked: Asked) -> CapacitySummary {
        let mut needs = Vec::new();
        let wanted = [(Resource::Cores, asked.requests_per_s), (Resource::AllocatedBytes, asked.connections)];
        for (index, path) in self.run.plan.paths.iter().enumerate() {
            if !path.is_proxied() || Some(index) == self.twin {
                continue;
            }
            for (resource, load) in wanted.iter().filter_map(|(resource, load)| Some((*resource, (*load)?))) {
                needs.extend(of_path(self, index, path, resource, load));
            }
        }
        let (run_id, name) = (self.run.run_id.clone(), self.run.plan.name.clone());
        CapacitySummary { schema: CAPACITY_SCHEMA, run_id, name, asked, needs }
    }
}

/// What the proxies of a path would spend: of every workload that varies the load.
fn of_path(campaign: &Campaign, index: usize, path: &Path, resource: Resource, load: f64) -> Vec<Need> {
    let mut out = Vec::new();
    for workload in &campaign.workloads {
        let proxies = named(campaign, workload, index);
        let (over, sweeps) = match resource {
            Resource::Cores => match workload.kind.work() {
                Some(work @ Work::Each("requests_per_s")) => (Over::Work(work), loads(campaign, workload)),
                _ => continue,
            },
            _ => (Over::Connections, sweeps(campaign, workload, "connections")),
        };
        let in_use = sweeps.iter().filter(|sweep| sweep.is_load && !proxies.is_empty());
        for sweep in in_use {
            let line = Fitted { campaign, workload, index, path, resource, over, sweep, load };
            out.extend(line.needs(&proxies));
        }
    }
    if out.is_empty() {
        let why_not = match resource {
            Resource::Cores => {
                "no trial with `rate`s that vary: a closed loop makes the load that the path lets it make"
            }
            _ => "no trials with `connections` that vary",
        };
        out.push(Need {
            path: path.name.clone(),
            workload: String::new(),
            at: BTreeMap::new(),
            proxy: ALL.to_owned(),
            resource,
            load,
            cost: None,
            why_not: why_not.to_owned(),
        });
    }
    out
}

/// The trials that a line goes through.
struct Fitted<'a> {
    campaign: &'a Campaign,
    workload: &'a Workload,
    index: usize,
    path: &'a Path,
    resource: Resource,
    over: Over,
    sweep: &'a Sweep,
    load: f64,
}

impl Fitted<'_> {
    /// All proxies together, then each kind of them where there are several; where nothing can be said, that once.
    fn needs(&self, proxies: &[&str]) -> Vec<Need> {
        let all = self.need(if let [one] = proxies { one } else { ALL }, proxies);
        let each = proxies.iter().filter(|_| proxies.len() > 1 && all.cost.is_some());
        let each: Vec<Need> = each.map(|proxy| self.need(proxy, &[proxy])).collect();
        std::iter::once(all).chain(each).collect()
    }

    fn need(&self, name: &str, proxies: &[&str]) -> Need {
        let (cost, why_not) = match self.cost(proxies) {
            Ok(cost) => (Some(cost), String::new()),
            Err(why_not) => (None, why_not),
        };
        Need {
            path: self.path.name.clone(),
            workload: self.workload.name.clone(),
            at: self.sweep.at.clone(),
            proxy: name.to_owned(),
            resource: self.resource,
            load: self.load,
            cost,
            why_not,
        }
    }

    /// What the load would cost of these proxies together, or why nothing can be said.
    fn cost(&self, proxies: &[&str]) -> Result<Cost, String> {
        let points = self.points(proxies);
        let mut loads: Vec<f64> = points.iter().map(|(load, _)| *load).collect();
        if loads.is_empty() {
            return Err(match self.resource {
                Resource::Cores => "no trial says what CPU they used".to_owned(),
                _ => texts::nothing_allocated(self.most_resident(proxies)),
            });
        }
        let different = places(&mut loads);
        let capacity = Capacity::of(&points).filter(|_| different >= FEWEST_PLACES);
        let capacity = capacity.ok_or_else(|| texts::too_few(different, FEWEST_PLACES, &loads, self.resource))?;
        let found = capacity.at(self.load).filter(|found| found.cost > 0.0);
        let found = found.ok_or_else(|| "the line through the trials is at or below 0 there".to_owned())?;
        let not_below_0 = |Interval { low, high }: Interval| (low.max(0.0), high);
        let ((line_low, line_high), (trial_low, trial_high)) = (not_below_0(found.line), not_below_0(found.trial));
        Ok(Cost {
            cost: found.cost,
            line_low,
            line_high,
            trial_low,
            trial_high,
            at_rest: capacity.line.intercept,
            per_unit: capacity.line.slope,
            trials: capacity.points,
            measured_from: capacity.from,
            measured_to: capacity.to,
            stretched: found.stretched,
            far: found.stretched >= FAR,
        })
    }

    /// The load of each trial with what these proxies spent in it together.
    fn points(&self, proxies: &[&str]) -> Vec<(f64, f64)> {
        let mut out = Vec::new();
        for at in &self.sweep.points {
            let Some(cell) = self.campaign.cells.get(&(self.index, *at)) else {
                continue;
            };
            out.extend(cell.counted().filter_map(|round| {
                let each = proxies.iter().map(|proxy| self.curve(proxy).trial(round, *at));
                // Of proxies that are not all known there is no sum.
                each.reduce(|sum, one| Some((sum?.0, sum?.1, sum?.2 + one?.2))).flatten().map(|(_, x, y)| (x, y))
            }));
        }
        out
    }

    fn curve<'a>(&'a self, proxy: &'a str) -> Curve<'a> {
        let Self { campaign, workload, index, path, resource, over, sweep, .. } = *self;
        Curve { campaign, workload, index, path, proxy, resource, over, sweep }
    }

    /// The most resident memory that these proxies had together, bytes.
    fn most_resident(&self, proxies: &[&str]) -> Option<f64> {
        let cells = self.sweep.points.iter().filter_map(|at| self.campaign.cells.get(&(self.index, *at)));
        let of = |round: &Round| {
            proxies.iter().map(|name| Some(spent(round, name, true)?.rss_bytes)).reduce(|a, b| Some(a? + b?)).flatten()
        };
        cells.flat_map(|cell| cell.rounds.iter().filter_map(of)).filter(|bytes| bytes.is_finite()).reduce(f64::max)
    }
}

impl Need {
    /// Where the line goes through: ` at size=1024`; empty where only the load varies.
    fn place(&self) -> String {
        if self.at.is_empty() { String::new() } else { format!(" at {}", point_label(&self.at)) }
    }
}
