//! The record that one worker writes: counters, histograms, answers and failures.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_model::{Counter, Counts, LatencyKind, Nanos};
use hopbench_stats::Histogram;

use crate::measure::window::Window;

/// A worker's counters as others may read them while it runs. One writer, no lock, no shared cache
/// line.
#[derive(Debug)]
#[repr(align(128))]
pub struct Live([AtomicU64; Counter::ALL.len()]);

impl Default for Live {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Live {
    /// The counts at this moment; each is exact, though not all of one instant.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for counter in Counter::ALL {
            counts.set(*counter, self.0[*counter as usize].load(Ordering::Relaxed));
        }
        counts
    }

    /// Counts from 0 again. Only its writer may do that.
    fn start_over(&self) {
        self.0.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
    }
}

/// A reason under which failures are counted: mostly one of a fixed set.
pub type Reason = Cow<'static, str>;

/// Most reasons that hold what an answer told: answers may tell anything.
const MOST_TOLD: usize = 64;
/// The reason under which failures for further ones are counted.
const OTHER_REASONS: Reason = Cow::Borrowed("other");

/// One worker's record: counters, histograms of the window, answers and failures by name.
#[derive(Debug)]
pub struct Recorder {
    window: Arc<Window>,
    live: Arc<Live>,
    open_loop: bool,
    histograms: BTreeMap<LatencyKind, Histogram>,
    service: Histogram,
    response: Option<Histogram>,
    lateness: Option<Histogram>,
    statuses: BTreeMap<u16, u64>,
    errors: BTreeMap<Reason, u64>,
    extra: BTreeMap<&'static str, f64>,
    /// How figures of `extra` come together that are not sums.
    folds: BTreeMap<&'static str, fn(f64, f64) -> f64>,
}

impl Recorder {
    /// An empty recorder for `window`. An exchange belongs to the window by its start: by the
    /// intended one in an open loop. In a closed loop one that fills the window belongs to it, too.
    pub fn new(window: Arc<Window>, live: Arc<Live>, open_loop: bool) -> Self {
        Self {
            window,
            live,
            open_loop,
            histograms: BTreeMap::new(),
            service: Histogram::new(),
            response: open_loop.then(Histogram::new),
            lateness: open_loop.then(Histogram::new),
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            extra: BTreeMap::new(),
            folds: BTreeMap::new(),
        }
    }

    /// What was written down so far, with the counts; from here on it is empty, for the next visit.
    pub(crate) fn start_over(&mut self) -> (Self, Counts) {
        let counts = self.live.counts();
        self.live.start_over();
        let fresh = Self::new(Arc::clone(&self.window), Arc::clone(&self.live), self.open_loop);
        (std::mem::replace(self, fresh), counts)
    }

