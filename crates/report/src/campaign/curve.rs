//! What a proxy spends as the load on it grows: points with intervals and, through at least three of them, a line. What it
//! spends at rest and what each unit of work adds are two figures; their quotient at one rate would be neither.

use std::collections::BTreeMap;

use hopbench_model::{Path, point_label};
use hopbench_stats::{FEWEST_PLACES, fit, median_interval, summary::median};
use serde::Serialize;
use serde_json::Value;

use super::cell::{Cell, Round, Spent};
use super::kind::Work;
use super::scale::Scale;
use super::{Campaign, Workload};
use crate::number::{by_name, plain};

/// A point further from the line than this share of its value makes the line doubtful.
const FAR: f64 = 0.15;

/// What one proxy of a path spends over the points of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct CurveSummary {
    /// The workload's name.
    pub workload: String,
    /// The path's name.
    pub path: String,
    /// The proxy's name on the path.
    pub proxy: String,
    /// What it spends.
    pub resource: Resource,
    /// What it is spent over: `requests_per_s`, `connections` ...
    pub over: String,
    /// The points, by their load.
    pub points: Vec<CurvePoint>,
    /// The line through them; absent with fewer than three different loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LineSummary>,
    /// What the same proxy spent in trials of paths that do not name it, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_idle: Option<f64>,
    /// In words.
    pub text: String,
}

/// What a proxy spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Cores kept busy.
    Cores,
    /// Resident memory, bytes.
    RssBytes,
    /// What it says that it has allocated, bytes.
    AllocatedBytes,
}

/// A point of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct CurvePoint {
    /// The point of the workload.
    pub point: BTreeMap<String, Value>,
    /// The load that was measured, median over the rounds.
    pub x: f64,
    /// What was spent, median over the rounds.
    pub y: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A line through all trials, with 95 % intervals.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LineSummary {
    /// What is spent without load.
    pub idle: f64,
    /// Lower end of its interval.
    pub idle_low: f64,
    /// Upper end.
    pub idle_high: f64,
    /// What each unit of load adds.
    pub slope: f64,
    /// Lower end of its interval.
    pub slope_low: f64,
    /// Upper end.
    pub slope_high: f64,
    /// The smallest load.
    pub from: f64,
    /// The largest load.
    pub to: f64,
    /// By how much the line misses the point that it misses most, as a share of that.
    pub off_ratio: f64,
}

impl Resource {
    fn of(self, proxy: &Spent) -> f64 {
        match self {
            Self::Cores => proxy.cores,
            Self::RssBytes => proxy.rss_bytes,
            Self::AllocatedBytes => proxy.allocated_bytes,
        }
    }

    /// The figure's name, with its unit.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cores => "proxy_cores",
            Self::RssBytes => "rss_bytes",
            Self::AllocatedBytes => "allocated_bytes",
        }
    }
}

/// The curves of a run: workloads and paths in the scenario's order.
pub(super) fn all(campaign: &Campaign) -> Vec<CurveSummary> {
    let plan = &campaign.run.plan;
    let mut out = Vec::new();
    for workload in campaign.workloads.iter().filter(|workload| workload.points.len() > 1) {
        let connections = |at: &usize| plan.points[*at].job.connections;
        let growing = workload.points.iter().any(|at| connections(at) != connections(&workload.points[0]));
        for (index, path) in plan.paths.iter().enumerate().filter(|(_, path)| path.is_proxied()) {
            for proxy in named(campaign, workload, index) {
                let curve = |resource, over| curve(campaign, workload, (index, path), &proxy, resource, over);
                let per_s = workload.kind.work().map(Over::Work);
                out.extend(per_s.and_then(|over| curve(Resource::Cores, over)));
                for resource in [Resource::RssBytes, Resource::AllocatedBytes].into_iter().filter(|_| growing) {
                    out.extend(curve(resource, Over::Connections));
                }
            }
        }
    }
    out
}

/// What a curve is over.
#[derive(Clone, Copy)]
enum Over {
    Work(Work),
    Connections,
}

impl Over {
    fn name(self) -> String {
        match self {
            Self::Work(Work::Each(metric)) => metric.to_owned(),
            Self::Work(Work::KiB) => "received_kib_per_s".to_owned(),
            Self::Connections => "connections".to_owned(),
        }
    }

    /// A load in words.
    fn text(self, x: f64) -> String {
        match self {
            Self::Work(Work::KiB) => by_name("received_bits_per_s", x * 1024.0 * 8.0),
            Self::Work(Work::Each(_)) => format!("{}/s", plain(x.round())),
            Self::Connections => plain(x),
        }
    }

    /// One unit of it.
    fn unit(self) -> &'static str {
        match self {
            Self::Work(work) => work.name(),
            Self::Connections => "connection",
        }
    }
}

/// The proxies that the trials of a path name and that saw its traffic.
fn named(campaign: &Campaign, workload: &Workload, path: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in workload.points.iter().filter_map(|point| campaign.cells.get(&(path, *point))) {
        for proxy in cell.rounds.iter().flat_map(|round| &round.proxies) {
            if proxy.named && !cell.bypasses_proxy && !names.contains(&proxy.name) {
                names.push(proxy.name.clone());
            }
        }
    }
    names
}

/// What a proxy spent in a round, where it is named, or where it is not.
fn spent<'a>(round: &'a Round, name: &str, named: bool) -> Option<&'a Spent> {
    round.proxies.iter().find(|proxy| proxy.named == named && proxy.name == name)
}

