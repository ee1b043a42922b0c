//! The sentences of a comparison, the same in every format for people.

use std::collections::BTreeSet;

use hopbench_model::number::{as_written, by_name, counted, percentage};

use super::difference::Difference;
use super::result::{Comparison, RunSummary};
use super::row::{Median, Row};
use super::values::LeftOut;
use crate::summary::{BoundSummary, Case, CaseState, Outcome};
use crate::text::listing::listing;
use crate::text::{status, time};
use crate::verdict::{CALLED, NOT_DECIDED, SAME};

/// The caveat of a comparison of single runs.
const ONE_RUN: &str = "Rounds of one run share its placement, memory layout and neighbours. How \
                       far runs of the same thing differ, only repeated runs show (--more-a, \
                       --more-b; three on each side).";

/// The note on a comparison of several runs.
const BY_RUN: &str = "Values are runs, each the median of its rounds (of losses and errors: the \
                      mean). What differs from run to run is in the intervals.";

impl Comparison {
    /// How many comparisons say what: `110 comparisons: 2 slower, 1 faster, 80 same, 20 not
    /// decided, 7 withheld`.
    pub fn counts(&self) -> String {
        let rows = &self.comparisons;
        let of = |word: &str| {
            rows.iter().filter(|row| row.outcome.is_called() && row.word == word).count()
        };
        let mut parts: Vec<_> =
            CALLED.iter().map(|word| (of(word), *word)).filter(|(n, _)| *n > 0).collect();
        let withheld = rows.iter().filter(|row| row.outcome.is_withheld()).count();
        for (outcome, word) in [(Outcome::Same, SAME), (Outcome::NotDecided, NOT_DECIDED)] {
            parts.push((rows.iter().filter(|row| row.outcome == outcome).count(), word));
        }
        parts.push((withheld, "withheld"));
        parts.retain(|(n, _)| *n > 0);
        let parts: Vec<_> = parts.iter().map(|(n, word)| format!("{n} {word}")).collect();
        format!("{}: {}", counted(rows.len() as u64, "comparison", "comparisons"), parts.join(", "))
    }

    /// Why verdicts are withheld, most first; `None` where none is.
    pub fn withheld(&self) -> Option<String> {
        let mut reasons: Vec<(usize, &str)> = Vec::new();
        for row in self.comparisons.iter().filter(|row| row.outcome.is_withheld()) {
            match reasons.iter_mut().find(|(_, word)| *word == row.word) {
                Some((n, _)) => *n += 1,
                None => reasons.push((1, row.word)),
            }
        }
        reasons.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        let texts: Vec<_> = reasons.iter().map(|(n, word)| format!("{n} {word}")).collect();
        (!texts.is_empty()).then(|| format!("withheld: {}", texts.join(", ")))
    }

    /// Notes on the comparison as a whole.
    pub fn notes(&self) -> Vec<String> {
        let mut out = Vec::new();
        let one_run = |run: &RunSummary| self.baseline.iter().any(|base| base.run_id == run.run_id);
        if self.candidate.iter().any(one_run) {
            out.push("a run is compared with itself".to_owned());
        }
        if self.minimum_effect > 0.0 {
            let percent = percentage(self.minimum_effect);
            out.push(format!("differences below {percent} % are of no interest (minimum effect)"));
        }
        if self.searches > 0 {
            let (searches, verb) = (
                counted(self.searches, "search", "searches"),
                if self.searches == 1 { "is" } else { "are" },
            );
            // They stand behind the cells.
            let of_searches = self.not_compared.iter().rev().take(self.searches as usize).rev();
            let reasons: BTreeSet<&str> =
                of_searches.map(|search| search.reason.as_str()).collect();
            let why = listing(&reasons.into_iter().collect::<Vec<_>>());
            out.push(format!("{searches} {verb} not compared: {why}"));
        }
        out
    }

    /// The result of all bounds together; `None` without one. A gate that saw nothing does not look
    /// like one that was kept.
    pub fn headline(&self) -> Option<String> {
        let count =
            |state| self.bounds.iter().map(|bound| bound.cases_of(state).count()).sum::<usize>();
        let [broken, unseen, unjudged] =
            [CaseState::Broken, CaseState::Unseen, CaseState::Unjudged].map(count);
        let all: usize = self.bounds.iter().map(|bound| bound.cases.len()).sum();
        let judged = all - unseen - unjudged;
        // A cell of two bounds is two cases.
        let (one, many) = if self.bounds.len() > 1 { ("case", "cases") } else { ("cell", "cells") };
        let n = |n: usize| counted(n as u64, one, many);
        let reasons = [
            (
                unseen,
                format!(
                    "a worsening as large as the bound would not have been seen in {}",
                    n(unseen)
                ),
            ),
            (unjudged, format!("nothing can be said of {}", n(unjudged))),
        ];
        let reasons: Vec<_> =
            reasons.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
        Some(match (broken, judged) {
            _ if self.bounds.is_empty() => return None,
            (1.., _) => format!("Bounds are broken in {broken} of {}", n(all)),
            (_, 0) => format!("Nothing could be judged: {}", reasons.join(", ")),
            _ if judged < all => {
                format!("No bound is broken in the {judged} of {} that could be judged", n(all))
            }
            _ => "No bound is broken".to_owned(),
        })
    }

