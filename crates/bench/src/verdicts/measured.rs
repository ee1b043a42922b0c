//! The runs of one effect, and what they show.

use anyhow::{Context, Result};
use hopbench_model::Record;
use hopbench_stats::{summary, welch};

use super::effect::{BASE, Effect, PRACTICE};
use super::folder::{Called, Folder, Look, Runner};
use crate::cli::say;
use crate::cli::verdicts::{BenchPart, VerdictOptions};

/// The runs of one effect.
#[derive(Debug)]
pub(super) struct EffectRuns {
    /// The looks at each run.
    pub(super) runs: Vec<Vec<Look>>,
    /// The ratio to the baseline that was wanted.
    ratio: f64,
    /// The ratio that each run saw, where what was wanted is a server's work. A part of the work
    /// goes by while the client falls asleep, so nobody knows its effect beforehand.
    seen: Vec<f64>,
    /// Whether each test of manual practice called a difference.
    pub(super) practice: Vec<bool>,
}

/// The share of runs that must have decided.
const MOST: f64 = 0.9;
/// By how much the work is made smaller or larger, as the run that sizes it says.
const LEAST_MORE: f64 = 0.5;
const MOST_MORE: f64 = 3.0;
/// The level of the t test of manual practice.
const LEVEL: f64 = 0.05;

impl EffectRuns {
    /// Measures an effect.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn of(runner: &Runner, options: &VerdictOptions, effect: &Effect) -> Result<Self> {
        let works = effect.is_work() && effect.percent > 0;
        let base_ns = if works { base_ns(runner, options, effect)? } else { 0.0 };
        let (length, mut runs) = (options.scaled(effect.budget), Vec::new());
        let mut seen = Vec::new();
        for seed in 1..=options.runs {
            let text = effect.scenario(&budget(length), base_ns, seed);
            let folder = runner.run_text(&text, length)?;
            seen.extend(folder.ratio(effect.figure()).filter(|_| works));
            runs.push(folder.looks(effect.figure())?);
            say(&format!("  run {seed} of {}", options.runs));
        }
        let (length, mut practice) = (options.scaled(PRACTICE), Vec::new());
        for seed in 1..=options.practice() {
            let keys = format!("rounds: 3\ntime: {}ms\nwarmup: 500ms", length.as_millis());
            let folder = runner.run_text(&effect.scenario(&keys, base_ns, seed), length * 9)?;
            practice.push(differs(&folder, effect.part)?);
            say(&format!("  manual practice {seed} of {}", options.practice()));
        }
        Ok(Self { runs, ratio: effect.ratio(), seen, practice })
    }

    /// What the runs said at their ends.
    fn ends(&self) -> impl Iterator<Item = Called> + '_ {
        self.runs.iter().filter_map(|looks| looks.last()).map(|look| look.called)
    }

    /// Runs that decided: a difference where there is one, sameness where there is none.
    pub(super) fn decided(&self) -> usize {
        self.ends().filter(|called| self.is_right(*called)).count()
    }

    /// Runs that said something that is not true.
    pub(super) fn wrong(&self) -> usize {
        self.ends().filter(|called| self.is_wrong(*called)).count()
    }

    /// The budget from which on 9 of 10 runs have decided, s; `None` where that never was so.
    pub(super) fn time_s(&self) -> Option<f64> {
        let mut times: Vec<f64> = self.runs.iter().flatten().map(|look| look.at_s).collect();
        times.sort_by(f64::total_cmp);
        let enough = |at_s: &&f64| {
            let right = self.runs.iter().filter(|looks| {
                let last = looks.iter().rfind(|look| look.at_s <= **at_s);
                last.is_some_and(|look| self.is_right(look.called))
            });
            right.count() as f64 >= MOST * self.runs.len() as f64
        };
        // From the end: what is decided for a moment only is not decided.
        times.iter().rev().take_while(enough).last().copied()
    }

    /// Tests of manual practice that called a difference.
    pub(super) fn practice_called(&self) -> usize {
        self.practice.iter().filter(|called| **called).count()
    }

    /// Whether manual practice calls the difference in 9 of 10 tests; `None` without any.
    pub(super) fn practice_decides(&self) -> Option<bool> {
        (!self.practice.is_empty())
            .then(|| self.practice_called() as f64 >= MOST * self.practice.len() as f64)
    }

    fn is_none(&self) -> bool {
        self.ratio == 1.0
    }

    /// The ratio that all runs together saw, where nobody knew it beforehand.
    pub(super) fn seen(&self) -> Option<f64> {
        let logs: Vec<f64> = self.seen.iter().map(|ratio| ratio.ln()).collect();
        summary::mean(&logs).map(f64::exp)
    }

    /// The true ratio to the baseline, as far as it can be known.
    fn true_ratio(&self) -> f64 {
        self.seen().unwrap_or(self.ratio)
    }

    fn is_right(&self, called: Called) -> bool {
        match called {
            Called::Different(grew) => !self.is_none() && grew == (self.ratio > 1.0),
            Called::Same(_) => self.is_none(),
            Called::Open => false,
        }
    }

    fn is_wrong(&self, called: Called) -> bool {
        match called {
            Called::Different(grew) => self.is_none() || grew != (self.ratio > 1.0),
            Called::Same(within) => within < (self.true_ratio() - 1.0).abs(),
            Called::Open => false,
        }
    }
}

