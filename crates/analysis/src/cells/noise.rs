//! The noise of a place: how much two measurements of one thing differ, from a run with an A/A
//! pair.

mod drift;
mod machine;

use std::collections::BTreeMap;

use hopbench_model::{Plan, ROUNDS, Record, RunFile, TrialOutcome};
use hopbench_stats::{
    Evidence, FEWEST_TO_JUDGE, Judgement, Question, RoundPair, noise_floor, round_effects, summary,
    trend,
};
use serde::Serialize;

pub use self::drift::{NOISE_P, NoiseDrift};
pub use self::machine::NoiseMachine;

use self::drift::drift;
use self::machine::limits;
use super::against::evidence_of;
use super::batches::pool;
use super::cell::Cell;
use crate::figures::Better::{Higher, Neither};
use crate::figures::{End, Figure, Percentile, Source, kinds};
use crate::verdict::Questions;

/// The version of [`Noise`] as JSON; a field is never repurposed, this number grows instead.
pub const NOISE_SCHEMA: &str = "hopbench.noise/2";

/// The times for which the smallest visible difference is given, minutes.
pub const NOISE_MINUTES: [u32; 3] = [1, 5, 20];
const MINUTE_NS: f64 = 60e9;

/// The noise of a run, from a path that was measured twice in each round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Noise {
    /// [`NOISE_SCHEMA`].
    pub schema: &'static str,
    /// The testbed: `lab`, `kubernetes`.
    pub testbed: &'static str,
    /// The path that was measured twice: `bridge@a -> bridge@b`.
    pub path: String,
    /// Rounds in which both were measured.
    pub rounds: usize,
    /// Length of the windows (median), s.
    pub window_s: f64,
    /// The figures, by workload in the plan's order.
    pub figures: Vec<NoiseFigure>,
    /// The drift of all figures over the rounds; absent with fewer than 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<NoiseDrift>,
    /// The machine, or the machines, as far as they tell.
    pub machine: NoiseMachine,
    /// The limits of measurements in this place, a sentence each, worst first.
    pub limits: Vec<String>,
}

/// The noise of one figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseFigure {
    /// The workload's name.
    pub workload: String,
    /// The figure's name with its unit, as in `summary.csv`.
    pub name: &'static str,
    /// Its label for people.
    pub label: &'static str,
    /// The median of all rounds of both, in the unit of the name.
    pub median: f64,
    /// The coefficient of variation of the rounds: standard deviation over mean, of both (root of
    /// the mean square). 0.03 is 3 %.
    pub variation: f64,
    /// The second over the first, as a comparison of a run would have it.
    pub ratio: f64,
    /// Its interval, 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// By how much the two differ, as a share: what a difference must exceed.
    pub noise_floor: f64,
    /// Whether the two would be told apart, all figures judged together: chance does that in 1 run
    /// of 20.
    pub differs: bool,
    /// The smallest difference that as many rounds see with 80 % probability, as a share; absent
    /// with fewer than 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_have_seen: Option<f64>,
    /// The same for so many minutes of trials of this workload on two paths (key: minutes), scaled
    /// by the root of the time, up to the most rounds of a run; empty if the run had no budget.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_minutes: BTreeMap<u32, f64>,
    /// How it moved from the first round to the last, as a share of the first; absent with fewer
    /// than 5 rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<f64>,
    /// The p-value of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_p: Option<f64>,
}