    /// Reasons to doubt the comparison.
    pub fn caveat(&self) -> String {
        let by_rounds: BTreeSet<String> =
            self.comparisons.iter().filter(|row| !row.by_run).map(|row| row.cell()).collect();
        let by_rounds: Vec<String> = by_rounds.into_iter().collect();
        if self.by_run {
            BY_RUN.to_owned()
        } else if self.comparisons.iter().any(|row| row.by_run) {
            let n = counted(by_rounds.len() as u64, "cell", "cells");
            format!(
                "{BY_RUN} Not so in {n} with too few runs, where figures are rounds: {}.",
                listing(&by_rounds)
            )
        } else {
            ONE_RUN.to_owned()
        }
    }

    /// Warnings: worsenings that the bounds would not have seen, and cells of which they say
    /// nothing.
    pub fn warnings(&self) -> Vec<String> {
        let mut out: Vec<String> = self.bounds.iter().flat_map(BoundSummary::warnings).collect();
        let unbound = self.not_compared.iter().filter(|cell| cell.is_unbound);
        let unbound: Vec<_> =
            unbound.map(|cell| format!("{} ({})", cell.cell, cell.reason)).collect();
        if !self.bounds.is_empty() && !unbound.is_empty() {
            let n = counted(unbound.len() as u64, "cell", "cells");
            out.push(format!("no bound says anything of {n}: {}", listing(&unbound)));
        }
        out
    }
}

impl BoundSummary {
    /// The cells in which it was broken, a line each: `p99_response>5%: bridge web: slower by 12 %
    /// [9, 15]`.
    pub fn broken(&self) -> Vec<String> {
        let line = |case: &Case| format!("{}: {}: {}", self.bound, case.cell, case.text);
        self.cases_of(CaseState::Broken).map(line).collect()
    }

    /// In how many of its cells it was kept.
    pub fn kept(&self) -> String {
        let (kept, all) = (self.cases_of(CaseState::Kept).count(), self.cases.len() as u64);
        let blind = all - self.judged() as u64;
        let blind =
            if blind > 0 { format!(", {blind} could not be judged") } else { String::new() };
        format!("{}: kept in {kept} of {}{blind}", self.bound, counted(all, "cell", "cells"))
    }

    fn warnings(&self) -> Vec<String> {
        let cells = |state| self.cases_of(state).map(|case| case.cell.as_str()).collect::<Vec<_>>();
        let (unseen, unjudged) = (cells(CaseState::Unseen), cells(CaseState::Unjudged));
        let mut out = Vec::new();
        if !unseen.is_empty() {
            let (share, n) =
                (as_written(self.share * 100.0), counted(unseen.len() as u64, "cell", "cells"));
            out.push(format!(
                "{}: a worsening of {share} % would not have been seen in {n}: {}",
                self.bound,
                listing(&unseen)
            ));
        }
        if !unjudged.is_empty() {
            let n = counted(unjudged.len() as u64, "cell", "cells");
            let why =
                self.cases_of(CaseState::Unjudged).next().map_or("", |case| case.text.as_str());
            out.push(format!(
                "{}: nothing can be said of {n}: {} ({why})",
                self.bound,
                listing(&unjudged)
            ));
        }
        out
    }
}

/// The names of what differs and changes no figure by itself; `None` where there is nothing.
pub fn harmless(all: &[Difference]) -> Option<String> {
    let named = |difference: &Difference| {
        let of = difference.of;
        difference.names.iter().map(move |name| format!("{of} {name}")).collect::<Vec<_>>()
    };
    let mut names: Vec<_> =
        all.iter().filter(|difference| !difference.matters).flat_map(named).collect();
    // Several runs can differ in the same.
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    (!names.is_empty())
        .then(|| format!("differs and changes no figure by itself: {}", listing(&names)))
}

impl RunSummary {
    /// The run in a line.
    pub fn text(&self) -> String {
        let Self { folder, name, started_at, run_id, .. } = self;
        let state = status(self.status);
        let of_cells = Some(self.used_trials).filter(|n| *n > 0 || self.search_trials == 0);
        let of_cells = of_cells.map(|n| counted(n, "trial", "trials"));
        let of_searches = Some(self.search_trials).filter(|n| *n > 0);
        let of_searches =
            of_searches.map(|n| format!("{} of searches", counted(n, "trial", "trials")));
        let trials = of_cells.into_iter().chain(of_searches).collect::<Vec<_>>().join(" and ");
        let started = time(started_at);
        format!("{folder}: {name}, {state}, {trials} used, {started}, run {run_id}")
    }
}

impl LeftOut {
    /// How many trials are in no comparison, and why; `None` where all are.
    pub fn text(&self) -> Option<String> {
        let Self { in_error, cut_short, disturbed, foreign } = self;
        let all = [
            (*in_error, "in error or without a record"),
            (*cut_short, "cut short"),
            (*disturbed, "because the testbed changed meanwhile"),
            (*foreign, "of another run or no cell of the plan"),
        ];
        let texts: Vec<_> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
        (!texts.is_empty()).then(|| format!("trials left out: {}", texts.join(", ")))
    }
}

impl Row {
    /// The figure of the candidate: `48.9 Mbit/s`.
    pub fn now(&self) -> String {
        self.text_of(self.candidate)
    }

    /// The figure on both sides: `98.1 -> 48.9 Mbit/s`.
    pub fn both(&self) -> String {
        let (a, b) = (self.text_of(self.baseline), self.now());
        // One unit is said once.
        match (a.split_once(' '), b.split_once(' ')) {
            (Some((number, one)), Some((_, other))) if one == other => format!("{number} -> {b}"),
            _ => format!("{a} -> {b}"),
        }
    }

    fn text_of(&self, side: Option<Median>) -> String {
        side.map_or_else(|| "-".to_owned(), |side| by_name(&self.metric, side.median))
    }
}