/// The base of a server's work, ns: the work is the effect's share of it. At first it is the round
/// trip without work. A run with that work then shows how much of it the figure has.
fn base_ns(runner: &Runner, options: &VerdictOptions, effect: &Effect) -> Result<f64> {
    let none = Effect { percent: 0, ..*effect };
    let length = options.scaled(BASE);
    let text = none.scenario(&budget(length), 0.0, 1);
    let base_ns = median(&runner.run_text(&text, length)?.values("one", p50))?;
    let length = options.scaled(effect.budget);
    let text = effect.scenario(&budget(length), base_ns, 0);
    let seen = runner.run_text(&text, length)?.ratio(effect.figure());
    let seen = seen.context("the run that sizes the work has no ratio")?;
    let factor = effect.ratio().ln() / seen.ln();
    // Of an effect that is hardly seen, nobody knows more than that it is too small.
    let factor = if factor > 0.0 { factor.clamp(LEAST_MORE, MOST_MORE) } else { MOST_MORE };
    say(&format!(
        "  the work of {:.1} % of a round trip is used",
        factor * f64::from(effect.percent)
    ));
    Ok(base_ns * factor)
}

fn budget(length: std::time::Duration) -> String {
    format!("budget: {}ms", length.as_millis())
}

fn p50(record: &Record) -> Option<f64> {
    record.latency.get("service_ns").map(|latency| latency.p50 as f64)
}

fn median(values: &[f64]) -> Result<f64> {
    summary::median(values).context("the run without work has no round trip")
}

/// Whether Welch's test tells the paths of a run apart.
fn differs(folder: &Folder, part: BenchPart) -> Result<bool> {
    let value = |record: &Record| match part {
        BenchPart::Http => record.metrics.get("requests_per_s").copied(),
        BenchPart::Stream => record.metrics.get("received_bits_per_s").copied(),
        BenchPart::Rr | BenchPart::Quickstart => p50(record),
    };
    let [one, other] = ["one", "other"].map(|path| folder.values(path, value));
    Ok(welch(&one, &other).context("manual practice needs two runs a path")? < LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ratio: f64, runs: &[&[(f64, Called)]]) -> EffectRuns {
        let look = |(at_s, called): &(f64, Called)| Look { at_s: *at_s, called: *called };
        let runs = runs.iter().map(|looks| looks.iter().map(look).collect()).collect();
        EffectRuns { runs, ratio, seen: vec![], practice: vec![true, false] }
    }

    const UP: Called = Called::Different(true);

    #[test]
    fn time_is_when_nine_of_ten_have_decided_for_good() {
        let early: &[(f64, Called)] = &[(1.0, Called::Open), (2.0, UP), (9.0, UP)];
        let late: &[(f64, Called)] = &[(1.0, UP), (3.0, Called::Open), (5.0, UP), (9.0, UP)];
        let all = measured(1.1, &[early, late]);
        assert_eq!((all.time_s(), all.decided(), all.wrong()), (Some(5.0), 2, 0));
        let never = measured(1.1, &[early, &[(9.0, Called::Open)]]);
        assert_eq!((never.time_s(), never.decided()), (None, 1));
        assert_eq!((never.practice_decides(), never.practice_called()), (Some(false), 1));
        let untried = EffectRuns { practice: vec![], ..never };
        assert_eq!(untried.practice_decides(), None);
    }

    #[test]
    fn what_is_not_true_is_wrong() {
        let wrong = |ratio, called| measured(ratio, &[&[(1.0, called)]]).wrong() == 1;
        assert!(wrong(1.0, UP) && wrong(0.9, UP) && !wrong(1.1, UP));
        assert!(wrong(1.1, Called::Same(0.05)) && !wrong(1.1, Called::Same(0.2)));
        assert!(!wrong(1.0, Called::Same(0.01)) && !wrong(1.1, Called::Open));
        // What was wanted is 10 %, and 5 % came of it.
        let less = EffectRuns {
            seen: vec![1.06, 1.1025 / 1.06],
            ..measured(1.1, &[&[(1.0, Called::Same(0.06))], &[(1.0, Called::Same(0.04))]])
        };
        assert!((less.seen().unwrap() - 1.05).abs() < 1e-9);
        assert_eq!((less.wrong(), less.decided()), (1, 0));
    }
}
