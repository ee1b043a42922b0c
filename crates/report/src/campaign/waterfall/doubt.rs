//! What makes the figures of a path doubtful where they are compared with another's.

use hopbench_model::SCHEDULE_KEPT;

use crate::campaign::cell::Cell;
use crate::campaign::kind::Kind;
use crate::campaign::spread::Spread;
use crate::number::percentage;

/// What a cell must confess.
#[derive(Debug)]
pub(super) struct Doubts {
    generator: bool,
    /// Its latencies are those of another load.
    unreached: bool,
    /// Share of the exchanges that failed: what failed is in no latency.
    failed: f64,
}

impl Doubts {
    /// `asked_per_s` is what all clients were asked for; `None` for a closed loop.
    pub(super) fn of(cell: &Cell, kind: &Kind, asked_per_s: Option<f64>) -> Self {
        let median = |name: &str| {
            let figure = kind.figures.iter().position(|figure| figure.name == name)?;
            Some(Spread::of(cell.values(figure).1)?.median)
        };
        let failed = median("error_ratio").unwrap_or(0.0);
        // An exchange that failed was sent all the same.
        let done = median("requests_per_s").map(|rate| rate / (1.0 - failed));
        let short = |asked: f64| {
            done.is_some_and(|done| done < SCHEDULE_KEPT * asked)
                || cell.limits.iter().any(|limit| limit.limit != "target_rate")
        };
        Self { generator: cell.is_generator_limited(), unreached: asked_per_s.is_some_and(short), failed }
    }

    /// What a figure of these paths, by name, must be read with.
    pub(super) fn notes(paths: &[(&str, &Self)]) -> Vec<String> {
        let mut out = Vec::new();
        if paths.iter().any(|(_, doubts)| doubts.generator) {
            out.push("the load generator was the limit".to_owned());
        }
        let unreached: Vec<&str> = paths.iter().filter(|(_, doubts)| doubts.unreached).map(|(name, _)| *name).collect();
        if !unreached.is_empty() {
            out.push(format!("the asked rate was not reached ({})", unreached.join(", ")));
        }
        let failed = paths.iter().filter(|(_, doubts)| doubts.failed > 0.0);
        out.extend(failed.map(|(name, doubts)| format!("{} % failed ({name})", percentage(doubts.failed))));
        out
    }
}
