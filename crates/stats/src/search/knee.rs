//! The knee: where more of something stops giving more throughput.

use super::{Measurement, Outcome, Search, Step, Why};
use crate::student;
use crate::summary::{mean, median};

/// Trials at each level before it is compared.
const FIRST_TRIALS: usize = 3;
/// Trials at a level after which a comparison is decided as it stands.
const MOST_TRIALS: usize = 9;
/// What may lie outside of the interval of a growth when it is compared with the least that counts.
const OUTSIDE: f64 = 0.10;

/// The search for the first of several levels (connections 8, 16, 32 ..., then threads 1, 2, 4 ...)
/// beyond which throughput stops growing: by more than its noise, and by at least a share that is
/// worth another level.
///
/// Each level is measured three times. Whether the next one gives more is decided by the difference
/// of the means of the logarithms. It is clear where its interval of 90 %, with the noise of all
/// levels together, lies on one side of the least growth that counts. Where it is not, both levels
/// are measured again, up to nine times each, and then what was seen counts. A level without growth
/// may be a dent: the knee is where the level after the next gives no growth, either.
#[derive(Debug, Clone)]
pub struct Knee {
    levels: Vec<f64>,
    least_growth: f64,
    trace: Vec<Step>,
    now: Option<(usize, Why)>,
    outcome: Outcome,
}

/// How much more throughput a level gives than an earlier one, as the two were compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The earlier level.
    pub from: f64,
    /// The later one.
    pub to: f64,
    /// What it gives more, as a share: 0.31 is 31 %.
    pub share: f64,
    /// Lower end of its interval of 90 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Trials at the level that has fewer.
    pub trials: usize,
    /// Whether the interval lies on one side of the least growth that counts. Where it does not,
    /// what was seen counted.
    pub is_clear: bool,
}

/// What a comparison of two levels says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grows {
    Yes,
    No,
    Open,
}

impl Knee {
    /// Over levels in ascending order; growth from one to the next below the share `least_growth`
    /// (0.05: 5 %) counts as none. Where the first level is the last, it is the knee.
    #[must_use]
    pub fn new(levels: &[f64], least_growth: f64) -> Self {
        let mut levels: Vec<f64> =
            levels.iter().copied().filter(|level| level.is_finite()).collect();
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        let now = (!levels.is_empty()).then_some((0, Why::Raise));
        let outcome = if levels.is_empty() { Outcome::BelowLowest } else { Outcome::Searching };
        Self { levels, least_growth: least_growth.max(0.0), trace: Vec::new(), now, outcome }
    }

    /// The throughput at a level: the median of its trials.
    #[must_use]
    pub fn throughput(&self, level: f64) -> Option<f64> {
        let here =
            self.trace.iter().filter(|step| step.load == level && step.seen.value.is_finite());
        median(&here.map(|step| step.seen.value).collect::<Vec<_>>())
    }

    /// The logarithms of what was seen at a level; a trial without throughput counts as next to
    /// none.
    fn logs(&self, level: usize) -> Vec<f64> {
        let here = self.trace.iter().filter(|step| step.load == self.levels[level]);
        let value = |step: &Step| {
            if step.seen.within && step.seen.value > 0.0 { step.seen.value } else { 1e-9 }
        };
        here.map(|step| value(step).ln()).collect()
    }

    /// The variance of a trial, of all levels together, and its degrees of freedom.
    fn noise(&self) -> (f64, usize) {
        let mut squares = 0.0;
        let mut degrees = 0;
        for level in 0..self.levels.len() {
            let logs = self.logs(level);
            if let Some(centre) = mean(&logs) {
                squares += logs.iter().map(|log| (log - centre).powi(2)).sum::<f64>();
                degrees += logs.len() - 1;
            }
        }
        (squares / degrees.max(1) as f64, degrees)
    }

    /// How much more one level gives than another; `None` without trials at both.
    fn growth(&self, from: usize, to: usize) -> Option<Growth> {
        let (a, b) = (self.logs(from), self.logs(to));
        let grown = mean(&b)? - mean(&a)?;
        let (variance, degrees) = self.noise();
        let error = (variance * (1.0 / a.len() as f64 + 1.0 / b.len() as f64)).sqrt();
        let reach = student::quantile(degrees, OUTSIDE).map_or(f64::INFINITY, |t| t * error);
        Some(Growth {
            from: self.levels[from],
            to: self.levels[to],
            share: grown.exp_m1(),
            low: (grown - reach).exp_m1(),
            high: (grown + reach).exp_m1(),
            trials: a.len().min(b.len()),
            is_clear: (grown - self.least_growth.ln_1p()).abs() > reach,
        })
    }

    fn grows(&self, from: usize, to: usize) -> Grows {
        match self.growth(from, to) {
            None => Grows::Open,
            Some(growth) if !growth.is_clear && growth.trials < MOST_TRIALS => Grows::Open,
            Some(growth) if growth.share > self.least_growth => Grows::Yes,
            Some(_) => Grows::No,
        }
    }

    /// The comparisons on which the outcome rests, in the order in which they lead to it: each
    /// level with the next. Where that gives no growth, it is with the one after. Those that are
    /// still open are not among them.
    #[must_use]
    pub fn growths(&self) -> Vec<Growth> {
        let (mut out, mut at) = (Vec::new(), 0);
        loop {
            let mut next = None;
            for beyond in (at + 1..=at + 2).filter(|level| *level < self.levels.len()) {
                let grows = self.grows(at, beyond);
                out.extend(self.growth(at, beyond).filter(|_| grows != Grows::Open));
                if grows == Grows::Yes {
                    next = Some(beyond);
                    break;
                }
            }
            match next {
                Some(next) => at = next,
                None => return out,
            }
        }
    }

