//! The percentile of all rounds together, with an interval from rounds and from the intervals
//! within them.

use crate::histogram::{Bucket, Histogram};
use crate::interval::{CONFIDENCE, Interval};
use crate::random::Random;
use crate::student;
use crate::summary::stddev;

/// Fewest intervals of which blocks can be drawn.
const FEWEST_INTERVALS: usize = 8;

/// A percentile of everything that all rounds measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// The percentile of the merged rounds, ns.
    pub value_ns: u64,
    /// Its interval, 95 %, ns; absent with one round of fewer than 8 intervals.
    pub interval: Option<Interval>,
    /// Rounds with samples.
    pub rounds: usize,
    /// Whether the interval knows of one round only: what would change from round to round is not
    /// in it.
    pub within_one_round: bool,
}

/// The samples of all rounds, for percentiles of them together.
#[derive(Debug)]
pub struct PooledRounds {
    /// Every value that some histogram counted, ascending: the upper ends of the counts, ns.
    grid: Vec<u64>,
    rounds: Vec<Round>,
}

impl PooledRounds {
    /// Each round is given as the histograms of its intervals in order of time, or as one histogram
    /// of the whole round. Rounds without samples are left out.
    pub fn of(rounds: impl IntoIterator<Item = Vec<Histogram>>) -> Self {
        // A histogram has 264 KiB. What it counted is kept, and mostly that is little.
        let counted = |intervals: Vec<Histogram>| -> Vec<Vec<Bucket>> {
            intervals.iter().map(|interval| interval.buckets().collect()).collect()
        };
        let rounds: Vec<_> = rounds.into_iter().map(counted).collect();
        let counts = rounds.iter().flatten().flatten();
        let mut grid: Vec<u64> = counts.map(|bucket| bucket.high).collect();
        grid.sort_unstable();
        grid.dedup();
        Self { rounds: Round::all(&rounds, &grid), grid }
    }

    /// The percentile `p` (0 to 100) of the samples of all rounds, with an interval from so many
    /// resamples; `None` where no round has samples.
    ///
    /// Each resample draws as many whole rounds as there are, since samples of one round resemble
    /// each other (cluster bootstrap: A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
    /// Application", 1997, section 3.8), and takes the percentile of what they hold together. From
    /// the deviation of these, on the scale of logarithms, and Student's t the interval is made, and
    /// the deviation is corrected by the root of R / (R - 1): with few rounds the quantiles of the
    /// resamples would be far too close together (A. C. Cameron, J. B. Gelbach and D. L. Miller,
    /// "Bootstrap-Based Improvements for Inference with Clustered Errors", The Review of Economics
    /// and Statistics 90(3), 2008).
    ///
    /// Where rounds have at least 8 intervals, blocks of neighbouring intervals are drawn within
    /// each round as well, since neighbours resemble each other (H. R. Künsch, "The Jackknife and
    /// the Bootstrap for General Stationary Observations", The Annals of Statistics 17(3), 1989;
    /// blocks of about the cube root of their number, around the end). What scatters within rounds
    /// is the least that must scatter between them: the wider interval of both is taken. Of a single
    /// round it is all there is, and the result says so.
    #[must_use]
    pub fn percentile(&self, p: f64, resamples: usize, seed: u64) -> Option<Pooled> {
        resampled(&self.grid, &self.rounds, p, resamples, seed)
    }
}

