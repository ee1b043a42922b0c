//! The number of rounds: `rounds: 3` for every cell, `budget: 2m30s` for as many as fit, or with
//! `stop:` as many as each needs. A scenario that says none of them has a budget.
//!
//! ```yaml
//! stop: {ci: 2%, metric: throughput, min-rounds: 3, max-rounds: 20, budget: 10m}
//! ```

use std::ops::RangeInclusive;

use hopbench_load::{OPEN_LOOP, WORKLOADS, metrics, workload};
use hopbench_model::units::Span;
use hopbench_model::{COMMON_METRICS, Job, Nanos, Plan, Point, ROUNDS, SECOND, StopRule};
use hopbench_stats::FEWEST_TO_STOP;

use crate::document::fields::Fields;
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::{Problems, nearest};
use crate::document::share;

/// The keys of `stop:`.
pub(crate) const STOP_KEYS: &[&str] = &["ci", "metric", "min-rounds", "max-rounds", "budget"];
/// Rounds after which a cell may end at the earliest.
pub(crate) const MIN_ROUNDS: u32 = FEWEST_TO_STOP as u32;
/// The most rounds where `stop` does not say.
pub(crate) const MAX_ROUNDS: u32 = 20;
/// Metrics that have a word; the others are called as in the records.
pub(crate) const METRICS: &[&str] = &["throughput", "p50", "p90", "p99", "p999"];
/// The budget where neither the scenario nor the command line says how long a run goes on. A few
/// long rounds find differences that are not there, where a machine has two states: *Few rounds* in
/// docs/method.md. The quickstart decides its 34 cells in this time.
pub(crate) const DEFAULT_BUDGET: Span = Span(150 * SECOND);
/// The rounds of a plan that has searches only: `equal-load` measures at each load no more often.
const ROUNDS_OF_SEARCHES: u32 = 3;
/// Half the width of an interval, as a share.
const WIDTH: RangeInclusive<f64> = 0.001..=0.5;

const FORM: &str = "a mapping like {ci: 2%, metric: throughput, max-rounds: 20, budget: 10m}";

/// How long a run goes on.
pub(crate) struct Extent {
    /// The rounds of each cell; 1 with a budget.
    pub(crate) rounds: u32,
    /// Time for them instead.
    pub(crate) budget_ns: Option<Nanos>,
    /// When those of a cell end earlier.
    pub(crate) stop: Option<StopRule>,
    /// Whether trials are short where nothing says how long they are: also with `--rounds` in place
    /// of the scenario's budget.
    pub(crate) is_short: bool,
    /// Whether the budget is the one that nobody said.
    pub(crate) is_default: bool,
}

/// Reads what a scenario says of it, or the command line: `--rounds` and `--budget`.
pub(crate) fn read(
    fields: &Fields<'_>,
    (over_rounds, over_budget): (Option<u32>, Option<Span>),
    problems: &mut Problems,
) -> Extent {
    let rounds = fields.checked("rounds", "1 to 1000", |rounds| ROUNDS.contains(rounds), problems);
    let budget = fields.checked("budget", BUDGET, is_budget, problems);
    let said: Vec<(&str, &Node)> = ["rounds", "budget", "stop"]
        .into_iter()
        .filter_map(|key| Some((key, fields.get(key)?)))
        .collect();
    if let [(first, _), .., (last, node)] = said.as_slice() {
        let expected = "only one of them: `budget` is time for the rounds, `rounds` is their \
                        number, and `stop` is as many as each cell needs";
        problems.add(node.at, last, format!("`{last}` beside `{first}`"), expected);
    }
    let stop = fields.get("stop").and_then(|node| stop(node, problems));
    if let Some(rounds) = over_rounds.filter(|rounds| !ROUNDS.contains(rounds)) {
        problems.add(At::default(), "--rounds", format!("`{rounds}`"), "1 to 1000");
    }
    if let Some(budget) = over_budget.filter(|budget| !is_budget(budget)) {
        problems.add(At::default(), "--budget", format!("`{budget}`"), BUDGET);
    }
    let is_said = !said.is_empty() || over_rounds.is_some() || over_budget.is_some();
    let is_default = !is_said && has_rounds(fields);
    let budget = budget.or_else(|| is_default.then_some(DEFAULT_BUDGET));
    let is_short = over_budget.is_some() || budget.is_some() || !is_said;
    let of_rounds = |rounds| Extent { rounds, budget_ns: None, stop: None, is_short, is_default };
    let of_budget = |budget: Span| Extent { budget_ns: Some(budget.0), ..of_rounds(1) };
    match (over_rounds, over_budget, stop) {
        (Some(rounds), ..) => of_rounds(rounds),
        (None, Some(budget), _) => of_budget(budget),
        (None, None, Some((rounds, rule))) => Extent { stop: Some(rule), ..of_rounds(rounds) },
        (None, None, None) => {
            budget.map_or_else(|| of_rounds(rounds.unwrap_or(ROUNDS_OF_SEARCHES)), of_budget)
        }
    }
}

/// Takes the budget that nobody said from a plan of which `--only` left searches alone: it is for
/// rounds, and would end the searches.
pub(crate) fn leave_searches(plan: &mut Plan) {
    if !plan.has_rounds() {
        (plan.budget_ns, plan.rounds) = (None, ROUNDS_OF_SEARCHES);
    }
}

