//! What searches found, on two sides.
//!
//! A search gives one load a run, which lies between two others, and no value a round: so nothing is tested. A load is called
//! higher or lower where what is known of the two does not overlap, and by more than the A/A pairs' loads and the minimum
//! effect, as within a run. Of several runs on a side what is known is what any of them leaves open; the load is their median.
//! Of a knee the throughput there is compared, too.

use std::collections::BTreeMap;

use hopbench_model::{Point, SearchSpec, point_label};

use super::difference::jobs;
use super::pairs::NotCompared;
use super::row::{Outcome, Row, Side};
use super::values::Values;
use super::{bound::Bound, words};
use crate::campaign::kind::Better;
use crate::campaign::searches::words::figure;
use crate::campaign::searches::{Runs, Said, What};
use crate::campaign::{SearchSummary, SearchedPath};

/// The word of bounds for the loads of all searches for a rate.
pub(super) const FOUND_LOAD: &str = "found_load";

/// A search that the baseline ended, and that gave nothing at all in the candidate.
pub(super) struct Gone {
    pub(super) cell: String,
    metric: String,
    knee: bool,
    /// Why no trial of it can be used.
    pub(super) reason: String,
}

/// The searches of two sides.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) rows: Vec<Row>,
    /// They are among those that are not compared, too.
    pub(super) gone: Vec<Gone>,
    pub(super) not_compared: Vec<NotCompared>,
}

/// What identifies a search of a path: path, workload, point, parameter.
type Key = (String, String, String, &'static str);

/// A search of a path in one run.
#[derive(Clone, Copy)]
struct Found<'a> {
    of: &'a Values,
    point: &'a Point,
    spec: &'a SearchSpec,
    search: &'a SearchSummary,
    path: &'a SearchedPath,
}

/// A run with its searches.
type Run<'a> = (&'a Values, Vec<SearchSummary>);

/// What the searches of both sides found, compared; differences below `minimum_effect`, a share, are of no interest.
pub(super) fn all(a: &[Values], b: &[Values], minimum_effect: f64) -> Sorted {
    let runs = |side: &'_ [Values]| side.iter().map(|values| values.searches.found()).collect::<Vec<_>>();
    let (ones, others) = (runs(a), runs(b));
    let (a, b): (Vec<Run<'_>>, Vec<Run<'_>>) = (a.iter().zip(ones).collect(), b.iter().zip(others).collect());
    let ((order, ones), (later, mut others)) = (side(&a), side(&b));
    let mut out = Sorted::default();
    for key in &order {
        let one = &ones[key];
        let reason = match others.remove(key) {
            None => b
                .iter()
                .find_map(|(values, _)| skipped(values, one[0]))
                .map_or_else(|| Err("only the baseline has it".to_owned()), Ok),
            Some(other) => match not_alike(one, &other) {
                Some(reason) => Err(reason),
                None => match compare(one, &other, minimum_effect) {
                    Ok(rows) => {
                        out.rows.extend(rows);
                        continue;
                    }
                    Err(reason) => match nothing(&other).filter(|_| one.iter().any(|found| found.has_ended())) {
                        Some(why) => Ok(why),
                        None => Err(reason),
                    },
                },
            },
        };
        let cell = one[0].cell();
        let (reason, is_unbound) = match reason {
            Ok(why) => {
                let knee = one[0].is_knee();
                let metric = one[0].search.found_name();
                out.gone.push(Gone { cell: cell.clone(), metric, knee, reason: why.clone() });
                (format!("no usable trial in the candidate: {why}"), false)
            }
            Err(reason) => (reason, true),
        };
        out.not_compared.push(NotCompared { cell: named(one[0]), reason, is_unbound });
    }
    let left = later.iter().filter_map(|key| others.get(key));
    out.not_compared.extend(left.map(|found| NotCompared {
        cell: named(found[0]),
        reason: "only the candidate has it".to_owned(),
        is_unbound: false,
    }));
    out
}

