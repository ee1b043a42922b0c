//! The times of a trial: when load runs and when it is measured, for all its workers.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hopbench_model::Nanos;

/// The phases of a trial: waiting, then load from `load_start`, measured from `start` to `end`,
/// then draining until `cut`. Where the ends stay prepared, there is one such visit after the
/// other.
///
/// Set by the agent's control thread, read by workers. All times are of the agent's monotonic
/// clock.
#[derive(Debug)]
pub struct Window {
    load_start: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    all_sent: AtomicU64,
    all_arrived: AtomicBool,
    began: AtomicU64,
    stop: AtomicBool,
    /// Visits that were opened, and those that may end.
    visits: AtomicU32,
    closed_visits: AtomicU32,
}

const NEVER: u64 = u64::MAX;

impl Default for Window {
    fn default() -> Self {
        Self {
            load_start: AtomicU64::new(NEVER),
            start: AtomicU64::new(NEVER),
            end: AtomicU64::new(NEVER),
            all_sent: AtomicU64::new(NEVER),
            all_arrived: AtomicBool::new(false),
            began: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            visits: AtomicU32::new(0),
            closed_visits: AtomicU32::new(0),
        }
    }
}

impl Window {
    /// Fixes all times of the first visit, or of the next one; workers see them at their next look.
    pub fn open(&self, load_start: Nanos, start: Nanos, end: Nanos) {
        self.all_sent.store(NEVER, Ordering::Relaxed);
        self.all_arrived.store(false, Ordering::Relaxed);
        self.began.store(0, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
        // Last, and with release: whoever sees the load started sees the other times too.
        self.load_start.store(load_start, Ordering::Release);
        self.visits.fetch_add(1, Ordering::Release);
    }

    /// Visits that were opened so far.
    pub(crate) fn visits(&self) -> u32 {
        self.visits.load(Ordering::Acquire)
    }

    /// The visit may end: the last readings were taken. Workers hand over what they wrote down as
    /// soon as nothing is under way.
    pub(crate) fn close_visit(&self) {
        self.closed_visits.store(self.visits(), Ordering::Release);
    }

    /// Visits that may end.
    pub(crate) fn closed_visits(&self) -> u32 {
        self.closed_visits.load(Ordering::Acquire)
    }

    /// Ends the window early: at `end`, if that is before the end that was planned.
    pub fn finish(&self, end: Nanos) {
        self.end.fetch_min(end, Ordering::Relaxed);
    }

    /// The other end was done at `at`: what it sent has arrived or is on its way.
    pub fn all_sent(&self, at: Nanos) {
        self.all_sent.fetch_min(at, Ordering::Relaxed);
    }

    /// When the other end was done; `Nanos::MAX` while that is not known.
    pub fn all_sent_at(&self) -> Nanos {
        self.all_sent.load(Ordering::Relaxed)
    }

    /// All that was sent in this visit has arrived: nothing is on its way any more.
    pub fn all_arrived(&self) {
        self.all_arrived.store(true, Ordering::Relaxed);
    }

    /// Whether that is known.
    pub(crate) fn has_all_arrived(&self) -> bool {
        self.all_arrived.load(Ordering::Relaxed)
    }

    /// Ends everything at once, without draining.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether everything must end at once.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A worker's load begins at `at`.
    pub(crate) fn begin(&self, at: Nanos) {
        self.began.fetch_max(at, Ordering::Relaxed);
    }

    /// When the last worker so far began its load; 0 while none has.
    pub fn began(&self) -> Nanos {
        self.began.load(Ordering::Relaxed)
    }

    /// When load starts; `Nanos::MAX` while that is not known.
    pub fn load_start(&self) -> Nanos {
        self.load_start.load(Ordering::Acquire)
    }

    /// When the measured window starts.
    pub fn start(&self) -> Nanos {
        self.start.load(Ordering::Relaxed)
    }

    /// When the measured window ends.
    #[inline]
    pub fn end(&self) -> Nanos {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether `at` lies in the measured window.
    #[inline]
    pub fn holds(&self, at: Nanos) -> bool {
        at >= self.start.load(Ordering::Relaxed) && at < self.end.load(Ordering::Relaxed)
    }

    /// Whether the time from `from` to `to` began before the measured window and holds all of it.
    #[inline]
    pub(crate) fn is_filled_by(&self, from: Nanos, to: Nanos) -> bool {
        from < self.start() && to >= self.end()
    }
}
