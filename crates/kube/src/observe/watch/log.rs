//! The log of what the watches noted, and the health of each.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::change::Change;

/// The number of changes that are kept, so that the memory stays bounded.
const MOST: usize = 10_000;

/// Shared by all watches.
#[derive(Debug, Default)]
pub(super) struct Log {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    changes: VecDeque<Change>,
    watches: BTreeMap<String, Health>,
}

/// The health of a watch.
#[derive(Debug, PartialEq, Eq)]
enum Health {
    /// It has not listed what is there yet.
    Begun,
    Well,
    /// It has no connection, and why.
    Lost(String),
    /// It must not, and what the API server said.
    Forbidden(String),
}

impl Log {
    pub(super) fn begun(&self, watch: &str) {
        self.set(watch, Health::Begun);
    }

    pub(super) fn well(&self, watch: &str) {
        self.set(watch, Health::Well);
    }

    pub(super) fn losing(&self, watch: &str, why: String) {
        self.set(watch, Health::Lost(why));
    }

    pub(super) fn forbid(&self, watch: &str, why: String) {
        self.set(watch, Health::Forbidden(why));
    }

    pub(super) fn note(&self, changes: Vec<Change>) {
        let mut inner = self.inner();
        inner.changes.extend(changes);
        let surplus = inner.changes.len().saturating_sub(MOST);
        inner.changes.drain(..surplus);
    }

    /// All changes; they are forgotten.
    pub(super) fn take(&self) -> VecDeque<Change> {
        std::mem::take(&mut self.inner().changes)
    }

    /// Whether every watch knows how it is.
    pub(super) fn settled(&self) -> bool {
        self.inner()
            .watches
            .values()
            .all(|health| matches!(health, Health::Well | Health::Forbidden(_)))
    }

    /// Why one of them sees nothing, if one does not.
    pub(super) fn lost(&self) -> Option<String> {
        let inner = self.inner();
        inner.watches.iter().find_map(|(watch, health)| match health {
            Health::Begun => Some(format!("the {watch} are not listed yet")),
            Health::Lost(why) => Some(format!("the {watch} cannot be watched: {why}")),
            Health::Well | Health::Forbidden(_) => None,
        })
    }

    pub(super) fn forbidden(&self) -> Vec<String> {
        let inner = self.inner();
        let forbidden = inner.watches.iter().filter_map(|(watch, health)| match health {
            Health::Forbidden(why) => Some(format!("changes of the {watch} go unseen: {why}")),
            _ => None,
        });
        forbidden.collect()
    }

    fn set(&self, watch: &str, health: Health) {
        self.inner().watches.insert(watch.to_owned(), health);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What is in it is whole after every statement.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::About;
    use super::*;

    #[test]
    fn the_last_changes_are_kept_and_taken_once() {
        let log = Log::default();
        for number in 0..MOST + 5 {
            log.note(vec![Change::new(About::Node("n1".into()), number.to_string())]);
        }
        let taken = log.take();
        assert_eq!((taken.len(), taken[0].text.as_str()), (MOST, "5"));
        assert!(log.take().is_empty());
    }

    #[test]
    fn a_watch_that_must_not_is_no_reason_to_wait() {
        let log = Log::default();
        log.begun("pods");
        log.begun("events");
        assert!(!log.settled() && log.lost().is_some());
        log.well("pods");
        log.forbid("events", "events is forbidden".to_owned());
        assert!(log.settled() && log.lost().is_none());
        assert_eq!(log.forbidden(), ["changes of the events go unseen: events is forbidden"]);
        log.losing("pods", "refused".to_owned());
        assert_eq!(log.lost().unwrap(), "the pods cannot be watched: refused");
        assert!(!log.settled());
    }
}