/// The searches of a side's runs, in the order in which they are met; without those of the A/A pair's second half.
fn side<'a>(runs: &'a [Run<'a>]) -> (Vec<Key>, BTreeMap<Key, Vec<Found<'a>>>) {
    let mut order = Vec::new();
    let mut all: BTreeMap<Key, Vec<Found<'a>>> = BTreeMap::new();
    for (of, searches) in runs {
        for search in searches {
            let is_its = |point: &&Point| point.workload == search.workload && point.point == search.point;
            let point = of.run.plan.points.iter().filter(|point| point.search.is_some()).find(is_its);
            let Some((point, spec)) = point.and_then(|point| Some((point, point.search.as_ref()?))) else { continue };
            for path in search.paths.iter().filter(|path| !path.twin) {
                let key = (path.path.clone(), search.workload.clone(), super::key(&search.point), search.parameter);
                let known = all.entry(key.clone()).or_default();
                if known.is_empty() {
                    order.push(key);
                }
                known.push(Found { of, point, spec, search, path });
            }
        }
    }
    (order, all)
}

/// Why a search that both sides planned is another one in a run, in words.
fn not_alike(one: &[Found<'_>], other: &[Found<'_>]) -> Option<String> {
    let first = one[0];
    let asked = |spec: &SearchSpec| (spec.goal.clone(), spec.errors_share);
    one.iter().chain(other).find_map(|found| {
        if asked(found.spec) != asked(first.spec) {
            return Some(format!("searched otherwise: {}; now {}", first.search.asked, found.search.asked));
        }
        let jobs = jobs(&first.point.job, &found.point.job);
        (!jobs.is_empty()).then(|| format!("another job: {jobs}"))
    })
}

/// The rows of a search that ended on both sides; else why it cannot be compared.
fn compare(one: &[Found<'_>], other: &[Found<'_>], minimum_effect: f64) -> Result<Vec<Row>, String> {
    let load = row(one, other, What::Load, minimum_effect).ok_or_else(|| {
        let open = |name: &str, side: &[Found<'_>]| {
            let ended = side.iter().any(|found| found.has_ended());
            (!ended).then(|| format!("in the {name}: {}", side[0].path.text))
        };
        open("baseline", one).or_else(|| open("candidate", other)).unwrap_or_default()
    })?;
    let there = one[0].is_knee().then(|| row(one, other, What::Value, minimum_effect)).flatten();
    Ok([load].into_iter().chain(there).collect())
}