    fn decide(&mut self) {
        self.now = None;
        let mut at = 0;
        loop {
            let mut next = None;
            for beyond in [at + 1, at + 2] {
                if beyond >= self.levels.len() {
                    break;
                }
                if let Some(missing) =
                    [at, beyond].into_iter().find(|l| self.logs(*l).len() < FIRST_TRIALS)
                {
                    self.now = Some((missing, Why::Raise));
                    return;
                }
                match self.grows(at, beyond) {
                    Grows::Open => {
                        let fewer = if self.logs(at).len() <= self.logs(beyond).len() {
                            at
                        } else {
                            beyond
                        };
                        self.now = Some((fewer, Why::Again));
                        return;
                    }
                    Grows::Yes => {
                        next = Some(beyond);
                        break;
                    }
                    Grows::No => {}
                }
            }
            let Some(next) = next else { break };
            at = next;
        }
        if self.logs(at).len() < FIRST_TRIALS {
            self.now = Some((at, Why::Confirm));
            return;
        }
        let load = self.levels[at];
        let last = at + 1 >= self.levels.len();
        self.outcome = if last && at > 0 {
            Outcome::AboveHighest
        } else {
            let low = if at > 0 { self.levels[at - 1] } else { load };
            Outcome::Found { load, low, high: self.levels.get(at + 1).copied().unwrap_or(load) }
        };
    }
}

impl Search for Knee {
    fn next_load(&self) -> Option<f64> {
        self.now.map(|(level, _)| self.levels[level])
    }

    fn observe(&mut self, load: f64, seen: Measurement) {
        let why = self.now.map_or(Why::Again, |(_, why)| why);
        self.trace.push(Step { load, seen, why });
        if self.now.is_some() {
            self.decide();
        }
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn trace(&self) -> &[Step] {
        &self.trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 6] = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

    fn run(levels: &[f64], throughput: impl Fn(f64) -> f64) -> Knee {
        let mut search = Knee::new(levels, 0.05);
        while let Some(load) = search.next_load() {
            search.observe(load, Measurement { value: throughput(load), within: true });
            assert!(search.trace().len() <= 9 * levels.len());
        }
        search
    }

    #[test]
    fn known_knees_without_noise() {
        let found = |throughput: fn(f64) -> f64| run(&LEVELS, throughput).outcome();
        let at = |load, low, high| Outcome::Found { load, low, high };
        assert_eq!(found(|n| (100.0 * n).min(3200.0)), at(32.0, 16.0, 64.0));
        assert_eq!(found(|n| if n > 64.0 { 1000.0 } else { 100.0 * n }), at(64.0, 32.0, 128.0));
        assert_eq!(found(|_| 500.0), at(8.0, 8.0, 16.0));
        assert_eq!(found(|n| n), Outcome::AboveHighest);
        // A dent at 32 is none.
        assert_eq!(
            found(|n| if n == 32.0 { 1500.0 } else { (100.0 * n).min(6400.0) }),
            at(64.0, 32.0, 128.0)
        );
    }

    #[test]
    fn trials_without_throughput_do_not_grow() {
        let mut search = Knee::new(&LEVELS, 0.05);
        while let Some(load) = search.next_load() {
            search.observe(load, Measurement { value: 100.0 * load, within: load < 40.0 });
        }
        assert!(
            matches!(search.outcome(), Outcome::Found { load: 32.0, .. }),
            "{:?}",
            search.outcome()
        );
        assert_eq!(search.throughput(32.0), Some(3200.0));
    }

    #[test]
    fn what_was_not_decided_is_told() {
        // Without noise the first three trials decide.
        let clear = run(&LEVELS, |n| (100.0 * n).min(1600.0));
        let growths = clear.growths();
        assert!(growths.iter().all(|growth| growth.is_clear && growth.trials == 3), "{growths:?}");
        let steps: Vec<_> = growths.iter().map(|growth| (growth.from, growth.to)).collect();
        assert_eq!(steps, [(8.0, 16.0), (16.0, 32.0), (16.0, 64.0)]);
        assert!((growths[0].share - 1.0).abs() < 1e-9 && growths[1].share.abs() < 1e-9);
        // Every other trial shows three times as much: after nine trials a level it is as open as
        // before.
        let mut search = Knee::new(&[4.0, 16.0], 0.05);
        let mut trials = 0;
        while let Some(load) = search.next_load() {
            let base = if trials % 4 < 2 { 100.0 } else { 300.0 };
            trials += 1;
            search.observe(
                load,
                Measurement { value: base * if load > 4.0 { 1.1 } else { 1.0 }, within: true },
            );
        }
        let growths = search.growths();
        assert_eq!(
            (growths.len(), growths[0].trials, growths[0].is_clear),
            (1, 9, false),
            "{growths:?}"
        );
        assert!(growths[0].low < 0.05 && 0.05 < growths[0].high, "{growths:?}");
        assert!(Knee::new(&LEVELS, 0.05).growths().is_empty());
    }

    #[test]
    fn few_levels() {
        assert_eq!(Knee::new(&[], 0.05).outcome(), Outcome::BelowLowest);
        assert_eq!(Knee::new(&[], 0.05).next_load(), None);
        assert!(matches!(run(&[4.0], |n| n).outcome(), Outcome::Found { load: 4.0, .. }));
        assert!(matches!(run(&[4.0, 8.0], |_| 1.0).outcome(), Outcome::Found { load: 4.0, .. }));
    }
}
