//! The curves of proxies: their cost as the load on them grows.
//!
//! Each curve has points with intervals and, where a line is meaningful, a line. A line gives two
//! figures: the cost at rest, and the cost of each further unit of work. A quotient of cost and
//! rate would mix the two.
//!
//! - CPU over the rate of an open loop gets a line. A closed loop gets points: it makes only the
//!   load that the path lets it make. Other parameters get points, too: they change a request
//!   itself.
//! - Allocated memory over connections gets a line. Resident memory gets points: it is the largest
//!   so far, whatever the order of the trials was.

use std::collections::BTreeMap;

use hopbench_model::Path;
use serde_json::Value;

use super::curve_text;
use super::line::Rounds;
use super::over::Over;
use crate::cells::{Cell, Round, Spent};
use crate::run_data::{RunData, Workload};
use crate::summary::{CurvePoint, CurveSummary, Resource, Spread};

/// Points that belong to one curve.
struct Sweep {
    /// Their common parameters, if several vary.
    at: BTreeMap<String, Value>,
    /// Their indices in the plan.
    points: Vec<usize>,
    /// Whether they differ in the load only, so that a line may go through them.
    is_load: bool,
}

/// The curves of a run: workloads and paths in the scenario's order.
pub(crate) fn all(data: &RunData) -> Vec<CurveSummary> {
    let mut out = Vec::new();
    for workload in &data.workloads {
        let (loads, connections) = (loads(data, workload), sweeps(data, workload, "connections"));
        for (index, path) in data.run.plan.paths.iter().enumerate() {
            if !path.is_proxied() || data.references.is_twin(index) {
                continue;
            }
            for proxy in named(data, workload, index) {
                let one = |resource, over, sweep| Curve {
                    data,
                    workload,
                    index,
                    path,
                    proxy,
                    resource,
                    over,
                    sweep,
                };
                let per_s = workload.kind.work().map(Over::Work);
                for (over, sweep) in
                    per_s.iter().flat_map(|over| loads.iter().map(|sweep| (*over, sweep)))
                {
                    out.extend(one(Resource::Cores, over, sweep).summary());
                }
                for resource in [Resource::RssBytes, Resource::AllocatedBytes] {
                    out.extend(
                        connections
                            .iter()
                            .filter_map(|at| one(resource, Over::Connections, at).summary()),
                    );
                }
            }
        }
    }
    out
}

/// Over what CPU is shown: over the rate where it was asked for and varies, or over what came about
/// at any points.
fn loads(data: &RunData, workload: &Workload) -> Vec<Sweep> {
    let points = &data.run.plan.points;
    let scheduled = workload.points.iter().all(|at| points[*at].job.schedule.per_s().is_some());
    let rates = if scheduled { sweeps(data, workload, "rate") } else { Vec::new() };
    if rates.is_empty() {
        return vec![Sweep {
            at: BTreeMap::new(),
            points: workload.points.clone(),
            is_load: false,
        }];
    }
    rates
}

/// The points that are equal in all but this parameter, where there are several.
fn sweeps(data: &RunData, workload: &Workload, parameter: &str) -> Vec<Sweep> {
    let mut out: Vec<Sweep> = Vec::new();
    for at in &workload.points {
        let mut rest = data.run.plan.points[*at].point.clone();
        if rest.remove(parameter).is_none() {
            continue;
        }
        match out.iter_mut().find(|sweep| sweep.at == rest) {
            Some(sweep) => sweep.points.push(*at),
            None => out.push(Sweep { at: rest, points: vec![*at], is_load: true }),
        }
    }
    out.retain(|sweep| sweep.points.len() > 1);
    out
}

/// The kinds of proxies that the trials of a path name and that saw its traffic.
fn named<'a>(data: &'a RunData, workload: &Workload, path: usize) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in workload.points.iter().filter_map(|point| data.cells.get(&(path, *point))) {
        for proxy in cell.rounds.iter().flat_map(|round| &round.proxies) {
            if proxy.named && !cell.bypasses_proxy && !names.contains(&proxy.name.as_str()) {
                names.push(&proxy.name);
            }
        }
    }
    names
}

/// A curve on its way to a summary.
struct Curve<'a> {
    data: &'a RunData,
    workload: &'a Workload,
    /// The path's index in the plan.
    index: usize,
    path: &'a Path,
    proxy: &'a str,
    resource: Resource,
    over: Over,
    sweep: &'a Sweep,
}

