//! The figures of cells, compared: from their values to verdicts, all of them together.

use hopbench_model::number::by_name;
use hopbench_stats::{CONFIDENCE, Evidence, NoRatio, Question, Verdict, judge, permuted, summary, unpaired};

use super::measure::Measure;
use super::pairs::{Pair, values};
use super::row::{self, Median, Outcome, Row};
use crate::search::ENOUGH_RUNS;
use crate::verdict::{self, BELOW_MINIMUM};

/// Every figure of these cells, compared; differences below `minimum_effect`, a share, are of no interest.
pub(crate) fn all(pairs: &[Pair<'_>], minimum_effect: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut asked: Vec<(usize, Question, &Measure)> = Vec::new();
    let mut without_ratio: Vec<(usize, Sides, &Measure, Option<f64>)> = Vec::new();
    for pair in pairs {
        let first = &pair.a[0];
        for (index, measure) in first.of.measures[first.at].iter().enumerate() {
            let Some((mut row, sides)) = blank(pair, index, measure) else { continue };
            match evidence(pair, measure, &sides, rows.len() as u64) {
                Err((outcome, word, text)) => {
                    (row.outcome, row.word, row.text) = (outcome, word, text);
                    if word == NOTHING {
                        without_ratio.push((rows.len(), sides, measure, pair.absolute_floor(index)));
                    }
                }
                Ok(evidence) => {
                    row.noise_floor = pair.floor(index);
                    let noise_floor = row.noise_floor;
                    let resolution = measure.resolution();
                    asked.push((rows.len(), Question { evidence, minimum_effect, noise_floor, resolution }, measure));
                }
            }
            rows.push(row);
        }
    }
    let questions: Vec<Question> = asked.iter().map(|(_, question, _)| question.clone()).collect();
    for ((at, _, measure), said) in asked.iter().zip(judge(&questions)) {
        let row = &mut rows[*at];
        (row.outcome, row.word, row.text) = row::said(measure.better, &said);
        row.ratio = Some(said.ratio);
        row.is_worse = (said.ratio > 1.0) == measure.is_worse_higher() && said.ratio != 1.0;
        (row.low, row.high) = (said.interval.map(|i| i.low), said.interval.map(|i| i.high));
        (row.p, row.q) = (said.p, said.q);
        if let Verdict::NoDifference { could_have_seen } = said.verdict {
            row.could_have_seen = could_have_seen;
        }
    }
    let all = rows.len();
    for (at, sides, measure, floor) in &without_ratio {
        from_nothing(&mut rows[*at], sides, measure, (minimum_effect, *floor), all);
    }
    rows
}

/// What is counted of a figure that is 0 in some round.
const NOTHING: &str = "no ratio to 0";

/// Resamples of the test of such a figure.
const RESAMPLES: usize = 10_000;

/// Fewest values on each side of such a test.
const FEWEST: usize = 3;

/// Judges a figure that is 0 in some rounds, like losses and errors: it has no ratio, but a permutation test can tell that
/// there is more of it, or less. Its p-value is corrected for `all` comparisons by their number (C. E. Bonferroni), since it
/// cannot be judged with those that have a ratio.
///
/// A minimum effect is a share of a figure, and nothing has no share: what is a share itself, like losses and errors, is held
/// against it by the difference of the shares (with 2 %, losses from 0 % to 1.5 % are of no interest), and anything else by
/// the ratio of the means where the baseline's is above 0; from 0 on, any growth is above it. `floor` is the A/A pair's
/// difference in the figure's own unit, and the difference of the means is held against that.
fn from_nothing(
    row: &mut Row,
    sides: &Sides,
    measure: &Measure,
    (minimum_effect, floor): (f64, Option<f64>),
    all: usize,
) {
    let (Some(before), Some(now)) = (row.baseline, row.candidate) else { return };
    row.p = permuted(&sides.b, &sides.a, RESAMPLES, 1).map(|permuted| permuted.p);
    row.q = row.p.map(|p| (p * all as f64).min(1.0));
    let mean = |values: &[f64]| summary::mean(values).unwrap_or(0.0);
    let difference = (mean(&sides.b) - mean(&sides.a)).abs();
    let grew = mean(&sides.b) > mean(&sides.a);
    let is_share = measure.is_share();
    row.noise_floor = floor.filter(|_| is_share);
    row.is_worse = grew == measure.is_worse_higher();
    if before.values.min(now.values) >= FEWEST && row.q.is_some_and(|q| q <= 1.0 - CONFIDENCE) {
        // Without end where the baseline is nothing.
        let effect = if is_share { difference } else { difference / mean(&sides.a).abs() };
        if let Some(floor) = floor.filter(|floor| difference <= *floor) {
            let text = format!("within the noise floor ({})", by_name(&measure.name, floor));
            (row.outcome, row.word, row.text) = (Outcome::NoiseFloor, "within the noise floor", text);
            return;
        }
        if effect < minimum_effect {
            (row.outcome, row.word, row.text) = (Outcome::MinimumEffect, BELOW_MINIMUM, BELOW_MINIMUM.to_owned());
            return;
        }
        let (outcome, word) = row::called(measure.better, grew);
        let text = |side: Median| by_name(&measure.name, side.median);
        (row.outcome, row.word) = (outcome, word);
        row.text = format!("{word}: {} before, {} now", text(before), text(now));
    }
}

/// The values of both sides: rounds, or runs where there are enough of them.
struct Sides {
    a: Vec<f64>,
    b: Vec<f64>,
}

/// A figure of a cell before it is judged; `None` where neither side has it.
fn blank(pair: &Pair<'_>, index: usize, measure: &Measure) -> Option<(Row, Sides)> {
    let (a, b) = (values(&pair.a, index), values(&pair.b, index));
    let by_run = a.len() >= ENOUGH_RUNS && b.len() >= ENOUGH_RUNS;
    let one = |runs: Vec<Vec<f64>>| match by_run {
        true => runs.iter().filter_map(|rounds| summary::median(rounds)).collect(),
        false => runs.concat(),
    };
    let sides = Sides { a: one(a), b: one(b) };
    if sides.a.is_empty() && sides.b.is_empty() {
        return None;
    }
    let side = |values: &[f64]| summary::median(values).map(|median| Median { median, values: values.len() });
    let first = &pair.a[0];
    let row = Row {
        path: first.path.name.clone(),
        workload: first.point.workload.clone(),
        point: first.point.point.clone(),
        metric: measure.name.clone(),
        label: measure.label.clone(),
        search: None,
        baseline: side(&sides.a),
        candidate: side(&sides.b),
        ratio: None,
        low: None,
        high: None,
        p: None,
        q: None,
        noise_floor: None,
        could_have_seen: None,
        by_run,
        outcome: Outcome::NoRatio,
        is_worse: false,
        text: String::new(),
        word: "",
    };
    Some((row, sides))
}

/// The outcome, the first word and all of them, of what cannot be judged.
type Said = (Outcome, &'static str, String);

/// What was measured of a figure, or why nothing is said of it.
fn evidence(pair: &Pair<'_>, measure: &Measure, sides: &Sides, seed: u64) -> Result<Evidence, Said> {
    let none = |text: String| (Outcome::NoRatio, "in one run only or not alike", text);
    let Sides { a, b } = sides;
    match (a.is_empty(), b.is_empty()) {
        (true, _) => return Err(none("only the candidate has it".to_owned())),
        (_, true) => return Err(none("only the baseline has it".to_owned())),
        _ => {}
    }
    if measure.is_cpu_of_an_end() && !pair.has_the_same_proxies() {
        return Err(none("other proxies do work of this end; compare the sum".to_owned()));
    }
    if measure.is_of_connecting() && !pair.connects_alike() {
        return Err(none("connecting ends elsewhere".to_owned()));
    }
    // What is nothing everywhere, like losses, is the same.
    if a.iter().chain(b).all(|value| *value == 0.0) {
        return Err((Outcome::Same, "no difference", "no difference seen: 0 in every round".to_owned()));
    }
    if pair.is_generator_limited() {
        return Err((Outcome::Generator, row::GENERATOR, verdict::GENERATOR.to_owned()));
    }
    unpaired(b, a, seed).map_err(|why| match why {
        NoRatio::NoPairs => none("no rounds".to_owned()),
        NoRatio::Pair(_) => {
            let zeros = |values: &[f64]| values.iter().filter(|value| **value <= 0.0).count();
            let side = |name: &str, values: &[f64]| format!("{} of {} {name}", zeros(values), values.len());
            let text = format!("no ratio: 0 in {}, {}", side("before", a), side("now", b));
            (Outcome::NoRatio, NOTHING, text)
        }
    })
}
