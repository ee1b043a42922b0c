//! The highest load at which something stays within a limit, although single trials err.

use super::{Measurement, Outcome, Search, Step, Why};
use crate::interval::{CONFIDENCE, Interval};
use crate::rounds::rounds_interval;
use crate::summary::median;

/// A value this many times the limit, or the limit this many times the value, needs no second
/// opinion.
const CLEAR: f64 = 1.5;
/// Trials of which most decide about a load.
const VOTES: usize = 3;
/// Trials that decide about the two loads between which the result lies.
const CONFIRMED: usize = 5;
/// Trials after which a search of one round gives up.
const MOST_TRIALS: usize = 80;

/// The search for the highest load with a value at or below a limit.
///
/// From a low load it doubles until one is too high. (Or it begins at the highest, as RFC 2544,
/// section 26.1, does for loss of frames.) Then it halves what lies between, until that is as
/// narrow as asked for. A load is decided by one trial where its value is far from the limit,
/// otherwise by the majority of up to three. In the end both ends must stand: the lower must keep
/// within the limit, and the upper must not, in most of five trials. If one does not, the search
/// goes on beyond it. That keeps a lucky trial from being the result, which a plain halving on
/// noisy values would report too often.
///
/// A scan ahead of that ([`scanning`](Self::scanning)) only says where the first round begins.
#[derive(Debug, Clone)]
pub struct Highest {
    limit: f64,
    lowest: f64,
    highest: f64,
    precision: f64,
    /// Loads that can be asked for are multiples of this; 0: all can.
    grain: f64,
    rounds: usize,
    raises: bool,
    /// How near the loads around the limit are at the end of a scan; `None`: none is going on.
    scan: Option<f64>,
    /// The load that a scan came to.
    scanned: Option<f64>,
    /// Loads that were decided in this round, and all trials at them.
    places: Vec<Place>,
    found: Vec<f64>,
    trace: Vec<Step>,
    trials_of_round: usize,
    now: Option<(f64, Why)>,
    outcome: Outcome,
}

/// A load with its votes.
#[derive(Debug, Clone, Copy)]
struct Place {
    load: f64,
    kept: usize,
    broke: usize,
    clear: bool,
}

impl Place {
    fn trials(self) -> usize {
        self.kept + self.broke
    }

    /// Whether enough trials agree that more would not change what most of this many say.
    fn agreed(self, of: usize) -> bool {
        self.kept.max(self.broke) * 2 > of
    }

    fn keeps(self) -> bool {
        self.kept > self.broke
    }
}

impl Highest {
    /// Service level: the highest constant rate with a percentile at or below `limit` (ns). Rates
    /// from `lowest` to `highest` are looked at; the result is as near as the share `precision`
    /// (0.02: 2 %). It is searched `rounds` times: what lies between two loads says nothing of how
    /// far the next search would come to lie from this one.
    #[must_use]
    pub fn slo(limit: f64, lowest: f64, highest: f64, precision: f64, rounds: usize) -> Self {
        Self::new(limit, lowest, highest, precision, rounds, true)
    }

    /// The highest rate of datagrams with a share of loss at or below `limit`, searched anew in
    /// each of `rounds` rounds.
    #[must_use]
    pub fn lossless(limit: f64, lowest: f64, highest: f64, precision: f64, rounds: usize) -> Self {
        Self::new(limit, lowest, highest, precision, rounds, false)
    }

    fn new(
        limit: f64,
        lowest: f64,
        highest: f64,
        precision: f64,
        rounds: usize,
        raises: bool,
    ) -> Self {
        let lowest = lowest.max(f64::MIN_POSITIVE);
        let mut out = Self {
            limit,
            lowest,
            highest: highest.max(lowest),
            precision: precision.max(1e-4),
            grain: 0.0,
            rounds: rounds.max(1),
            raises,
            scan: None,
            scanned: None,
            places: Vec::new(),
            found: Vec::new(),
            trace: Vec::new(),
            trials_of_round: 0,
            now: None,
            outcome: Outcome::Searching,
        };
        out.decide();
        out
    }

    /// For loads of which only the multiples of `grain` can be asked for, 0 or more. Who drives it
    /// rounds to the nearest, and two neighbours are as near as it gets. `lowest` and `highest` are
    /// such multiples.
    #[must_use]
    pub fn in_grains(mut self, grain: f64) -> Self {
        self.grain = grain;
        self
    }

    /// Scans first, until the loads around the limit are as near as the share `width`; without one,
    /// there is no scan. One trial decides a load, and it may be short. The first load that is too
    /// high needs most of three: by a stall it would send the scan far down. The rounds begin where
    /// the scan ends, and take nothing else over from it.
    #[must_use]
    pub fn scanning(mut self, width: Option<f64>) -> Self {
        self.scan = width;
        self.decide();
        self
    }

    /// Whether more trials must decide about a load.
    fn is_open(&self, place: Place) -> bool {
        if self.scan.is_none() {
            return !place.clear && !place.agreed(VOTES);
        }
        let is_top = self.places.iter().all(|other| other.load <= place.load);
        is_top && place.broke > 0 && !place.agreed(VOTES)
    }