impl Curve<'_> {
    /// `None` with fewer than two points.
    fn summary(&self) -> Option<CurveSummary> {
        let plan = &self.data.run.plan;
        let mut points = Vec::new();
        let mut rounds = Rounds::default();
        for at in &self.sweep.points {
            let Some(cell) = self.data.cells.get(&(self.index, *at)) else {
                continue;
            };
            let seen: Vec<(&Round, f64, f64)> =
                cell.counted().filter_map(|round| self.trial(round, *at)).collect();
            let [x, y] = [
                seen.iter().map(|(_, x, _)| *x).collect(),
                seen.iter().map(|(.., y)| *y).collect::<Vec<_>>(),
            ]
            .map(Spread::of);
            if let (Some(x), Some(y)) = (x, y) {
                let point = plan.points[*at].point.clone();
                let saturated_per_s = cell.saturated_per_s();
                points.push(CurvePoint { point, x: x.median, saturated_per_s, spread: y });
                seen.iter().for_each(|(round, x, y)| rounds.add(round, (*x, *y)));
            }
        }
        if points.len() < 2 {
            return None;
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let line = if self.can_be_line() { rounds.line(&points) } else { None };
        let mut out = CurveSummary {
            workload: self.workload.name.clone(),
            path: self.path.name.clone(),
            proxy: self.proxy.to_owned(),
            proxies: self.proxies(),
            at: self.sweep.at.clone(),
            resource: self.resource,
            over: self.over.name(),
            points,
            line,
            measured_idle: self.idle(),
            text: String::new(),
        };
        out.text = curve_text::text(&out, self.over, self.can_be_line());
        Some(out)
    }

    fn can_be_line(&self) -> bool {
        self.sweep.is_load && self.resource != Resource::RssBytes
    }

    /// The load of a trial, and what was spent.
    fn trial<'a>(&self, round: &'a Round, at: usize) -> Option<(&'a Round, f64, f64)> {
        let x = match self.over {
            Over::Work(_) => round.work_per_s,
            // Each client makes as many.
            Over::Connections => {
                f64::from(self.data.run.plan.points[at].job.connections)
                    * f64::from(self.path.clients)
            }
        };
        let y = amount(self.resource, spent(round, self.proxy, true)?);
        (x.is_finite() && y.is_finite()).then_some((round, x, y))
    }

    fn proxies(&self) -> u32 {
        let cells =
            self.sweep.points.iter().filter_map(|at| self.data.cells.get(&(self.index, *at)));
        let rounds = cells.flat_map(|cell| &cell.rounds);
        rounds
            .filter_map(|round| spent(round, self.proxy, true))
            .map(|spent| spent.count)
            .max()
            .unwrap_or(0)
    }

    /// What such proxies spent where no traffic went through them. It is taken over the trials of
    /// this workload, in pods that are the same or set up alike. `None` where there are none, and
    /// for what only grows.
    fn idle(&self) -> Option<f64> {
        if self.resource == Resource::RssBytes {
            return None;
        }
        let paths = &self.data.run.plan.paths;
        // Paths without proxies are measured between the pods of the first variant.
        let first = paths.iter().find_map(|path| path.variant.as_ref());
        let in_its_pods = |other: &Path| {
            let ends =
                |path: &Path| (path.from.clone(), path.to.clone(), path.clients, path.backends);
            let via = |path: &Path| std::mem::discriminant(&path.via);
            let variant = other.variant.as_ref().or(first) == self.path.variant.as_ref();
            ends(other) == ends(self.path) && via(other) == via(self.path) && variant
        };
        let of_path = |(index, _): (usize, &Path)| {
            self.workload
                .points
                .iter()
                .filter_map(move |point| self.data.cells.get(&(index, *point)))
        };
        let cells =
            paths.iter().enumerate().filter(|(_, other)| in_its_pods(other)).flat_map(of_path);
        let rounds = cells.flat_map(|cell: &Cell| &cell.rounds);
        let values = rounds
            .filter_map(|round| Some(amount(self.resource, spent(round, self.proxy, false)?)));
        Spread::of(values).map(|idle| idle.median)
    }
}

/// The cost of the proxies of a kind in a round, of those that are named, or of the others.
fn spent<'a>(round: &'a Round, name: &str, named: bool) -> Option<&'a Spent> {
    round.proxies.iter().find(|proxy| proxy.named == named && proxy.name == name)
}

/// The amount of a resource that a proxy spent.
fn amount(resource: Resource, proxy: &Spent) -> f64 {
    match resource {
        Resource::Cores => proxy.cores,
        Resource::RssBytes => proxy.memory_bytes,
        Resource::AllocatedBytes => proxy.allocated_bytes,
    }
}