impl Noise {
    /// The noise of a run with a baseline and its twin, from its usable records; `None` if no round
    /// has a figure of both.
    pub fn of(run: &RunFile, records: &[Record]) -> Option<Self> {
        let plan = &run.plan;
        let (first, second) = (plan.baseline.as_deref()?, plan.twin.as_deref()?);
        // What was measured while the testbed changed says nothing of the place's own noise.
        let good = |record: &&Record| record.outcome() == TrialOutcome::Good;
        let good: Vec<&Record> = records.iter().filter(good).collect();
        let (mut measured, mut main) = (Vec::new(), Vec::new());
        for at in 0..plan.points.len() {
            let mut pair = [first, second].map(|path| cell(plan, at, path, &good));
            let point = &plan.points[at];
            let kind = kinds::of_job(&point.job);
            if let Some(far) = kind.latency(Percentile::P99) {
                let [one, other] = &mut pair;
                pool(&mut [one, other], far);
            }
            for (index, figure) in
                kind.figures.iter().enumerate().filter(|(_, figure)| is_told(figure))
            {
                let values = pair[1].pairs(&pair[0], index).values;
                measured.extend(Measured::of(&point.workload, figure, values));
            }
            main.extend(pair.iter().map(|cell| slowness(cell, &kind.figures[0], plan.rounds)));
        }
        let rounds = measured.iter().map(|figure| figure.pairs.len()).max()?;
        let told_apart = told_apart(&measured);
        // All points have windows of one length.
        let rounds_ns = (run.spent_ns > 0).then(|| run.spent_ns as f64 / plan.points.len() as f64);
        let figures = measured
            .iter()
            .zip(told_apart)
            .map(|(one, differs)| one.noise(differs, rounds_ns, rounds))
            .collect::<Option<_>>()?;
        let drift = drift(&round_effects(&main), plan.seed);
        let machine = NoiseMachine::of(&good);
        let windows: Vec<f64> = good.iter().map(|record| record.window_s).collect();
        let limits = limits(&machine, drift.as_ref());
        Some(Self {
            schema: NOISE_SCHEMA,
            testbed: plan.testbed.name(),
            path: plan
                .paths
                .iter()
                .find(|path| path.name == first)
                .map(|path| format!("{} -> {}", path.from, path.to))?,
            rounds,
            window_s: summary::median(&windows)?,
            figures,
            drift,
            machine,
            limits,
        })
    }
}

/// The trials of a cell.
fn cell(plan: &Plan, point: usize, path: &str, good: &[&Record]) -> Cell {
    let at = &plan.points[point];
    let kind = kinds::of_job(&at.job);
    let mut out = Cell::default();
    let own =
        good.iter().filter(|r| r.path == path && r.workload == at.workload && r.point == at.point);
    own.for_each(|record| out.add(record, kind, false));
    out
}

/// Throughput, p50, p99 and the CPU of all; a rate that was asked for is no result.
fn is_told(figure: &Figure) -> bool {
    match figure.source {
        Source::Metric(_) => figure.better != Neither,
        Source::Latency(_, percentile) => matches!(percentile, Percentile::P50 | Percentile::P99),
        Source::Cpu(of, _) => of == End::All,
        _ => false,
    }
}

/// A figure of both paths.
struct Measured<'a> {
    workload: &'a str,
    figure: &'a Figure,
    /// Of each round: the second path against the first.
    pairs: Vec<RoundPair>,
    evidence: Evidence,
}

impl<'a> Measured<'a> {
    fn of(workload: &'a str, figure: &'a Figure, pairs: Vec<RoundPair>) -> Option<Self> {
        let evidence = evidence_of(figure, &pairs).ok()?;
        Some(Self { workload, figure, pairs, evidence })
    }

