//! Doubts about the figures of a path, where they are compared with another's.

use hopbench_model::SCHEDULE_KEPT;
use hopbench_model::number::percentage;

use crate::cells::Cell;
use crate::figures::Kind;
use crate::summary::Spread;
use crate::text::load_text::saturated;

/// More than was asked for, by more than readings at two edges differ.
const MORE: f64 = 1.01;

/// Doubts about the figures of a cell.
#[derive(Debug)]
pub(crate) struct Doubts {
    generator: bool,
    /// Its latencies are those of another load.
    other_load: Option<OtherLoad>,
    /// The rate at which it is saturated, a second: that is why the load was less.
    saturated_per_s: Option<f64>,
    /// Share of the exchanges that failed: what failed is in no latency.
    failed: f64,
}

/// How the load was another than the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherLoad {
    Less,
    /// A backlog came on top.
    More,
}

impl OtherLoad {
    fn text(self) -> &'static str {
        match self {
            Self::Less => "the asked rate was not reached",
            Self::More => {
                "more was done than asked: it worked off what was left undone in the warm-up"
            }
        }
    }
}

impl Doubts {
    /// `asked_per_s` is what all clients were asked for; `None` for a closed loop.
    pub(crate) fn of(cell: &Cell, kind: &Kind, asked_per_s: Option<f64>) -> Self {
        let values = |name: &str| {
            let figure = kind.figures.iter().position(|figure| figure.name == name);
            figure.map_or_else(Vec::new, |figure| cell.values(figure).1)
        };
        let median = |values| Spread::of(values).map(|spread| spread.median);
        let failed = median(values("error_ratio")).unwrap_or(0.0);
        // An exchange that failed was sent all the same.
        let done = |rate: f64| rate / (1.0 - failed);
        let other = |asked: f64| {
            let rates: Vec<f64> = values("requests_per_s").into_iter().map(done).collect();
            let any = |is: &dyn Fn(f64) -> bool| rates.iter().any(|rate| is(rate / asked));
            let is_short = median(rates.clone()).is_some_and(|rate| rate < SCHEDULE_KEPT * asked);
            let is_kept = cell.limits.iter().all(|limit| limit.limit == "target_rate");
            match (is_short, is_kept) {
                (false, true) => None,
                (false, false)
                    if any(&|share| share > MORE) && !any(&|share| share < SCHEDULE_KEPT) =>
                {
                    Some(OtherLoad::More)
                }
                _ => Some(OtherLoad::Less),
            }
        };
        let saturated_per_s = cell.saturated_per_s();
        Self {
            generator: cell.is_generator_limited(),
            other_load: asked_per_s.and_then(other).filter(|_| saturated_per_s.is_none()),
            saturated_per_s,
            failed,
        }
    }

    /// What a figure of these paths, by name, must be read with.
    pub(crate) fn notes(paths: &[(&str, &Self)]) -> Vec<String> {
        let mut out = Vec::new();
        if paths.iter().any(|(_, doubts)| doubts.generator) {
            out.push("the load generator was the limit".to_owned());
        }
        for (name, doubts) in paths {
            let text = doubts.saturated_per_s.map(saturated);
            out.extend(text.map(|text| format!("{text}, its latency is not compared ({name})")));
        }
        for other in [OtherLoad::Less, OtherLoad::More] {
            let of_them = paths.iter().filter(|(_, doubts)| doubts.other_load == Some(other));
            let names: Vec<&str> = of_them.map(|(name, _)| *name).collect();
            out.extend(
                (!names.is_empty()).then(|| format!("{} ({})", other.text(), names.join(", "))),
            );
        }
        let failed = paths.iter().filter(|(_, doubts)| doubts.failed > 0.0);
        out.extend(
            failed.map(|(name, doubts)| format!("{} % failed ({name})", percentage(doubts.failed))),
        );
        out
    }
}
