//! One load in several runs.

use std::collections::BTreeSet;

use hopbench_model::number::UNKNOWN;
use hopbench_stats::summary::median;
use hopbench_stats::{Comparison, Question};

use super::compare_loads::{ComparedLoad, Together, compare_loads, question};
use super::judge::What;
use super::known_load::KnownLoad;
use crate::summary::{Bracket, SearchedPath};
use crate::text::load_text::number;

/// From this number of runs on each side on, runs are compared and not their rounds or searches.
/// What changes from run to run is in them.
pub(crate) const ENOUGH_RUNS: usize = 3;

/// One load in several runs.
pub(crate) struct Runs {
    side: KnownLoad,
    /// Runs in which it was found, and what each of them found.
    found: Vec<f64>,
    runs: usize,
}

impl Runs {
    /// `None` where the search ended in none of them. What is known of the load is what any of them
    /// leaves open, so that what differs from run to run is in it.
    pub(crate) fn of(paths: &[&SearchedPath], what: What) -> Option<Self> {
        let sides: Vec<KnownLoad> = paths.iter().filter_map(|path| what.of(path)).collect();
        let found: Vec<f64> = sides.iter().filter_map(|side| side.found).collect();
        let bracket = sides.iter().map(|side| side.bracket).reduce(Bracket::hull)?;
        let repeats: Option<Vec<Vec<f64>>> =
            sides.iter().map(|side| side.repeats.clone()).collect();
        let side = KnownLoad {
            // Where some found none, the others' median is not of all.
            found: median(&found).filter(|_| found.len() == sides.len()),
            bracket,
            repeats: repeats.map(|all| all.concat()),
            resolution: sides.iter().map(|side| side.resolution).fold(0.0, f64::max),
            sessions: BTreeSet::new(),
            generator_limited: sides.iter().any(|side| side.generator_limited),
            undecided: sides.iter().any(|side| side.undecided),
        };
        Some(Self { side, found, runs: sides.len() })
    }

    /// Runs in which it was found.
    pub(crate) fn found_in(&self) -> usize {
        self.found.len()
    }

    /// The load, or the median of several runs; `None` where a run found none.
    pub(crate) fn found(&self) -> Option<f64> {
        self.side.found
    }

    /// The loads between which it lies.
    pub(crate) fn bracket(&self) -> Bracket {
        self.side.bracket
    }

    /// In short: `4979`, `>= 5000`, `< 100`, `100 to 300`.
    pub(crate) fn text(&self) -> String {
        let Bracket { low, high } = self.side.bracket;
        match self.side.found {
            Some(found) => number(found),
            None if low <= 0.0 && !high.is_finite() => UNKNOWN.to_owned(),
            None if !high.is_finite() => format!(">= {}", number(low)),
            None if low <= 0.0 => format!("< {}", number(high)),
            None => format!("{} to {}", number(low), number(high)),
        }
    }

    /// The question whether this side differs from that of the baseline; `None` where nothing can
    /// be tested.
    pub(crate) fn question(&self, base: &Self, minimum_effect: f64) -> Option<Question> {
        let [here, there] = Self::sides(self, base);
        let question = question(&here, &there, Together::Apart, minimum_effect)?;
        // The values can be runs, which hide a search that is far off.
        let (ours, theirs) = (self.side.repeats.as_ref()?, base.side.repeats.as_ref()?);
        Some(Question { evidence: question.evidence.with_rounds(ours, theirs), ..question })
    }

    /// The comparison with what is known on the side of the baseline; `answer` is that to
    /// [`question`](Self::question).
    pub(crate) fn compared(
        &self,
        base: &Self,
        minimum_effect: f64,
        answer: Option<&Comparison>,
    ) -> ComparedLoad {
        let [here, base] = Self::sides(self, base);
        compare_loads(&here, &base, minimum_effect, answer)
    }

    /// Both sides with the values that are tested. With enough runs, each run is one value: what
    /// differs from run to run is the same in all searches of a run.
    fn sides(here: &Self, base: &Self) -> [KnownLoad; 2] {
        let by_run = here.runs >= ENOUGH_RUNS && base.runs >= ENOUGH_RUNS;
        [here, base].map(|runs| {
            let repeats =
                runs.side.repeats.clone().map(|all| if by_run { runs.found.clone() } else { all });
            KnownLoad { repeats, ..runs.side.clone() }
        })
    }
}