    fn question(&self) -> Question {
        let resolution = self.figure.ratio_resolution();
        let evidence = self.evidence.clone();
        Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution }
    }

    /// `rounds_ns`: how long this workload's trials on both paths took in these rounds, if known.
    fn noise(&self, differs: bool, rounds_ns: Option<f64>, rounds: usize) -> Option<NoiseFigure> {
        let (seconds, firsts): (Vec<f64>, Vec<f64>) =
            self.pairs.iter().map(|pair| (pair.value, pair.baseline)).unzip();
        let variation = [&seconds, &firsts].map(|values| variation(values));
        // With fewer nothing is called.
        let could_have_seen =
            self.evidence.could_have_seen().filter(|_| self.evidence.rounds >= FEWEST_TO_JUDGE);
        // How long it took to see that much of this workload.
        let known = could_have_seen.zip(rounds_ns);
        let middle = self.pairs.iter().map(|pair| (pair.value * pair.baseline).sqrt());
        // A machine that stands still is another question than one that becomes slower.
        let moved = trend(&middle.filter(|middle| *middle > 0.0).collect::<Vec<_>>());
        let interval = self.evidence.interval;
        Some(NoiseFigure {
            workload: self.workload.to_owned(),
            name: self.figure.name,
            label: self.figure.label,
            median: summary::median(&[seconds, firsts].concat())?,
            variation: ((variation[0].powi(2) + variation[1].powi(2)) / 2.0).sqrt(),
            ratio: self.evidence.ratio,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            noise_floor: noise_floor(std::slice::from_ref(&self.evidence))?,
            differs,
            could_have_seen,
            in_minutes: known
                .into_iter()
                .flat_map(|(seen, ns)| in_minutes(seen, ns, rounds))
                .collect(),
            moved: moved.map(|moved| moved.relative_change),
            moved_p: moved.map(|moved| moved.p),
        })
    }
}

/// What could be seen in [`NOISE_MINUTES`], from what was seen (a share) in so many rounds, which
/// took this time (ns). A run has no more rounds than a plan may have. In more time its windows are
/// longer, and that is not counted as a gain: how much it helps is not known here.
fn in_minutes(seen: f64, ns: f64, rounds: usize) -> [(u32, f64); 3] {
    let most_ns = ns / rounds as f64 * f64::from(*ROUNDS.end());
    NOISE_MINUTES.map(|minutes| {
        let root = (ns / (f64::from(minutes) * MINUTE_NS).min(most_ns)).sqrt();
        (minutes, (seen.ln_1p() * root).exp_m1())
    })
}

/// Standard deviation (n - 1) over mean; 0 with one value.
fn variation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let parts = summary::mean(values).zip(summary::stddev(values));
    let parts = parts.filter(|(mean, _)| values.len() > 1 && *mean > 0.0);
    parts.map_or(0.0, |(mean, deviation)| deviation * (n / (n - 1.0)).sqrt() / mean)
}

/// Of which figures the two paths would be told apart.
fn told_apart(measured: &[Measured<'_>]) -> Vec<bool> {
    let mut questions = Questions::default();
    measured.iter().for_each(|one| questions.ask((), one.question()));
    questions
        .answers()
        .map(|(_, found)| matches!(found.judgement, Judgement::Higher | Judgement::Lower))
        .collect()
}

/// How slow each round was, by a cell's main figure; `None` where the round has none.
fn slowness(cell: &Cell, figure: &Figure, rounds: u32) -> Vec<Option<f64>> {
    let slow = |value: f64| if figure.better == Higher { 1.0 / value } else { value };
    cell.main_by_round(rounds).into_iter().map(|value| value.map(slow)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_last_round_of_a_run_shows_no_more() {
        let seen = |rounds| in_minutes(0.04, MINUTE_NS / 2.0, rounds).map(|(_, share)| share);
        let of_roots = |roots: [f64; 3]| roots.map(|root| (1.04_f64.ln() / root).exp_m1());
        let is_near = |one: [f64; 3], other: [f64; 3]| {
            one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12)
        };
        // 1, 5 and 20 minutes are 2, 10 and 40 times the half minute.
        let roots = [2.0, 10.0, 40.0].map(f64::sqrt);
        assert!(is_near(seen(20), of_roots(roots)), "{:?}", seen(20));
        // 1000 rounds take 5 minutes.
        let roots = [2.0, 10.0, 10.0].map(f64::sqrt);
        assert!(is_near(seen(100), of_roots(roots)), "{:?}", seen(100));
    }
}
