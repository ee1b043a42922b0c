//! The goals of searches: one reader each.

use std::ops::RangeInclusive;

use hopbench_load::workload::Workload;
use hopbench_model::units::Span;
use hopbench_model::{Job, RateRange, SearchGoal};

use super::rates::Rates;
use super::whose;
use crate::document::fields::Fields;
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::document::{share, values};

/// The keys of `knee`.
pub(crate) const KNEE_KEYS: &[&str] = &["connections", "threads", "growth"];
/// The keys of `slo`, besides those that are percentiles: `p99.5`.
pub(crate) const SLO_KEYS: &[&str] =
    &["p50", "p90", "p95", "p99", "p99.9", "p", "limit", "rates", "precision", "repeats"];
/// The keys of `cpu`.
pub(crate) const CPU_KEYS: &[&str] = &["of", "ceiling", "rates", "repeats"];
/// The keys of `lossless`.
pub(crate) const LOSSLESS_KEYS: &[&str] = &["loss", "rates", "precision", "repeats"];

const KNEE: &str = "levels like {connections: [8, 16, 32, 64], threads: [1, 2, 4]}";
const SLO: &str = "a limit and rates like {p99: 5ms, rates: 100..50000}";
const CPU: &str = "a ceiling and rates like {of: node b, ceiling: 60%, rates: 100..50000}";
const LOSSLESS: &str = "a bound and rates like {loss: 0.1%, rates: 10Mbit..10Gbit}";

/// Growth, and how near is near enough, where the scenario does not say.
const GROWTH: f64 = 0.05;
const PRECISION: f64 = 0.02;
const LOSSLESS_PRECISION: f64 = 0.01;
/// As many as a verdict needs.
const REPEATS: u32 = 3;
const MOST_REPEATS: u32 = 20;

const NEAR: RangeInclusive<f64> = 0.001..=0.5;
const NEAR_TEXT: &str = "a share like 2% or 0.02, 0.1% to 50%";
/// More levels than that are a mistake.
const MOST_LEVELS: usize = 100;
/// Until a point says what the rates come to.
const NO_RATES: RateRange = RateRange { lowest_per_s: 0.0, highest_per_s: 0.0 };

/// A goal, and what of it a point has to say.
#[derive(Debug)]
pub(crate) struct Written {
    /// Absent: some of it could not be read.
    pub(crate) goal: Option<SearchGoal>,
    /// Absent: levels are searched, or it could not be read.
    pub(crate) rates: Option<Rates>,
    /// How often it is searched.
    pub(crate) repeats: u32,
    /// Whether levels of threads stand there, good or bad.
    pub(crate) has_threads: bool,
    /// Where its connections or its CPU stand; where there are none, the goal.
    pub(crate) at: At,
    /// Where its threads stand.
    pub(crate) threads_at: At,
}

impl Written {
    /// Reads what is under the name of a goal; `path` is where that is in the tree.
    pub(crate) fn read(
        name: &str,
        node: &Node,
        path: &str,
        workload: &dyn Workload,
        problems: &mut Problems,
    ) -> Self {
        let read = match name {
            "knee" => knee(node, path, problems),
            "slo" => slo(node, path, workload, problems),
            "cpu" => cpu(node, path, workload, problems),
            _ => lossless(node, path, workload, problems),
        };
        read.unwrap_or(Self {
            goal: None,
            rates: None,
            repeats: 1,
            has_threads: false,
            at: node.at,
            threads_at: node.at,
        })
    }
}

fn knee(node: &Node, path: &str, problems: &mut Problems) -> Option<Written> {
    let fields = Fields::read(node, path, KNEE_KEYS, KNEE, problems)?;
    if fields.get("connections").is_none() {
        problems.add(fields.at, path, "no `connections`", KNEE);
    }
    let connections = levels(&fields, "connections", Job::MOST_CONNECTIONS, problems);
    let threads = levels(&fields, "threads", Job::MOST_THREADS, problems);
    let growth = share::read(
        &fields,
        "growth",
        &(0.001..=1.0),
        "a share like 5% or 0.05, 0.1% to 100%",
        problems,
    );
    let has_threads = fields.get("threads").is_some();
    let threads = if has_threads { threads } else { Some(Vec::new()) };
    let least_growth = growth.unwrap_or(GROWTH);
    let levels = connections.zip(threads);
    let goal = levels.map(|(connections, threads)| SearchGoal::Knee {
        connections,
        threads,
        least_growth,
    });
    let at = |name: &str| fields.get(name).map_or(fields.at, |node| node.at);
    Some(Written {
        goal,
        rates: None,
        repeats: 1,
        has_threads,
        at: at("connections"),
        threads_at: at("threads"),
    })
}

