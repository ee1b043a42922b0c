//! The searches of two sides, compared.
//!
//! - Rates are compared by the results of their searches, each rate by itself. With three runs and
//!   more on each side, the runs' medians are compared.
//! - Levels differ where what is known of the two does not overlap, as within a run. So do loads
//!   beyond an end of the range.
//! - With several runs on a side, the bracket holds all that any of them leaves open, and the load
//!   is their median.
//! - For a knee, the throughput there is compared, too.
//! - All that is tested is judged together.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Point, SearchSpec, Skipped, point_label};
use hopbench_stats::Comparison;

use super::difference::jobs;
use super::gate::Bound;
use super::pairs::NotCompared;
use super::row::{Median, Row, worse_by_at_most};
use super::values::Values;
use crate::figures::Better;
use crate::search::{self, ENOUGH_RUNS, Runs, What};
use crate::summary::{Bracket, Outcome, SearchSummary, SearchedPath};
use crate::text::cell_name::{cell_text, key as point_key};
use crate::text::load_text::figure;
use crate::verdict::{Questions, called};

/// The word of bounds for the loads of all searches for a rate.
pub(crate) const FOUND_LOAD: &str = "found_load";

/// The load of a search for a rate.
pub(crate) const FOUND_RATE: &str = "found_rate_per_s";

/// A search that both sides planned, and what has no comparison there.
pub(crate) struct Unsaid {
    pub(crate) cell: String,
    /// Its name among the cells that are not compared.
    pub(crate) named: String,
    /// What is not compared: the load, and of a knee the throughput there.
    metrics: Vec<String>,
    knee: bool,
    /// Why not.
    pub(crate) reason: String,
}

/// The searches of two sides.
#[derive(Default)]
pub(crate) struct SearchPairs {
    pub(crate) rows: Vec<Row>,
    /// Those that the baseline ended, and that gave nothing at all in the candidate; they are among
    /// those that are not compared, too.
    pub(crate) gone: Vec<Unsaid>,
    /// Those of which nothing can be said for another reason, or not of the throughput at a knee.
    pub(crate) unsaid: Vec<Unsaid>,
    /// The names of everything that searches of both sides can have.
    pub(crate) metrics: BTreeSet<String>,
    pub(crate) not_compared: Vec<NotCompared>,
}

/// The key of a search of a path: path, workload, point, parameter.
type Key = (String, String, String, &'static str);

/// A search of a path in one run.
#[derive(Clone, Copy)]
struct SearchOfRun<'a> {
    of: &'a Values,
    point: &'a Point,
    spec: &'a SearchSpec,
    search: &'a SearchSummary,
    path: &'a SearchedPath,
}

/// A run with its searches.
type Run<'a> = (&'a Values, Vec<SearchSummary>);

/// The searches of both sides, compared; differences below `minimum_effect`, a share, are of no
/// interest.
pub(crate) fn all(a: &[Values], b: &[Values], minimum_effect: f64) -> SearchPairs {
    let runs = |side: &'_ [Values]| {
        side.iter().map(|values| search::all(&values.searches)).collect::<Vec<_>>()
    };
    let (ones, others) = (runs(a), runs(b));
    let (a, b): (Vec<Run<'_>>, Vec<Run<'_>>) =
        (a.iter().zip(ones).collect(), b.iter().zip(others).collect());
    let ((order, ones), (later, mut others)) = (side(&a), side(&b));
    let mut out = SearchPairs::default();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for key in &order {
        let one = &ones[key];
        let Some(other) = others.remove(key) else {
            match b.iter().find_map(|(values, _)| skipped(values, one[0])) {
                Some(why) => out.gone(one, &[], &why),
                None => out.not_compared.push(NotCompared::of_baseline(named(one[0]))),
            }
            continue;
        };
        if let Some(reason) = not_alike(one, &other) {
            out.apart(one[0], reason);
            continue;
        }
        out.metrics.extend(metrics(one, &other));
        match pairs_of(one, &other) {
            Ok(found) => {
                let has = |name: &String| found.iter().any(|pair| pair.name().metric == *name);
                let unsaid: Vec<String> =
                    metrics(one, &other).into_iter().filter(|name| !has(name)).collect();
                if !unsaid.is_empty() {
                    out.unsaid
                        .push(Unsaid { metrics: unsaid, ..Unsaid::of(one, &other, NO_THROUGHPUT) });
                }
                pairs.extend(found);
            }
            Err(reason) => {
                match nothing(&other).filter(|_| one.iter().any(|found| found.has_ended())) {
                    Some(why) => out.gone(one, &other, &why),
                    None => {
                        out.unsaid.push(Unsaid::of(one, &other, &reason));
                        out.apart(one[0], reason);
                    }
                }
            }
        }
    }
    let left = later.iter().filter_map(|key| others.get(key));
    out.not_compared.extend(left.map(|found| NotCompared::of_candidate(named(found[0]))));
    out.rows = rows(&pairs, minimum_effect);
    out
}