fn curve(
    campaign: &Campaign,
    workload: &Workload,
    (index, path): (usize, &Path),
    proxy: &str,
    resource: Resource,
    over: Over,
) -> Option<CurveSummary> {
    let plan = &campaign.run.plan;
    let mut points = Vec::new();
    let mut trials = Vec::new();
    for at in &workload.points {
        let Some(cell) = campaign.cells.get(&(index, *at)) else {
            continue;
        };
        let load = |round: &Round| match over {
            Over::Work(_) => round.work_per_s,
            Over::Connections => f64::from(plan.points[*at].job.connections),
        };
        let trial = |round: &Round| Some((load(round), resource.of(spent(round, proxy, true)?)));
        let seen: Vec<(f64, f64)> =
            cell.rounds.iter().filter_map(trial).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let (xs, ys): (Vec<f64>, Vec<f64>) = seen.iter().copied().unzip();
        if let (Some(x), Some(y)) = (median(&xs), median(&ys)) {
            let interval = median_interval(&ys);
            let point = plan.points[*at].point.clone();
            points.push(CurvePoint { point, x, y, low: interval.map(|i| i.low), high: interval.map(|i| i.high) });
            trials.extend(seen);
        }
    }
    if points.len() < 2 {
        return None;
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let line = line(&trials, &points);
    let measured_idle = idle(campaign, workload, path, proxy, resource);
    Some(CurveSummary {
        workload: workload.name.clone(),
        path: path.name.clone(),
        proxy: proxy.to_owned(),
        resource,
        over: over.name(),
        text: text(proxy, &points, line.as_ref(), measured_idle, resource, over),
        points,
        line,
        measured_idle,
    })
}

fn line(trials: &[(f64, f64)], points: &[CurvePoint]) -> Option<LineSummary> {
    let line = fit(trials)?;
    let off = |point: &CurvePoint| (point.y - line.at(point.x)).abs() / point.y.abs();
    Some(LineSummary {
        idle: line.intercept,
        idle_low: line.intercept_interval.low,
        idle_high: line.intercept_interval.high,
        slope: line.slope,
        slope_low: line.slope_interval.low,
        slope_high: line.slope_interval.high,
        from: line.range.low,
        to: line.range.high,
        off_ratio: points.iter().map(off).filter(|off| off.is_finite()).fold(0.0, f64::max),
    })
}

/// What the proxy spent where no path sent traffic through it: over the trials of this workload between the same ends.
fn idle(campaign: &Campaign, workload: &Workload, path: &Path, proxy: &str, resource: Resource) -> Option<f64> {
    let paths = &campaign.run.plan.paths;
    let same_pods = |(_, other): &(usize, &Path)| (&other.from, &other.to) == (&path.from, &path.to);
    let cells =
        paths.iter().enumerate().filter(same_pods).flat_map(|(index, _)| {
            workload.points.iter().filter_map(move |point| campaign.cells.get(&(index, *point)))
        });
    let rounds = cells.flat_map(|cell: &Cell| &cell.rounds);
    let values: Vec<f64> =
        rounds.filter_map(|round| Some(resource.of(spent(round, proxy, false)?))).filter(|v| v.is_finite()).collect();
    median(&values)
}

/// `server-sidecar: idle 0.010 cores [0.008, 0.012], 62.0 us CPU a request [58.0, 66.0] between 100/s and 4000/s`.
fn text(
    proxy: &str,
    points: &[CurvePoint],
    line: Option<&LineSummary>,
    idle: Option<f64>,
    resource: Resource,
    over: Over,
) -> String {
    let amount = |value: f64| match resource {
        Resource::Cores => format!("{value:.3} cores"),
        _ => by_name("rss_bytes", value),
    };
    let (what, at_rest) = match resource {
        Resource::Cores => (" CPU", "idle "),
        Resource::RssBytes => ("", "resident "),
        Resource::AllocatedBytes => ("", "allocated "),
    };
    let measured = idle.map_or(String::new(), |idle| format!(" ({} measured without traffic)", amount(idle)));
    let Some(line) = line else {
        let few: Vec<String> =
            points.iter().map(|point| format!("{} at {}", amount(point.y), over.text(point.x))).collect();
        let few = few.join(", ");
        return format!("{proxy}: {few}{measured}; a line needs {FEWEST_PLACES} different loads");
    };
    // Cores over work a second are CPU seconds for each.
    let (name, factor) = if resource == Resource::Cores { ("cpu_ns", 1e9) } else { ("rss_bytes", 1.0) };
    let [slope, low, high] = [line.slope, line.slope_low, line.slope_high].map(|value| value * factor);
    // Far from where it was measured, a line says little of what is spent at rest.
    let ends = match resource {
        Resource::Cores => format!(" [{:.3}, {:.3}]", line.idle_low, line.idle_high),
        _ => String::new(),
    };
    let far = match line.off_ratio {
        off if off > FAR => format!("; not a straight line: it misses a point by {:.0} %", off * 100.0),
        _ => String::new(),
    };
    format!(
        "{proxy}: {at_rest}{}{ends}{measured}, {}{what} a {} between {} and {}{far}",
        amount(line.idle),
        Scale::with_ends(name, slope, low, high),
        over.unit(),
        over.text(line.from),
        over.text(line.to),
    )
}

impl CurveSummary {
    /// Its name among those of the workload.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.path, self.proxy)
    }
}

impl CurvePoint {
    /// The point as reports write it.
    pub(crate) fn label(&self) -> String {
        point_label(&self.point)
    }
}