    /// Whether two loads are near enough to each other.
    fn is_narrow(&self, low: f64, high: f64) -> bool {
        high / low <= 1.0 + self.scan.unwrap_or(self.precision) || high - low < 1.5 * self.grain
    }

    /// The interval of the median of the rounds; absent with fewer than 2.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        rounds_interval(&self.found, CONFIDENCE)
    }

    /// The highest load that keeps within the limit below the lowest that does not.
    fn low(&self) -> Option<Place> {
        let high = self.high().map_or(f64::INFINITY, |place| place.load);
        let kept = self.places.iter().filter(|place| place.keeps() && place.load < high);
        kept.copied().max_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// The lowest load that does not.
    fn high(&self) -> Option<Place> {
        let broke = self.places.iter().filter(|place| !place.keeps());
        broke.copied().min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// Where a round begins, if something was found before: at the last result.
    fn last(&self) -> Option<f64> {
        self.found.last().copied().or(self.scanned)
    }

    /// How far to go until a load on the other side is found: from an earlier result with growing
    /// steps.
    fn stride(&self) -> f64 {
        if self.last().is_none() {
            2.0
        } else {
            (1.0 + 4.0 * self.precision).powi(self.places.len() as i32)
        }
    }

    /// What to do after the last trial.
    fn decide(&mut self) {
        self.now = None;
        if let Some(open) = self.places.iter().find(|place| self.is_open(**place)) {
            self.now = Some((open.load, Why::Again));
        } else {
            match (self.low(), self.high()) {
                (None, None) => {
                    let start = if self.raises { self.lowest } else { self.highest };
                    self.now = Some((self.last().unwrap_or(start), Why::Raise));
                }
                (Some(low), None) if low.load >= self.highest => self.close(low, None),
                (Some(low), None) => {
                    let next = (low.load * self.stride()).max(low.load + self.grain);
                    self.now = Some((next.min(self.highest), Why::Raise));
                }
                (None, Some(high)) if high.load <= self.lowest => self.close(high, Some(high)),
                (None, Some(high)) => {
                    let next = (high.load / self.stride()).min(high.load - self.grain);
                    self.now = Some((next.max(self.lowest), Why::Raise));
                }
                (Some(low), Some(high)) if !self.is_narrow(low.load, high.load) => {
                    self.now = Some(((low.load * high.load).sqrt(), Why::Narrow));
                }
                (Some(low), Some(high)) => self.close(low, Some(high)),
            }
        }
        if let (Some((_, why)), Some(_)) = (&mut self.now, self.scan) {
            *why = Why::Scan;
        }
        if self.trials_of_round >= MOST_TRIALS && self.now.is_some() {
            self.now = None;
            let low = self.low().map_or(0.0, |place| place.load);
            self.outcome = Outcome::GaveUp {
                low,
                high: self.high().map_or(f64::INFINITY, |place| place.load),
            };
        }
    }

    /// Confirms both ends, and ends the round where they stand. A scan ends as it is.
    fn close(&mut self, low: Place, high: Option<Place>) {
        if self.scan.take().is_some() {
            self.scanned = Some(low.load);
            self.begin_round();
            return;
        }
        let open = [Some(low), high].into_iter().flatten().find(|place| !place.agreed(CONFIRMED));
        if let Some(open) = open {
            self.now = Some((open.load, Why::Confirm));
            return;
        }
        let below = high.is_some_and(|high| high.load <= low.load);
        if below || high.is_none() {
            self.outcome = if below { Outcome::BelowLowest } else { Outcome::AboveHighest };
            return;
        }
        self.found.push(low.load);
        if self.found.len() < self.rounds {
            self.begin_round();
            return;
        }
        // Where several rounds were made they show how far it is known; else what lies between the
        // two loads.
        let middle = median(&self.found).unwrap_or(low.load);
        let bracket = Interval { low: low.load, high: high.map_or(low.load, |high| high.load) };
        let interval = self.interval().unwrap_or(bracket);
        self.outcome = Outcome::Found { load: middle, low: interval.low, high: interval.high };
    }

    fn begin_round(&mut self) {
        self.places.clear();
        self.trials_of_round = 0;
        self.decide();
    }
}

impl Search for Highest {
    fn next_load(&self) -> Option<f64> {
        self.now.map(|(load, _)| load)
    }

    fn is_scanning(&self) -> bool {
        self.scan.is_some() && self.now.is_some()
    }

    fn observe(&mut self, load: f64, seen: Measurement) {
        let why = self.now.map_or(Why::Again, |(_, why)| why);
        self.trace.push(Step { load, seen, why });
        self.trials_of_round += 1;
        let kept = seen.within && seen.value <= self.limit;
        // Other bounds can make a load too high, and none can make it right.
        let clear = seen.value.is_finite()
            && self.limit > 0.0
            && (seen.value > self.limit * CLEAR || seen.within && seen.value * CLEAR < self.limit);
        let at = self.places.iter().position(|place| place.load == load).unwrap_or_else(|| {
            self.places.push(Place { load, kept: 0, broke: 0, clear });
            self.places.len() - 1
        });
        let place = &mut self.places[at];
        place.kept += usize::from(kept);
        place.broke += usize::from(!kept);
        place.clear &= clear && place.trials() == 1;
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

    fn found(&self) -> &[f64] {
        &self.found
    }
}

#[cfg(test)]
mod tests;
