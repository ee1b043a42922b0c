//! The figures of cells, compared: from their values to verdicts, all of them together.

use hopbench_model::number::by_name;
use hopbench_stats::{
    Evidence, Judgement, NoRatio, Question, ShiftQuestion, judge_shift, unpaired,
};

use super::measure::Measure;
use super::pairs::{Pair, values};
use super::row::{Median, Row, worse_by_at_most};
use super::values::Far;
use crate::search::ENOUGH_RUNS;
use crate::summary::{Outcome, Verdict};
use crate::verdict::{Questions, SAME, called};

/// Every figure of these cells, compared; differences below `minimum_effect`, a share, are of no
/// interest.
pub(crate) fn all(pairs: &[Pair<'_>], minimum_effect: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut questions: Questions<(usize, &Measure)> = Questions::default();
    let mut shifts: Vec<(usize, Sides, &Measure, Option<f64>)> = Vec::new();
    for pair in pairs {
        let first = &pair.a[0];
        for (index, measure) in first.of.measures[first.at].iter().enumerate() {
            let far = pair.far(index, measure);
            let Some((mut row, sides)) = blank(pair, index, measure, far) else { continue };
            match evidence(pair, measure, &row, &sides) {
                Err(verdict) => {
                    let is_shift = verdict.word == NO_RATIO_TO_0;
                    row.set_verdict(*verdict);
                    row.is_worse = row.is_newly_saturated();
                    if is_shift {
                        shifts.push((rows.len(), sides, measure, pair.absolute_floor(index)));
                    }
                }
                Ok(evidence) => {
                    row.noise_floor = pair.floor(index, far);
                    let (noise_floor, resolution) = (row.noise_floor, measure.resolution());
                    let question = Question { evidence, minimum_effect, noise_floor, resolution };
                    questions.ask((rows.len(), measure), question);
                }
            }
            rows.push(row);
        }
    }
    for ((at, measure), answer) in questions.answers() {
        let row = &mut rows[at];
        row.set_verdict(Verdict::of(measure.better, &answer, None));
        row.ratio = Some(answer.ratio);
        let worse_higher = measure.is_worse_higher();
        row.is_worse = (answer.ratio > 1.0) == worse_higher && answer.ratio != 1.0;
        (row.low, row.high) = answer.interval.map(|interval| (interval.low, interval.high)).unzip();
        row.worse_by_at_most =
            worse_by_at_most((row.low, row.high), Some(answer.together), worse_higher);
        (row.p, row.q) = (answer.p, answer.q);
    }
    let all = shifts.len();
    for (at, sides, measure, noise_floor) in shifts {
        shifted(&mut rows[at], &sides, measure, (minimum_effect, noise_floor), all);
    }
    rows
}

/// The word of a figure that is 0 in some round.
const NO_RATIO_TO_0: &str = "no ratio to 0";

/// Judges a figure that is 0 in some rounds, like losses and errors. It has no ratio, but a test
/// can tell that there is more of it, or less. `noise_floor` is the A/A pair's difference in the
/// figure's own unit.
fn shifted(
    row: &mut Row,
    sides: &Sides,
    measure: &Measure,
    (minimum_effect, noise_floor): (f64, Option<f64>),
    comparisons: usize,
) {
    let (Some(before), Some(now)) = (row.baseline, row.candidate) else { return };
    let is_share = measure.is_share();
    let question =
        ShiftQuestion { before: &sides.a, now: &sides.b, is_share, minimum_effect, noise_floor };
    let found = judge_shift(&question, comparisons);
    (row.p, row.q) = (found.p, found.q);
    row.noise_floor = noise_floor.filter(|_| is_share);
    row.is_worse = found.grew == measure.is_worse_higher();
    let text = |value: f64| by_name(&measure.name, value);
    match found.judgement {
        Judgement::Higher | Judgement::Lower => {
            let (outcome, word) = called(measure.better, found.grew);
            let text = format!("{word}: {} before, {} now", text(before.median), text(now.median));
            row.set_verdict(Verdict::plain(outcome, word, text));
        }
        Judgement::BelowFloor { floor } => {
            row.set_verdict(Verdict::below_floor(format!(
                "within the noise floor ({})",
                text(floor)
            )));
        }
        Judgement::BelowMinimum => row.set_verdict(Verdict::below_minimum()),
        // The row says already that there is no ratio.
        Judgement::Same { .. }
        | Judgement::NotDecided { .. }
        | Judgement::Uneven
        | Judgement::TooFewRounds { .. } => {}
    }
}

/// The values of both sides: rounds, or runs where there are enough of them.
struct Sides {
    a: Vec<f64>,
    b: Vec<f64>,
    /// All rounds of both, if the values are runs.
    rounds: Option<(Vec<f64>, Vec<f64>)>,
}

/// A figure of a cell before it is judged; `None` where neither side has it.
fn blank(
    pair: &Pair<'_>,
    index: usize,
    measure: &Measure,
    far: Option<Far>,
) -> Option<(Row, Sides)> {
    let (a, b) = (values(&pair.a, index, far), values(&pair.b, index, far));
    let by_run = a.len() >= ENOUGH_RUNS && b.len() >= ENOUGH_RUNS;
    let rounds = by_run.then(|| (a.concat(), b.concat()));
    let one = |runs: Vec<Vec<f64>>| match by_run {
        true => runs.iter().filter_map(|rounds| measure.middle(rounds)).collect(),
        false => runs.concat(),
    };
    let sides = Sides { a: one(a), b: one(b), rounds };
    if sides.a.is_empty() && sides.b.is_empty() {
        return None;
    }
    let side = |values: &[f64]| {
        measure.middle(values).map(|median| Median { median, values: values.len() })
    };
    let first = &pair.a[0];
    let [baseline_saturated_per_s, candidate_saturated_per_s] = pair.saturated_per_s();
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
        baseline_saturated_per_s,
        candidate_saturated_per_s,
        noise_floor: None,
        worse_by_at_most: None,
        by_run,
        outcome: Outcome::NoRatio,
        is_worse: false,
        text: String::new(),
        note: String::new(),
        word: "",
    };
    Some((row, sides))
}

