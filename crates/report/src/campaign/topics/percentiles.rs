//! The mean and the percentiles of all rounds together.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{DistributionSummary, PooledSummary, WorkloadSummary};

use crate::document::{Block, Cell, Column, Form, Kind, Part, Row, Table};
use crate::number::UNKNOWN;

/// The columns.
const HEADS: [(&str, &str); 5] =
    [("mean", "mean"), ("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9")];

const NOTE: &str = "Of the samples of all rounds as one. A percentile needs 10 of them beyond it. \
                    Cells above have the median of their rounds' percentiles.";

/// The part; `None` with one round. `own`: the id of the workload's part.
pub(super) fn part(own: &str, workload: &WorkloadSummary) -> Option<Block> {
    let is_swept = !workload.parameters.is_empty();
    let shown = || workload.distributions.iter().filter(|one| !one.pooled.is_empty());
    let latency = shown().next()?.latency;
    let columns_of = |(name, label): (&'static str, &'static str)| {
        let values = shown().filter_map(|one| pooled(one, name)).map(|one| one.value_ns as f64);
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| (name, label, Scale::of(latency, values.into_iter())))
    };
    let figures: Vec<(&str, &str, Scale)> = HEADS.into_iter().filter_map(columns_of).collect();
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    columns.extend(figures.iter().map(|(_, label, scale)| {
        // A terminal has room for the values of one line.
        Column::number(*label, scale.head()).short()
    }));
    let row = |one: &DistributionSummary| {
        let names = if is_swept {
            vec![(&one.path).into(), (&one.point).into()]
        } else {
            vec![(&one.path).into()]
        };
        let values = figures.iter().map(|(name, _, scale)| {
            pooled(one, name).map_or_else(|| UNKNOWN.into(), |found| value(found, scale))
        });
        Row::of(names.into_iter().chain(values))
    };
    let title = format!("{}: mean and percentiles of all rounds together", what(workload, latency));
    let table = Table {
        caption: format!("{}, {title}", workload.name),
        is_titled: false,
        kind: Kind::Figures,
        columns,
        rows: shown().map(row).collect(),
    };
    let blocks = vec![Block::note(NOTE), table.into()];
    Some(Part::new(Form::Folded, format!("{own}-pooled"), title, blocks).into())
}

/// The meaning of the latency: nobody shall take the whole way for half of it.
fn what(workload: &WorkloadSummary, latency: &str) -> &'static str {
    match latency {
        "delay_ns" => "One-way delay",
        _ if workload.is_of_round_trips() => "Round trips (RTT)",
        _ => "Latency",
    }
}

fn pooled<'a>(of: &'a DistributionSummary, name: &str) -> Option<&'a PooledSummary> {
    of.pooled.iter().find(|pooled| pooled.percentile == name)
}

fn value(pooled: &PooledSummary, scale: &Scale) -> Cell {
    let PooledSummary { value_ns, low_ns, high_ns, .. } = pooled;
    let ends = interval_text::of(*value_ns as f64, *low_ns, *high_ns, |value| scale.text(value));
    Cell::with_ends(scale.text(*value_ns as f64), Some(ends))
}
