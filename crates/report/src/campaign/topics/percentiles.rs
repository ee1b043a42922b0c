//! The percentiles of all rounds together.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{DistributionSummary, PooledSummary, WorkloadSummary};

use crate::document::{Block, Cell, Column, Form, Kind, Part, Row, Table};

/// The columns.
const HEADS: [(&str, &str); 4] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9")];

const NOTE: &str = "Of the samples of all rounds as one, with 95 % intervals from resampled rounds. The table of \
                    cells has the median of the rounds' percentiles instead.";

/// The part; `None` with one round. `own`: the id of the workload's part.
pub(super) fn part(own: &str, workload: &WorkloadSummary) -> Option<Block> {
    let is_swept = !workload.parameters.is_empty();
    let shown = || workload.distributions.iter().filter(|one| !one.pooled.is_empty());
    let latency = shown().next()?.latency;
    let scales = HEADS.map(|(name, _)| {
        let values = shown().flat_map(|one| &one.pooled).filter(|one| one.percentile == name);
        Scale::of(latency, values.map(|one| one.value_ns as f64))
    });
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    columns.extend(
        HEADS.iter().zip(&scales).map(|((_, label), scale)| Column::number(*label, scale.head())),
    );
    let row = |one: &DistributionSummary| {
        let names = if is_swept {
            vec![(&one.path).into(), (&one.point).into()]
        } else {
            vec![(&one.path).into()]
        };
        let value = |((name, _), scale): (&(&str, &str), &Scale)| {
            one.pooled
                .iter()
                .find(|pooled| pooled.percentile == *name)
                .map(|pooled| value(pooled, scale))
        };
        let values = HEADS.iter().zip(&scales).map(|pair| value(pair).unwrap_or_default());
        Row::of(names.into_iter().chain(values))
    };
    let table = Table {
        caption: format!("{}: percentiles of all rounds together", workload.name),
        is_titled: false,
        kind: Kind::Figures,
        columns,
        rows: shown().map(row).collect(),
    };
    let blocks = vec![Block::note(NOTE), table.into()];
    Some(
        Part::new(
            Form::Closed,
            format!("{own}-pooled"),
            "Percentiles of all rounds together",
            blocks,
        )
        .into(),
    )
}

fn value(pooled: &PooledSummary, scale: &Scale) -> Cell {
    let PooledSummary { value_ns, low_ns, high_ns, .. } = pooled;
    let ends = interval_text::of(*value_ns as f64, *low_ns, *high_ns, |value| scale.text(value));
    Cell::with_ends(scale.text(*value_ns as f64), Some(ends))
}