/// `1..64`: 1, 2, 4 and so on, with the 64 in any case.
fn doubling(text: &str, most: u32) -> Option<Vec<u32>> {
    let (from, to) = text.split_once("..")?;
    let [from, to] =
        [from, to].map(|end| end.trim().parse::<u32>().ok().filter(|end| (1..=most).contains(end)));
    let (from, to) = (from?, to.filter(|to| *to > from.unwrap_or(0))?);
    let below = std::iter::successors(Some(from), |level| level.checked_mul(2))
        .take_while(|level| *level < to);
    Some(below.chain([to]).collect())
}

/// At least two numbers in ascending order, listed or as a range.
fn levels(fields: &Fields<'_>, name: &str, most: u32, problems: &mut Problems) -> Option<Vec<u32>> {
    let (node, path) = (fields.get(name)?, fields.path_of(name));
    if let Some(text) = node.text().filter(|text| text.contains("..")) {
        let levels = doubling(text, most);
        if levels.is_none() {
            let expected = format!(
                "levels like [8, 16, 32], or 1..64 for 1, 2, 4 up to 64: whole numbers from 1 to \
                 {most}, the lower first"
            );
            problems.add(node.at, &path, quoted(text), expected);
        }
        return levels;
    }
    let before = problems.count();
    let found = values::read(node, &path, true, problems)?;
    let mut out: Vec<u32> = Vec::new();
    for value in &found {
        match value.text.trim().parse() {
            Ok(level) if (1..=most).contains(&level) => {
                if out.last().is_some_and(|last| *last >= level) {
                    problems.add(
                        value.at,
                        &path,
                        quoted(&value.text),
                        "more than the level before it",
                    );
                }
                out.push(level);
            }
            _ => problems.add(
                value.at,
                &path,
                quoted(&value.text),
                format!("a whole number from 1 to {most}"),
            ),
        }
    }
    if problems.count() == before && !(2..=MOST_LEVELS).contains(&out.len()) {
        let found =
            if out.len() == 1 { "one level".to_owned() } else { format!("{} levels", out.len()) };
        problems.add(
            node.at,
            &path,
            found,
            format!("2 to {MOST_LEVELS} of them, ascending, like [8, 16, 32]"),
        );
    }
    (problems.count() == before).then_some(out)
}

fn slo(
    node: &Node,
    path: &str,
    workload: &dyn Workload,
    problems: &mut Problems,
) -> Option<Written> {
    let mut known = SLO_KEYS.to_vec();
    if let Kind::Map(map) = &node.kind {
        known.extend(
            map.iter().map(|(key, _)| key.text.as_str()).filter(|key| percentile(key).is_some()),
        );
    }
    let before = problems.count();
    let fields = Fields::read(node, path, &known, SLO, problems)?;
    let is_known = problems.count() == before;
    let limits: Vec<_> = fields
        .entries()
        .filter_map(|(name, ..)| Some((percentile(name)?, name.to_owned())))
        .collect();
    let expected = "a time like 5ms";
    let limit_of = |name: &str, problems: &mut Problems| {
        fields.checked(name, expected, |limit: &Span| limit.0 > 0, problems).map(|limit| limit.0)
    };
    let limit = match (limits.as_slice(), fields.get("p"), fields.get("limit")) {
        ([(percentile, name)], None, None) => {
            limit_of(name, problems).map(|limit| (*percentile, limit))
        }
        ([], Some(_), Some(_)) => {
            let possible = |p: &f64| *p > 0.0 && *p <= 100.0;
            let percentile = fields.checked(
                "p",
                "a percentile above 0 and up to 100, like 99.5",
                possible,
                problems,
            );
            percentile.zip(limit_of("limit", problems))
        }
        ([], None, None) => {
            if is_known {
                problems.add(fields.at, path, "no limit", SLO);
            }
            None
        }
        _ => {
            problems.add(
                fields.at,
                path,
                "several limits or half of one",
                "one, like p99: 5ms or p: 99.5, limit: 5ms",
            );
            None
        }
    };
    let precision =
        share::read(&fields, "precision", &NEAR, NEAR_TEXT, problems).unwrap_or(PRECISION);
    let (rates, repeats) = (Rates::read(&fields, workload, problems), repeats(&fields, problems));
    let goal = |(percentile, limit_ns)| SearchGoal::Slo {
        percentile,
        limit_ns,
        rates: NO_RATES,
        precision,
    };
    Some(Written {
        goal: limit.map(goal),
        rates,
        repeats,
        has_threads: false,
        at: fields.at,
        threads_at: fields.at,
    })
}