/// Why there is no throughput at a knee.
const NO_THROUGHPUT: &str = "fewer than two trials at the load that was found";

impl SearchPairs {
    fn gone(&mut self, one: &[SearchOfRun<'_>], other: &[SearchOfRun<'_>], why: &str) {
        let gone = Unsaid::of(one, other, why);
        let (cell, reason) =
            (gone.named.clone(), format!("no usable trial in the candidate: {why}"));
        self.not_compared.push(NotCompared {
            cell,
            reason,
            is_unbound: false,
            is_one_sided: false,
        });
        self.gone.push(gone);
    }

    fn apart(&mut self, found: SearchOfRun<'_>, reason: String) {
        let cell = named(found);
        self.not_compared.push(NotCompared { cell, reason, is_unbound: true, is_one_sided: false });
    }
}

impl Unsaid {
    fn of(one: &[SearchOfRun<'_>], other: &[SearchOfRun<'_>], reason: &str) -> Self {
        let (cell, named, knee) = (one[0].cell(), named(one[0]), one[0].is_knee());
        Self { cell, named, metrics: metrics(one, other), knee, reason: reason.to_owned() }
    }
}

/// The names of what a search can have: the load, and of a knee the throughput there.
fn metrics(one: &[SearchOfRun<'_>], other: &[SearchOfRun<'_>]) -> Vec<String> {
    let search = one[0].search;
    // One without a trial does not know by which figure it searches.
    let mut known = one
        .iter()
        .chain(other)
        .map(|found| found.search)
        .filter(|search| !search.figure.is_empty());
    let there = known
        .next()
        .filter(|_| one[0].is_knee())
        .map(|known| search.name_there(&known.figure_name()));
    [search.found_name()].into_iter().chain(there).collect()
}

/// The searches of a side's runs, in the order in which they are met; without those of the A/A
/// pair's second half.
fn side<'a>(runs: &'a [Run<'a>]) -> (Vec<Key>, BTreeMap<Key, Vec<SearchOfRun<'a>>>) {
    let mut order = Vec::new();
    let mut all: BTreeMap<Key, Vec<SearchOfRun<'a>>> = BTreeMap::new();
    for (of, searches) in runs {
        for search in searches {
            let is_its =
                |point: &&Point| point.workload == search.workload && point.point == search.point;
            let point =
                of.run.plan.points.iter().filter(|point| point.search.is_some()).find(is_its);
            let Some((point, spec)) = point.and_then(|point| Some((point, point.search.as_ref()?)))
            else {
                continue;
            };
            for path in &search.paths {
                let key = (
                    path.path.clone(),
                    search.workload.clone(),
                    point_key(&search.point),
                    search.parameter,
                );
                let known = all.entry(key.clone()).or_default();
                if known.is_empty() {
                    order.push(key);
                }
                known.push(SearchOfRun { of, point, spec, search, path });
            }
        }
    }
    (order, all)
}

/// Why a search that both sides planned is another one in a run, in words.
fn not_alike(one: &[SearchOfRun<'_>], other: &[SearchOfRun<'_>]) -> Option<String> {
    let first = one[0];
    let asked = |spec: &SearchSpec| (spec.goal.clone(), spec.errors_share);
    one.iter().chain(other).find_map(|found| {
        if asked(found.spec) != asked(first.spec) {
            return Some(format!(
                "searched otherwise: {}; now {}",
                first.search.asked, found.search.asked
            ));
        }
        let jobs = jobs(&first.point.job, &found.point.job);
        (!jobs.is_empty()).then(|| format!("another job: {jobs}"))
    })
}

