//! The bound on flows that are open at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hopbench_model::Source;

use super::by_source::BySource;

/// The figure in a server's report that counts the run's flows which found no place; absent where
/// all did.
pub const REFUSED_FLOWS: &str = "refused_flows";

/// A source gets another place as long as it has less than so many times the free ones. So it gets
/// three quarters of all if nobody else has any.
const OF_FREE: usize = 3;

/// A bounded count of open flows, whoever opened them. It may be a part of another. An agent's is
/// over all its trials, and within it is one for each. Its HTTP target for everybody has another.
///
/// A flow is let in by [`FlowLimit::take`], which refuses and counts in one step, so that no two
/// flows can get the last place. What it gives is kept with the flow and gives the place back when
/// the flow is dropped, however that ends.
#[derive(Debug, Default)]
pub struct FlowLimit {
    most: Option<usize>,
    whole: Option<Arc<Self>>,
    open: AtomicUsize,
    refused: AtomicU64,
}

/// One flow's place among the open ones; dropping it gives the place back.
#[derive(Debug)]
#[must_use = "the place is given back when this is dropped"]
pub struct FlowGuard(Arc<FlowLimit>);

impl FlowLimit {
    /// At most so many flows at once; `None`: they are only counted.
    pub fn new(most: Option<usize>) -> Arc<Self> {
        Arc::new(Self { most, ..Self::default() })
    }

    /// A count within this one: its flows take a place of both, and it has a bound of its own or
    /// none.
    pub fn part(self: &Arc<Self>, most: Option<usize>) -> Arc<Self> {
        Arc::new(Self { most, whole: Some(Arc::clone(self)), ..Self::default() })
    }

    /// A place for a flow; `None`, and counted as refused, where all are taken.
    pub fn take(self: &Arc<Self>) -> Option<FlowGuard> {
        let entered = self.enter();
        if !entered {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        entered.then(|| FlowGuard(Arc::clone(self)))
    }

    /// The bound, if there is one.
    pub fn most(&self) -> Option<usize> {
        self.most
    }

    /// Flows that are open now.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Flows that asked for a place here and got none.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn enter(&self) -> bool {
        let most = self.most.unwrap_or(usize::MAX);
        let one_more = |open: usize| (open < most).then_some(open + 1);
        if self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).is_err() {
            return false;
        }
        let entered = self.whole.as_ref().is_none_or(|whole| whole.enter());
        if !entered {
            self.open.fetch_sub(1, Ordering::AcqRel);
        }
        entered
    }

    fn leave(&self) {
        // The other way round than they came: who sees a free place here finds one in the whole
        // too.
        if let Some(whole) = &self.whole {
            whole.leave();
        }
        self.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for FlowGuard {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The places of strangers. A source that comes faster than its connections are closed is refused
/// while there is still room for others.
#[derive(Debug)]
pub(crate) struct SourcePlaces {
    most: usize,
    whole: Arc<FlowLimit>,
    parts: BySource<FlowLimit>,
}

impl SourcePlaces {
    /// So many for all sources together.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, whole: FlowLimit::new(Some(most)), parts: BySource::new() }
    }

    /// A place for a connection from there; `None`: its source has enough of them, or all are
    /// taken.
    pub(crate) fn take(&self, source: Source) -> Option<FlowGuard> {
        let own = self.parts.of(source, || self.whole.part(None));
        let free = self.most.saturating_sub(self.whole.open());
        if own.open() >= free.saturating_mul(OF_FREE) {
            return None;
        }
        own.take()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn a_part_is_bounded_by_itself_and_by_the_whole() {
        let agent = FlowLimit::new(Some(3));
        let (run, http) = (agent.part(None), agent.part(Some(1)));
        let one = http.take().unwrap();
        assert!(http.take().is_none(), "its own bound");
        let two = run.take().unwrap();
        let three = run.take().unwrap();
        assert!(run.take().is_none(), "the bound of the whole");
        assert_eq!((agent.open(), run.open(), http.open()), (3, 2, 1));
        assert_eq!((agent.refused(), run.refused(), http.refused()), (0, 1, 1));
        drop(one);
        let four = run.take().unwrap();
        drop((two, three, four));
        assert_eq!((agent.open(), run.open(), http.open()), (0, 0, 0));
    }

    #[test]
    fn threads_that_ask_at_once_never_get_more_than_there_are() {
        const MOST: usize = 5;
        let agent = FlowLimit::new(Some(MOST));
        let (together, most_seen) = (Barrier::new(8), AtomicUsize::new(0));
        let got: usize = std::thread::scope(|scope| {
            let ask = || {
                let run = agent.part(None);
                let mut got = 0;
                for _ in 0..200 {
                    together.wait();
                    let flow_guard = run.take();
                    most_seen.fetch_max(agent.open(), Ordering::AcqRel);
                    got += usize::from(flow_guard.is_some());
                    together.wait();
                }
                got
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!((got, agent.open()), (200 * MOST, 0));
        assert_eq!(most_seen.load(Ordering::Acquire), MOST);
    }

    #[test]
    fn a_source_alone_gets_three_quarters_and_leaves_the_rest_to_others() {
        let places = SourcePlaces::new(16);
        let take = |source: u32| places.take(Source::V4(source));
        let first: Vec<FlowGuard> = std::iter::from_fn(|| take(1)).collect();
        assert_eq!(first.len(), 12);
        let second: Vec<FlowGuard> = std::iter::from_fn(|| take(2)).collect();
        assert_eq!(second.len(), 3);
        let last = take(3);
        assert!(last.is_some(), "a source that has none gets the last place");
        assert!(take(4).is_none(), "all are taken");
        drop((first, second, last));
        assert_eq!((places.whole.open(), take(1).is_some()), (0, true));
        assert_eq!(places.parts.count(), 1, "sources that are gone are forgotten");
    }

    /// One source comes ten times as often as another. The worker closes three connections while
    /// one of the other comes, in the order in which they came.
    #[test]
    fn a_source_that_comes_ten_times_as_often_keeps_no_other_out() {
        let places = SourcePlaces::new(64);
        let mut open = VecDeque::new();
        let mut flooded = 0;
        for step in 0..1000 {
            let came = (0..10).filter_map(|_| places.take(Source::V4(1)));
            let before = open.len();
            open.extend(came);
            flooded += open.len() - before;
            let other = places.take(Source::V4(2));
            assert!(other.is_some(), "step {step}: kept out by {flooded}");
            open.extend(other);
            drop(open.drain(..open.len().min(3)));
        }
        assert!((1900..2200).contains(&flooded), "the flood got {flooded} of 10000");
    }
}