    /// The trial's window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Adds `n` to a counter.
    #[inline]
    pub fn count(&self, counter: Counter, n: u64) {
        // A plain load and store: this worker is the only writer.
        let cell = &self.live.0[counter as usize];
        cell.store(cell.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// An exchange that was due at `intended` is being sent at `now`.
    #[inline]
    pub fn sending(&mut self, intended: Nanos, now: Nanos) {
        self.count(Counter::Sent, 1);
        if let Some(lateness) = &mut self.lateness
            && self.window.holds(intended)
        {
            lateness.record(now.saturating_sub(intended));
        }
    }

    /// An exchange that was due at `intended` and sent at `sent` was completed at `done`. Returns
    /// whether it belongs to the window.
    #[inline]
    pub fn completed(&mut self, intended: Nanos, sent: Nanos, done: Nanos) -> bool {
        self.count(Counter::Completed, 1);
        let belongs = self.belongs(intended, done);
        if belongs {
            self.count(Counter::Counted, 1);
            self.service.record(done.saturating_sub(sent));
            if let Some(response) = &mut self.response {
                response.record(done.saturating_sub(intended));
            }
        }
        belongs
    }

    /// An exchange that was due at `intended` failed at `now` for this reason, or got no answer and
    /// is given up.
    pub fn failed(&mut self, reason: impl Into<Reason>, intended: Nanos, now: Nanos) {
        self.count(Counter::Errors, 1);
        if self.belongs(intended, now) {
            self.count(Counter::CountedErrors, 1);
            self.add_errors(reason.into(), 1);
        }
    }

    fn add_errors(&mut self, reason: Reason, n: u64) {
        let told = |reason: &Reason| matches!(reason, Cow::Owned(_));
        let further = told(&reason) && !self.errors.contains_key(&reason);
        let full = further && self.errors.keys().filter(|known| told(known)).count() >= MOST_TOLD;
        *self.errors.entry(if full { OTHER_REASONS } else { reason }).or_default() += n;
    }

    /// An answer with this status belongs to the window.
    #[inline]
    pub fn status(&mut self, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
    }

    /// A latency of another kind, of something that happened at `at`.
    #[inline]
    pub fn latency(&mut self, kind: LatencyKind, at: Nanos, ns: Nanos) {
        if self.window.holds(at) {
            self.histograms.entry(kind).or_default().record(ns);
        }
    }

    /// A latency of another kind, of an exchange that [`completed`](Self::completed) said belongs
    /// to the window.
    #[inline]
    pub fn latency_of_counted(&mut self, kind: LatencyKind, ns: Nanos) {
        self.histograms.entry(kind).or_default().record(ns);
    }

    /// Adds to a figure of the workload's own.
    pub fn add_extra(&mut self, name: &'static str, value: f64) {
        *self.extra.entry(name).or_default() += value;
    }

    /// Keeps the smaller value of a figure of the workload's own.
    pub fn min_extra(&mut self, name: &'static str, value: f64) {
        self.fold_extra(name, value, f64::min);
    }

    /// Keeps the larger value of a figure of the workload's own.
    pub fn max_extra(&mut self, name: &'static str, value: f64) {
        self.fold_extra(name, value, f64::max);
    }

    fn fold_extra(&mut self, name: &'static str, value: f64, fold: fn(f64, f64) -> f64) {
        self.folds.insert(name, fold);
        let kept = self.extra.entry(name).or_insert(value);
        *kept = fold(*kept, value);
    }

    /// Whether an exchange that was due at `intended` and ended at `done` belongs to the window.
    ///
    /// Its start decides, so an answer is in the histogram however late it comes. By its end, one
    /// that takes longer than the window would hardly ever be. In a closed loop such an exchange
    /// can fill the window, and then it is the only one that its connection has to show.
    #[inline]
    pub(crate) fn belongs(&self, intended: Nanos, done: Nanos) -> bool {
        self.window.holds(intended) || !self.open_loop && self.window.is_filled_by(intended, done)
    }

    /// Adds what another worker wrote down.
    pub fn merge(&mut self, other: &Self) {
        self.service.merge(&other.service);
        for (mine, theirs) in
            [(&mut self.response, &other.response), (&mut self.lateness, &other.lateness)]
        {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.merge(theirs);
            }
        }
        for (kind, histogram) in &other.histograms {
            self.histograms.entry(*kind).or_default().merge(histogram);
        }
        for (status, n) in &other.statuses {
            *self.statuses.entry(*status).or_default() += n;
        }
        for (reason, n) in &other.errors {
            self.add_errors(reason.clone(), *n);
        }
        for (name, value) in &other.extra {
            match other.folds.get(name) {
                Some(fold) => self.fold_extra(name, *value, *fold),
                None => self.add_extra(name, *value),
            }
        }
    }

    /// All histograms that hold something, by kind.
    pub fn histograms(&self) -> impl Iterator<Item = (LatencyKind, &Histogram)> {
        [
            (LatencyKind::Service, Some(&self.service)),
            (LatencyKind::Response, self.response.as_ref()),
            (LatencyKind::Lateness, self.lateness.as_ref()),
        ]
        .into_iter()
        .filter_map(|(kind, histogram)| Some((kind, histogram?)))
        .chain(self.histograms.iter().map(|(kind, histogram)| (*kind, histogram)))
        .filter(|(_, histogram)| !histogram.is_empty())
    }

    /// Answers by status, failures by reason, figures by name.
    pub fn tallies(&self) -> Tallies<'_> {
        (&self.statuses, &self.errors, &self.extra)
    }
}

/// Answers by status, failures by reason, figures by name.
pub type Tallies<'a> =
    (&'a BTreeMap<u16, u64>, &'a BTreeMap<Reason, u64>, &'a BTreeMap<&'static str, f64>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_belongs_where_it_began_or_to_the_window_that_it_filled() {
        let belongs = |open_loop, from, to| {
            let window = Arc::new(Window::default());
            window.open(0, 100, 200);
            let mut recorder = Recorder::new(window, Arc::new(Live::default()), open_loop);
            recorder.failed("timeout", from, to);
            let answered = recorder.completed(from, from, to);
            let counts = recorder.live.counts();
            assert_eq!([Counter::Errors, Counter::Completed].map(|c| counts.of(c)), [1, 1]);
            let both = [Counter::CountedErrors, Counter::Counted].map(|c| counts.of(c));
            assert_eq!(both, [u64::from(answered); 2]);
            let latencies: Vec<_> = recorder.histograms().map(|(_, h)| h.max()).collect();
            assert!(latencies.iter().all(|max| *max == to - from), "{latencies:?}");
            assert_eq!(latencies.is_empty(), !answered);
            u64::from(answered)
        };
        for (from, to, counted) in [
            (50, 99, 0),
            (50, 150, 0),
            (100, 150, 1),
            (150, 250, 1),
            (50, 200, 1),
            (199, 200, 1),
            (200, 250, 0),
        ] {
            assert_eq!(belongs(false, from, to), counted, "a closed loop, from {from} to {to}");
            let begun = u64::from((100..200).contains(&from));
            assert_eq!(belongs(true, from, to), begun, "an open loop, from {from} to {to}");
        }
    }

    #[test]
    fn reasons_are_few_and_no_failure_is_lost() {
        let window = Arc::new(Window::default());
        window.open(0, 0, 100);
        let recorder = || Recorder::new(Arc::clone(&window), Arc::new(Live::default()), false);
        let (mut one, mut all) = (recorder(), recorder());
        for n in 0..500 {
            one.failed(format!("503 {n}"), 0, 1);
            one.failed("timeout", 0, 1);
        }
        one.failed(format!("503 {}", 0), 0, 1);
        (0..3).for_each(|_| all.merge(&one));
        for (recorder, times) in [(&one, 1), (&all, 3)] {
            let errors = recorder.tallies().1;
            assert_eq!(errors.len(), MOST_TOLD + 2);
            assert_eq!(errors.values().sum::<u64>(), times * 1001);
            assert_eq!(
                (errors["timeout"], errors["503 0"], errors["503 1"]),
                (times * 500, times * 2, times)
            );
        }
    }
}