/// The loads of two sides, or the throughputs there.
struct Pair<'a> {
    first: SearchOfRun<'a>,
    what: What,
    a: Runs,
    b: Runs,
    by_run: bool,
}

/// The name of a figure, its label for people, and the direction that is good.
struct Name {
    metric: String,
    label: String,
    better: Better,
}

/// A row for each pair; all that is tested is judged together.
fn rows(pairs: &[Pair<'_>], minimum_effect: f64) -> Vec<Row> {
    let mut questions = Questions::default();
    for (at, pair) in pairs.iter().enumerate() {
        if let Some(question) = pair.b.question(&pair.a, minimum_effect) {
            questions.ask(at, question);
        }
    }
    let answers: BTreeMap<usize, Comparison> = questions.answers().collect();
    let answered = |(at, pair)| row(pair, minimum_effect, answers.get(&at));
    pairs.iter().enumerate().map(answered).collect()
}

/// What is compared of a search that ended on both sides; else why it cannot be compared.
fn pairs_of<'a>(
    one: &[SearchOfRun<'a>],
    other: &[SearchOfRun<'a>],
) -> Result<Vec<Pair<'a>>, String> {
    let load = Pair::of(one, other, What::Load).ok_or_else(|| {
        let open = |name: &str, side: &[SearchOfRun<'_>]| {
            let ended = side.iter().any(|found| found.has_ended());
            (!ended).then(|| format!("in the {name}: {}", side[0].path.text))
        };
        open("baseline", one).or_else(|| open("candidate", other)).unwrap_or_default()
    })?;
    let there = one[0].is_knee().then(|| Pair::of(one, other, What::Value)).flatten();
    Ok([load].into_iter().chain(there).collect())
}

impl<'a> Pair<'a> {
    /// `None` where the search ended on one side at most.
    fn of(one: &[SearchOfRun<'a>], other: &[SearchOfRun<'a>], what: What) -> Option<Self> {
        let runs = |side: &[SearchOfRun<'_>]| {
            Runs::of(&side.iter().map(|found| found.path).collect::<Vec<_>>(), what)
        };
        let by_run = one.len() >= ENOUGH_RUNS && other.len() >= ENOUGH_RUNS;
        Some(Self { first: one[0], what, a: runs(one)?, b: runs(other)?, by_run })
    }

    fn name(&self) -> Name {
        let search = self.first.search;
        let load = |better| Name {
            metric: search.found_name(),
            label: format!("found {}", search.parameter),
            better,
        };
        match self.what {
            // More connections until throughput stops growing are neither better nor worse.
            What::Load if self.first.is_knee() => load(Better::Neither),
            What::Load => load(Better::Higher),
            What::Value => Name {
                metric: search.name_there(&search.figure_name()),
                label: format!("{} at {}", figure(&search.figure), search.parameter),
                better: Better::Higher,
            },
        }
    }
}

fn row(pair: &Pair<'_>, minimum_effect: f64, answer: Option<&Comparison>) -> Row {
    let Name { metric, label, better } = pair.name();
    let (a, b, first) = (&pair.a, &pair.b, pair.first);
    let compared = b.compared(a, minimum_effect, answer);
    let search = first.search;
    let (is_more, is_less) =
        (compared.verdict.outcome == Outcome::More, compared.verdict.outcome == Outcome::Less);
    let grew = is_more || (!is_less && compared.ratio.is_some_and(|ratio| ratio > 1.0));
    let fell = is_less || (!is_more && compared.ratio.is_some_and(|ratio| ratio < 1.0));
    let worse_higher = better != Better::Higher;
    // Both ended at the same end of their range, or know nothing: whatever the loads are, this
    // would have been seen.
    let at_the_end = compared.ratio.is_none()
        && compared.low.is_none_or(|low| low <= 0.0)
        && compared.high.is_none();
    let (outcome, word) = match compared.verdict.outcome {
        Outcome::NotDecided if at_the_end => {
            (Outcome::NoRatio, "a search ended at an end of its range")
        }
        // Whether it is good is for this figure to say.
        Outcome::More | Outcome::Less => (called(better, is_more).0, compared.verdict.word),
        outcome => (outcome, compared.verdict.word),
    };
    let mut text = compared.verdict.text;
    if compared.ratio.is_none() && outcome != Outcome::Generator {
        let (before, now) = (a.text(), b.text());
        text = match outcome {
            Outcome::NoRatio => at_an_end(a, b),
            _ if before == now => format!("{text}: {before}"),
            _ => format!("{text}: {before} before, now {now}"),
        };
    }
    let together = compared.verdict.together;
    let hidden = worse_by_at_most((compared.low, compared.high), together, worse_higher);
    let side = |runs: &Runs| runs.found().map(|median| Median { median, values: runs.found_in() });
    Row {
        path: first.path.path.clone(),
        workload: search.workload.clone(),
        point: search.point.clone(),
        metric,
        label,
        search: Some(search.goal),
        baseline: side(a),
        candidate: side(b),
        ratio: compared.ratio,
        low: compared.low,
        high: compared.high,
        p: compared.p,
        q: compared.q,
        baseline_saturated_per_s: None,
        candidate_saturated_per_s: None,
        noise_floor: None,
        worse_by_at_most: hidden.filter(|_| outcome != Outcome::NoRatio),
        by_run: pair.by_run,
        outcome,
        is_worse: if worse_higher { grew } else { fell },
        text,
        note: String::new(),
        word,
    }
}

/// What is said where both sides know no more than on which side of a load it lies: `>= 5000` or `<
/// 100`.
fn at_an_end(a: &Runs, b: &Runs) -> String {
    let (before, now) = (a.text(), b.text());
    let (Bracket { low, high }, is_one_end) = (a.bracket(), a.found().is_none() && before == now);
    match (low > 0.0, high.is_finite()) {
        (true, false) if is_one_end => format!("ended above the highest: {before}"),
        (false, true) if is_one_end => format!("ended below the lowest: {before}"),
        _ => format!("nothing known: {before} before, now {now}"),
    }
}

/// Why a search gave nothing at all in these runs; `None` where a trial of it can be used.
fn nothing(side: &[SearchOfRun<'_>]) -> Option<String> {
    let usable =
        |found: &SearchOfRun<'_>| found.path.trace.iter().any(|step| step.unusable.is_empty());
    if side.iter().any(usable) {
        return None;
    }
    let first = side[0];
    let seen = first.path.trace.first().map(|step| step.unusable.clone());
    let is_its =
        |path: &str, workload: &str| path == first.path.path && workload == first.search.workload;
    let failed = || {
        first
            .of
            .run
            .failures
            .iter()
            .find(|f| is_its(&f.path, &f.workload))
            .map(|f| f.reason.clone())
    };
    Some(seen.or_else(failed).unwrap_or_else(|| "it has no record".to_owned()))
}

/// Why a run leaves out a search that another has.
fn skipped(values: &Values, found: SearchOfRun<'_>) -> Option<String> {
    let label = point_label(&found.search.point);
    let is_its = |skipped: &&Skipped| {
        skipped.path == found.path.path
            && skipped.workload == found.search.workload
            && skipped.point == label
    };
    values.run.skipped.iter().find(is_its).map(|skipped| skipped.reason.clone())
}

/// A search for people, among what is not compared: `bridge web: search for the rate`.
fn named(found: SearchOfRun<'_>) -> String {
    format!("{} ({} over {})", found.cell(), found.search.goal, found.search.parameter)
}

impl SearchOfRun<'_> {
    fn cell(&self) -> String {
        cell_text(&self.path.path, &self.search.workload, &self.search.point)
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
    pub(crate) fn is_of(&self, row: &Row) -> bool {
        row.search.is_some_and(|goal| self.hits(&row.metric, goal == "knee"))
    }

    /// The name of what it is about in a search of which nothing is said; `None`: it is not.
    pub(crate) fn metric_of(&self, unsaid: &Unsaid) -> Option<String> {
        unsaid.metrics.iter().find(|metric| self.hits(metric, unsaid.knee)).cloned()
    }

    fn hits(&self, metric: &str, knee: bool) -> bool {
        self.metric == metric
            || (self.metric == FOUND_LOAD && !knee && metric.starts_with("found_"))
    }
}
