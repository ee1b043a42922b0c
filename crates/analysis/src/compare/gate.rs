//! The gate of a comparison: bounds on what may have become worse: `p99>5%`.

use std::str::FromStr;

use hopbench_model::Subject;
use hopbench_model::number::as_written;

use super::row::Row;
use crate::summary::{BoundSummary, Case, CaseState, Outcome};

/// A share above which a worsening is too much.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The metric as it was written: `p99_response`.
    pub metric: String,
    /// The share: 0.05 is 5 %; 0: any worsening that is called one.
    pub share: f64,
}

impl Bound {
    /// Those of a subject.
    pub fn of_subject(subject: &Subject) -> Vec<Self> {
        let bound =
            |(metric, share): (&String, &f64)| Self { metric: metric.clone(), share: *share };
        subject.bounds.iter().map(bound).collect()
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("found `{text}`, expected METRIC>PERCENT like p99>5%");
        let (metric, share) = text.split_once('>').ok_or_else(wrong)?;
        let metric = metric.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        if metric.is_empty() || !metric.chars().all(is_name) {
            return Err(wrong());
        }
        Ok(Self { metric: metric.to_owned(), share: share_of(share).ok_or_else(wrong)? })
    }
}

/// As it is written: `p99_response>5%`.
impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}>{}%", self.metric, as_written(self.share * 100.0))
    }
}

/// A share that is written in percent, `2%` or `0.5 %`: 0 or more, at most 10000 %.
pub fn share_of(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=1e4).contains(&percent).then_some(percent / 100.0)
}

impl BoundSummary {
    /// A bound on these comparisons.
    pub(crate) fn of<'a>(
        bound: &Bound,
        minimum_effect: f64,
        rows: impl Iterator<Item = &'a Row>,
    ) -> Self {
        let case = |row: &Row| Case {
            cell: row.cell(),
            metric: row.metric.clone(),
            state: state(bound.share, minimum_effect, row),
            text: row.said(),
        };
        Self { bound: bound.to_string(), share: bound.share, cases: rows.map(case).collect() }
    }

    /// Adds a cell in which the baseline has this metric, and the candidate no usable trial at all.
    pub(crate) fn add_gone(&mut self, cell: String, metric: String, reason: &str) {
        let text = format!("no usable trial in B: {reason}");
        self.cases.push(Case { cell, metric, state: CaseState::Broken, text });
    }

    /// Adds a search that both sides planned, of which nothing can be said.
    pub(crate) fn add_unjudged(&mut self, cell: String, metric: String, reason: &str) {
        self.cases.push(Case { cell, metric, state: CaseState::Unjudged, text: reason.to_owned() });
    }
}

/// By how much the candidate differs, as a share of the baseline: without end from nothing to
/// something.
fn size(row: &Row) -> f64 {
    let medians = row
        .baseline
        .zip(row.candidate)
        .map(|(a, b)| if a.median > 0.0 { b.median / a.median } else { f64::INFINITY });
    // Where a search found no load, it is at least as far as the nearer end.
    let end = row.low.filter(|low| *low > 1.0).or_else(|| row.high.filter(|high| *high < 1.0));
    row.ratio.or(medians).or(end).map_or(0.0, |ratio| (ratio - 1.0).abs())
}

fn state(bound: f64, minimum_effect: f64, row: &Row) -> CaseState {
    let size = size(row);
    // A bound of 0 asks for nothing that rounds could be too few for.
    let seen = |least: Option<f64>| bound == 0.0 || least.is_some_and(|least| least <= bound);
    match row.outcome {
        Outcome::Worse | Outcome::More | Outcome::Less if row.is_worse && size > bound => {
            CaseState::Broken
        }
        // A difference that is sure and smaller may be as large as its interval says. Whatever most
        // rounds say, all together can be worse.
        Outcome::Worse | Outcome::Better | Outcome::More | Outcome::Less
            if bound > 0.0 && row.worse_by_at_most.is_some_and(|most| most > bound) =>
        {
            CaseState::Unseen
        }
        Outcome::Worse | Outcome::Better | Outcome::More | Outcome::Less => CaseState::Kept,
        // Only what is 0 in every round is the same without a ratio: nothing is hidden in that.
        Outcome::Same if row.ratio.is_none() => CaseState::Kept,
        Outcome::Same | Outcome::NotDecided if seen(row.worse_by_at_most) => CaseState::Kept,
        Outcome::NoiseFloor if seen(row.noise_floor) => CaseState::Kept,
        Outcome::MinimumEffect if seen(Some(minimum_effect)) => CaseState::Kept,
        Outcome::Same | Outcome::NotDecided | Outcome::NoiseFloor | Outcome::MinimumEffect => {
            CaseState::Unseen
        }
        // Its latency grew as long as the trial lasted, and the baseline's did not.
        Outcome::Saturated if row.is_newly_saturated() => CaseState::Broken,
        // The baseline's latency says nothing, so the candidate's cannot be judged by it.
        Outcome::Saturated => CaseState::Unjudged,
        Outcome::TooFewRounds | Outcome::Generator | Outcome::OtherSession | Outcome::NoRatio => {
            CaseState::Unjudged
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_metric_and_a_percentage() {
        let bound: Bound = "p99_response > 5 %".parse().unwrap();
        assert_eq!((bound.metric.as_str(), bound.share), ("p99_response", 0.05));
        assert_eq!(bound.to_string(), "p99_response>5%");
        assert_eq!("p99>0.07%".parse::<Bound>().unwrap().to_string(), "p99>0.07%");
        assert_eq!("lost_ratio>0%".parse::<Bound>().unwrap().share, 0.0);
        let subject = Subject { bounds: [("p99".to_owned(), 0.05)].into(), ..Subject::default() };
        assert_eq!(Bound::of_subject(&subject), ["p99>5%".parse::<Bound>().unwrap()]);
        for wrong in [
            "", "p99", "p99>5", ">5%", "p99>-1%", "p99>x%", "p99>1e9%", "p 99>5%", "p99>NaN%",
            "p99>inf%",
        ] {
            let error = wrong.parse::<Bound>().unwrap_err();
            assert!(error.contains("expected METRIC>PERCENT"), "{wrong}: {error}");
        }
    }
}