/// The same of rounds that were counted on a grid of values, ns.
fn resampled(grid: &[u64], cut: &[Round], p: f64, resamples: usize, seed: u64) -> Option<Pooled> {
    let value = percentile(&cut.iter().map(|round| round.whole.as_slice()).collect::<Vec<_>>(), p)?;
    let value_ns = *grid.get(value)?;
    let log = |at: usize| grid.get(at).map(|ns| ((*ns).max(1) as f64).ln());
    let mut random = Random::new(seed);
    let n = cut.len();
    let between = if n > 1 {
        let draw = |_| {
            let drawn: Vec<&[u64]> =
                (0..n).map(|_| cut[random.below(n)].whole.as_slice()).collect();
            percentile(&drawn, p).and_then(log)
        };
        stddev(&(0..resamples).filter_map(draw).collect::<Vec<_>>())
            .map(|deviation| deviation * (n as f64 / (n - 1) as f64).sqrt())
    } else {
        None
    };
    let within = if cut.iter().all(|round| round.intervals.len() >= FEWEST_INTERVALS) {
        let draw = |_| {
            let drawn: Vec<&[u64]> =
                cut.iter().flat_map(|round| round.blocks(&mut random)).collect();
            percentile(&drawn, p).and_then(log)
        };
        stddev(&(0..resamples).filter_map(draw).collect::<Vec<_>>())
    } else {
        None
    };
    // What scatters within rounds is known by many blocks, what scatters between them by the rounds
    // alone.
    let blocks: usize = cut.iter().map(|round| round.intervals.len() / round.block()).sum();
    let reach = |deviation: Option<f64>, degrees: usize| {
        Some(deviation? * student::quantile(degrees, 1.0 - CONFIDENCE)?)
    };
    let reaches = [reach(between, n - 1), reach(within, blocks.saturating_sub(n))];
    let reach = reaches.into_iter().flatten().reduce(f64::max).map(f64::exp);
    let centre = value_ns as f64;
    let interval = reach.map(|reach| Interval { low: centre / reach, high: centre * reach });
    Some(Pooled {
        value_ns,
        interval: interval.filter(|interval| interval.high.is_finite()),
        rounds: n,
        within_one_round: n == 1,
    })
}

/// A round, as the numbers of samples up to each value of the grid.
#[derive(Debug)]
struct Round {
    intervals: Vec<Vec<u64>>,
    whole: Vec<u64>,
}

impl Round {
    /// The rounds that have samples.
    fn all(rounds: &[Vec<Vec<Bucket>>], grid: &[u64]) -> Vec<Self> {
        let counted = |buckets: &Vec<Bucket>| {
            let mut counts = vec![0; grid.len()];
            for bucket in buckets {
                counts[grid.partition_point(|ns| *ns < bucket.high)] = bucket.count;
            }
            counts
        };
        let all = rounds
            .iter()
            .map(|intervals| Self::of(intervals.iter().map(counted).collect(), grid.len()));
        all.filter(|round| round.whole.last().is_some_and(|count| *count > 0)).collect()
    }

    /// Of the samples that each interval has at each of so many places of the grid.
    fn of(mut intervals: Vec<Vec<u64>>, places: usize) -> Self {
        for counts in &mut intervals {
            let mut sum = 0;
            counts.iter_mut().for_each(|count| {
                sum += *count;
                *count = sum;
            });
        }
        let whole = (0..places).map(|at| intervals.iter().map(|counts| counts[at]).sum()).collect();
        Self { intervals, whole }
    }

    /// Intervals in a block.
    fn block(&self) -> usize {
        (self.intervals.len() as f64).cbrt().ceil() as usize
    }

    /// As many intervals as there are, drawn as blocks of neighbours; after the last comes the
    /// first.
    fn blocks<'a>(&'a self, random: &mut Random) -> Vec<&'a [u64]> {
        let n = self.intervals.len();
        let mut out = Vec::with_capacity(n);
        while out.len() < n {
            let start = random.below(n);
            let block = (start..start + self.block()).map(|at| self.intervals[at % n].as_slice());
            out.extend(block.take(n - out.len()));
        }
        out
    }
}

/// The place on the grid of the percentile of these together, by nearest rank; `None` without
/// samples.
fn percentile(parts: &[&[u64]], p: f64) -> Option<usize> {
    let up_to = |at: usize| parts.iter().map(|part| part[at]).sum::<u64>();
    let places = parts.first()?.len();
    let total = up_to(places.checked_sub(1)?);
    // An allowance for rounding, as in `Histogram::percentile`.
    let rank = (p.clamp(0.0, 100.0) * total as f64 / 100.0 * (1.0 - 4.0 * f64::EPSILON))
        .ceil()
        .max(1.0) as u64;
    let (mut low, mut high) = (0, places - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if up_to(middle) >= rank { high = middle } else { low = middle + 1 }
    }
    (total > 0).then_some(low)
}

#[cfg(test)]
mod tests;