/// Whether a workload is measured in rounds: one that has no `search`.
fn has_rounds(fields: &Fields<'_>) -> bool {
    let is_searched = |workload: &Node| match &workload.kind {
        Kind::Map(keys) => keys.iter().any(|(key, _)| key.text == "search"),
        _ => false,
    };
    match fields.get("workloads").map(|node| &node.kind) {
        Some(Kind::Map(workloads)) => workloads.iter().any(|(_, node)| !is_searched(node)),
        _ => false,
    }
}

/// A time in which anything can be measured.
const BUDGET: &str = "a time from 1s on, like 10m";

fn is_budget(budget: &Span) -> bool {
    budget.0 >= SECOND
}

/// The most rounds, and when they end earlier.
fn stop(node: &Node, problems: &mut Problems) -> Option<(u32, StopRule)> {
    let fields = Fields::read(node, "stop", STOP_KEYS, FORM, problems)?;
    let expected = "how narrow is enough, like 2% or 0.02: half the interval as a share of the \
                    figure, 0.1% to 50%";
    if fields.get("ci").is_none() {
        problems.add(fields.at, "stop", "no `ci`", expected);
    }
    let ci = share::read(&fields, "ci", &WIDTH, expected, problems);
    let metric = metric(&fields, problems);
    let expected = "a whole number from 3 to 1000: fewer rounds show no interval to stop by";
    let least = fields.checked(
        "min-rounds",
        expected,
        |n| (MIN_ROUNDS..=*ROUNDS.end()).contains(n),
        problems,
    );
    let most: Option<u32> =
        fields.checked("max-rounds", "1 to 1000", |n| ROUNDS.contains(n), problems);
    let budget = fields.checked("budget", BUDGET, is_budget, problems);
    let min_rounds = least.unwrap_or(MIN_ROUNDS);
    let rounds = most.unwrap_or_else(|| MAX_ROUNDS.max(min_rounds));
    if rounds < min_rounds
        && let Some(node) = fields.get("max-rounds")
    {
        let expected = format!("at least min-rounds, {min_rounds}");
        problems.add(node.at, &fields.path_of("max-rounds"), node.shown(), expected);
    }
    let rule = StopRule {
        half_width_share: ci?,
        metric: metric?,
        min_rounds,
        budget_ns: budget.map(|budget| budget.0),
    };
    Some((rounds, rule))
}

/// What the interval is of: one of the words, or a metric that the records of some workload can
/// have.
fn metric(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let Some(node) = fields.get("metric") else {
        return Some(METRICS[0].to_owned());
    };
    let key = fields.path_of("metric");
    let text: String =
        fields.parsed("metric", "the name of a metric, like throughput or p99", problems)?;
    let percentile = |digits: &str| digits.starts_with(|c: char| c.is_ascii_digit());
    let word = text.trim();
    if word == "p99.9" {
        return Some("p999".to_owned());
    }
    let known = all_metrics();
    if known.iter().any(|name| name == word) {
        return Some(word.to_owned());
    }
    let is_name =
        !word.is_empty() && word.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'));
    // As `compare` calls it: `p99_service`, `service_p99_ns`.
    let percentile_of =
        word.split('_').find(|part| METRICS[1..].contains(part)).filter(|_| word.contains('_'));
    if let Some(percentile) = percentile_of {
        let expected = format!(
            "`{percentile}`: of the response time where there is a rate, else of the service time, \
             or of the delay"
        );
        problems.add(node.at, &key, quoted(word), expected);
    } else if word.strip_prefix('p').is_some_and(percentile)
        || !word.contains('_') && nearest(word, METRICS).is_some()
    {
        // Records have no other percentiles.
        problems.unknown(node.at, &key, word, METRICS);
    } else if is_name {
        problems.unknown(node.at, &key, word, &known);
    } else {
        let expected = format!(
            "one of {}, or a metric as records call it, like requests_per_s",
            METRICS.join(", ")
        );
        problems.add(node.at, &key, quoted(word), expected);
    }
    None
}

/// All that rounds can end by, whatever the workload.
pub(crate) fn all_metrics() -> Vec<String> {
    let own = WORKLOADS.iter().flat_map(|workload| workload.every_metric());
    known(own.chain(OPEN_LOOP.iter().map(|name| (*name).to_owned())), true)
}

/// The words and these metrics, each once.
fn known(metrics: impl Iterator<Item = String>, has_latency: bool) -> Vec<String> {
    let words = METRICS
        .iter()
        .filter(|word| has_latency || **word == METRICS[0])
        .map(|word| (*word).to_owned());
    let mut out: Vec<String> = words.collect();
    for name in metrics.chain(COMMON_METRICS.map(str::to_owned)) {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Says that no workload that has rounds can have the metric that they are to end by.
pub(crate) fn check_metric(
    fields: &Fields<'_>,
    rule: Option<&StopRule>,
    points: &[Point],
    problems: &mut Problems,
) {
    let jobs: Vec<&Job> =
        points.iter().filter(|point| point.search.is_none()).map(|point| &point.job).collect();
    let (Some(rule), Some(stop), false) = (rule, fields.get("stop"), jobs.is_empty()) else {
        return;
    };
    let has_latency = jobs
        .iter()
        .any(|job| workload(&job.workload).is_some_and(|kind| kind.latency(job).is_some()));
    let known = known(jobs.iter().flat_map(|job| metrics(job)), has_latency);
    if known.contains(&rule.metric) {
        return;
    }
    let node = match &stop.kind {
        Kind::Map(map) => map.iter().find(|(key, _)| key.text == "metric").map(|(_, node)| node),
        _ => None,
    };
    problems.unknown(node.unwrap_or(stop).at, "stop.metric", &rule.metric, &known);
}
