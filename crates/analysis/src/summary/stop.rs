//! The end of a cell's rounds under a stop rule.

use hopbench_model::StopWhy;
use hopbench_model::number::{counted, percentage};
use serde::Serialize;

/// Digits behind the point that tell two widths apart, at most.
const MOST_DIGITS: usize = 6;

/// How the rounds of a cell ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StopSummary {
    /// Why there were no more.
    pub why: StopWhy,
    /// The rounds that it was in, by number: all up to this one.
    pub rounds: u32,
    /// Half the width of the interval that was looked at, as a share of the median; absent where
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_width_share: Option<f64>,
    /// The figure that was looked at, as notes call it.
    #[serde(skip)]
    pub figure: String,
}

impl StopSummary {
    /// How sure the figure is: `+-3.1 %`. Wider than the figure itself, its width says no more than
    /// that.
    fn width(&self) -> String {
        match self.half_width_share {
            None => "no interval".to_owned(),
            Some(share) if share > 1.0 => "more than +-100 %".to_owned(),
            Some(share) => format!("+-{} %", percentage(share)),
        }
    }

    /// The same with as many digits as tell it from what was asked for.
    pub(crate) fn width_beside(&self, asked_share: f64) -> String {
        let asked = percentage(asked_share);
        let finer = |share: f64| {
            let texts = (1..=MOST_DIGITS).map(|digits| format!("{:.digits$}", share * 100.0));
            let is_apart =
                |text: &String| text.parse::<f64>().is_ok_and(|shown| shown > asked_share * 100.0);
            texts.into_iter().find(is_apart).map(|text| format!("+-{text} %"))
        };
        let alike =
            self.half_width_share.filter(|share| *share <= 1.0 && percentage(*share) == asked);
        alike.and_then(finer).unwrap_or_else(|| self.width())
    }

    /// The remark on its cell; empty if it is sure enough. It begins with a word: a CSV
    /// cell that began with the sign of the width would be taken for a formula.
    pub fn remark(&self) -> String {
        let rounds = counted(u64::from(self.rounds), "round", "rounds");
        match self.why {
            StopWhy::Narrow => String::new(),
            StopWhy::Budget => format!("after {rounds}, when the time ended: {}", self.width()),
            StopWhy::Rounds => format!("after all {rounds}: {}", self.width()),
        }
    }
}