/// `p99` is 99, `p99.5` is 99.5, and as in records `p999` is 99.9.
fn percentile(key: &str) -> Option<f64> {
    let digits =
        key.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))?;
    let number: f64 = match digits.strip_prefix("99") {
        Some(nines) if !nines.is_empty() && nines.bytes().all(|c| c == b'9') => {
            format!("99.{nines}").parse().ok()?
        }
        _ if digits.bytes().all(|c| c.is_ascii_digit() || c == b'.') => digits.parse().ok()?,
        _ => return None,
    };
    (number > 0.0 && number <= 100.0).then_some(number)
}

fn cpu(
    node: &Node,
    path: &str,
    workload: &dyn Workload,
    problems: &mut Problems,
) -> Option<Written> {
    let fields = Fields::read(node, path, CPU_KEYS, CPU, problems)?;
    let of = whose::read(&fields, problems);
    let expected = "a share of the CPU like 60% or 0.6, 5% to 100%";
    if fields.get("ceiling").is_none() {
        problems.add(fields.at, path, "no `ceiling`", expected);
    }
    let ceiling = share::read(&fields, "ceiling", &(0.05..=1.0), expected, problems);
    let (rates, repeats) = (Rates::read(&fields, workload, problems), repeats(&fields, problems));
    let at = fields.get("of").map_or(fields.at, |node| node.at);
    let goal =
        of.zip(ceiling).map(|(of, ceiling)| SearchGoal::Cpu { of, ceiling, rates: NO_RATES });
    Some(Written { goal, rates, repeats, has_threads: false, at, threads_at: at })
}

fn lossless(
    node: &Node,
    path: &str,
    workload: &dyn Workload,
    problems: &mut Problems,
) -> Option<Written> {
    let fields = Fields::read(node, path, LOSSLESS_KEYS, LOSSLESS, problems)?;
    let expected = "the share that may be lost, like 0.1% or 0.001, 0% to 50%";
    if fields.get("loss").is_none() {
        problems.add(fields.at, path, "no `loss`", expected);
    }
    let loss = share::read(&fields, "loss", &(0.0..=0.5), expected, problems);
    let precision =
        share::read(&fields, "precision", &NEAR, NEAR_TEXT, problems).unwrap_or(LOSSLESS_PRECISION);
    let (rates, repeats) = (Rates::read(&fields, workload, problems), repeats(&fields, problems));
    let goal =
        loss.map(|loss_share| SearchGoal::Lossless { loss_share, rates: NO_RATES, precision });
    Some(Written { goal, rates, repeats, has_threads: false, at: fields.at, threads_at: fields.at })
}

/// How often a rate is searched.
fn repeats(fields: &Fields<'_>, problems: &mut Problems) -> u32 {
    let possible = |n: &u32| (1..=MOST_REPEATS).contains(n);
    fields.checked("repeats", "a whole number from 1 to 20", possible, problems).unwrap_or(REPEATS)
}

#[cfg(test)]
mod tests {
    use super::{doubling, percentile};

    #[test]
    fn levels_between_two_dots_double_up_to_the_last() {
        assert_eq!(doubling("1..64", 100), Some(vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(doubling(" 8 .. 20 ", 100), Some(vec![8, 16, 20]));
        assert_eq!(doubling("3..4", 100), Some(vec![3, 4]));
        for wrong in ["0..4", "4..4", "8..4", "1..200", "1..", "..4", "1...4", "a..b", "1-4"] {
            assert_eq!(doubling(wrong, 100), None, "{wrong}");
        }
    }

    #[test]
    fn percentiles_as_people_and_as_records_write_them() {
        for (key, number) in [
            ("p50", 50.0),
            ("p99.9", 99.9),
            ("p999", 99.9),
            ("p9999", 99.99),
            ("p99.5", 99.5),
            ("p5", 5.0),
            ("p100", 100.0),
        ] {
            assert_eq!(percentile(key), Some(number), "{key}");
        }
        for key in
            ["p", "p0", "p101", "p100.1", "p-1", "pinf", "precision", "p9x", "p1e1", "p9.9.9"]
        {
            assert_eq!(percentile(key), None, "{key}");
        }
    }
}
