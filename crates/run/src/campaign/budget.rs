//! The time that a session has for its trials.

use hopbench_model::{Nanos, Plan, RunFile};

/// How long rounds and passes may begin, from the first of the session on.
#[derive(Debug)]
pub(super) struct Budget {
    /// Absent: no limit.
    ns: Option<Nanos>,
    /// When the first round or pass of the session began.
    began: Option<Nanos>,
    /// Whether the first of a session begins in any case.
    is_lenient: bool,
}

impl Budget {
    /// What the plan's stop rule allows a session, its searches included. A plan's own budget is
    /// for the rounds, and for the searches where there are no rounds.
    pub(super) fn of(plan: &Plan) -> Self {
        let of_searches = plan.budget_ns.filter(|_| !plan.has_rounds());
        let ns = plan.stop.as_ref().map_or(of_searches, |rule| rule.budget_ns);
        Self { ns, began: None, is_lenient: true }
    }

    /// What the plan leaves for the rounds of a session after those before; `None`: it does not
    /// say.
    pub(super) fn of_rounds(run: &RunFile) -> Option<Self> {
        let left = |ns: Nanos| ns.saturating_sub(run.spent_ns);
        let ns = Some(run.plan.budget_ns.map(left)?);
        Some(Self { ns, began: None, is_lenient: false })
    }

    /// Whether a round or a pass begins now, of which about half should take `half_ns`. Where the
    /// budget is a session's own, its first always does: who goes on with little time comes
    /// forward. The time is counted from then.
    pub(super) fn begins(&mut self, now: Nanos, half_ns: Nanos) -> bool {
        let is_over = match self.until() {
            Some(until) => now.saturating_add(half_ns) >= until,
            None => !self.is_lenient && self.ns.is_some_and(|ns| half_ns >= ns),
        };
        self.began.get_or_insert(now);
        !is_over
    }

    /// Time that was used since the first began.
    pub(super) fn used_ns(&self, now: Nanos) -> Nanos {
        self.began.map_or(0, |began| now.saturating_sub(began))
    }

    /// When the time is used up; `None`: never, or it is not counted yet.
    pub(super) fn until(&self) -> Option<Nanos> {
        Some(self.began?.saturating_add(self.ns?))
    }

    /// Time that is left; `None`: there is no limit.
    pub(super) fn left_ns(&self, now: Nanos) -> Option<Nanos> {
        Some(self.until().map_or(self.ns?, |until| until.saturating_sub(now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_counts_from_the_first_round_which_begins_in_any_case() {
        for ns in [0, 1000] {
            let mut budget = Budget { ns: Some(ns), began: None, is_lenient: true };
            assert_eq!(budget.until(), None);
            assert!(budget.begins(5000, 0));
            assert_eq!(budget.until(), Some(5000 + ns));
            let begin: Vec<bool> = [5999, 6000, 9999].map(|now| budget.begins(now, 0)).to_vec();
            assert_eq!(begin, [ns == 1000, false, false]);
            assert_eq!(budget.until(), Some(5000 + ns), "later rounds give no more time");
            assert_eq!(budget.left_ns(5500), Some(ns.saturating_sub(500)));
        }
    }

    #[test]
    fn a_round_begins_while_half_of_it_fits() {
        let mut budget = Budget { ns: Some(1000), began: None, is_lenient: true };
        assert!(budget.begins(0, 5000), "the first in any case");
        assert!(budget.begins(700, 299) && !budget.begins(700, 300));
        let of_rounds = || Budget { ns: Some(1000), began: None, is_lenient: false };
        assert!(of_rounds().begins(700, 999) && !of_rounds().begins(700, 1000));
        let mut budget = of_rounds();
        assert!(budget.used_ns(700) == 0 && budget.begins(700, 5) && budget.used_ns(750) == 50);
    }

    #[test]
    fn without_a_limit_the_time_never_ends() {
        let mut budget = Budget { ns: None, began: None, is_lenient: true };
        assert!(budget.begins(5, 0) && budget.begins(Nanos::MAX, 0));
        assert_eq!(budget.until(), None);
    }
}
