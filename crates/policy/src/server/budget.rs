//! A budget over all peers: how much of something there may be at once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// So much, and no more.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    most: usize,
}

/// What one holder has of it; given back when dropped.
#[derive(Debug)]
pub(crate) struct BudgetShare<'a> {
    budget: &'a Budget,
    own: usize,
}

impl Budget {
    pub(crate) const fn new(most: usize) -> Self {
        Self { used: AtomicUsize::new(0), most }
    }

    /// A holder that has nothing yet.
    pub(crate) fn holder(&self) -> BudgetShare<'_> {
        BudgetShare { budget: self, own: 0 }
    }
}

impl BudgetShare<'_> {
    /// Has so much from now on, and whether there was room for it; where there was not, it has what
    /// it had.
    #[must_use]
    pub(crate) fn set(&mut self, own: usize) -> bool {
        let Self { budget, own: had } = &*self;
        let change =
            |used: usize| Some(used - had + own).filter(|used| *used <= budget.most || own <= *had);
        let fits = budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok();
        if fits {
            self.own = own;
        }
        fits
    }
}

impl Drop for BudgetShare<'_> {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_and_given_back() {
        let budget = Budget::new(10);
        let (mut a, mut b) = (budget.holder(), budget.holder());
        assert!(a.set(6) && b.set(4) && !b.set(5));
        assert!(a.set(5) && b.set(5));
        drop(a);
        assert!(b.set(10) && !b.set(11) && b.set(0));
        drop(b);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }
}