fn row(one: &[Found<'_>], other: &[Found<'_>], what: What, minimum_effect: f64) -> Option<Row> {
    let runs = |side: &[Found<'_>]| Runs::of(&side.iter().map(|found| found.path).collect::<Vec<_>>(), what);
    let (a, b) = (runs(one)?, runs(other)?);
    let floor = one.iter().chain(other).filter_map(|found| what.floor(found.search)).reduce(f64::max);
    let beside = b.beside(&a, floor.unwrap_or(0.0), minimum_effect);
    let first = one[0];
    let search = first.search;
    let (metric, label, better) = match what {
        // More connections until throughput stops growing are neither better nor worse.
        What::Load if first.is_knee() => (search.found_name(), format!("found {}", search.parameter), Better::Neither),
        What::Load => (search.found_name(), format!("found {}", search.parameter), Better::Higher),
        What::Value => {
            let label = format!("{} at {}", figure(&search.figure), search.parameter);
            (search.name_there(&search.figure_name()), label, Better::Higher)
        }
    };
    let grew = beside.said == Said::Higher || (beside.said != Said::Lower && beside.ratio.is_some_and(|r| r > 1.0));
    let fell = beside.said == Said::Lower || (beside.said != Said::Higher && beside.ratio.is_some_and(|r| r < 1.0));
    let worse_higher = better != Better::Higher;
    let (outcome, word) = match beside.said {
        Said::Higher => (words::called(better, true).0, "higher"),
        Said::Lower => (words::called(better, false).0, "lower"),
        Said::Overlap => (Outcome::Same, "no difference"),
        Said::Floor => (Outcome::NoiseFloor, "within the noise floor"),
        Said::Minimum => (Outcome::MinimumEffect, "below the minimum effect"),
        Said::Generator => (Outcome::Generator, words::GENERATOR),
    };
    let mut text = beside.text(floor.unwrap_or(0.0));
    if beside.ratio.is_none() && outcome != Outcome::Generator {
        let (a, b) = (a.text(), b.text());
        text = if a == b { format!("{text}: {a}") } else { format!("{text}: {a} before, now {b}") };
    }
    // As much worse as the ends still allow.
    let hidden = if worse_higher { beside.high.map(|high| high - 1.0) } else { beside.low.map(|low| 1.0 - low) };
    let side = |runs: &Runs| runs.found().map(|median| Side { median, values: runs.found_in });
    let enough = |side: &[Found<'_>]| side.len() >= super::ask::ENOUGH_RUNS;
    Some(Row {
        path: first.path.path.clone(),
        workload: search.workload.clone(),
        point: search.point.clone(),
        metric,
        label,
        search: Some(search.goal),
        baseline: side(&a),
        candidate: side(&b),
        ratio: beside.ratio,
        low: beside.low,
        high: beside.high,
        p: None,
        q: None,
        noise_floor: floor.filter(|floor| floor.is_finite()),
        could_have_seen: hidden.filter(|_| outcome == Outcome::Same).map(|share| share.max(0.0)),
        by_run: enough(one) && enough(other),
        outcome,
        is_worse: if worse_higher { grew } else { fell },
        text,
        word,
    })
}

/// Why a search gave nothing at all in these runs; `None` where a trial of it can be used.
fn nothing(side: &[Found<'_>]) -> Option<String> {
    let usable = |found: &Found<'_>| found.path.trace.iter().any(|step| step.unusable.is_empty());
    if side.iter().any(usable) {
        return None;
    }
    let first = side[0];
    let seen = first.path.trace.first().map(|step| step.unusable.clone());
    let is_its = |path: &str, workload: &str| path == first.path.path && workload == first.search.workload;
    let failed = || first.of.run.failures.iter().find(|f| is_its(&f.path, &f.workload)).map(|f| f.reason.clone());
    Some(seen.or_else(failed).unwrap_or_else(|| "it has no record".to_owned()))
}

/// Why a run leaves out a search that another has.
fn skipped(values: &Values, found: Found<'_>) -> Option<String> {
    let label = point_label(&found.search.point);
    let is_its = |skipped: &&hopbench_model::Skipped| {
        skipped.path == found.path.path && skipped.workload == found.search.workload && skipped.point == label
    };
    values.run.skipped.iter().find(is_its).map(|skipped| skipped.reason.clone())
}

/// A search for people, among what is not compared: `bridge web: search for the rate`.
fn named(found: Found<'_>) -> String {
    format!("{} ({} over {})", found.cell(), found.search.goal, found.search.parameter)
}

impl Found<'_> {
    fn cell(&self) -> String {
        super::cell_text(&self.path.path, &self.search.workload, &self.search.point)
    }

    fn is_knee(&self) -> bool {
        self.search.goal == "knee"
    }

    fn has_ended(&self) -> bool {
        self.path.outcome.is_some()
    }
}

impl Bound {
    /// Whether it is about this comparison of what searches found.
    pub(super) fn is_of(&self, row: &Row) -> bool {
        row.search.is_some_and(|goal| self.hits(&row.metric, goal == "knee"))
    }

    /// The name of what it is about in a search that is gone; `None`: it is not.
    pub(super) fn metric_of(&self, gone: &Gone) -> Option<String> {
        self.hits(&gone.metric, gone.knee).then(|| gone.metric.clone())
    }

    fn hits(&self, metric: &str, knee: bool) -> bool {
        self.metric == metric || (self.metric == FOUND_LOAD && !knee && metric.starts_with("found_"))
    }
}