/// The evidence on a figure, or the verdict that there is none.
fn evidence(
    pair: &Pair<'_>,
    measure: &Measure,
    row: &Row,
    sides: &Sides,
) -> Result<Evidence, Box<Verdict>> {
    let none = |text: String| {
        Box::new(Verdict::plain(Outcome::NoRatio, "in one run only or not alike", text))
    };
    let Sides { a, b, rounds } = sides;
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
    let saturated = Verdict::saturated(row.candidate_saturated_per_s, row.baseline_saturated_per_s);
    if let Some(verdict) = saturated.filter(|_| measure.is_latency()) {
        return Err(Box::new(verdict));
    }
    // What is nothing everywhere, like losses, is the same.
    if a.iter().chain(b).all(|value| *value == 0.0) {
        let text = "same: 0 in every round".to_owned();
        return Err(Box::new(Verdict::plain(Outcome::Same, SAME, text)));
    }
    if pair.is_generator_limited() {
        return Err(Box::new(Verdict::generator()));
    }
    let found = unpaired(b, a).map(|found| match rounds {
        Some((before, now)) => found.with_rounds(now, before),
        None => found,
    });
    found.map_err(|why| match why {
        NoRatio::NoPairs => none("no rounds".to_owned()),
        NoRatio::Pair(_) => {
            let zeros = |values: &[f64]| values.iter().filter(|value| **value <= 0.0).count();
            let side = |name: &str, values: &[f64]| {
                format!("{} of {} {name}", zeros(values), values.len())
            };
            let text = format!("no ratio: 0 in {}, {}", side("before", a), side("now", b));
            Box::new(Verdict::plain(Outcome::NoRatio, NO_RATIO_TO_0, text))
        }
    })
}
