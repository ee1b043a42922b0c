//! The hand-over of recorders from workers to the control thread at the end of a visit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_model::Counts;
use hopbench_sys::Waker;

use crate::measure::recorder::Recorder;
use crate::measure::window::Window;

/// The records of the workers of one end whose visit is over; the workers stay prepared.
#[derive(Debug)]
pub(crate) struct HandOver {
    records: Mutex<Vec<(Recorder, Counts)>>,
    notify: Arc<Waker>,
}

impl HandOver {
    /// Nothing yet; each record that is put wakes `notify`.
    pub(crate) fn new(notify: Arc<Waker>) -> Self {
        Self { records: Mutex::default(), notify }
    }

    pub(crate) fn put(&self, record: (Recorder, Counts)) {
        self.lock().push(record);
        self.notify.wake();
    }

    /// Workers that have handed over.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// All records of a window, merged, and the sum of their counts. They are kept no longer.
    pub(crate) fn take(&self, window: &Arc<Window>) -> (Recorder, Counts) {
        let counts = self.counts();
        let mut merged = Recorder::new(Arc::clone(window), Arc::default(), true);
        self.merge_into(&mut merged);
        self.lock().clear();
        (merged, counts)
    }

    /// Adds all records to another one.
    pub(crate) fn merge_into(&self, merged: &mut Recorder) {
        self.lock().iter().for_each(|(recorder, _)| merged.merge(recorder));
    }

    /// The sum of all counts.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.lock().iter().for_each(|(_, part)| counts.add(part));
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Recorder, Counts)>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
